#!/usr/bin/env bash
# Run tests with the oldest version of every package that pyproject.toml allows.
#
#   tools/oldest_versions.sh FOLDER [tests...]
#
# The environment is made in FOLDER and found there again; without tests, tests/unit is run (half an
# hour on two cores: everything compiles anew). The compiled code of these versions is kept in FOLDER
# too. A lower bound that fails here is raised in pyproject.toml, never patched around.
set -euo pipefail
folder="$1"
shift
root="$(cd "$(dirname "$0")/.." && pwd)"
python="$folder/venv/bin/python"

# The newest of what only tests use: none of it is promised.
tools="$(sed -n -E 's/^((hypothesis|networkx|polars|psutil|pytest|pytest-timeout|pytest-xdist)==.*)/\1/p' "$root/constraints.txt")"

if [ ! -x "$python" ]; then
  mkdir -p "$folder"
  "${PYTHON:-python3.11}" -m venv "$folder/uv"
  "$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv
  "$folder/uv/bin/uv" venv --quiet --python "${PYTHON:-python3.11}" "$folder/venv"
fi
# shellcheck disable=SC2086
"$folder/uv/bin/uv" pip install --quiet --python "$python" --resolution lowest-direct \
  -r "$root/pyproject.toml" $tools

cd "$root"
export PYTHONPATH="$root/src:$root" GRAPHTIDE_CACHE="$folder/cache"
"$python" -c 'import numba, numpy, pandas, pyarrow, pyspark
for module in (numba, numpy, pandas, pyarrow, pyspark):
    print(module.__name__, module.__version__)'
# Old packages warn of their own age.
"$python" -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning -m "not spark" \
  "${@:-tests/unit}"
