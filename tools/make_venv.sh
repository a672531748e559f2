#!/usr/bin/env bash
# Make the virtual environment in $1 with Graphtide and everything its tests need.
# Wants Python 3.11 or later and nothing else.
set -euo pipefail
venv="$1"

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
    [ -n "$candidate" ] || continue
    command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
      >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "error: no Python 3.11, 3.12 or 3.13 on PATH." >&2
  echo "  install one (for example: apt-get install python3), or name it: make PYTHON=/path/to/python3.11" >&2
  exit 1
}

python="$(find_python)"
if ! "$python" -m venv "$venv"; then
  echo "error: $python could not make a virtual environment in $venv." >&2
  echo "  on Debian and Ubuntu the missing piece is: apt-get install python3-venv" >&2
  exit 1
fi
echo "installing into $venv with $("$python" --version) (a few minutes on the first run)"

# What pip says comes first; then what it was about, and what can be done.
install() {
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --retries 5 --timeout 60 -c constraints.txt "$@"; then
    echo "error: could not install into $venv: pip install $*" >&2
    echo "  it needs a package index (pip config list says which one is asked) and 2 GB of disk;" >&2
    echo "  run the same command again to go on, or 'make clean' first to begin anew" >&2
    exit 1
  fi
}

install --upgrade pip
# Python compiles the modules that are imported, which are few of those that are installed.
install --no-compile -e . --group dev
