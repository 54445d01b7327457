plan { # error: Block given twice: the first is at base.hcl:1
  name    = "again"
  version = 1
}

deploymnt "z" { # error: Unknown block: Did you mean "deployment"?
  setings = "three" # error: Unknown attribute: Did you mean "settings"?
}

locals {
  inner {} # error: Unknown block: holds only attributes
}

nonsense = 3 # error: Unknown attribute: no attribute "nonsense"

host = "h" # error: Block expected: write host

host {} # error: Missing label: needs its name

host "a" "b" {} # error: Too many labels: takes 1 of them

host "7up" {} # error: Invalid name: letter or _

host "h" {} # error: Duplicate name: host.h was already declared at base.hcl:56, and again here at structure.hcl:24

experiment "s" { # error: Missing attribute: needs the attribute "workload" && Missing block: needs a block "candidate"
  reference {
    runner     = runner.r
    deployment = deployment.d
    axis       = [] # error: Unknown attribute: A reference block has no attribute "axis"
  }
  restore { # error: Missing attribute: needs the attribute "deadline_ms"
    program = "x"
  }
  slots { # error: Attribute expected: write slots = 
  }
}
