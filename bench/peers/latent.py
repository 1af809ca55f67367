#!/usr/bin/env python3
"""Times a peer at Laplace or EP on labels: the log evidence with its gradient from a cold start, SE-ARD, D = 2.

    build/peers/gpy/bin/python bench/peers/latent.py gpy [--sizes 1000] [--threads T] [--limit SECONDS]

The data and parameters are those of bench/latent_bench.cpp, to the bit. One JSON line for each N and each case that the
peer has: peer, version, case ("laplace bernoulli(logit)", …), n, threads, seconds (the median of hot runs at changing
parameters), fastest, runs, value and gradient (by variance and lengthscales) at the starting parameters. Each runs in a
process of its own; one that takes longer than four times the limit gives a line with "skipped".

A peer is timed at its own tolerance; bench/latent_report.py says how far its value and gradient are from ours.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys

import numpy as np

from sparse import repeat

VARIANCE, LENGTHSCALES = 4.0, [0.9, 2.0]
MASK = 2**64 - 1


def uniforms(seed):
    """SplitMix64, 53 bits, as bench/problem.hpp has it."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def make_data(n):
    uniform = uniforms(n)
    X, y = np.empty((n, 2)), np.empty(n)
    for i in range(n):
        X[i] = [6.0 * next(uniform) - 3.0 for _ in range(2)]
        f = 3.0 * math.sin(1.5 * X[i, 0]) + X[i, 1]
        y[i] = 1.0 if next(uniform) < 1.0 / (1.0 + math.exp(-f)) else 0.0
    return X, y


# Each case gives (version, evaluate): evaluate(shift) multiplies all parameters by exp(shift), starts anew and returns
# the value with its gradient by variance and lengthscales.


def scikit_learn_laplace(X, y):
    import sklearn
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(VARIANCE) * RBF(LENGTHSCALES)
    classifier = GaussianProcessClassifier(kernel, optimizer=None).fit(np.repeat(X[:1], 2, 0), [0, 1])
    binary = classifier.base_estimator_
    binary.X_train_, binary.y_train_ = X, y.astype(int)  # fit would evaluate once more, for predictions
    theta = np.log([VARIANCE, *LENGTHSCALES])

    def evaluate(shift):
        value, slopes = binary.log_marginal_likelihood(theta + shift, eval_gradient=True, clone_kernel=False)
        return float(value), slopes / np.exp(theta + shift)

    return sklearn.__version__, evaluate


def gpy(inference):
    def prepare(X, y):
        import GPy

        np.random.seed(0)  # EP visits the sites in a random order
        kernel = GPy.kern.RBF(2, variance=VARIANCE, lengthscale=np.array(LENGTHSCALES), ARD=True)
        model = GPy.core.GP(X, y[:, None], kernel, GPy.likelihoods.Bernoulli(), inference_method=inference())
        start = np.array([VARIANCE, *LENGTHSCALES])

        def evaluate(shift):
            model.kern[:] = start * np.exp(shift)  # computes everything once
            return float(np.squeeze(model.log_likelihood())), np.array(model.kern.gradient)

        return GPy.__version__, evaluate

    return prepare


def gpy_laplace():
    from GPy.inference.latent_function_inference import Laplace

    return Laplace()


def gpy_ep():
    from GPy.inference.latent_function_inference import EP

    # By default the sites would stay those of the first parameters.
    return EP(ep_mode="nested", always_reset=True)


PEERS = {
    "scikit-learn": {"laplace bernoulli(logit)": scikit_learn_laplace},
    "gpy": {"laplace bernoulli(probit)": gpy(gpy_laplace), "ep bernoulli(probit)": gpy(gpy_ep)},
}


def measure(peer, case, n):
    version, evaluate = PEERS[peer][case](*make_data(n))
    value, gradient = evaluate(0.0)
    others = []
    times = repeat(lambda run: others.append(evaluate(1e-3 * run)[0]))
    if len({value, *others}) != len(others) + 1:
        sys.exit("the value does not follow the parameters")
    return {"version": version, "seconds": statistics.median(times), "fastest": min(times), "runs": len(times),
            "value": value, "gradient": gradient.tolist()}


def measure_apart(options, case, n):
    line = {"peer": options.peer, "case": case, "n": n, "threads": options.threads}
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict(os.environ, **{name: str(options.threads) for name in names})
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), options.peer, "--one", case, str(n)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=4 * options.limit)
    except subprocess.TimeoutExpired:
        return line | {"skipped": f"still running after {4 * options.limit:.0f} s"}
    if done.returncode != 0:
        return line | {"skipped": f"failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}"}
    return line | json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description="Times a peer's Laplace and EP.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--sizes", default="1000")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=60.0, help="a quarter of the time at which a case is stopped")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # case and N
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.peer, options.one[0], int(options.one[1]))))
        return
    for n in [int(size) for size in options.sizes.split(",")]:
        for case in PEERS[options.peer]:
            print(json.dumps(measure_apart(options, case, n)), flush=True)


if __name__ == "__main__":
    main()
