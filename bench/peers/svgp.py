#!/usr/bin/env python3
"""Times a peer at minibatch training of an SVGP: SE-ARD, D = 8, natural gradients for q and Adam for the rest.

    build/peers/gpflow/bin/python bench/peers/svgp.py gpflow [--batch 256] [--inducing 200] [--threads T]
        [--limit SECONDS]

The data are those of bench/svgp_bench.cpp, to the bit, and so are the inducing inputs, the steps and their lengths. One
JSON line for each likelihood: peer, version, case, n, batch, m, threads, seconds (the median of hot steps: the bound of
a batch with all gradients and both steps), fastest, steps, bound (a row's, the mean of the last batches, in the units
of the data). Each runs in a process of its own; one that takes longer than the limit gives a line with "skipped".

GPflow steps as one compiled tf.function. GPyTorch has no compiled form of its training; its Bernoulli likelihood has
the probit link alone.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from latent import uniforms

D = 8
STEPS, COLD, PASSES = 300, 60, 4
NATURAL_STEP, LEARNING_RATE = 0.1, 0.02
CASES = ["bernoulli(logit)", "gaussian"]


def make_data(case, batch):
    """Scaled inputs and targets, and by what the targets were divided."""
    n = batch * (STEPS // PASSES)
    uniform = uniforms(n)
    X = np.array([next(uniform) for _ in range(n * D)]).reshape(n, D)
    y = np.empty(n)
    for i, x in enumerate(X):
        radius = math.sqrt(-2.0 * math.log(1.0 - next(uniform)))
        y[i] = math.sin(6.0 * x[0]) + x[1] * x[2] + 0.3 * radius * math.cos(2.0 * math.pi * next(uniform))
    X = (X - X.mean(0)) / X.std(0)
    if case.startswith("bernoulli"):
        return X, (y > 0.0).astype(float), 1.0
    return X, (y - y.mean()) / y.std(), y.std()


class Batches:
    """Every pass visits every row once, in an order of its own."""

    def __init__(self, X, y, size):
        self.X, self.y, self.size, self.random = X, y, size, np.random.default_rng(0)

    def __call__(self, step):
        per_pass = len(self.y) // self.size
        if step % per_pass == 0:
            self.order = self.random.permutation(len(self.y))
        rows = self.order[step % per_pass * self.size :][: self.size]
        return self.X[rows], self.y[rows]


# Each peer has `version`, step(X, y): one step of all parameters, which returns the bound of the batch, probability(X)
# of label 1, and warm_up(X, y) for what it does once, before any step. One lengthscale is shared by all columns.


class GPflow:
    def __init__(self, case, Z, n, threads, variance, lengthscales):
        import gpflow
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        self.version, self.tf = gpflow.__version__, tf
        likelihood = (gpflow.likelihoods.Bernoulli(invlink=tf.sigmoid) if case.startswith("bernoulli")
                      else gpflow.likelihoods.Gaussian(0.1))
        lengths = lengthscales if len(lengthscales) > 1 else lengthscales[0]
        kernel = gpflow.kernels.SquaredExponential(variance, lengths)
        self.model = gpflow.models.SVGP(kernel, likelihood, Z.copy(), num_data=n)
        gpflow.set_trainable(self.model.q_mu, False)
        gpflow.set_trainable(self.model.q_sqrt, False)
        natural = gpflow.optimizers.NaturalGradient(gamma=NATURAL_STEP)
        adam = tf.optimizers.Adam(LEARNING_RATE)
        q, rest = [(self.model.q_mu, self.model.q_sqrt)], self.model.trainable_variables
        adam.build(rest)

        @tf.function
        def step(X, y):
            with tf.GradientTape() as tape:
                loss = self.model.training_loss((X, y))
            adam.apply_gradients(zip(tape.gradient(loss, rest), rest))
            natural.minimize(lambda: self.model.training_loss((X, y)), q)
            return -loss

        self.compiled = step

    def warm_up(self, X, y):  # compiles
        self.compiled.get_concrete_function(self.tf.constant(X), self.tf.constant(y[:, None]))

    def step(self, X, y):
        return float(self.compiled(self.tf.constant(X), self.tf.constant(y[:, None])))

    def probability(self, X):
        return np.ravel(self.model.predict_y(X)[0])


class GPyTorch:
    def __init__(self, case, Z, n, threads, variance, lengthscales):
        import gpytorch
        import torch

        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(0)
        self.version = f"{gpytorch.__version__} (PyTorch {torch.__version__})"
        self.torch, self.n = torch, n

        class Model(gpytorch.models.ApproximateGP):
            def __init__(self):
                q = gpytorch.variational.NaturalVariationalDistribution(len(Z))
                super().__init__(gpytorch.variational.VariationalStrategy(self, torch.from_numpy(Z.copy()), q))
                self.mean_module = gpytorch.means.ZeroMean()
                ard = len(lengthscales) if len(lengthscales) > 1 else None
                self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=ard))
                self.covar_module.outputscale = variance
                self.covar_module.base_kernel.lengthscale = torch.tensor([lengthscales])

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        bernoulli = case.startswith("bernoulli")
        self.model = Model()
        self.likelihood = (gpytorch.likelihoods.BernoulliLikelihood() if bernoulli
                           else gpytorch.likelihoods.GaussianLikelihood())
        if not bernoulli:
            self.likelihood.noise = 0.1
        self.elbo = gpytorch.mlls.VariationalELBO(self.likelihood, self.model, num_data=n)
        self.natural = gpytorch.optim.NGD(self.model.variational_parameters(), num_data=n, lr=NATURAL_STEP)
        rest = list(self.model.hyperparameters()) + list(self.likelihood.parameters())
        self.adam = torch.optim.Adam(rest, lr=LEARNING_RATE)
        self.model.train()
        self.likelihood.train()

    def warm_up(self, X, y):
        pass

    def step(self, X, y):
        self.natural.zero_grad()
        self.adam.zero_grad()
        bound = self.elbo(self.model(self.torch.from_numpy(X)), self.torch.from_numpy(y))
        (-bound).backward()
        self.natural.step()
        self.adam.step()
        return float(bound.detach()) * self.n

    def probability(self, X):
        self.model.eval()
        with self.torch.no_grad():
            p = self.likelihood(self.model(self.torch.from_numpy(X))).mean.numpy()
        self.model.train()
        return p


PEERS = {"gpflow": GPflow, "gpytorch": GPyTorch}


def measure(options, case):
    X, y, scale = make_data(case, options.batch)
    Z, lengthscales = X[: options.inducing], [math.sqrt(D)] * D
    peer = PEERS[options.peer](case, Z, len(y), options.threads, 1.0, lengthscales)
    batches, bounds, times = Batches(X, y, options.batch), [], []
    for step in range(STEPS):
        X_batch, y_batch = batches(step)
        begin = time.perf_counter()
        bounds.append(peer.step(X_batch, y_batch))
        times.append(time.perf_counter() - begin)
    if not np.mean(bounds[-50:]) > bounds[0]:
        sys.exit("the bound did not rise")
    hot = times[COLD:]
    return {"version": peer.version, "n": len(y), "seconds": statistics.median(hot), "fastest": min(hot),
            "steps": STEPS, "bound": float(np.mean(bounds[-50:])) / len(y) - math.log(scale)}


def measure_apart(options, case):
    line = {"peer": options.peer, "case": case, "batch": options.batch, "m": options.inducing,
            "threads": options.threads}
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **{name: str(options.threads) for name in names})
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), *sys.argv[1:], "--one", case]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return line | {"skipped": f"still running after {options.limit:.0f} s"}
    if done.returncode != 0:
        return line | {"skipped": f"failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}"}
    return line | json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description="Times a peer's training of an SVGP by minibatches.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--inducing", type=int, default=200)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a case is stopped")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the case
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options, options.one)))
        return
    for case in CASES:
        print(json.dumps(measure_apart(options, case)), flush=True)


if __name__ == "__main__":
    main()
