# A small experiment of the program with itself, for the scripts.
plan {
  name    = "small"
  version = 1
}

variable "takes" {
  type    = string
  default = "50ms"
}

variable "candidate_takes" {
  type    = string
  default = "60ms"
}

variable "unsteady" {
  type    = string
  default = "0s"
}

variable "tolerance" {
  type    = number
  default = 9999
}

variable "spread" {
  type    = number
  default = 1000000
}

workload "picture" {
  modality = "image"
  request {
    prompt         = "a harbour"
    seeds          = [1, 2, 3]
    width          = 32
    height         = 24
    steps          = 1
    images_per_run = 1
  }
  output "output" {
    container = "png"
    expect {
      width  = 32
      height = 24
    }
  }
  cell "warm" {
    warmup_runs   = 0
    measured_runs = 1
  }
  limits {
    run_deadline_ms   = duration_ms("1m")
    setup_deadline_ms = duration_ms("1m")
    output_bytes      = bytes("1MiB")
    stdout_bytes      = bytes("4KiB")
    stderr_bytes      = bytes("4KiB")
  }
  gate {
    cell                     = "warm"
    metric                   = "end_to_end_us"
    max_adverse_bps          = var.tolerance
    max_reference_spread_bps = var.spread
  }
}

runner "reference" {
  program = self()
  args = [
    "media", "synth", "image", "--seed", "{seed}", "--width", "{width}", "--height", "{height}",
    "--at-least", var.takes, "--jitter", var.unsteady, "--out", "{output}",
  ]
  execution = "in-process"
}

runner "candidate" {
  program = self()
  args = [
    "media", "synth", "image", "--seed", "{seed}", "--width", "{width}", "--height", "{height}",
    "--at-least", var.candidate_takes, "--jitter", var.unsteady, "--out", "{output}",
  ]
  execution = "in-process"
}

deployment "here" {
  model_revision = "synth-1"
  runtime        = "grill-plan"
  hardware       = "this-machine"
  settings       = "default"
}

experiment "speed" {
  workload = workload.picture
  reference {
    runner     = runner.reference
    deployment = deployment.here
  }
  candidate {
    runner     = runner.candidate
    deployment = deployment.here
  }
  axis = ["runner.args"]
}
