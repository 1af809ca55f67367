#!/usr/bin/env bash
# Installs a wheel in an empty environment and uses it as a stranger would: the command and the package, far from this
# checkout.
#
#   scripts/test-wheel.sh WHEEL        PYTHON names the interpreter
set -euo pipefail
wheel=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
cd "$work"
PATH=$work/venv/bin:$PATH
pip --disable-pip-version-check install --quiet "$wheel"
program=$(python -c 'import covary, os; print(os.path.join(os.path.dirname(covary.__file__), "covary"))')
for file in "$program" "$(dirname "$program")"/_core*.so; do
  if ldd "$file" | grep -E 'not found|lib(openblas|fmt|gfortran).*=> /(usr/)?lib'; then
    echo "$file needs a library that the wheel has not" >&2
    exit 1
  fi
done
covary example curve . >/dev/null
covary fit train.csv --target y --out model.cov --quiet >/dev/null
covary evaluate model.cov test.csv --json >scores.json
covary nonsense >/dev/null 2>&1 && { echo "the exit status of the command is lost" >&2; exit 1; }
python - <<'EOT'
import json

import numpy as np

import covary

fit = covary.load("model.cov")
rows = np.genfromtxt("test.csv", delimiter=",", names=True)
mean = np.asarray(fit.predict_y(rows["x"][:, None])[0]).ravel()
rmse = float(np.sqrt(np.mean((mean - rows["y"]) ** 2)))
assert abs(rmse - json.load(open("scores.json"))["rmse"]) < 1e-9, rmse
EOT
echo "$(basename "$wheel"): the command and the package work in an empty environment"
