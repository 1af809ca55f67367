#!/usr/bin/env python3
"""Times a peer at the Bayesian GP-LVM: the bound with the gradient in everything, SE-ARD, P = 12.

    build/peers/gpy/bin/python bench/peers/gplvm.py gpy [--sizes 1000,5000] [--latent 10] [--inducing 50] [--threads T]
        [--limit SECONDS]

The data and parameters are those of bench/gplvm_bench.cpp, to the bit. One JSON line for each N: peer, version, n, q, m,
threads, seconds (the median of hot runs at changing parameters), fastest, runs, value and peak_bytes. Each runs in a
process of its own; one that takes longer than four times the limit gives a line with "skipped".
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys

import numpy as np

from exact import threads
from latent import uniforms
from sparse import peak_bytes, repeat

P, VARIANCE, NOISE = 12, 1.3, 0.05


def make_data(n, q, m):
    uniform = uniforms(n)
    draw = lambda rows, cols: np.array([next(uniform) for _ in range(rows * cols)]).reshape(rows, cols)
    mean = 4.0 * draw(n, q) - 2.0
    variance = 0.05 + 0.5 * draw(n, q)
    Z = 4.0 * draw(m, q) - 2.0
    Y = np.empty((n, P))
    for i in range(n):
        for p in range(P):
            Y[i, p] = math.sin(mean[i, 0] * (1.0 + p / 12.0)) + math.cos(mean[i, 1] + p) + 0.2 * (next(uniform) - 0.5)
    return mean, variance, Z, Y, 1.0 + 0.3 * np.arange(q)


class GPy:
    def __init__(self, mean, variance, Z, Y, lengthscales):
        import GPy as gpy

        self.version = gpy.__version__
        q = mean.shape[1]
        kernel = gpy.kern.RBF(q, variance=VARIANCE, lengthscale=lengthscales, ARD=True)
        self.model = gpy.models.BayesianGPLVM(Y, q, X=mean, X_variance=variance, Z=Z, kernel=kernel)
        self.model.likelihood.variance = NOISE
        self.start = self.model.optimizer_array.copy()

    def evaluate(self, shift):
        self.model.optimizer_array = self.start + shift  # computes everything once
        return float(np.squeeze(self.model.log_likelihood())), np.array(self.model.gradient)


class GPflow:
    def __init__(self, mean, variance, Z, Y, lengthscales):
        import gpflow
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads())
        tf.config.threading.set_inter_op_parallelism_threads(threads())
        self.version = gpflow.__version__
        kernel = gpflow.kernels.SquaredExponential(VARIANCE, lengthscales)
        self.model = gpflow.models.BayesianGPLVM(Y, mean, variance, kernel, inducing_variable=Z)
        self.model.likelihood.variance.assign(NOISE)
        self.variables = self.model.trainable_variables
        self.starts = [variable.numpy() for variable in self.variables]

        @tf.function
        def value_and_gradient():
            with tf.GradientTape() as tape:
                value = self.model.elbo()
            return value, tape.gradient(value, self.variables)

        self.value_and_gradient = value_and_gradient

    def evaluate(self, shift):
        for variable, start in zip(self.variables, self.starts):
            variable.assign(start + shift)
        value, gradients = self.value_and_gradient()
        return float(value), np.concatenate([np.ravel(g) for g in gradients])


PEERS = {"gpy": GPy, "gpflow": GPflow}


def measure(Model, n, q, m):
    model = Model(*make_data(n, q, m))
    value, gradient = model.evaluate(0.0)  # traces, warms caches and pages
    if gradient.size != 2 * n * q + m * q + q + 2:
        sys.exit(f"{gradient.size} entries in the gradient, not those of all parameters, q(X) and inducing inputs")
    others = []
    times = repeat(lambda run: others.append(model.evaluate(1e-3 * run)[0]))
    if len({value, *others}) != len(others) + 1:
        sys.exit("the value does not follow the parameters")
    return {"version": model.version, "seconds": statistics.median(times), "fastest": min(times), "runs": len(times),
            "value": value, "peak_bytes": peak_bytes()}


def measure_apart(options, n):
    line = {"peer": options.peer, "n": n, "q": options.latent, "m": options.inducing, "threads": options.threads}
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **{name: str(options.threads) for name in names})
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), options.peer]
    command += ["--latent", str(options.latent), "--inducing", str(options.inducing), "--one", str(n)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=4 * options.limit)
    except subprocess.TimeoutExpired:
        return line | {"skipped": f"still running after {4 * options.limit:.0f} s"}
    if done.returncode != 0:
        killed = f"ended by signal {-done.returncode}" if done.returncode < 0 else "no message"
        return line | {"skipped": f"failed: {(done.stderr.strip() or killed).splitlines()[-1]}"}
    return line | json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description="Times a peer's Bayesian GP-LVM.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--sizes", default="1000,5000")
    parser.add_argument("--latent", type=int, default=10)
    parser.add_argument("--inducing", type=int, default=50)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=60.0, help="a quarter of the time at which a case is stopped")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)  # N
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(PEERS[options.peer], options.one, options.latent, options.inducing)))
        return
    for n in [int(size) for size in options.sizes.split(",")]:
        print(json.dumps(measure_apart(options, n)), flush=True)


if __name__ == "__main__":
    main()
