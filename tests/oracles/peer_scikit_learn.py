"""The exact GP by scikit-learn. No jitter of its own: alpha is the noise variance.

A kernel's variance is a ConstantKernel factor; gradients come in log θ. Lacks active dimensions, ARD for `rq` and
`linear`, and `cosine`; `periodic` is a function of the Euclidean distance, so the same only in one dimension.
"""

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from cases import Leaf, Product

VERSION = sklearn.__version__


class Unsupported(Exception):
    pass


def leaf_kernel(leaf, dimension):
    """The kernel, and for each entry of its θ in order (path, index, d value / d log θ)."""
    p = leaf.values
    names = lambda name: [(name, i, v) for i, v in enumerate(np.atleast_1d(p[name]))]
    scaled = lambda kernel, *entries: (ConstantKernel(p["variance"]) * kernel, names("variance") + sum(entries, []))
    if leaf.dims is not None or leaf.name == "cosine":
        raise Unsupported
    if leaf.name == "constant":
        return ConstantKernel(p["variance"]), names("variance")
    if leaf.name == "white":
        return WhiteKernel(p["variance"]), names("variance")
    if leaf.is_poly():
        kernel = DotProduct(sigma_0=np.sqrt(p["offset"])) ** leaf.degree()
        return scaled(kernel, [("offset", 0, 2 * p["offset"])])
    if leaf.name == "linear":
        if leaf.ard:
            raise Unsupported
        return scaled(DotProduct(0.0, "fixed"))
    scales = p["lengthscales"] if leaf.ard else p["lengthscales"][0]
    if leaf.name == "se":
        return scaled(RBF(scales), names("lengthscales"))
    if leaf.name.startswith("matern"):
        nu = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}[leaf.name]
        return scaled(Matern(scales, nu=nu), names("lengthscales"))
    if leaf.name == "rq" and not leaf.ard:
        return scaled(RationalQuadratic(scales, p["alpha"]), names("alpha"), names("lengthscales"))
    if leaf.name == "periodic" and dimension == 1:
        return scaled(ExpSineSquared(scales, p["period"]), names("lengthscales"), names("period"))
    raise Unsupported


def build(kernel, dimension):
    if isinstance(kernel, Leaf):
        built, entries = leaf_kernel(kernel, dimension)
        return built, [(f"{kernel.path}.{name}", i, slope) for name, i, slope in entries]
    result, entries = build(kernel.parts[0], dimension)
    for part in kernel.parts[1:]:
        other, more = build(part, dimension)
        result = result * other if isinstance(kernel, Product) else result + other
        entries = entries + more
    return result, entries


def evaluate(case, X, y, Xstar):
    try:
        kernel, entries = build(case.kernel, X.shape[1])
    except Unsupported:
        return None
    # Noise as a WhiteKernel gives its gradient; noise as alpha leaves it out of the predicted variance.
    with_noise = kernel + WhiteKernel(case.noise)
    entries = entries + [("likelihood.variance", 0, case.noise)]
    process = GaussianProcessRegressor(with_noise, alpha=0.0, optimizer=None).fit(X, y)
    value, slopes = process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True)
    gradient = {path: np.zeros(np.shape(v)) for path, v in case.parameters().items()}
    assert len(entries) == len(slopes)
    for (path, i, slope), g in zip(entries, slopes):
        gradient[path].reshape(-1)[i] = g / slope
    process = GaussianProcessRegressor(kernel, alpha=case.noise, optimizer=None).fit(X, y)
    mean, deviation = process.predict(Xstar, return_std=True)
    return {
        "log_marginal_likelihood": float(value),
        "gradient": {path: g.tolist() for path, g in gradient.items()},
        "mean": mean.tolist(),
        "variance_f": (deviation**2).tolist(),
    }
