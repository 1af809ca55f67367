"""Sparse regression by GPflow: SGPR with its upper bound, and GPRFITC. Jitter on Kuu is a setting of GPflow.

With two outputs its upper bound counts the log-determinant and the constant once (2.11), so it is asked for one.
"""

import gpflow
import numpy as np

from peer_gpflow import VERSION, build

__all__ = ["VERSION", "evaluate"]


def mean_function(weights):
    if weights is None:
        return None
    w = np.array(weights)
    return gpflow.functions.Linear(A=w[1:], b=w[0])


def evaluate(case, X, Y, Z, Xstar):
    """One answer for each approximation that GPflow has."""

    def answer(kind, approximation):
        kernel, _ = build(case.kernel)
        model = kind((X, Y), kernel, Z, mean_function=mean_function(case.mean_weights), noise_variance=case.noise)
        mean, variance = model.predict_f(Xstar)
        values = {
            "approximation": approximation,
            "jitter": gpflow.default_jitter(),
            "value": float(model.maximum_log_likelihood_objective()),
            "mean": mean.numpy().tolist(),
            "variance_f": variance.numpy()[:, 0].tolist(),
        }
        bounded = approximation == "vfe" and case.outputs == 1
        return values | ({"upper_bound": float(model.upper_bound())} if bounded else {})

    return [answer(gpflow.models.SGPR, "vfe"), answer(gpflow.models.GPRFITC, "fitc")]
