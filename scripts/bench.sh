#!/usr/bin/env bash
# Measures Covary against its limits and its peers, prints the tables and writes docs/benchmarks.md.
#
#   make bench                 everything, on cores that have nothing else to do
#   make bench PEERS=no        without scikit-learn, GPy, GPflow and GPyTorch
#   make bench QUICK=yes       one short round at small N, to see that all of it works
#   make bench ONLY=gplvm      that section of docs/benchmarks.md alone (or ONLY=features)
#
# SIZES="500 1000" and ROUNDS=3 narrow it too. Only the whole run writes docs/benchmarks.md; any other
# writes build/bench/results/benchmarks.md. The results themselves are kept in build/bench/results.
set -euo pipefail
cd "$(dirname "$0")/.."

all_sizes="500 1000 2000 5000" scaling_size=2000 csv_megabytes=100
sparse_rows=36000 sparse_inducing="100 500 1000" sparse_rounds=3
predict_rows=1000000 predict_inducing=500 large_rows=1000000
latent_rows=1000 latent_rounds=3
svgp_batch=256 svgp_inducing=200 svgp_rounds=3 nlpd_seconds=60
gplvm_rows="1000 5000" gplvm_rounds=3 gplvm_large=100000 wide_outputs=1000000 wide_iterations=200
features_rows=1000000 features_inducing=1000 features_rounds=3 features_batch=500 features_columns="60 90 120"
micro=(--benchmark_repetitions=5 --benchmark_min_time=0.05 --benchmark_enable_random_interleaving=true)
if [ "${QUICK:-no}" = yes ]; then
  : "${SIZES:=500 1000}" "${ROUNDS:=1}"
  scaling_size=1000 csv_megabytes=5
  sparse_rows=2000 sparse_inducing="50 100" sparse_rounds=1
  predict_rows=40000 predict_inducing=100 large_rows=50000
  latent_rows=300 latent_rounds=1
  svgp_batch=64 svgp_inducing=50 svgp_rounds=1 nlpd_seconds=5
  gplvm_rows=200 gplvm_rounds=1 gplvm_large=2000 wide_outputs=5000 wide_iterations=20
  features_rows=20000 features_inducing=100 features_rounds=1 features_batch=100 features_columns=8
  micro=(--benchmark_min_time=0.01)
  export COVARY_BENCH_RUNS=2 COVARY_BENCH_ROWS="10000 100000"
fi
sizes=${SIZES:-$all_sizes} rounds=${ROUNDS:-5} peers=${PEERS:-yes}
cores=$(nproc) load=$(cut -d ' ' -f 1 /proc/loadavg)
build=build/bench results=build/bench/results bin=build/release/bin

rm -rf "$results"
mkdir -p "$results"
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOVARY_BUILD_BENCH=ON >/dev/null
cmake --build build/release --target covary_bench covary_cli -j "${JOBS:-$cores}"
. scripts/blas-core.sh
if [ "$peers" = yes ]; then
  echo "== The peers, each in its own environment"
  bench/peers/install.sh || echo "going on with those that could be installed"
fi

"$bin/limit_lapack" facts >"$results/facts.jsonl"

# NumPy by the environment of the peer that is the easiest to install: all have it.
gplvm_numpy() {
  local python=build/peers/scikit-learn/bin/python
  if [ "$peers" != yes ] || [ ! -x "$python" ]; then return; fi
  "$python" bench/peers/gplvm_numpy.py --sizes "$1" --latent "$2" --inducing "$3" >>"$results/gplvm_numpy.jsonl"
}
measure_gplvm() {
  echo "== Latent variables: N = $gplvm_rows and $gplvm_large, then P = $wide_outputs, rounds $gplvm_rounds, threads $cores"
  for _ in $(seq "$gplvm_rounds"); do
    for n in $gplvm_rows; do
      "$bin/gplvm_bench" "$n" 10 50
      gplvm_numpy "$n" 10 50
    done
  done >"$results/gplvm.jsonl"
  "$bin/gplvm_bench" "$gplvm_large" 5 100 >>"$results/gplvm.jsonl"
  "$bin/gplvm_bench" wide 100 "$wide_outputs" "$wide_iterations" >>"$results/gplvm.jsonl"
}
measure_features() {
  echo "== Structured inducing variables: Fourier features, N = $features_rows, M = $features_inducing, rounds $features_rounds"
  for _ in $(seq "$features_rounds"); do
    "$bin/features_bench" fourier "$features_rows" "$features_inducing"
    for m in $features_columns; do
      for kind in "stacked(eigen)" points "stacked(points)" "stacked(eigen)/diagonal"; do
        "$bin/features_bench" svgp "$kind" "$m" "$features_batch"
      done
    done
  done >"$results/features.jsonl"
}
gplvm_peers() {
  python3 bench/peers/run_all.py gplvm --sizes "${gplvm_rows// /,}" --threads "$cores" | tee "$results/gplvm_peers.jsonl"
}

# One section anew, into the page that there is.
if [ -n "${ONLY:-}" ]; then
  export COVARY_NUM_THREADS=$cores
  "measure_$ONLY"
  unset COVARY_NUM_THREADS
  if [ "$peers" = yes ] && [ "$ONLY" = gplvm ]; then gplvm_peers; fi
  python3 bench/report.py "$results" --out docs/benchmarks.md --only "$ONLY"
  exit
fi

# Ours and the limit in turn, so that a machine that drifts drifts for both.
echo "== Evidence with all gradients: ours beside dpotrf + dpotri, rounds $rounds, threads $cores"
pair() {
  COVARY_NUM_THREADS=$2 "$bin/exact_bench" "$1"
  OPENBLAS_NUM_THREADS=$2 "$bin/limit_lapack" "$1"
}
for n in $sizes; do
  for _ in $(seq "$rounds"); do
    pair "$n" "$cores"
    if [ "$n" = "$scaling_size" ] && [ "$cores" -gt 1 ]; then pair "$n" 1; fi
  done
  echo "   N = $n" >&2
done >"$results/exact.jsonl"

echo "== Sparse regression: ours beside the bare BLAS calls of its routes, rounds $sparse_rounds, threads $cores"
export COVARY_NUM_THREADS=$cores
for m in $sparse_inducing; do
  for _ in $(seq "$sparse_rounds"); do
    "$bin/sparse_bench" "$sparse_rows" "$m" vfe fast
    OPENBLAS_NUM_THREADS=$cores "$bin/limit_sweep" "$sparse_rows" "$m"
    "$bin/sparse_bench" "$sparse_rows" "$m" vfe safe
    "$bin/sparse_bench" "$sparse_rows" "$m" fitc safe
    "$bin/sparse_bench" "$sparse_rows" "$m" "pep(0.5)" safe
  done
  echo "   M = $m" >&2
done >"$results/sparse.jsonl"
"$bin/sparse_predict_bench" "$sparse_rows" "$predict_inducing" "$predict_rows" >>"$results/sparse.jsonl"
COVARY_BENCH_RUNS=1 "$bin/sparse_bench" "$large_rows" "$predict_inducing" vfe safe |
  sed 's/"case": "/&large /' >>"$results/sparse.jsonl"

echo "== Labels: Laplace and EP, N = $latent_rows, rounds $latent_rounds, threads $cores"
for _ in $(seq "$latent_rounds"); do
  for method in laplace ep; do
    for link in logit probit; do
      "$bin/latent_bench" "$latent_rows" "$method" "bernoulli($link)"
    done
  done
done >"$results/latent.jsonl"

echo "== Minibatches: steps of SVGP, batch $svgp_batch, M = $svgp_inducing, rounds $svgp_rounds, threads $cores"
for _ in $(seq "$svgp_rounds"); do
  for likelihood in "bernoulli(logit)" gaussian; do
    "$bin/svgp_bench" "$likelihood" "$svgp_batch" "$svgp_inducing"
  done
done >"$results/svgp.jsonl"

echo "== Digits with loops: test NLPD against time, $nlpd_seconds s"
"$bin/nlpd_bench" "$nlpd_seconds" >"$results/nlpd.jsonl" || echo "   left out"

measure_gplvm
measure_features
unset COVARY_NUM_THREADS

echo "== Autodiff, kernels, files, start-up"
COVARY_NUM_THREADS=1 "$bin/autodiff_bench" "${micro[@]}" --benchmark_out="$results/autodiff.json" >"$results/autodiff.txt" 2>&1
COVARY_NUM_THREADS=$cores "$bin/kernel_bench" "${micro[@]}" --benchmark_out="$results/kernels.json" >"$results/kernels.txt" 2>&1
"$bin/csv_bench" "$build/benchmark.csv" "$csv_megabytes" >"$results/other.jsonl"
"$bin/predict_bench" >>"$results/other.jsonl"
python3 bench/startup.py "$bin/covary" --version >>"$results/other.jsonl"
python3 bench/stream.py "$bin/covary" "$build/stream" >>"$results/other.jsonl"

if [ "$peers" = yes ]; then
  echo "== The peers"
  python3 bench/peers/run_all.py exact --sizes "${sizes// /,}" --threads "$cores" --limit 60 | tee "$results/peers.jsonl"
  python3 bench/peers/run_all.py sparse --rows "$sparse_rows" --inducing "${sparse_inducing// /,}" \
    --predict "$predict_rows" --predict-inducing "$predict_inducing" --threads "$cores" --limit 120 |
    tee "$results/sparse_peers.jsonl"
  python3 bench/peers/run_all.py latent --sizes "$latent_rows" --threads "$cores" --limit 60 |
    tee "$results/latent_peers.jsonl"
  python3 bench/peers/run_all.py svgp --batch "$svgp_batch" --inducing "$svgp_inducing" --threads "$cores" |
    tee "$results/svgp_peers.jsonl"
  python3 bench/peers/run_all.py nlpd --seconds "$nlpd_seconds" --threads "$cores" >"$results/nlpd_peers.jsonl"
  gplvm_peers
fi

out=$results/benchmarks.md
if [ "$sizes" = "$all_sizes" ] && [ "$peers" = yes ] && [ "${QUICK:-no}" = no ]; then out=docs/benchmarks.md; fi
python3 bench/report.py "$results" --out "$out" --rounds "$rounds" --load "$load" --elapsed "$SECONDS"
