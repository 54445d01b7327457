experiment "s" {
  workload = workload.w
  slots    = ["a", "a2", "b"] # error: Slots in no admitted order: A2 has to follow B
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}

workload "file" {
  document = "documents/order.json"
}

experiment "t" {
  workload = workload.file # error: Slots in no admitted order: order a, a2, b
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}

workload "good" {
  document = "documents/good.json"
}

experiment "u" {
  workload = workload.good
  slots    = ["a", "b", "a2"] # error: Slots given twice: brings its own slots
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
}
