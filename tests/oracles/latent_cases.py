"""The data sets, kernels and likelihoods at which inference for other likelihoods is compared with Covary's peers."""

from dataclasses import dataclass, field

import numpy as np

from cases import name_paths, stationary

CLASSES = 3
EPSILON = 0.01  # of robust_max


@dataclass
class LatentCase:
    dataset: str
    target: str  # a column of the data set
    kernel: object
    likelihood: str  # the expression
    likelihood_values: dict = field(default_factory=dict)
    mean: float = 0.0  # a constant mean function

    def parameters(self):
        values = {f"{leaf.path}.{name}": value for leaf in self.kernel.leaves() for name, value in leaf.values.items()}
        return values | {f"likelihood.{name}": value for name, value in self.likelihood_values.items()}

    def label(self):
        mean = f", mean {self.mean}" if self.mean else ""
        return f"{self.dataset}: {self.kernel.expression()}, {self.likelihood}{mean}"


def make_datasets():
    """Rounded to six decimals, so that the file holds exactly what was computed with.

    m and Ls are q(u) of whitened inducing variables: one column and one lower triangle a latent function.
    """

    def table(seed, n, d, m, n_star, f):
        rng = np.random.default_rng(seed)
        X, Xstar = rng.uniform(-3.0, 3.0, (n, d)), rng.uniform(-3.6, 3.6, (n_star, d))
        g, noise = f(X), rng.standard_normal((n, 3))
        columns = {
            "X": X,
            "Xstar": Xstar,
            "Z": np.linspace(-2.7, 2.7, m)[:, None] if d == 1 else rng.uniform(-2.7, 2.7, (m, d)),
            "labels": 1.0 * (g + 0.5 * noise[:, 0] > 0.0),
            "counts": rng.poisson(np.exp(0.8 * g + 0.5)).astype(float),
            "reals": g + 0.2 * noise[:, 1],
            "positives": np.exp(g + 0.4 * noise[:, 2]),
            "classes": np.digitize(g + 0.3 * noise[:, 0], [-0.5, 0.5]).astype(float),
            "m": 0.8 * rng.standard_normal((m, CLASSES)),
            "Ls": np.tril(0.2 * rng.standard_normal((CLASSES, m, m))) + 0.6 * np.eye(m),
        }
        return {name: np.round(value, 6) for name, value in columns.items()}

    return {
        "line": table(31, 24, 1, 5, 6, lambda X: np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 0]),
        "plane": table(32, 30, 2, 5, 5, lambda X: np.sin(X[:, 0]) + 0.4 * X[:, 1]),
    }


def kernels():
    return {"line": stationary("matern52", 1.6, 1.1), "plane": stationary("se", 2.2, [1.3, 1.9])}


def one_latent_cases():
    """For Laplace, EP and the full variational bound."""
    outliers = {"scale": 0.25, "degrees": 5.0}
    cases = []
    for dataset in ["line", "plane"]:
        for mean in [0.0, 0.4]:
            cases += [
                LatentCase(dataset, "labels", kernels()[dataset], "bernoulli(probit)", mean=mean),
                LatentCase(dataset, "labels", kernels()[dataset], "bernoulli(logit)", mean=mean),
                LatentCase(dataset, "counts", kernels()[dataset], "poisson", mean=mean),
                LatentCase(dataset, "reals", kernels()[dataset], "student_t", outliers, mean),
                LatentCase(dataset, "positives", kernels()[dataset], "exponential", mean=mean),
                LatentCase(dataset, "positives", kernels()[dataset], "gamma", {"shape": 2.3}, mean),
            ]
    for case in cases:
        name_paths(case.kernel)
    return cases


def inducing_cases():
    """For SVGP at a given q(u)."""
    cases = []
    for dataset in ["line", "plane"]:
        for mean in [0.0, 0.4]:
            cases += [
                LatentCase(dataset, "reals", kernels()[dataset], "gaussian", {"variance": 0.15}, mean),
                LatentCase(dataset, "labels", kernels()[dataset], "bernoulli(probit)", mean=mean),
                LatentCase(dataset, "labels", kernels()[dataset], "bernoulli(logit)", mean=mean),
            ]
        cases.append(LatentCase(dataset, "classes", kernels()[dataset], f"robust_max({CLASSES})", {"epsilon": EPSILON}))
    for case in cases:
        name_paths(case.kernel)
    return cases
