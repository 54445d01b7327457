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
  setup {
    args = ["--load"]
  }
}

deployment "d" {
  settings = "one"
  switch {
    program        = "./switch.sh"
    args           = ["one"]
    env            = { B = "2", A = "1" }
    cwd            = "work"
    deadline_ms    = 1000
    on_change_only = true
    ready {
      program     = "./ready.sh"
      deadline_ms = 2000
    }
    verify {
      program       = self()
      args          = ["version"]
      expect_stdout = "x\n"
      deadline_ms   = 3000
    }
  }
}

deployment "e" {
  settings = "two"
  switch {
    program        = "./switch.sh"
    args           = ["two"]
    env            = { B = "2", A = "1" }
    cwd            = "work"
    deadline_ms    = 1000
    on_change_only = true
    ready {
      program     = "./ready.sh"
      deadline_ms = 2000
    }
    verify {
      program       = self()
      args          = ["version"]
      expect_stdout = "x\n"
      deadline_ms   = 3000
    }
  }
}

host "h" {}

experiment "x" {
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
  axis              = ["settings"]
  slots             = ["a", "b", "b2", "a2"]
  fail_fast         = false
  require_same_boot = true
  max_gap_ms        = duration_ms("1h")
  allow_host_change = true
  restore {
    program     = "./switch.sh"
    args        = ["one"]
    deadline_ms = 1000
  }
}
