"""Laplace's approximation by scikit-learn's GaussianProcessClassifier: logit, no mean function, no jitter."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier

from peer_scikit_learn import VERSION, build

__all__ = ["VERSION", "evaluate"]


def evaluate(case, data):
    """A list of answers: one, or none."""
    if case.likelihood != "bernoulli(logit)" or case.mean:
        return []
    X, labels = data["X"], data[case.target]
    kernel, entries = build(case.kernel, X.shape[1])
    classifier = GaussianProcessClassifier(kernel, optimizer=None).fit(X, labels)
    value, slopes = classifier.log_marginal_likelihood(classifier.kernel_.theta, eval_gradient=True)
    gradient = {path: np.zeros(np.shape(v)) for path, v in case.parameters().items()}
    assert len(entries) == len(slopes)
    for (path, i, slope), g in zip(entries, slopes):
        gradient[path].reshape(-1)[i] = g / slope
    mean, variance = classifier.latent_mean_and_variance(data["Xstar"])
    return [
        {
            "method": "laplace",
            "value": float(value),
            "gradient": {path: g.tolist() for path, g in gradient.items()},
            "mean_star": mean.tolist(),
            "variance_star": variance.tolist(),
        }
    ]
