experiment "words" {
  workload = workload.w
  axis     = ["settings", "setings", "runner.arg", "settings", 3] # error: Wrong type: A string
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}

experiment "unknown" {
  workload = workload.w
  axis     = ["settings", "setings", "runner.arg", "settings"] # error: Unknown axis: Did you mean "settings"? && Unknown axis: Did you mean "runner.args"? && Axis names something twice: "settings"
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}
