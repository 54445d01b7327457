locals {
  a    = local.b # error: Cycle of local values: local.a -> local.b -> local.c -> local.a
  b    = local.c
  c    = "${local.a}"
  self = local.self + 1 # error: Cycle of local values: local.self -> local.self
  away = local.a
}

experiment "p" { # error: Cycle of experiments: experiment.p -> experiment.q -> experiment.p
  workload = workload.w
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
  depends_on = [experiment.q]
}

experiment "q" {
  workload = workload.w
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
  depends_on = [experiment.p, experiment.x]
}
