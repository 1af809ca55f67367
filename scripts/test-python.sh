#!/usr/bin/env bash
# Builds the wheel, installs it in a virtual environment under build/ and runs the tests of the Python package.
# PYTHON names the interpreter. The command line to compare with is the one in the wheel: the same bits need the same BLAS.
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(scripts/wheel.sh)
python=build/python-venv/bin/python
"$python" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps "$wheel"
toy=(build/python-venv/build/python/_toy.*.so)
if [ -f "${toy[0]}" ]; then COVARY_TOY=$(realpath "${toy[0]}"); export COVARY_TOY; fi
COVARY=$("$python" -c 'import os, covary; print(os.path.join(os.path.dirname(covary.__file__), "covary"))')
export COVARY
exec "$python" -m pytest -q "$@"
