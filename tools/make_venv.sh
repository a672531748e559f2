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

# Spark comes as source, and pip makes a wheel of it for as long as it takes to fetch all the rest:
# the two run side by side. Where no wheel comes of it, the last line tries again and says why.
wheels="$(mktemp -d)"
"$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-input --no-deps \
  -c constraints.txt --wheel-dir "$wheels" pyspark >/dev/null 2>&1 &
trap 'kill %1 2>/dev/null || true; rm -rf "$wheels"' EXIT
others="$("$venv/bin/python" -c 'import tomllib
wanted = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]
print(*(name for name in wanted if not name.startswith("pyspark")), sep="\n")')"
# Python compiles the modules that are imported, which are few of those that are installed.
install --no-compile -r <(echo "$others") --group dev
wait %1 || true
install --no-compile --find-links "$wheels" -e .
