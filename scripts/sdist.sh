#!/usr/bin/env bash
# The sdist, in dist/, installed into a fresh virtual environment and tried: bash scripts/sdist.sh
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
rm -rf dist
"$folder/venv/bin/pip" install --quiet build
"$folder/venv/bin/python" -m build --sdist --outdir dist .
"$folder/venv/bin/pip" install --quiet dist/*.tar.gz hypothesis pandas pytest
tar -xzf dist/*.tar.gz -C "$folder"
cd "$folder"/neuralkdb-*/
"$folder/venv/bin/python" examples/quickstart.py
"$folder/venv/bin/python" -m pytest tests/test_conformance.py
