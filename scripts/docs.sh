#!/usr/bin/env bash
# The site of docs/, examples run and links checked, in build/docs: bash scripts/docs.sh
# PYTHON is an interpreter with the extra `docs` (.venv/bin/python by default).
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
"$python" -m sphinx -W --keep-going -q docs build/docs
"$python" scripts/check_links.py build/docs
