"""The data sets, kernels and approximations at which Covary's sparse regression is compared with its peers."""

from dataclasses import dataclass

import numpy as np

from cases import name_paths, stationary

ALPHAS = [0.1, 0.5, 0.9]


@dataclass
class SparseCase:
    dataset: str
    kernel: object
    noise: float
    outputs: int = 1  # the first columns of Y
    mean_weights: list | None = None  # of 1, x_1, …, x_D: (1 + D) × outputs

    def parameters(self):
        values = {f"{leaf.path}.{name}": value for leaf in self.kernel.leaves() for name, value in leaf.values.items()}
        return values | {"likelihood.variance": self.noise}

    def label(self):
        mean = ", linear mean" if self.mean_weights else ""
        return f"{self.dataset}: {self.kernel.expression()}, outputs {self.outputs}{mean}"


def make_datasets():
    """Rounded to six decimals, so that the file holds exactly what was computed with."""

    def table(seed, n, d, m, n_star, low, high, f):
        rng = np.random.default_rng(seed)
        X = rng.uniform(low, high, (n, d))
        Y = np.stack([f(X), np.cos(X.sum(axis=1))], axis=1) + 0.2 * rng.standard_normal((n, 2))
        Z = np.linspace(low, high, m)[:, None] if d == 1 else rng.uniform(low, high, (m, d))
        Xstar = rng.uniform(1.2 * low, 1.2 * high, (n_star, d))
        return {name: np.round(value, 6) for name, value in {"X": X, "Y": Y, "Z": Z, "Xstar": Xstar}.items()}

    return {
        "line": table(21, 50, 1, 9, 6, -3.0, 3.0, lambda X: np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 0]),
        "three": table(22, 80, 3, 14, 5, -2.0, 2.0, lambda X: np.sin(X[:, 0]) * X[:, 1] + 0.1 * X[:, 2] ** 2),
    }


def make_cases():
    scales = [0.9, 1.6, 3.2]
    three_weights = [[0.3, -0.2], [0.5, 0.1], [-0.4, 0.2], [0.1, 0.6]]
    cases = [
        SparseCase("line", stationary("se", 1.3, 0.7), 0.04),
        SparseCase("line", stationary("matern32", 0.9, 1.1), 0.06),
        SparseCase("line", stationary("se", 1.3, 0.7), 0.04, 2),
        SparseCase("line", stationary("matern32", 0.9, 1.1), 0.06, 1, [[0.2], [0.4]]),
        SparseCase("three", stationary("se", 1.7, scales), 0.05),
        SparseCase("three", stationary("matern32", 1.7, scales), 0.05),
        SparseCase("three", stationary("se", 1.7, scales), 0.2, 2),
        SparseCase("three", stationary("matern32", 1.7, scales), 0.1, 2, three_weights),
    ]
    for case in cases:
        name_paths(case.kernel)
    return cases
