"""The exact GP by GPy. It adds 1e-8 to the noise variance, so that much is taken off what it is given.

Where its parametrisation differs: `rq` has (1 + r²/2)^−α, so its lengthscale is ℓ√α; `periodic` has ½ sin²/ℓ² for our
2 sin²/ℓ², so ℓ/2; `cosine` has cos(r), so period/2π. The gradients follow by the chain rule.
"""

import GPy
import numpy as np

from cases import Leaf, Product

VERSION = GPy.__version__
JITTER = 1e-8


def leaf_kernel(leaf, dimension):
    """The kernel, and a function that reads the gradient of such a kernel by our names."""
    p = leaf.values
    n = dimension if leaf.dims is None else len(leaf.dims)
    place = {"input_dim": n, "active_dims": leaf.dims}
    g = lambda parameter: np.array(parameter.gradient)
    if leaf.name in ("constant", "white"):
        kernel = {"constant": GPy.kern.Bias, "white": GPy.kern.White}[leaf.name](variance=p["variance"], **place)
        return kernel, lambda kernel: {"variance": g(kernel.variance)}
    if leaf.name == "linear":
        name = "variances" if leaf.ard else "variance"
        kernel = GPy.kern.Linear(variances=np.atleast_1d(p[name]), ARD=leaf.ard, **place)
        return kernel, lambda kernel: {name: g(kernel.variances)}
    if leaf.is_poly():
        kernel = GPy.kern.Poly(variance=p["variance"], scale=1.0, bias=p["offset"], order=leaf.degree(), **place)
        return kernel, lambda kernel: {"variance": g(kernel.variance), "offset": g(kernel.bias)}
    if leaf.name == "cosine":
        kernel = GPy.kern.Cosine(variance=p["variance"], lengthscale=p["period"] / (2 * np.pi), **place)
        return kernel, lambda kernel: {
            "variance": g(kernel.variance),
            "period": g(kernel.lengthscale) / (2 * np.pi),
        }
    scales = np.array(p["lengthscales"])
    if leaf.name == "periodic":
        kernel = GPy.kern.StdPeriodic(
            variance=p["variance"], period=p["period"], lengthscale=scales / 2, ARD2=leaf.ard, **place
        )
        return kernel, lambda kernel: {
            "variance": g(kernel.variance),
            "period": g(kernel.period),
            "lengthscales": g(kernel.lengthscale) / 2,
        }
    if leaf.name == "rq":
        root = np.sqrt(p["alpha"])
        kernel = GPy.kern.RatQuad(
            variance=p["variance"], lengthscale=scales * root, power=p["alpha"], ARD=leaf.ard, **place
        )
        return kernel, lambda kernel: {
            "variance": g(kernel.variance),
            "lengthscales": g(kernel.lengthscale) * root,
            "alpha": g(kernel.power) + np.sum(g(kernel.lengthscale) * scales) / (2 * root),
        }
    kinds = {
        "se": GPy.kern.RBF,
        "matern12": GPy.kern.Exponential,
        "matern32": GPy.kern.Matern32,
        "matern52": GPy.kern.Matern52,
    }
    kernel = kinds[leaf.name](variance=p["variance"], lengthscale=scales, ARD=leaf.ard, **place)
    return kernel, lambda kernel: {"variance": g(kernel.variance), "lengthscales": g(kernel.lengthscale)}


def build(kernel, dimension):
    if isinstance(kernel, Leaf):
        built, read = leaf_kernel(kernel, dimension)
        return built, [(kernel.path, read)]
    built, readers = zip(*(build(part, dimension) for part in kernel.parts))
    combine = GPy.kern.Prod if isinstance(kernel, Product) else GPy.kern.Add
    return combine(list(built)), [reader for part in readers for reader in part]


def leaves(kernel):
    """GPy copies a kernel into a sum or product, so gradients are read from the model's own leaves."""
    parts = kernel.parts if isinstance(kernel, GPy.kern.src.kern.CombinationKernel) else []
    return [leaf for part in parts for leaf in leaves(part)] or [kernel]


def evaluate(case, X, y, Xstar):
    kernel, readers = build(case.kernel, X.shape[1])
    model = GPy.models.GPRegression(X, y[:, None], kernel, noise_var=case.noise - JITTER)
    mean, variance = model.predict_noiseless(Xstar)
    gradient = {}
    for leaf, (path, read) in zip(leaves(model.kern), readers, strict=True):
        gradient |= {f"{path}.{name}": value for name, value in read(leaf).items()}
    gradient["likelihood.variance"] = np.array(model.likelihood.variance.gradient)
    shapes = {path: np.shape(value) for path, value in case.parameters().items()}
    return {
        "log_marginal_likelihood": float(model.log_likelihood()),
        "gradient": {path: value.reshape(shapes[path]).tolist() for path, value in gradient.items()},
        "mean": mean[:, 0].tolist(),
        "variance_f": variance[:, 0].tolist(),
    }
