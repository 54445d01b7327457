plan {
  name    = "equal"
  version = 1
}

workload "clip" {
  modality = "video"
  request {
    prompt          = "a \"harbour\" <&> \u2028 at dawn"
    negative_prompt = ""
    seeds           = [18446744073709551615, 7963148796659521215]
    guidance_milli  = 7500
    width           = 64
    height          = 48
    frames          = 12
    fps             = 24
    duration_us     = 500000
    steps           = 4
  }
  output "output" {
    container = "mp4"
    expect {
      width       = 64
      height      = 48
      frames      = 12
      fps         = 24
      duration_us = 500000
      audio       = false
    }
  }
  cell "cold" {
    warmup_runs   = 0
    measured_runs = 1
  }
  cell "hot" {
    warmup_runs           = 1
    measured_runs         = 3
    pause_between_runs_ms = duration_ms("1.5s")
    request {
      prompt = "another"
      seeds  = [1]
      width  = 64
      height = 48
      frames = 12
      fps    = 24
    }
  }
  limits {
    run_deadline_ms   = duration_ms("1m")
    setup_deadline_ms = duration_ms("2m")
    output_bytes      = bytes("1MiB")
    stdout_bytes      = bytes("1KiB")
    stderr_bytes      = 1
  }
  gate {
    cell                     = "hot"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 0
    max_reference_spread_bps = 1000000
  }
  gate {
    cell                     = "cold"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 9999
    max_reference_spread_bps = 0
  }
}

runner "full" {
  program   = "./render.sh"
  args      = ["--prompt", "{prompt}", "--size={width}x{height}", "{seed}", "{output}", "{marker_file}"]
  env       = { B = "2", A = "1", "E-F" = "" }
  execution = "unknown"
  cwd       = "work"
  markers   = "file"
  cache {
    declared_state = "cold"
    paths          = ["~/cache"]
  }
  setup {
    args        = ["--load"]
    program     = "./load.sh"
    deadline_ms = 1000
  }
  pin {
    path   = "weights.bin"
    sha256 = sha256("")
  }
  pin {
    path   = "vae.bin"
    sha256 = "${"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"
  }
}

deployment "one" {
  model_revision = "r1"
  runtime        = "comfyui"
  hardware       = "gpu"
  settings       = "default"
}

deployment "two" {
  settings = "other"
  runtime  = null
}

workload "json" {
  document = "documents/workload.json"
}

runner "json" {
  document = "documents/runner.json"
}

deployment "json_one" {
  document = "documents/one.json"
}

deployment "json_two" {
  document = "documents/two.json"
}

experiment "inline" {
  workload = workload.clip
  reference {
    runner     = runner.full
    deployment = deployment.one
  }
  candidate {
    runner     = runner.full
    deployment = deployment.two
  }
}

experiment "json" {
  workload = workload.json
  reference {
    runner     = runner.json
    deployment = deployment.json_one
  }
  candidate {
    runner     = runner.json
    deployment = deployment.json_two
  }
}
