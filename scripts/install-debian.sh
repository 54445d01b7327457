#!/usr/bin/env bash
# Installs what the tests and benches use beside Go, on Debian and its relatives.
#
# grill-plan itself needs none of this: it builds and runs with Go alone. The race
# detector needs a C compiler, the examples need ffmpeg and espeak-ng, and the benches
# need their peers (hyperfine, ninja, make).
#
# Safe to run again: when everything is there it changes nothing and ends at once.
set -euo pipefail

packages=(
  gcc libc6-dev # the race detector links with a C compiler
  git           # the scripts ask it which files belong to the project
  ffmpeg        # examples/plans/ffmpeg-preset.hcl, and checks on our own MP4 files
  espeak-ng     # examples/plans/espeak-speech.hcl
  sox           # WAV files from a third writer
  graphviz      # `plan --graph dot` must be readable by dot
  hyperfine     # bench/clock: a peer for reported durations
  ninja-build   # bench/executor: a peer for the first run and the no-op
  make          # the same
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  if [[ $status != installed ]]; then
    missing+=("$package")
  fi
done

if ((${#missing[@]} == 0)); then
  echo "install-debian: everything is installed"
  exit 0
fi

root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install-debian: missing ${missing[*]}: run this script as root" >&2
    exit 1
  fi
  root=(sudo)
fi

export DEBIAN_FRONTEND=noninteractive
echo "install-debian: installing ${missing[*]}"
# A lost mirror is tried again by apt itself, so that one bad minute does not fail CI.
"${root[@]}" apt-get -o Acquire::Retries=3 update -q
"${root[@]}" apt-get -o Acquire::Retries=3 install -q -y --no-install-recommends "${missing[@]}"
