# To be sourced from the root: routines for this processor where OpenBLAS, older than it, does not know it and takes those
# of 2004, which are slower and round more often (docs/linalg.md).
core=$(build/release/bin/covary doctor --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["blas"]["better_core"])')
if [ -n "$core" ]; then export OPENBLAS_CORETYPE="$core"; fi
