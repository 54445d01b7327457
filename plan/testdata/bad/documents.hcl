workload "mixed" {
  document = "documents/good.json"
  modality = "image" # error: Document mixed with inline attributes: remove the attribute modality
}

workload "absent" {
  document = "documents/absent.json" # error: Document not readable: no such file
}

workload "folder" {
  document = "documents" # error: Document not readable: is not a regular file
}

runner "blocks" {
  document = "documents/runner.json"
  pin { # error: Document mixed with inline attributes: remove the block pin
  }
}

runner "secret" {
  document = "documents/secret.json" # error: Document with sensitive values: write the runner inline
}

deployment "good" {
  document = "documents/deployment.json"
  switch { # error: Missing attribute: needs the attribute "deadline_ms"
    program = "./x"
  }
}
