"""The data sets and the kernels at which Covary is compared with its peers.

A kernel is a tree: Leaf(name, parameters) or Sum/Product of kernels. `expression` prints it in Covary's grammar and
`parameters` lists its values by Covary's paths; each peer translates the tree into its own kernels.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Leaf:
    name: str
    values: dict
    ard: bool = False
    dims: list | None = None
    path: str = ""

    def columns(self, X):
        return X if self.dims is None else X[:, self.dims]

    def expression(self):
        options = (["ard"] if self.ard else []) + ([str(self.degree())] if self.is_poly() else [])
        name = "poly" if self.is_poly() else self.name
        if self.dims is not None and len(self.dims) > 1:
            options.append("dims=" + ",".join(str(d) for d in self.dims))
        text = name + (f"({', '.join(options)})" if options else "")
        return text + (f"@{self.dims[0]}" if self.dims is not None and len(self.dims) == 1 else "")

    def is_poly(self):
        return self.name.startswith("poly")

    def degree(self):
        return int(self.name[len("poly"):])

    def leaves(self):
        return [self]


@dataclass
class Combination:
    parts: list
    path: str = ""

    def leaves(self):
        return [leaf for part in self.parts for leaf in part.leaves()]


class Sum(Combination):
    def expression(self):
        return " + ".join(part.expression() for part in self.parts)


class Product(Combination):
    def expression(self):
        return " * ".join(f"({p.expression()})" if isinstance(p, Sum) else p.expression() for p in self.parts)


@dataclass
class Case:
    dataset: str
    kernel: object
    noise: float

    def parameters(self):
        values = {f"{leaf.path}.{name}": value for leaf in self.kernel.leaves() for name, value in leaf.values.items()}
        return values | {"likelihood.variance": self.noise}


def name_paths(kernel, path="kernel"):
    kernel.path = path
    for i, part in enumerate(getattr(kernel, "parts", [])):
        name_paths(part, f"{path}.{i}")
    return kernel


def make_datasets():
    """Inputs and outputs rounded to six decimals, so that the file holds exactly what was computed with."""

    def table(seed, n, d, n_star, low, high, f):
        rng = np.random.default_rng(seed)
        X = np.round(rng.uniform(low, high, (n, d)), 6)
        y = np.round(f(X) + 0.2 * rng.standard_normal(n), 6)
        Xstar = np.round(rng.uniform(1.2 * low, 1.2 * high, (n_star, d)), 6)
        return {"X": X, "y": y, "Xstar": Xstar}

    return {
        "line": table(11, 30, 1, 7, -3.0, 3.0, lambda X: np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 0]),
        "three": table(12, 60, 3, 6, -2.0, 2.0, lambda X: np.sin(X[:, 0]) * X[:, 1] + 0.1 * X[:, 2] ** 2),
        "eight": table(13, 100, 8, 5, -1.0, 1.0, lambda X: np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]),
    }


DIMENSIONS = {"line": 1, "three": 3, "eight": 8}
STATIONARY = ["se", "matern12", "matern32", "matern52"]


def stationary(name, variance, lengthscales, dims=None, **more):
    scales = np.atleast_1d(np.asarray(lengthscales, float)).tolist()
    return Leaf(name, {"variance": variance, "lengthscales": scales, **more}, len(scales) > 1, dims)


def linear(variances):
    ard = isinstance(variances, list)
    return Leaf("linear", {"variances" if ard else "variance": variances}, ard)


def poly(degree, variance, offset):
    return Leaf(f"poly{degree}", {"variance": variance, "offset": offset})


def cosine(variance, period):
    return Leaf("cosine", {"variance": variance, "period": period})


def constant(variance):
    return Leaf("constant", {"variance": variance})


def white(variance):
    return Leaf("white", {"variance": variance})


def make_cases():
    s = stationary
    line = [s(name, 1.3, 0.8) for name in STATIONARY] + [
        s("se", 0.7, 0.25),
        s("rq", 1.1, 0.9, alpha=0.6),
        s("periodic", 0.9, 1.2, period=3.1),
        cosine(0.8, 2.9),
        linear(0.4),
        poly(2, 0.3, 0.7),
        poly(3, 0.1, 1.4),
        Sum([constant(0.6), white(0.15)]),
        Sum([s("se", 1.2, 0.7), white(0.08)]),
        Sum([s("matern52", 1.2, 0.7), linear(0.3), constant(0.5)]),
        Product([s("periodic", 1.4, 1.1, period=3.2), s("se", 0.8, 2.5)]),
        Product([cosine(1.1, 3.0), s("se", 0.9, 1.7)]),
        Product([linear(0.5), s("se", 0.9, 1.5)]),
        Sum([Product([s("periodic", 0.9, 1.3, period=3.0), s("matern32", 1.2, 4.0)]), s("rq", 0.4, 1.5, alpha=2.2)]),
        Product([Sum([s("se", 0.6, 0.9), constant(0.4)]), s("matern12", 1.5, 3.0)]),
    ]
    scales = [0.9, 1.6, 3.2]
    three = [s(name, 1.7, 1.3) for name in STATIONARY] + [s(name, 1.7, scales) for name in STATIONARY] + [
        s("rq", 1.2, 1.4, alpha=1.3),
        s("rq", 1.2, scales, alpha=0.8),
        s("periodic", 1.1, 1.9, period=4.5),
        s("periodic", 1.1, scales, period=4.5),
        linear(0.6),
        linear([0.6, 0.2, 0.9]),
        poly(2, 0.2, 1.1),
        Sum([s("se", 1.4, scales), white(0.05)]),
        Sum([s("se", 1.4, scales), linear([0.1, 0.3, 0.2])]),
        Sum([s("se", 0.8, 0.9, [0]), s("se", 1.1, 1.5, [1])]),
        Product([s("matern32", 1.3, 1.2, [0, 1]), s("periodic", 0.9, 1.6, [2], period=2.7)]),
        Product([s("matern52", 1.2, scales), poly(2, 0.3, 0.9)]),
    ]
    scales = [0.5, 1.0, 0.9, 1.7, 4.0, 6.0, 2.8, 9.0]
    eight = [
        s("se", 1.5, 1.4),
        s("se", 1.5, scales),
        s("matern12", 1.5, scales),
        s("matern32", 1.5, scales),
        s("matern52", 1.5, 1.4),
        s("rq", 1.5, 1.4, alpha=1.9),
        s("rq", 1.5, scales, alpha=1.9),
        linear(0.4),
        poly(3, 0.05, 1.5),
        Sum([constant(0.7), linear([0.1 * (d + 1) for d in range(8)]), s("se", 1.1, scales)]),
        Sum([s("matern52", 1.1, scales), white(0.1)]),
        Product([s("se", 1.2, scales), s("rq", 0.9, 3.0, alpha=0.7)]),
    ]
    noises = {"line": 0.04, "three": 0.05, "eight": 0.03}
    groups = {"line": line, "three": three, "eight": eight}
    return [Case(name, name_paths(kernel), noises[name]) for name, kernels in groups.items() for kernel in kernels]
