#!/usr/bin/env bash
# Fits the embedded example, as a new user would: data from the generator, a model file, scores.
set -euo pipefail
covary=$1
work=build/demo
mkdir -p "$work"
"$covary" example curve "$work"
echo "== Fit a Gaussian process to 200 noisy points with a gap in the inputs"
"$covary" fit "$work/train.csv" --target y --out "$work/model.cov"
echo "== Predict on a grid and score on held-out points"
"$covary" predict "$work/model.cov" "$work/grid.csv" --out "$work/predictions.csv"
"$covary" evaluate "$work/model.cov" "$work/test.csv"
echo "The model is in $work/model.cov, the predictions in $work/predictions.csv."
