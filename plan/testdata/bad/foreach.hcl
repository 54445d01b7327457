deployment "list" {
  for_each = ["a"] # error: Invalid for_each: no list
}

runner "numbers" {
  for_each  = toset([1, 2]) # error: Invalid for_each: a set of number
  program   = "x"
  args      = ["{output}"]
  execution = "in-process"
}

deployment "nothing" {
  for_each = null # error: Invalid for_each: for_each is null
}

deployment "text" {
  for_each = "a" # error: Invalid for_each: a value of type string
  settings = 3   # error: Invalid deployment: settings is a number
}

deployment "spaced" {
  for_each = { "a b" = 1 }
  settings = each.key
}

runner "spaced" { # error: Name that documents do not admit: "spaced-a b"
  for_each  = { "a b" = 1, "c d" = 2 }
  program   = "x"
  args      = ["{output}"]
  execution = "in-process"
}

runner "every" {
  for_each  = { a = 1, b = 2 }
  program   = "x"
  args      = ["{nope}"]
  execution = "sometimes" # error: Invalid runner: In the instance runner.every["a"]
}
