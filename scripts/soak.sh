#!/usr/bin/env bash
# Random fits and predictions with kernels that stop at the first wrong address or undefined behaviour:
#     bash scripts/soak.sh 10000          fits, one after another
#     bash scripts/soak.sh 10000 2        in two processes
# Needs GCC with its sanitizers, CMake and nanobind; PYTHON is the interpreter (.venv/bin/python by default).
set -euo pipefail
cd "$(dirname "$0")/.."
fits="${1:-10000}" processes="${2:-1}" python="${PYTHON:-.venv/bin/python}"
build=build/sanitized
export PATH="$(dirname "$python"):$PATH"
cmake -S . -B "$build" -DNEURALKDB_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE="$(command -v "$python")" \
    -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --parallel "$(nproc)" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
started=()
for ((process = 0; process < processes; ++process)); do
    "$python" -m benchmarks.soak "$build"/_kernels*.so --fits "$fits" --process "$process" --processes "$processes" &
    started+=($!)
done
for process in "${started[@]}"; do wait "$process"; done
