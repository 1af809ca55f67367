"""The exact GP by GPflow. Its GPR adds no jitter.

Where its parametrisation differs: `periodic` has ½ sin²/ℓ² for our 2 sin²/ℓ², so its lengthscale is ℓ/2; `poly` is
(v xᵀx' + o)^p, so v = variance^(1/p) and o = offset·v. The gradients follow by the chain rule.

No answer for `matern12`: r² by |x|² + |x'|² − 2xᵀx' leaves rounding on the diagonal, its root is up to 1e-7, and
exp(−r), alone of these kernels, feels that in the first order (6e-8 seen in k(x, x) in eight dimensions).
"""

import gpflow
import numpy as np
import tensorflow as tf

from cases import Leaf, Product

VERSION = gpflow.__version__


def leaf_kernel(leaf):
    """The kernel, and a function that gives our gradient from GPflow's, which it asks for by parameter."""
    p = leaf.values
    k = gpflow.kernels
    place = {} if leaf.dims is None else {"active_dims": leaf.dims}
    if leaf.name in ("constant", "white"):
        kernel = {"constant": k.Constant, "white": k.White}[leaf.name](p["variance"], **place)
        return kernel, lambda g: {"variance": g(kernel.variance)}
    if leaf.name == "linear":
        name = "variances" if leaf.ard else "variance"
        kernel = k.Linear(p[name], **place)
        return kernel, lambda g: {name: g(kernel.variance)}
    if leaf.is_poly():
        v = p["variance"] ** (1 / leaf.degree())
        kernel = k.Polynomial(leaf.degree(), v, p["offset"] * v, **place)
        return kernel, lambda g: {
            "variance": (g(kernel.variance) + p["offset"] * g(kernel.offset)) * v / (leaf.degree() * p["variance"]),
            "offset": g(kernel.offset) * v,
        }
    if leaf.name == "cosine":
        kernel = k.Cosine(p["variance"], p["period"], **place)
        return kernel, lambda g: {"variance": g(kernel.variance), "period": g(kernel.lengthscales)}
    scales = np.array(p["lengthscales"]) if leaf.ard else p["lengthscales"][0]
    if leaf.name == "periodic":
        base = k.SquaredExponential(p["variance"], scales / 2, **place)
        kernel = k.Periodic(base, p["period"])
        return kernel, lambda g: {
            "variance": g(base.variance),
            "period": g(kernel.period),
            "lengthscales": g(base.lengthscales) / 2,
        }
    kinds = {
        "se": k.SquaredExponential,
        "matern32": k.Matern32,
        "matern52": k.Matern52,
        "rq": k.RationalQuadratic,
    }
    more = {"alpha": p["alpha"]} if leaf.name == "rq" else {}
    kernel = kinds[leaf.name](variance=p["variance"], lengthscales=scales, **more, **place)
    return kernel, lambda g: {"variance": g(kernel.variance), "lengthscales": g(kernel.lengthscales)} | {
        name: g(kernel.alpha) for name in more
    }


def build(kernel):
    if isinstance(kernel, Leaf):
        built, read = leaf_kernel(kernel)
        return built, [(kernel.path, read)]
    built, readers = zip(*(build(part) for part in kernel.parts))
    combine = gpflow.kernels.Product if isinstance(kernel, Product) else gpflow.kernels.Sum
    return combine(list(built)), [reader for part in readers for reader in part]


def evaluate(case, X, y, Xstar):
    if any(leaf.name == "matern12" for leaf in case.kernel.leaves()):
        return None
    kernel, readers = build(case.kernel)
    model = gpflow.models.GPR((X, y[:, None]), kernel, noise_variance=case.noise)
    with tf.GradientTape(persistent=True) as tape:
        value = model.log_marginal_likelihood()

    def gradient_by(parameter):
        """d value / d constrained parameter from the unconstrained one."""
        u = parameter.unconstrained_variable
        with tf.GradientTape() as inner:
            constrained = tf.reduce_sum(parameter.transform.forward(u))
        return (tape.gradient(value, u) / inner.gradient(constrained, u)).numpy()

    gradient = {f"{path}.{name}": g for path, read in readers for name, g in read(gradient_by).items()}
    gradient["likelihood.variance"] = gradient_by(model.likelihood.variance)
    mean, variance = model.predict_f(Xstar)
    shapes = {path: np.shape(v) for path, v in case.parameters().items()}
    return {
        "log_marginal_likelihood": float(value),
        "gradient": {path: g.reshape(shapes[path]).tolist() for path, g in gradient.items()},
        "mean": mean.numpy()[:, 0].tolist(),
        "variance_f": variance.numpy()[:, 0].tolist(),
    }
