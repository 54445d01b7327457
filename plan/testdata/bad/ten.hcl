workload "ten" {
  modality = "picture" # error: Invalid workload: modality is "picture"
  request {
    prompt         = "a harbour"
    seeds          = [1, 18446744073709551616] # error: Invalid workload: seeds[1]
    width          = 1.5 # error: Not a whole number: without a fraction
    height         = 48
    stepps         = 4 # error: Unknown attribute: Did you mean "steps"?
    images_per_run = 1
  }
  output "output" {
    container = "png"
    expect {
      width  = 64
      height = "48" # error: Invalid workload: expect.height is a string
    }
  }
  cell "hot" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = duration_ms("1 minute") # error: Invalid function argument: a duration is written like
    setup_deadline_ms = 60000
    output_bytes      = bytes("16MiB")
    stdout_bytes      = 1000
    stderr_bytes      = 1000
  }
  gate {
    cell                     = "hott" # error: Invalid workload: gates[0].cell
    metric                   = "end_to_end_us"
    max_adverse_bps          = 100
    max_reference_spread_bps = local.spred # error: Unknown reference: no local value named "spred". Did you mean "spread"?
  }
}

locals {
  spread = 300
}

runner "ten" {
  program   = ./run.sh # error: Invalid expression: Expected the start of an expression
  args      = []
  execution = "in-process"
}

experiment "ten" {
  workload = runner.r # error: Wrong kind of reference: this is the runner runner.r
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}
