locals {
  twice  = { a = 1, "a" = 2 } # error: Key given twice: at values.hcl:2
  again  = jsondecode("{\"a\":1,\"a\":2}") # error: Invalid function argument: a key stands twice
  decode = jsondecode("[18446744073709551615]")
  hex    = tonumber("0x10") # error: Invalid function argument: plain decimal
  mixed  = toset([1, {}]) # error: Invalid function argument: of one type
  half   = duration_ms("1.5ms") # error: Invalid function argument: whole number of milliseconds
  size   = bytes("1.0001KiB") # error: Invalid function argument: whole number of bytes
  gone   = file("absent.txt") # error: Invalid function argument: no such file
  clock  = timestamp() # error: Call to unknown function: timestamp
  letter = "e\u0301" # error: Text not in Unicode normal form C: form NFC
  plain  = "é" # error: Text not in Unicode normal form C: form NFC
}

variable "typed" {
  type    = list # error: Invalid type specification
  default = []
}

variable "wrong" {
  type    = number
  default = "007" # error: Default of the wrong type: plain decimal
}

variable "bad" {
  default     = 3
  sensitive   = "yes" # error: Wrong type: true or false
  description = 3     # error: Wrong type: A string
  validation {
    condition     = var.bad > 5 # error: Variable not admitted: Give more. The condition is: var.bad > 5
    error_message = "Give more."
  }
  validation {
    condition     = "x" # error: Condition is not a boolean
    error_message = "No."
  }
}

variable "missing" {} # error: Missing value of a variable: --var missing=

variable "token" { # error: Literal default of a sensitive variable: stored with every run
  sensitive = true
  default   = "hunter2"
}

workload "name" { # error: Invalid workload: cells has 0 elements && Invalid workload: gates has 0 elements && Invalid workload: limits is required
  name     = "no name" # error: Invalid workload: name is no name
  modality = "image"
  request {
    prompt         = "line\nfeed" # error: Invalid workload: control character
    seeds          = toset([1])   # error: Wrong type: A set has no order
    width          = workload.w   # error: Reference not admitted here: named only
    height         = 1e999        # error: Number out of bounds
    steps          = 1001         # error: Invalid workload: 1 to 1000
    images_per_run = null         # error: Invalid workload: null
  }
  output "output" {
    container = "jpg" # error: Invalid workload: container
    expect {
      width = 64.0
      hight = 2 # error: Unknown attribute: Did you mean "height"?
    }
  }
}
