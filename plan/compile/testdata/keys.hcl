plan {
  name    = "base"
  version = 1
}

workload "w" {
  modality = "image"
  request {
    prompt         = "a harbour"
    seeds          = [1, 2]
    width          = 64
    height         = 48
    steps          = 4
    images_per_run = 1
  }
  output "output" {
    container = "png"
    expect {
      width  = 64
      height = 48
    }
  }
  cell "hot" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = 60000
    setup_deadline_ms = 60000
    output_bytes      = 1000000
    stdout_bytes      = 1000
    stderr_bytes      = 1000
  }
  gate {
    cell                     = "hot"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 100
    max_reference_spread_bps = 300
  }
}

runner "r" {
  program   = self()
  args      = ["{seed}", "{output}"]
  execution = "in-process"
}

deployment "d" {
  settings = "one"
}

deployment "e" {
  settings = "two"
}

host "h" {}

experiment "x" {
  for_each = toset(["10", "9", "quote\"d", "line\nfeed"])
  workload = workload.w
  host     = host.h
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
  axis = ["settings"]
}
