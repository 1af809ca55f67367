"""Covary's definitions written twice, apart from any peer: in NumPy with blocks, and in mpmath point by point.

The NumPy functions are holomorphic in the parameters, so a complex step gives derivatives without subtraction:
∂f/∂θ = Im f(θ + ih)/h with h = 1e-30.
"""

import mpmath
import numpy as np
from scipy.linalg import lu_factor, lu_solve

from cases import Leaf, Product


def leaf_block(leaf, p, X, X2):
    A, B = leaf.columns(X), leaf.columns(X2)
    if leaf.name == "constant":
        return p["variance"] * np.ones((len(A), len(B)))
    if leaf.name == "white":
        return p["variance"] * np.eye(len(A)) if X is X2 else np.zeros((len(A), len(B)))
    if leaf.name == "linear":
        return (A * p["variances" if leaf.ard else "variance"]) @ B.T
    if leaf.is_poly():
        return p["variance"] * (p["offset"] + A @ B.T) ** leaf.degree()
    difference = A[:, None, :] - B[None, :, :]
    if leaf.name == "cosine":
        return p["variance"] * np.cos(2 * np.pi * np.sum(difference / p["period"], axis=-1))
    if leaf.name == "periodic":
        sines = np.sin(np.pi * difference / p["period"]) / p["lengthscales"]
        return p["variance"] * np.exp(-2 * np.sum(sines**2, axis=-1))
    r2 = np.sum((difference / p["lengthscales"]) ** 2, axis=-1)
    if leaf.name == "se":
        return p["variance"] * np.exp(-r2 / 2)
    if leaf.name == "rq":
        return p["variance"] * (1 + r2 / (2 * p["alpha"])) ** (-p["alpha"])
    r = np.sqrt(r2)
    if leaf.name == "matern12":
        return p["variance"] * np.exp(-r)
    if leaf.name == "matern32":
        return p["variance"] * (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)
    if leaf.name == "matern52":
        return p["variance"] * (1 + np.sqrt(5) * r + 5 * r2 / 3) * np.exp(-np.sqrt(5) * r)
    raise ValueError(f"no formula for the kernel {leaf.name}")


def block(kernel, theta, X, X2):
    """K(X, X2); white noise only when X2 is X itself, for it is part of f by row identity."""
    if isinstance(kernel, Leaf):
        return leaf_block(kernel, {name: theta[f"{kernel.path}.{name}"] for name in kernel.values}, X, X2)
    blocks = [block(part, theta, X, X2) for part in kernel.parts]
    return np.prod(blocks, axis=0) if isinstance(kernel, Product) else np.sum(blocks, axis=0)


def log_marginal_likelihood(kernel, theta, X, y):
    """−½ yᵀK⁻¹y − ½ log|K| − ½ N log 2π, by LU since a complex step has no Cholesky factor."""
    lu = lu_factor(block(kernel, theta, X, X) + theta["likelihood.variance"] * np.eye(len(y)))
    pivots = np.diag(lu[0])
    log_determinant = np.sum(np.log(np.where(pivots.real < 0, -pivots, pivots)))
    return -0.5 * (y @ lu_solve(lu, y) + log_determinant + len(y) * np.log(2 * np.pi))


def gradient(kernel, theta, X, y, h=1e-30):
    theta = {path: np.asarray(value, float) for path, value in theta.items()}
    result = {}
    for path, value in theta.items():
        derivatives = np.zeros(value.size)
        for i in range(value.size):
            step = np.zeros(value.size)
            step[i] = h
            stepped = theta | {path: value + 1j * step.reshape(value.shape)}
            derivatives[i] = log_marginal_likelihood(kernel, stepped, X, y).imag / h
        result[path] = derivatives.reshape(value.shape).tolist()
    return result


def evaluate(kernel, theta, X, y, Xstar):
    Ks = block(kernel, theta, X, Xstar)
    K = block(kernel, theta, X, X) + theta["likelihood.variance"] * np.eye(len(y))
    return {
        "log_marginal_likelihood": float(log_marginal_likelihood(kernel, theta, X, y)),
        "gradient": gradient(kernel, theta, X, y),
        "mean": (Ks.T @ np.linalg.solve(K, y)).tolist(),
        "variance_f": (np.diag(block(kernel, theta, Xstar, Xstar)) - np.sum(Ks * np.linalg.solve(K, Ks), 0)).tolist(),
    }


def leaf_at(leaf, x, z, same_row):
    """k(x, z) of two points in mpmath numbers."""
    m = mpmath
    dims = range(len(x)) if leaf.dims is None else leaf.dims
    p = {name: [m.mpf(v) for v in np.atleast_1d(value).tolist()] for name, value in leaf.values.items()}
    each = lambda name, d: p[name][d if leaf.ard else 0]
    if leaf.name == "linear":
        return m.fsum(each("variances" if leaf.ard else "variance", i) * x[d] * z[d] for i, d in enumerate(dims))
    variance = p["variance"][0]
    if leaf.name == "constant":
        return variance
    if leaf.name == "white":
        return variance if same_row else m.mpf(0)
    if leaf.is_poly():
        return variance * (p["offset"][0] + m.fsum(x[d] * z[d] for d in dims)) ** leaf.degree()
    if leaf.name == "cosine":
        return variance * m.cos(2 * m.pi * m.fsum((x[d] - z[d]) / p["period"][0] for d in dims))
    if leaf.name == "periodic":
        sines = (m.sin(m.pi * (x[d] - z[d]) / p["period"][0]) / each("lengthscales", i) for i, d in enumerate(dims))
        return variance * m.exp(-2 * m.fsum(s * s for s in sines))
    r2 = m.fsum(((x[d] - z[d]) / each("lengthscales", i)) ** 2 for i, d in enumerate(dims))
    if leaf.name == "se":
        return variance * m.exp(-r2 / 2)
    if leaf.name == "rq":
        alpha = p["alpha"][0]
        return variance * m.exp(-alpha * m.log(1 + r2 / (2 * alpha)))
    nu2 = {"matern12": 1, "matern32": 3, "matern52": 5}[leaf.name]
    t = m.sqrt(nu2 * r2)
    return variance * m.exp(-t) * {1: 1, 3: 1 + t, 5: 1 + t + t * t / 3}[nu2]


def kernel_at(kernel, x, z, same_row):
    if isinstance(kernel, Leaf):
        return leaf_at(kernel, x, z, same_row)
    values = [kernel_at(part, x, z, same_row) for part in kernel.parts]
    return mpmath.fprod(values) if isinstance(kernel, Product) else mpmath.fsum(values)


def log_marginal_likelihood_in_30_digits(kernel, noise, X, y):
    """The evidence by a Cholesky factorisation in 30 digits: the judge of everyone's rounding."""
    with mpmath.workdps(30):
        points = [[mpmath.mpf(v) for v in row] for row in X.tolist()]
        L, log_determinant, square = [], mpmath.mpf(0), mpmath.mpf(0)
        a = []  # L⁻¹y
        for i, x in enumerate(points):
            row = []
            for j in range(i + 1):
                k = kernel_at(kernel, x, points[j], i == j) + (mpmath.mpf(noise) if i == j else 0)
                rest = k - sum((u * v for u, v in zip(row, L[j] if j < i else row)), mpmath.mpf(0))
                row.append(mpmath.sqrt(rest) if i == j else rest / L[j][j])
            L.append(row)
            log_determinant += 2 * mpmath.log(row[i])
            a.append((mpmath.mpf(float(y[i])) - sum((u * v for u, v in zip(row, a)), mpmath.mpf(0))) / row[i])
            square += a[i] ** 2
        return float(-(square + log_determinant + len(points) * mpmath.log(2 * mpmath.pi)) / 2)
