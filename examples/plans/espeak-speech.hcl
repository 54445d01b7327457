# Does louder speech take longer to make? WAV files made by the real espeak-ng.
#
#   grill-plan run examples/plans/espeak-speech.hcl
#
# A run takes a fifth of a second, most of it the start of a process, so the bounds
# are wide: on a busy machine the verdict may still be INCONCLUSIVE.

plan {
  name    = "espeak-speech"
  version = 1
}

variable "espeak" {
  type        = string
  default     = "/usr/bin/espeak-ng"
  description = "Absolute path of espeak-ng; PATH is never searched."
}

# Expectations are tested by exact equality, and how long a text takes to say depends
# on the voice data. This is what espeak-ng 1.51 says; for another version:
#
#   espeak-ng -v en-us -s 160 -w speech.wav -- "$(cat examples/plans/prompts/speech.txt)"
#   grill-plan media check --json speech.wav
variable "duration_us" {
  type        = number
  default     = 113894104
  description = "Length of the speech in microseconds, rounded down."
}

workload "speech" {
  modality = "audio"
  request {
    prompt      = chomp(file("prompts/speech.txt"))
    seeds       = [1]
    duration_us = var.duration_us
    sample_rate = 22050
  }
  output "output" {
    container = "wav"
    expect {
      duration_us = var.duration_us
      sample_rate = 22050
      channels    = 1
    }
  }
  cell "speak" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = duration_ms("1m")
    setup_deadline_ms = duration_ms("1m")
    output_bytes      = bytes("64MiB")
    stdout_bytes      = bytes("64KiB")
    stderr_bytes      = bytes("64KiB")
  }
  gate {
    cell                     = "speak"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 5000
    max_reference_spread_bps = 10000
  }
}

runner "espeak" {
  for_each  = { reference = "100", candidate = "150" } # amplitude, which leaves the length alone
  program   = var.espeak
  args      = ["-v", "en-us", "-s", "160", "-a", each.value, "-w", "{output}", "--", "{prompt}"]
  execution = "in-process"
}

deployment "here" {
  model_revision = "en-us"
  runtime        = "espeak-ng"
  hardware       = "this-machine"
  settings       = "160-words-a-minute"
}

experiment "loudness" {
  workload = workload.speech

  reference {
    runner     = runner.espeak["reference"]
    deployment = deployment.here
  }

  candidate {
    runner     = runner.espeak["candidate"]
    deployment = deployment.here
  }

  axis = ["runner.args"]
}
