"""Laplace's approximation and EP by GPy, to convergence and without jitter.

Laplace takes no mean function and cuts W at 1e-6, which differs from the curvature of a likelihood that is not
log-concave at an outlier: it is not asked then. Its line search stops 1e-4 from the Newton step, so plain Newton steps
follow it. EP has exact moments for the probit alone.
"""

import GPy
import numpy as np
from GPy.inference.latent_function_inference import EP, Laplace

from peer_gpy import VERSION, build

__all__ = ["VERSION", "evaluate"]

NEWTON_STEPS = 12
EP_EPSILON = 1e-26  # the mean square of the change of the sites in a sweep


class ConvergedLaplace(Laplace):
    def rasm_mode(self, K, Y, likelihood, Ki_f_init, Y_metadata=None, *args, **kwargs):
        f, Ki_f = super().rasm_mode(K, Y, likelihood, Ki_f_init, Y_metadata, *args, **kwargs)
        for _ in range(NEWTON_STEPS):
            W = -likelihood.d2logpdf_df2(f, Y)
            b = W * f + likelihood.dlogpdf_df(f, Y)
            R = self._compute_B_statistics(K, W, likelihood.log_concave)[0]
            Ki_f = b - R @ (K @ b)
            f = K @ Ki_f
        assert np.max(np.abs(Ki_f - likelihood.dlogpdf_df(f, Y))) < 1e-9, "no mode"
        return f, Ki_f


def likelihood_of(case):
    links = GPy.likelihoods.link_functions
    if case.likelihood == "bernoulli(probit)":
        return GPy.likelihoods.Bernoulli()
    if case.likelihood == "poisson":
        return GPy.likelihoods.Poisson(gp_link=links.Log())
    if case.likelihood == "student_t":
        p = case.likelihood_values
        return GPy.likelihoods.StudentT(deg_free=p["degrees"], sigma2=p["scale"] ** 2)
    return None


def answer(case, data, method, likelihood, inference):
    X, y = data["X"], data[case.target][:, None]
    kernel, [(path, read)] = build(case.kernel, X.shape[1])
    mean = GPy.mappings.Constant(X.shape[1], 1, value=case.mean) if case.mean else None
    model = GPy.core.GP(X, y, kernel, likelihood, mean_function=mean, inference_method=inference)
    mean_star, variance_star = model.predict_noiseless(data["Xstar"])
    shapes = {name: np.shape(value) for name, value in case.parameters().items()}
    gradient = {f"{path}.{name}": np.reshape(g, shapes[f"{path}.{name}"]) for name, g in read(model.kern).items()}
    return {
        "method": method,
        "value": float(np.squeeze(model.log_likelihood())),
        "gradient": {name: g.tolist() for name, g in gradient.items()},
        "mean_star": mean_star[:, 0].tolist(),
        "variance_star": variance_star[:, 0].tolist(),
    }


def evaluate(case, data):
    likelihood = likelihood_of(case)
    if likelihood is None:
        return []
    answers = []
    if not case.mean:
        inference = ConvergedLaplace()
        found = answer(case, data, "laplace", likelihood, inference)
        if likelihood.log_concave or np.min(inference.W) > 1e-6:
            answers.append(found)
    if case.likelihood == "bernoulli(probit)":
        np.random.seed(0)  # the order of the sites
        inference = EP(epsilon=EP_EPSILON, ep_mode="nested", always_reset=True, max_iters=1000)
        answers.append(answer(case, data, "ep", likelihood_of(case), inference))
    return answers
