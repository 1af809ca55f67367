"""The full variational bound (VGP) at its optimum, and SVGP at a given q(u), by GPflow.

Its Bernoulli squashes Φ(f) by 1e-3 and takes the logarithm of 1 − p, so its log density is replaced by the logarithm of
the link itself; its robust-max squashes by 1e-6, which is set to zero. Quadrature has NODES nodes. Its gamma has the
mean shape·exp(f), ours exp(f): the mean function takes the difference up.
"""

import gpflow
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from latent_cases import CLASSES
from peer_gpflow import VERSION, build

__all__ = ["VERSION", "evaluate", "evaluate_inducing"]

NODES = 100
INDUCING_JITTER = 1e-8  # absolute, on Kuu

LOG_LINKS = {
    "bernoulli(probit)": tfp.distributions.Normal(np.float64(0.0), np.float64(1.0)).log_cdf,
    "bernoulli(logit)": tf.math.log_sigmoid,
}


class Labels(gpflow.likelihoods.Bernoulli):
    def __init__(self, log_link):
        super().__init__(invlink=lambda f: tf.exp(log_link(f)))
        self.log_link = log_link

    def _scalar_log_prob(self, X, F, Y):
        return self.log_link(tf.where(tf.equal(Y, 1), F, -F))


def likelihood_of(case):
    p = case.likelihood_values
    if case.likelihood in LOG_LINKS:
        likelihood = Labels(LOG_LINKS[case.likelihood])
    elif case.likelihood == "student_t":
        likelihood = gpflow.likelihoods.StudentT(scale=p["scale"], df=p["degrees"])
    elif case.likelihood == "gamma":
        likelihood = gpflow.likelihoods.Gamma(shape=p["shape"])
    elif case.likelihood == "gaussian":
        likelihood = gpflow.likelihoods.Gaussian(p["variance"])
    elif case.likelihood.startswith("robust_max"):
        link = gpflow.likelihoods.RobustMax(CLASSES, epsilon=p["epsilon"])
        link._squash = 0.0
        likelihood = gpflow.likelihoods.MultiClass(CLASSES, invlink=link)
        likelihood.num_gauss_hermite_points = NODES
        return likelihood
    else:
        likelihood = {"poisson": gpflow.likelihoods.Poisson, "exponential": gpflow.likelihoods.Exponential}[
            case.likelihood
        ]()
    likelihood.quadrature = gpflow.quadrature.NDiagGHQuadrature(1, NODES)
    return likelihood


def offset(case):
    """What our f exceeds GPflow's by."""
    return np.log(case.likelihood_values["shape"]) if case.likelihood == "gamma" else 0.0


def mean_function(case):
    return gpflow.functions.Constant([case.mean - offset(case)])


def climb(model):
    """Natural gradients to the optimum: with step one they may overshoot where log p is not concave."""
    pairs = [(model.q_mu, model.q_sqrt)]
    optimiser = gpflow.optimizers.NaturalGradient(gamma=0.5)
    step = tf.function(lambda: optimiser.minimize(model.training_loss, pairs))
    for _ in range(400):
        step()
    with tf.GradientTape() as tape:
        value = model.elbo()
    slopes = tape.gradient(value, [model.q_mu.unconstrained_variable, model.q_sqrt.unconstrained_variable])
    steepest = max(float(tf.reduce_max(tf.abs(slope))) for slope in slopes)
    assert steepest < 1e-7, f"not at the optimum: a slope of {steepest:.1e} is left"


def by_parameter(tape, value):
    """d value / d constrained parameter, from the unconstrained one."""

    def gradient(parameter):
        u = parameter.unconstrained_variable
        with tf.GradientTape() as inner:
            constrained = tf.reduce_sum(parameter.transform.forward(u))
        return (tape.gradient(value, u) / inner.gradient(constrained, u)).numpy()

    return gradient


def kernel_gradient(case, reader, gradient):
    path, read = reader
    shapes = {name: np.shape(value) for name, value in case.parameters().items()}
    named = {f"{path}.{name}": g for name, g in read(gradient).items()}
    return {name: np.reshape(g, shapes[name]).tolist() for name, g in named.items()}


def evaluate(case, data):
    """At the optimum the derivative by q vanishes, so the gradient may hold it."""
    X, y = data["X"], data[case.target][:, None]
    kernel, [reader] = build(case.kernel)
    with gpflow.config.as_context(gpflow.config.Config(jitter=0.0)):
        model = gpflow.models.VGP((X, y), kernel, likelihood_of(case), mean_function=mean_function(case))
        climb(model)
        with tf.GradientTape(persistent=True) as tape:
            value = model.elbo()
        mean, variance = model.predict_f(X)
        mean_star, variance_star = model.predict_f(data["Xstar"])
    return [
        {
            "method": "variational",
            "value": float(value),
            "gradient": kernel_gradient(case, reader, by_parameter(tape, value)),
            "mean": (mean.numpy()[:, 0] + offset(case)).tolist(),
            "variance": variance.numpy()[:, 0].tolist(),
            "mean_star": (mean_star.numpy()[:, 0] + offset(case)).tolist(),
            "variance_star": variance_star.numpy()[:, 0].tolist(),
        }
    ]


def evaluate_inducing(case, data):
    X, y = data["X"], data[case.target][:, None]
    kernel, [reader] = build(case.kernel)
    latents = CLASSES if case.likelihood.startswith("robust_max") else 1
    with gpflow.config.as_context(gpflow.config.Config(jitter=INDUCING_JITTER)):
        model = gpflow.models.SVGP(
            kernel,
            likelihood_of(case),
            data["Z"],
            mean_function=mean_function(case) if case.mean else None,
            num_latent_gps=latents,
            q_mu=data["m"][:, :latents],
            q_sqrt=data["Ls"][:latents],
            whiten=True,
        )
        with tf.GradientTape(persistent=True) as tape:
            value = model.elbo((X, y))
        mean, variance = model.predict_f(X)
        mean_star, variance_star = model.predict_f(data["Xstar"])
        answers = {"probability": model.predict_y(data["Xstar"])[0].numpy().tolist()} if case.target != "reals" else {}
    gradient = by_parameter(tape, value)
    Z = model.inducing_variable.Z
    return answers | {
        "method": "svgp",
        "jitter": INDUCING_JITTER,
        "latents": latents,
        "value": float(value),
        "gradient": kernel_gradient(case, reader, gradient),
        "Z_bar": gradient(Z).tolist(),
        "m_bar": gradient(model.q_mu).tolist(),
        "Ls_bar": model.q_sqrt.transform.forward(tape.gradient(value, model.q_sqrt.unconstrained_variable))
        .numpy()
        .tolist(),
        "mean": mean.numpy().tolist(),
        "variance": variance.numpy().tolist(),
        "mean_star": mean_star.numpy().tolist(),
        "variance_star": variance_star.numpy().tolist(),
    }
