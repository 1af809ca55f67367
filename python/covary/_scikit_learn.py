"""What the estimators share: scikit-learn, if it is there, and words that are the same in all of them."""

from typing import Any, Optional, Type, TypeVar

import numpy as np

try:
    from sklearn.base import BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.base import MultiOutputMixin as MultiOutputMixin
    from sklearn.base import RegressorMixin as RegressorMixin
    from sklearn.base import TransformerMixin as TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets as check_classification_targets
    from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import validate_data as validate_data
except ImportError as error:
    raise ImportError(
        f"the estimators, such as GPRegressor and GPClassifier, need scikit-learn 1.6 or newer ({error}): "
        "pip install 'covary[sklearn]'. "
        "The models, such as covary.Regression and covary.Generalised, need NumPy alone."
    ) from error

__all__ = [
    "ClassifierMixin", "Estimator", "MultiOutputMixin", "RegressorMixin", "TransformerMixin",
    "check_classification_targets", "check_is_fitted", "check_sample_weight", "documented", "output_names", "seed_of",
    "validate_data",
]

_Class = TypeVar("_Class")


class Estimator(BaseEstimator):
    """What all estimators share: their fit, ``fit_``, and what its training maximised."""

    fit_: Any

    @property
    def objective_(self) -> str:
        check_is_fitted(self, "fit_")
        return self.fit_.summary.objective

    @property
    def objective_value_(self) -> float:
        check_is_fitted(self, "fit_")
        return self.fit_.value


_ENTRIES = {
    "kernel": '''kernel : str or Kernel, default "se(ard)"
        A kernel expression such as ``"matern52(ard) + linear"``.''',
    "selection": '''selection : str, default "greedy_variance"
        How inducing inputs are chosen: ``"greedy_variance"``, ``"kmeans"``, ``"hierarchical_kmeans"``,
        ``"random"``, ``"grid"`` or ``"leverage"``.''',
    "regression mean": '''mean : str or Mean, default "zero"
        ``"zero"`` (after scaling), ``"constant"``, ``"linear"`` or ``"poly(k)"``.''',
    "mean": '''mean : str or Mean, default "zero"
        ``"zero"``, ``"constant"``, ``"linear"`` or ``"poly(k)"``.''',
    "regression scale": '''scale : {"columns", "global", "none", "auto"}, default "columns"
        How inputs and outputs are scaled before the model sees them; predictions are scaled back.''',
    "scale": '''scale : {"columns", "global", "none", "auto"}, default "columns"
        How inputs are scaled before the model sees them.''',
    "pca": '''pca : int, default 0
        The model sees this many principal components of the scaled inputs; 0 uses the inputs themselves.''',
    "gplvm": '''gplvm : int, default 0
        The model sees the latent space, of at most this many dimensions, that a Bayesian GP-LVM finds for
        the scaled inputs; 0 uses the inputs themselves. At most one of ``pca`` and ``gplvm``.''',
    "multi_class": '''multi_class : {"joint", "one_vs_rest"}, default "joint"
        More than two classes: one model of all, or one model of each against the others, with its own
        kernel and probabilities normalised to sum to one.''',
    "random_state": '''random_state : int, RandomState instance or None, default None
        Seed of everything random. An integer is the seed of the command line.''',
    "verbose": '''verbose : bool, default False
        Draw a progress bar: in a notebook, on a terminal, else as lines.''',
    "fit_": '''fit_ : covary.Fit
        The trained model, with everything of level two.
    kernel_ : covary.Kernel
    noise_variance_ : float or array of shape (n_targets,)
        In the units of y squared.''',
    "classes_": '''classes_ : array of shape (n_classes,)
    fit_ : covary.GeneralisedFit
        The trained model, with everything of level two.
    kernel_ : covary.Kernel''',
    "objective": '''objective_ : str
        What training maximised: ``"log_marginal_likelihood"``, the evidence, of an approximate model if
        the model is one; ``"elbo"``, a lower bound on the evidence; ``"log_evidence(METHOD)"``, an
        approximation of it; ``"log_posterior"`` or ``"log_likelihood"``.
    objective_value_ : float
        Its value in nats, in the units of the data, without log priors.''',
    "features": '''n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
        When X was a table with column names.''',
}


def documented(of: Type[_Class]) -> Type[_Class]:
    """Puts the entries in place of the lines ``<name>`` of a docstring."""
    for name, entry in _ENTRIES.items():
        if of.__doc__:
            of.__doc__ = of.__doc__.replace(f"<{name}>", entry)
    return of


def seed_of(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def output_names(y: Any) -> Optional[list]:
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return None if name is None else [str(name)]
