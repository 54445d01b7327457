# Is another x264 preset slower? H.264 video with AAC sound in MP4, made by the real
# ffmpeg from its own test sources.
#
#   grill-plan run examples/plans/ffmpeg-preset.hcl
#
# As it stands the candidate is several times faster and passes. A slower preset
# regresses: --var candidate_preset=slower

plan {
  name    = "ffmpeg-preset"
  version = 1
}

variable "ffmpeg" {
  type        = string
  default     = "/usr/bin/ffmpeg"
  description = "Absolute path of ffmpeg 5 or newer; PATH is never searched."
}

variable "reference_preset" {
  type    = string
  default = "medium"
}

variable "candidate_preset" {
  type    = string
  default = "ultrafast"
}

locals {
  presets = { reference = var.reference_preset, candidate = var.candidate_preset }
}

workload "clip" {
  modality = "video"
  request {
    prompt      = "test pattern with a tone"
    seeds       = [1]
    width       = 640
    height      = 360
    frames      = 96
    fps         = 24
    duration_us = 4000000
  }
  output "output" {
    container = "mp4"
    expect {
      width       = 640
      height      = 360
      frames      = 96
      fps         = 24
      duration_us = 4000000
      audio       = true
    }
  }
  cell "encode" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = duration_ms("2m")
    setup_deadline_ms = duration_ms("1m")
    output_bytes      = bytes("64MiB")
    stdout_bytes      = bytes("64KiB")
    stderr_bytes      = bytes("64KiB")
  }
  gate {
    cell                     = "encode"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 1000
    max_reference_spread_bps = 3000
  }
}

runner "x264" {
  for_each = local.presets
  program  = var.ffmpeg
  args = [
    "-nostdin", "-hide_banner", "-v", "error",
    "-f", "lavfi", "-i", "testsrc2=size={width}x{height}:rate={fps}:duration={duration_s}",
    "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration={duration_s}",
    # One thread: the clock then measures the work and not who else uses the cores.
    "-c:v", "libx264", "-preset", each.value, "-crf", "23", "-pix_fmt", "yuv420p", "-threads", "1",
    "-c:a", "aac", "-b:a", "96k",
    # Without these each file carries the time it was made and the name of the muxer,
    # and equal pictures are never equal bytes.
    "-map_metadata", "-1", "-flags", "+bitexact", "-fflags", "+bitexact",
    "-movflags", "+faststart", "{output}",
  ]
  execution = "in-process"
}

deployment "here" {
  model_revision = "libx264"
  runtime        = "ffmpeg"
  hardware       = "this-machine"
  settings       = "crf-23-single-thread"
}

experiment "preset" {
  workload = workload.clip

  reference {
    runner     = runner.x264["reference"]
    deployment = deployment.here
  }

  candidate {
    runner     = runner.x264["candidate"]
    deployment = deployment.here
  }

  axis = ["runner.args"]
}
