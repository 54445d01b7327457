plan {
  name    = "gemm-chunking"
  version = 1 # of this language
}

variable "steps" {
  type        = number
  default     = 8
  description = "Sampler steps."
  validation {
    condition     = var.steps > 0
    error_message = "steps must be positive."
  }
}

locals {
  canvas = { "480p" = [832, 480], "768p" = [1344, 768] }
}

workload "clip" {
  for_each = local.canvas
  modality = "video"
  request {
    prompt = chomp(file("prompts/harbour.txt")) # a prompt holds no line feed
    seeds  = [7963148796659521215]
    width  = each.value[0]
    height = each.value[1]
    frames = 121
    fps    = 24
    steps  = var.steps
  }
  output "output" {
    container = "mp4"
    expect {
      width  = each.value[0]
      height = each.value[1]
      frames = 121
      fps    = 24
      audio  = true
    }
  }
  cell "hot" {
    warmup_runs           = 1
    measured_runs         = 3
    pause_between_runs_ms = duration_ms("30s")
  }
  limits {
    run_deadline_ms   = duration_ms("20m")
    setup_deadline_ms = duration_ms("5m")
    output_bytes      = bytes("512MiB")
    stdout_bytes      = bytes("1MiB")
    stderr_bytes      = bytes("1MiB")
  }
  gate {
    cell                     = "hot"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 100
    max_reference_spread_bps = 300
  }
}

workload "from_json" {
  document = "documents/workload.json" # read as it is; its bytes are hashed
}

runner "comfy" {
  program   = "./render.sh"
  args      = ["--prompt", "{prompt}", "--seed", "{seed}", "--out", "{output}", "--markers", "{marker_file}"]
  execution = "delegates-to-resident-service"
  env       = { HF_HUB_OFFLINE = "1" }
  markers   = "file"
  cache {
    declared_state = "warm"
    paths          = ["~/.cache/model-x"]
  }
}

deployment "default" {
  model_revision = "weights-r1"
  runtime        = "comfyui-0.3.60"
  hardware       = "rtx-4090-24g"
  settings       = "gemm-default"
  switch { # how to get there, and the proof of being there
    program     = "./serve.sh"
    args        = ["--settings", "default"]
    deadline_ms = duration_ms("3m")
    ready {
      http        = "http://127.0.0.1:8188/system_stats"
      deadline_ms = duration_ms("2m")
    }
    verify { # proves which deployment answers
      program       = "./serve.sh"
      args          = ["--print-settings"]
      expect_stdout = "gemm-default\n"
      deadline_ms   = 10000
    }
  }
}

deployment "chunked" {
  model_revision = "weights-r1"
  runtime        = "comfyui-0.3.60"
  hardware       = "rtx-4090-24g"
  settings       = "gemm-chunk-8192"
  switch {
    program     = "./serve.sh"
    args        = ["--settings", "chunk-8192"]
    deadline_ms = duration_ms("3m")
    ready {
      http        = "http://127.0.0.1:8188/system_stats"
      deadline_ms = duration_ms("2m")
    }
    verify {
      program       = "./serve.sh"
      args          = ["--print-settings"]
      expect_stdout = "gemm-chunk-8192\n"
      deadline_ms   = 10000
    }
  }
}

host "gpu0" {}

experiment "chunking" {
  for_each = local.canvas
  workload = workload.clip[each.key]
  host     = host.gpu0

  reference { # slots a and a2
    runner     = runner.comfy
    deployment = deployment.default
  }

  candidate { # slots b and b2
    runner     = runner.comfy
    deployment = deployment.chunked
  }

  axis = ["settings"] # what the sides may differ in; anything else is an error

  restore { # after the experiment, however it ended
    program     = "./serve.sh"
    args        = ["--settings", "default"]
    deadline_ms = duration_ms("3m")
  }

  distance { # how far apart; every output is decoded anyway
    cells  = ["hot"]
    expect = "equal" # optional: pictures or sound that differ are INCONCLUSIVE
  }
}
