"""Sparse regression by GPy: VarDTC (which is VFE), FITC and PEP. Each adds a const_jitter of its own to Kuu.

FITC and PEP take no mean function. With two outputs PEP counts one of its constants once (1.15), so it is asked for one.
"""

import GPy
import numpy as np
from GPy.inference.latent_function_inference import PEP, VarDTC
from GPy.inference.latent_function_inference.fitc import FITC

from peer_gpy import VERSION, build
from sparse_cases import ALPHAS

__all__ = ["VERSION", "evaluate"]


def mean_function(weights):
    if weights is None:
        return None
    w = np.array(weights)
    linear = GPy.mappings.Linear(w.shape[0] - 1, w.shape[1])
    linear.A[:] = w[1:]
    return GPy.mappings.Additive(linear, GPy.mappings.Constant(w.shape[0] - 1, w.shape[1], value=w[0]))


def evaluate(case, X, Y, Z, Xstar):
    """One answer for each approximation that GPy has for such a case."""
    methods = {"vfe": VarDTC()}
    if case.mean_weights is None:
        methods["fitc"] = FITC()
        if case.outputs == 1:
            methods |= {f"pep({alpha})": PEP(alpha) for alpha in ALPHAS}

    def answer(approximation, method):
        kernel, _ = build(case.kernel, X.shape[1])
        likelihood = GPy.likelihoods.Gaussian(variance=case.noise)
        mean = mean_function(case.mean_weights)
        model = GPy.core.SparseGP(X, Y, Z, kernel, likelihood, mean_function=mean, inference_method=method)
        predicted, variance = model.predict_noiseless(Xstar)
        return {
            "approximation": approximation,
            "jitter": method.const_jitter,
            "value": float(np.squeeze(model.log_likelihood())),
            "mean": predicted.tolist(),
            "variance_f": variance[:, 0].tolist(),
        }

    return [answer(name, method) for name, method in methods.items()]
