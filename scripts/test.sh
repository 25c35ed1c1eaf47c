#!/usr/bin/env bash
# Installs the library with everything the tests need into a virtual environment ($VENV, .venv by default), then checks
# style, types and layers and runs all tests. TORCH names a build of PyTorch to install as well, where it can be had.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}"
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet --upgrade pip
"$venv/bin/pip" install --quiet ".[test]"
if [ -n "${TORCH:-}" ] && ! "$venv/bin/pip" install --quiet "$TORCH"; then
  echo "There is no $TORCH here: the tests of device= are skipped." >&2
fi
export PATH="$PWD/$venv/bin:$PATH"
ruff check .
ruff format --check .
mypy
lint-imports
pytest "$@"
