runner "other" {
  program   = self()
  args      = ["{seed}", "--more", "{output}"]
  execution = "in-process"
  env       = { A = "1" }
}

experiment "undeclared" {
  workload = workload.w
  axis     = ["settings"]
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate { # error: Difference that axis does not name: runner.args && Difference that axis does not name: runner.env.A
    runner     = runner.other
    deployment = deployment.e
  }
}

experiment "idle" {
  workload = workload.w
  axis = [
    "settings",
    "hardware",         # error: Axis names what does not differ: hardware
    "runner.env.OTHER", # error: Axis names what does not differ: runner.env.OTHER
  ]
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}

experiment "same" { # error: The sides do not differ: nothing to compare
  workload = workload.w
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.d
  }
}
