#!/usr/bin/env bash
# The library beside its peers: installs them into a virtual environment of their own ($VENV, .venv-peers by default),
# measures what is not in benchmarks/peers/results.csv yet, a cell at a time, and writes docs/benchmarks.md from it.
#     bash scripts/peers.sh                         all, about two hours on one core
#     bash scripts/peers.sh --only "codes letter"   cells whose suite, table or name holds this text
# The tables are read from ../shared (or NEURALKDB_SHARED).
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv-peers}"
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet ".[peers]"
"$venv/bin/python" -m benchmarks.peers measure "$@"
"$venv/bin/python" -m benchmarks.peers page
