#!/usr/bin/env bash
# Fits the embedded examples, as a new user would: data from the generator, a model file, scores, a report.
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
"$covary" report "$work/model.cov" --data "$work/test.csv" --title "The curve" --out "$work/curve.html"
echo "== Ten inputs, five of which matter"
"$covary" example friedman "$work/friedman"
"$covary" fit "$work/friedman/train.csv" --target y --out "$work/friedman.cov"
"$covary" report "$work/friedman.cov" --data "$work/friedman/test.csv" --title "Ten inputs" --out "$work/friedman.html"
echo "The models are in $work/model.cov and $work/friedman.cov, the predictions in $work/predictions.csv."
echo "Open the reports in a browser: $work/curve.html and $work/friedman.html"
