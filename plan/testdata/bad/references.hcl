locals {
  keyed = { one = 1, two = 2 }
  up    = workload.w # error: Reference not admitted here: named only by an experiment
  what  = foo.bar    # error: Unknown reference: nothing named "foo"
  loose = each.key   # error: Unknown reference: exist only inside a block that has for_each
}

deployment "k" {
  for_each = local.keyed
  settings = each.key
  runtime  = each.valeu # error: Unsupported attribute: does not have an attribute named "valeu"
}

deployment "m" {
  for_each = local.keyed
  settings = each.key
}

experiment "one" {
  workload = workload.ww # error: Unknown reference: Did you mean "w"?
  host     = host.h.x # error: Reference goes too deep: write host.h alone
  reference {
    runner     = runner.q # error: Unknown reference: no runner named "q". Did you mean "r"?
    deployment = deployment.m["thre"] # error: Unknown reference: has no key "thre". Known here: one, two.
  }
  candidate {
    runner     = deployment.e # error: Wrong kind of reference: A runner belongs here, and this is the deployment deployment.e
    deployment = deployment.m # error: Wrong kind of reference: for_each as a whole
  }
}

experiment "two" {
  for_each = toset(["a"])
  workload = workload.w
  reference {
    runner     = "r" # error: Wrong kind of reference: this is a value of type string
    deployment = deployment.m[each.key] # error: Invalid index: does not identify an element
  }
  candidate {
    runner     = null # error: Wrong kind of reference: this is null
    deployment = deployment.m.one
  }
  depends_on = [experiment.x, workload.w, experiment.zz] # error: Unknown reference: no experiment named "zz"
}

experiment "three" {
  workload = workload.w
  reference {
    runner     = runner.r
    deployment = deployment.d
  }
  candidate {
    runner     = runner.r
    deployment = deployment.e
  }
  depends_on = [experiment.x, workload.w] # error: Wrong type: An experiment
}
