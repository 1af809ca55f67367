#!/usr/bin/env bash
# Builds the wheel, installs it in a virtual environment under build/ and runs the tests of the Python package.
# COVARY names the command line to compare with; PYTHON the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
covary=${COVARY:-build/release/bin/covary}
wheel=$(scripts/wheel.sh)
python=build/python-venv/bin/python
"$python" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps "$wheel"
toy=(build/python-venv/build/python/_toy.*.so)
if [ -f "${toy[0]}" ]; then COVARY_TOY=$(realpath "${toy[0]}"); export COVARY_TOY; fi
if [ -x "$covary" ]; then COVARY=$(realpath "$covary"); export COVARY; fi
exec "$python" -m pytest -q "$@"
