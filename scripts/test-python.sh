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
# Without isolation the compiler's cache finds nanobind where it was last time.
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "${pip[@]}" --no-build-isolation --force-reinstall --no-deps .
if [ -x "$covary" ]; then COVARY=$(realpath "$covary"); export COVARY; fi
exec "$venv/bin/python" -m pytest -q "$@"
