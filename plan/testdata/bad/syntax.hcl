deployment "one" {
  settings = "image # error: Invalid multi-line string
  hardware = "" # error: Invalid deployment: hardware is empty
}

runner "two" {
  program = "./a" "./b" # error: Missing newline after argument: must end with a newline
  args    = [1, 2
  execution = "in-process" # error: Missing item separator: comma
}

deployment "three" {
  settings = # error: Invalid expression: Expected the start of an expression
}

locals {
  a = 1 & 2 # error: Unsupported operator: boolean AND
  a = 2 # error: Attribute set twice: already set at syntax.hcl:17
}

variable "v" {
  default = 'x' # error: Invalid character: Single quotes
}

locals {
  fine = var.w # error: Unknown reference: There is no variable named "w"
}
