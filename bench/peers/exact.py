#!/usr/bin/env python3
"""Times a peer at one evaluation of the exact GP evidence with all its gradients: SE-ARD, D = 8.

    build/peers/gpy/bin/python bench/peers/exact.py gpy [--sizes 500,1000,2000,5000] [--threads T] [--limit SECONDS]

One JSON line for each N: peer, version, n, seconds (the median of hot runs at changing parameters), fastest, runs,
value (the log marginal likelihood at the starting parameters), peak_bytes, threads. An N whose forecast exceeds the
limit gives a line with "skipped" instead. Each N runs in a process of its own, so that its peak memory is its own.

At N = 500 value and gradient must agree with NumPy, so that the time is that of the right answer.
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

D = 8
VARIANCE, NOISE = 1.3, 0.1
LENGTHSCALES = np.linspace(0.5, 1.9, D)
GPY_JITTER = 1e-8  # what GPy adds to the noise variance on its own
TOLERANCE = 1e-8  # relative, for value and gradient against NumPy
ENOUGH_SECONDS = 8.0  # repeat for about so long, at most 15 times
TOO_LONG_SECONDS = 40.0  # and at least 3 times unless that takes longer than this


def make_data(n):
    rng = np.random.default_rng(n)
    X = rng.uniform(0.0, 1.0, (n, D))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, y


def numpy_evidence(X, y):
    """The evidence and its gradient in (variance, lengthscales, noise), as on the page."""
    n = len(y)
    A = X / LENGTHSCALES
    squares = [(A[:, d, None] - A[None, :, d]) ** 2 for d in range(D)]
    Kf = VARIANCE * np.exp(-0.5 * sum(squares))
    K = Kf + NOISE * np.eye(n)
    L = np.linalg.cholesky(K)
    Kinv = np.linalg.inv(K)
    alpha = Kinv @ y
    value = -0.5 * y @ alpha - np.sum(np.log(np.diag(L))) - 0.5 * n * np.log(2 * np.pi)
    W = 0.5 * (np.outer(alpha, alpha) - Kinv)
    lengthscales = [np.sum(W * Kf * squares[d]) / LENGTHSCALES[d] for d in range(D)]
    return value, np.array([np.sum(W * Kf) / VARIANCE, *lengthscales, np.trace(W)])


# Each peer gives (version, evaluate, slopes). evaluate(shift) adds the shift to every unconstrained parameter, as its
# own optimiser would (so nothing can be remembered from the run before), and returns the evidence and its gradient in
# the order variance, lengthscales, noise. slopes() is d(parameter)/d(what that gradient is taken in), not timed.


def prepare_scikit_learn(X, y):
    import sklearn
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(VARIANCE) * RBF(LENGTHSCALES) + WhiteKernel(NOISE)
    process = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X[:2], y[:2])
    process.X_train_, process.y_train_ = X, y  # fit would factor K once more, for predictions
    theta = process.kernel_.theta.copy()

    def evaluate(shift):
        return process.log_marginal_likelihood(theta + shift, eval_gradient=True, clone_kernel=False)

    return sklearn.__version__, evaluate, lambda: np.exp(theta)


def prepare_gpy(X, y):
    import GPy

    kernel = GPy.kern.RBF(D, variance=VARIANCE, lengthscale=LENGTHSCALES, ARD=True)
    model = GPy.models.GPRegression(X, y[:, None], kernel, noise_var=NOISE - GPY_JITTER)
    start = model.optimizer_array.copy()

    def evaluate(shift):
        model.optimizer_array = start + shift  # computes everything once
        return float(model.log_likelihood()), np.array(model.gradient)

    return GPy.__version__, evaluate, lambda: 1.0


def prepare_gpflow(X, y):
    import gpflow
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads())
    tf.config.threading.set_inter_op_parallelism_threads(threads())
    kernel = gpflow.kernels.SquaredExponential(VARIANCE, LENGTHSCALES)
    model = gpflow.models.GPR((X, y[:, None]), kernel, noise_variance=NOISE)
    parameters = [kernel.variance, kernel.lengthscales, model.likelihood.variance]
    variables = [parameter.unconstrained_variable for parameter in parameters]
    starts = [variable.numpy() for variable in variables]

    @tf.function
    def value_and_gradient():
        with tf.GradientTape() as tape:
            value = model.log_marginal_likelihood()
        return value, tape.gradient(value, variables)

    def evaluate(shift):
        for variable, start in zip(variables, starts):
            variable.assign(start + shift)
        value, gradients = value_and_gradient()
        return float(value), np.concatenate([np.ravel(g) for g in gradients])

    def slopes():
        with tf.GradientTape() as tape:
            total = sum(tf.reduce_sum(p.transform.forward(v)) for p, v in zip(parameters, variables))
        return np.concatenate([np.ravel(g) for g in tape.gradient(total, variables)])

    return gpflow.__version__, evaluate, slopes


def prepare_gpytorch(X, y):
    import gpytorch
    import torch

    torch.set_num_threads(threads())
    torch.set_default_dtype(torch.float64)
    inputs, outputs = torch.from_numpy(X), torch.from_numpy(y)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(inputs, outputs, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=D))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(likelihood).double()
    model.train()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    kernel, noise = model.covar_module, likelihood.noise_covar
    kernel.outputscale = VARIANCE
    kernel.base_kernel.lengthscale = torch.from_numpy(LENGTHSCALES)[None, :]
    noise.noise = NOISE
    raws = [kernel.raw_outputscale, kernel.base_kernel.raw_lengthscale, noise.raw_noise]
    starts = [raw.detach().clone() for raw in raws]

    def evaluate(shift):
        for raw, start in zip(raws, starts):
            raw.data.copy_(start + shift)
        model.zero_grad()
        # Cholesky, not conjugate gradients with a stochastic log-determinant: the others are exact too.
        with gpytorch.settings.fast_computations(False, False, False):
            value = evidence(model(inputs), outputs) * len(y)
            value.backward()
        return float(value), np.concatenate([raw.grad.numpy().ravel() for raw in raws])

    def slopes():
        values = [kernel.outputscale, kernel.base_kernel.lengthscale, noise.noise]
        gradients = torch.autograd.grad(sum(value.sum() for value in values), raws)
        return np.concatenate([g.numpy().ravel() for g in gradients])

    return f"{gpytorch.__version__} (PyTorch {torch.__version__})", evaluate, slopes


PREPARE = {
    "scikit-learn": prepare_scikit_learn,
    "gpy": prepare_gpy,
    "gpflow": prepare_gpflow,
    "gpytorch": prepare_gpytorch,
}


def threads():
    return int(os.environ["OMP_NUM_THREADS"])


def check(peer, value, gradient, X, y):
    expected, expected_gradient = numpy_evidence(X, y)
    gap = abs(value - expected) / abs(expected)
    gradient_gap = np.max(np.abs(gradient - expected_gradient)) / np.max(np.abs(expected_gradient))
    if not max(gap, gradient_gap) <= TOLERANCE:
        sys.exit(f"{peer} disagrees with NumPy: evidence {value!r} for {expected!r}, gradient off by {gradient_gap:.1e}")


def measure(peer, n):
    X, y = make_data(n)
    version, evaluate, slopes = PREPARE[peer](X, y)
    value, gradient = evaluate(0.0)  # traces, warms caches and pages
    times = []
    while sum(times) < (TOO_LONG_SECONDS if len(times) < 3 else ENOUGH_SECONDS) and len(times) < 15:
        start = time.perf_counter()
        evaluate(1e-3 * (len(times) + 1))
        times.append(time.perf_counter() - start)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if n <= 500:
        evaluate(0.0)
        check(peer, value, gradient / slopes(), X, y)
    return {
        "peer": peer,
        "version": version,
        "n": n,
        "seconds": statistics.median(times),
        "fastest": min(times),
        "runs": len(times),
        "value": value,
        "peak_bytes": peak_bytes,
        "threads": threads(),
    }


def measure_apart(peer, n, limit, thread_count):
    """In a process of its own, ended when the limit is over."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **{name: str(thread_count) for name in names})
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), peer, "--one", str(n)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2 * limit)
    except subprocess.TimeoutExpired:
        return {"peer": peer, "n": n, "skipped": f"still running after {2 * limit:.0f} s"}
    if done.returncode != 0:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        return {"peer": peer, "n": n, "skipped": f"failed: {reason}"}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description="Times a peer's exact evidence with gradients.")
    parser.add_argument("peer", choices=PREPARE)
    parser.add_argument("--sizes", default="500,1000,2000,5000")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=120.0, help="skip an N forecast to take more; stop it at twice")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.peer, options.one)))
        return
    last = None
    for n in [int(size) for size in options.sizes.split(",")]:
        # Two evaluations at least (one to warm), each growing with the cube of N.
        forecast = 2 * last["fastest"] * (n / last["n"]) ** 3 if last else 0.0
        if forecast > options.limit:
            line = {"peer": options.peer, "n": n, "skipped": f"forecast {forecast:.0f} s exceeds {options.limit:.0f} s"}
        else:
            line = measure_apart(options.peer, n, options.limit, options.threads)
            last = line if "seconds" in line else last
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
