package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// perFile keeps each file far below the bound of a plan file.
const perFile = 100

// generate gives the files of a plan of n experiments, in order. Each has a workload
// and two deployments of its own, as a plan has that was written by a program; a
// for_each over n keys would let HCL parse the body once. Switch, verify and restore
// are there because each is a node of the graph.
func generate(n int) []string {
	files := []string{headText}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, workloadText, i, i)
		for side, name := range []string{"reference", "candidate"} {
			fmt.Fprintf(&b, deploymentText, name, i, name, side, side)
		}
		fmt.Fprintf(&b, experimentText, i, i, i, i)
		if (i+1)%perFile == 0 || i+1 == n {
			files = append(files, b.String())
			b.Reset()
		}
	}
	return files
}

// write makes dir and puts the files of a plan there.
func write(dir string, files []string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a plan folder: %w", err)
	}
	for i, text := range files {
		name := filepath.Join(dir, fmt.Sprintf("part-%04d.hcl", i))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write a plan file: %w", err)
		}
	}
	return nil
}

const headText = `plan {
  name    = "generated"
  version = 1
}

runner "render" {
  program   = "./render.sh"
  args      = ["--prompt", "{prompt}", "--seed", "{seed}", "--size", "{width}x{height}", "--out", "{output}"]
  execution = "in-process"
}
`

const workloadText = `
workload "clip_%d" {
  modality = "video"
  request {
    prompt = "Clip number %d"
    seeds  = [7963148796659521215]
    width  = 832
    height = 480
    frames = 121
    fps    = 24
    steps  = 8
  }
  output "output" {
    container = "mp4"
    expect {
      width  = 832
      height = 480
      frames = 121
      fps    = 24
      audio  = true
    }
  }
  cell "hot" {
    warmup_runs   = 1
    measured_runs = 3
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
    max_adverse_bps          = 200
    max_reference_spread_bps = 500
  }
}
`

const deploymentText = `
deployment "%s_%d" {
  model_revision = "weights-r1"
  runtime        = "runtime-1"
  hardware       = "gpu-1"
  settings       = "%s"
  switch {
    program     = "./serve.sh"
    args        = ["--side", "%d"]
    deadline_ms = duration_ms("3m")
    verify {
      program       = "./serve.sh"
      args          = ["--print-side"]
      expect_stdout = "%d\n"
      deadline_ms   = 10000
    }
  }
}
`

const experimentText = `
experiment "pair_%d" {
  workload = workload.clip_%d
  reference {
    runner     = runner.render
    deployment = deployment.reference_%d
  }
  candidate {
    runner     = runner.render
    deployment = deployment.candidate_%d
  }
  axis = ["settings"]
  restore {
    program     = "./serve.sh"
    args        = ["--side", "0"]
    deadline_ms = duration_ms("3m")
  }
}
`
