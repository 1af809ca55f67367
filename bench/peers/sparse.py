#!/usr/bin/env python3
"""Times a peer at sparse regression (VFE): SE-ARD, D = 8, on data drawn as in exact.py.

    build/peers/gpy/bin/python bench/peers/sparse.py gpy [--rows 36000] [--inducing 100,500,1000]
        [--predict 1000000] [--predict-inducing 500] [--threads T] [--limit SECONDS]

One JSON line for each M with task "objective": one evaluation of the bound with the gradient in all parameters and the
inducing inputs, hot, at parameters that change between runs. Then one with task "predict": mean and variance of f at
new rows, BATCH of them at a time, with whatever the peer keeps between calls. Each runs in a process of its own, so
that its peak memory is its own; one that takes longer than the limit gives a line with "skipped".

With M ≤ 100 the bound and the predictions must agree with NumPy at the peer's jitter, and the gradient with the slope
of the bound.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from exact import D, LENGTHSCALES, NOISE, VARIANCE, make_data, threads

BATCH = 20000
TOLERANCE = 1e-6  # relative, for value, mean and variance against NumPy, and the slope against the gradient
ENOUGH_SECONDS, MOST_RUNS = 8.0, 15  # repeat for about so long
TOO_LONG_SECONDS = 40.0  # and at least 3 times unless that takes longer than this


class GPy:
    def __init__(self, X, y, Z):
        import GPy as gpy

        self.version, self.jitter = gpy.__version__, gpy.inference.latent_function_inference.VarDTC.const_jitter
        kernel = gpy.kern.RBF(D, variance=VARIANCE, lengthscale=LENGTHSCALES.copy(), ARD=True)  # it keeps what it gets
        self.model = gpy.models.SparseGPRegression(X, y[:, None], kernel, Z=Z)
        self.model.likelihood.variance = NOISE
        self.start = self.model.optimizer_array.copy()

    def evaluate(self, shift):
        self.model.optimizer_array = self.start + shift  # computes everything once
        return float(np.squeeze(self.model.log_likelihood())), np.array(self.model.gradient)

    # GPy's optimiser and its gradient differ by the chain rule of the positive parameters, which it applies itself.
    def slope(self, gradient):
        return float(np.sum(self.model._transform_gradients(gradient)))

    def predictor(self):
        self.evaluate(0.0)
        return lambda X: tuple(a[:, 0] for a in self.model.predict_noiseless(X))


class GPflow:
    def __init__(self, X, y, Z):
        import gpflow
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads())
        tf.config.threading.set_inter_op_parallelism_threads(threads())
        self.version, self.jitter, self.tf = gpflow.__version__, gpflow.default_jitter(), tf
        kernel = gpflow.kernels.SquaredExponential(VARIANCE, LENGTHSCALES)
        self.model = gpflow.models.SGPR((X, y[:, None]), kernel, Z, noise_variance=NOISE)
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

    def slope(self, gradient):
        return float(np.sum(gradient))

    def predictor(self):
        posterior = self.model.posterior()
        predict = self.tf.function(posterior.predict_f, reduce_retracing=True)
        return lambda X: tuple(a.numpy()[:, 0] for a in predict(X))


class GPyTorch:
    def __init__(self, X, y, Z):
        import gpytorch
        import torch

        torch.set_num_threads(threads())
        torch.set_default_dtype(torch.float64)
        self.version, self.jitter = f"{gpytorch.__version__} (PyTorch {torch.__version__})", 0.0
        self.gpytorch, self.torch = gpytorch, torch
        self.inputs, self.outputs = torch.from_numpy(X), torch.from_numpy(y)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()

        class Model(gpytorch.models.ExactGP):
            def __init__(self, inputs, outputs, likelihood):
                super().__init__(inputs, outputs, likelihood)
                self.mean_module = gpytorch.means.ZeroMean()
                base = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=D))
                self.covar_module = gpytorch.kernels.InducingPointKernel(base, torch.from_numpy(Z), likelihood)

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        self.model = Model(self.inputs, self.outputs, self.likelihood).double()
        self.model.train()
        self.evidence = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.model)
        kernel = self.model.covar_module.base_kernel
        kernel.outputscale = VARIANCE
        kernel.base_kernel.lengthscale = torch.from_numpy(LENGTHSCALES)[None, :]
        self.likelihood.noise_covar.noise = NOISE
        self.raws = list(self.model.parameters())
        self.starts = [raw.detach().clone() for raw in self.raws]

    def evaluate(self, shift):
        for raw, start in zip(self.raws, self.starts):
            raw.data.copy_(start + shift)
        self.model.zero_grad()
        value = self.evidence(self.model(self.inputs), self.outputs) * len(self.outputs)  # exact by default, here
        value.backward()
        return float(value), np.concatenate([raw.grad.numpy().ravel() for raw in self.raws])

    def slope(self, gradient):
        return float(np.sum(gradient))

    def predictor(self):
        self.model.eval()

        def predict(X):
            # Without its correction of the diagonal, by which it predicts as FITC would.
            with self.torch.no_grad(), self.gpytorch.settings.sgpr_diagonal_correction(False):
                f = self.model(self.torch.from_numpy(X))
                return f.mean.numpy(), f.variance.numpy()

        return predict


PEERS = {"gpy": GPy, "gpflow": GPflow, "gpytorch": GPyTorch}


def numpy_vfe(X, y, Z, jitter, Xstar=None):
    """The bound, or mean and variance at Xstar, as on the page."""
    from scipy.linalg import cholesky, solve_triangular

    def kernel(A, B):
        A, B = A / LENGTHSCALES, B / LENGTHSCALES
        return VARIANCE * np.exp(-0.5 * sum((A[:, d, None] - B[None, :, d]) ** 2 for d in range(D)))

    L = cholesky(kernel(Z, Z) + jitter * np.eye(len(Z)), lower=True)
    A = solve_triangular(L, kernel(Z, X), lower=True) / np.sqrt(NOISE)
    LB = cholesky(np.eye(len(Z)) + A @ A.T, lower=True)
    c = solve_triangular(LB, A @ y, lower=True) / np.sqrt(NOISE)
    if Xstar is not None:
        t1 = solve_triangular(L, kernel(Z, Xstar), lower=True)
        t2 = solve_triangular(LB, t1, lower=True)
        return t2.T @ c, VARIANCE - np.sum(t1**2, 0) + np.sum(t2**2, 0)
    trace = np.sum(VARIANCE / NOISE - np.sum(A**2, 0))
    log_determinant = 2 * np.sum(np.log(np.diag(LB))) + len(y) * np.log(2 * np.pi * NOISE)
    return -0.5 * (log_determinant + y @ y / NOISE - c @ c + trace)


def require(peer, what, value, expected):
    gap = np.max(np.abs(value - expected)) / np.max(np.abs(expected))
    if not gap <= TOLERANCE:
        sys.exit(f"{peer}: {what} is off by {gap:.1e} relative to what it should be")


def repeat(run):
    times = []
    while sum(times) < (TOO_LONG_SECONDS if len(times) < 3 else ENOUGH_SECONDS) and len(times) < MOST_RUNS:
        start = time.perf_counter()
        run(len(times) + 1)
        times.append(time.perf_counter() - start)
    return times


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_objective(peer, n, m):
    X, y = make_data(n)
    model = PEERS[peer](X, y, X[:m].copy())  # peers write into Z
    value, gradient = model.evaluate(0.0)  # traces, warms caches and pages
    times = repeat(lambda run: model.evaluate(1e-3 * run))
    peak = peak_bytes()
    if gradient.size != m * D + D + 2:
        sys.exit(f"{peer}: {gradient.size} entries in the gradient, not those of all parameters and inducing inputs")
    if m <= 100:
        require(peer, "the bound", value, numpy_vfe(X, y, X[:m], model.jitter))
        h = 1e-4
        difference = (model.evaluate(h)[0] - model.evaluate(-h)[0]) / (2 * h)
        model.evaluate(0.0)
        require(peer, "the gradient", model.slope(gradient), difference)
    return {"version": model.version, "seconds": statistics.median(times), "fastest": min(times), "runs": len(times),
            "value": value, "peak_bytes": peak}


def measure_predict(peer, n, m, rows, limit):
    X, y = make_data(n)
    model = PEERS[peer](X, y, X[:m].copy())  # peers write into Z
    predict = model.predictor()
    Xstar = np.random.default_rng(1).uniform(0.0, 1.0, (rows, D))
    mean, variance = np.empty(rows), np.empty(rows)

    def predict_all(_):
        for first in range(0, rows, BATCH):
            batch = slice(first, min(first + BATCH, rows))
            mean[batch], variance[batch] = predict(Xstar[batch])

    mean[:BATCH], variance[:BATCH] = predict(Xstar[:BATCH])  # makes what the peer keeps, warms
    before = time.perf_counter()
    predict(Xstar[:BATCH])
    forecast = (time.perf_counter() - before) * rows / min(rows, BATCH)
    if forecast > 2 * limit:
        return {"skipped": f"forecast {forecast:.0f} s exceeds {2 * limit:.0f} s"}
    times = repeat(predict_all)
    peak = peak_bytes()
    if m <= 100:
        expected = numpy_vfe(X, y, X[:m], model.jitter, Xstar[:100])
        require(peer, "the mean", mean[:100], expected[0])
        require(peer, "the variance", variance[:100], expected[1])
    return {"version": model.version, "seconds": statistics.median(times), "fastest": min(times), "runs": len(times),
            "rows": rows, "peak_bytes": peak}


def measure_apart(options, line, *task):
    """In a process of its own, ended when the limit is over."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **{name: str(options.threads) for name in names})
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), options.peer]
    command += ["--rows", str(options.rows), "--limit", str(options.limit), "--one", *map(str, task)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=4 * options.limit)
    except subprocess.TimeoutExpired:
        return line | {"skipped": f"still running after {4 * options.limit:.0f} s"}
    if done.returncode != 0:
        killed = f"ended by signal {-done.returncode}" if done.returncode < 0 else "no message"
        reason = (done.stderr.strip() or killed).splitlines()[-1]
        return line | {"skipped": f"failed: {reason}"}
    return line | {"threads": options.threads} | json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description="Times a peer's sparse regression.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--rows", type=int, default=36000)
    parser.add_argument("--inducing", default="100,500,1000")
    parser.add_argument("--predict", type=int, default=1000000, help="rows to predict; 0: none")
    parser.add_argument("--predict-inducing", type=int, default=500)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=120.0, help="skip what is forecast to take more; stop at four times")
    parser.add_argument("--one", nargs="+", type=int, help=argparse.SUPPRESS)  # M, or M and rows to predict
    options = parser.parse_args()
    if options.one:
        n, (m, *rows) = options.rows, options.one
        if rows:
            print(json.dumps(measure_predict(options.peer, n, m, *rows, options.limit)))
        else:
            print(json.dumps(measure_objective(options.peer, n, m)))
        return
    last = None
    for m in [int(size) for size in options.inducing.split(",")]:
        line = {"peer": options.peer, "task": "objective", "n": options.rows, "m": m}
        forecast = 2 * last["fastest"] * (m / last["m"]) ** 2 if last else 0.0
        if forecast > options.limit:
            line["skipped"] = f"forecast {forecast:.0f} s exceeds {options.limit:.0f} s"
        else:
            line = measure_apart(options, line, m)
            last = line if "seconds" in line else last
        print(json.dumps(line), flush=True)
    if options.predict:
        m = options.predict_inducing
        line = {"peer": options.peer, "task": "predict", "n": options.rows, "m": m}
        print(json.dumps(measure_apart(options, line, m, options.predict)), flush=True)


if __name__ == "__main__":
    main()
