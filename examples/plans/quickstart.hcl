# The first plan to run: it needs nothing but grill-plan itself.
#
#   grill-plan run examples/plans/quickstart.hcl
#
# It asks whether a candidate takes longer than the reference to make the same
# picture, in about twenty seconds: slot A (the reference), B (the candidate), and
# A2 (the reference again, which shows how much the machine itself wanders).
#
#   PASS, exit 0          as it stands
#   REGRESSION, exit 3    --var candidate_takes=2500ms
#   INCONCLUSIVE, exit 2  --var unsteady=1200ms
#
# Each of these is a plan of its own to measure: give it a run directory with --out.

plan {
  name    = "quickstart"
  version = 1
}

variable "candidate_takes" {
  type        = string
  default     = "1500ms"
  description = "How long the candidate takes for a picture at least. The reference takes 1500ms."
}

variable "unsteady" {
  type        = string
  default     = "0s"
  description = "By how much a picture may take longer, depending on its seed."
}

workload "picture" {
  modality = "image"
  request {
    prompt         = chomp(file("prompts/harbour.txt"))
    seeds          = [1, 2, 3]
    width          = 320
    height         = 180
    steps          = 4
    images_per_run = 1
  }
  output "output" {
    container = "png"
    expect {
      width  = 320
      height = 180
    }
  }
  cell "warm" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = duration_ms("1m")
    setup_deadline_ms = duration_ms("1m")
    output_bytes      = bytes("16MiB")
    stdout_bytes      = bytes("64KiB")
    stderr_bytes      = bytes("64KiB")
  }
  gate {
    cell   = "warm"
    metric = "end_to_end_us"
    # A fifth of 1.5 s, so that a busy machine, which delays the start of a process by
    # some tens of milliseconds, decides nothing. A real gate is ten times tighter and
    # its samples are longer.
    max_adverse_bps          = 2000
    max_reference_spread_bps = 2000
  }
}

# `media synth` sleeps for what is left of --at-least, so that the verdict speaks of
# the arguments below and hardly of the machine. A real runner has no such flag.
runner "reference" {
  program = self() # the running grill-plan
  args = [
    "media", "synth", "image", "--seed", "{seed}", "--width", "{width}", "--height", "{height}",
    "--work", "100", "--at-least", "1500ms", "--jitter", var.unsteady, "--out", "{output}",
  ]
  execution = "in-process"
}

runner "candidate" {
  program = self()
  args = [
    "media", "synth", "image", "--seed", "{seed}", "--width", "{width}", "--height", "{height}",
    "--work", "200", "--at-least", var.candidate_takes, "--jitter", var.unsteady, "--out", "{output}",
  ]
  execution = "in-process"
}

# Declared, never guessed: without these four a verdict is INCONCLUSIVE.
deployment "here" {
  model_revision = "synth-1"
  runtime        = "grill-plan"
  hardware       = "this-machine"
  settings       = "default"
}

experiment "speed" {
  workload = workload.picture

  reference { # slots a and a2
    runner     = runner.reference
    deployment = deployment.here
  }

  candidate { # slot b
    runner     = runner.candidate
    deployment = deployment.here
  }

  axis = ["runner.args"] # what may differ; anything else is an error
}
