#!/usr/bin/env bash
# Installs the Python package in a virtual environment under build/ and runs its tests.
# COVARY names the command line to compare with; PYTHON the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/python-venv
covary=${COVARY:-build/release/bin/covary}
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet)
"${pip[@]}" -r python/tests/requirements.txt
# The core is not compiled once more where `make build` has made it. Without isolation the compiler's
# cache finds nanobind where it was last time.
built=()
if [ -f build/release/libcovary.a ]; then
  built=(-C "cmake.define.COVARY_BUILT_LIBRARY=$PWD/build/release/libcovary.a" -C build-dir=build/python-extension)
fi
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "${pip[@]}" --no-build-isolation --force-reinstall --no-deps \
  ${built[@]+"${built[@]}"} .
if [ -x "$covary" ]; then COVARY=$(realpath "$covary"); export COVARY; fi
exec "$venv/bin/python" -m pytest -q "$@"
