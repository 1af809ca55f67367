#!/usr/bin/env bash
# Checks that the documentation is true: links, files it names, commands, kernel expressions, C++ snippets.
# Uses the command line of `make build`, or the one named by COVARY.
set -euo pipefail
cd "$(dirname "$0")/.."
covary=${COVARY:-build/release/bin/covary}
command -v python3 >/dev/null || { echo "make docs needs python3: apt-get install python3" >&2; exit 1; }
[ -x "$covary" ] || { echo "make docs needs $covary: run make build first, or set COVARY" >&2; exit 1; }
exec python3 scripts/check_docs.py "$covary"
