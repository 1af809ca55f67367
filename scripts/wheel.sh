#!/usr/bin/env bash
# Builds the Python package as a wheel for other machines and prints its path (docs/decisions/wheels.md). PYTHON names the
# interpreter: from 3.12 on the wheel fits all later versions too. The library and the verbs are those of `make build`
# where it has made them.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/python-venv
version() { "$1" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null; }
if [ "$(version "${PYTHON:-python3}")" != "$(version $venv/bin/python)" ]; then
  "${PYTHON:-python3}" -m venv --clear $venv
fi
PATH=$PWD/$venv/bin:$PATH
python -m pip --disable-pip-version-check install --quiet -r python/tests/requirements.txt >&2
# Without isolation the compiler's cache finds nanobind where it was last time.
options=(-C "build-dir=$venv/build")
if [ -f build/release/libcovary.a ]; then
  cmake --build build/release --target covary covary_verbs >&2
  options+=(-C "cmake.define.COVARY_BUILT=$PWD/build/release" -C cmake.define.COVARY_TOY_EXTENSION=ON)
fi
wheels=$venv/wheels
rm -rf "$wheels"
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} python -m pip --disable-pip-version-check wheel --quiet --no-deps \
  --no-build-isolation --wheel-dir "$wheels/raw" "${options[@]}" . >&2
auditwheel repair --wheel-dir "$wheels" "$wheels"/raw/covary-*.whl >&2
ls "$wheels"/covary-*.whl
