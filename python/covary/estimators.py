"""Level one: estimators in the manner of scikit-learn."""

from typing import Any, TypeVar, Union

import numpy as np

from ._core import InputError, Kernel, Mean, MissingInputsRegression, Regression, RegressionFit, SparseRegression
from ._scikit_learn import (
    Estimator,
    MultiOutputMixin,
    RegressorMixin,
    check_is_fitted,
    documented,
    output_names,
    seed_of,
    validate_data,
)

__all__ = ["GPRegressor", "SparseGPRegressor"]

_Self = TypeVar("_Self", bound="_Regressor")


class _Regressor(MultiOutputMixin, RegressorMixin, Estimator):
    """What the estimators share: they differ in the model that they train, ``_model``."""

    restarts: int
    max_iter: int
    random_state: Any
    verbose: bool
    fit_: RegressionFit

    def fit(self: _Self, X: Any, y: Any) -> _Self:
        """Trains the kernel's parameters and the noise by maximum likelihood."""
        target_names = output_names(y)
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64,
                             order="C", ensure_all_finite=self._finite())
        names = getattr(self, "feature_names_in_", None)
        seed = seed_of(self.random_state)
        self.fit_ = self._train(X, y, seed, input_names=None if names is None else list(names),
                                output_names=target_names)
        self.kernel_ = self.fit_.kernel
        noise = self.fit_.noise_variance
        self.noise_variance_ = float(noise[0]) if noise.size == 1 else noise
        self.n_iter_ = self.fit_.summary.iterations
        return self

    def _train(self, X, y, seed, **names) -> RegressionFit:
        return self._model(X, y, seed, **names).fit(seed=seed, restarts=self.restarts, max_iter=self.max_iter,
                                                    progress=bool(self.verbose))

    def _finite(self) -> Any:
        return True

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, X_var: Any = None,
                X_cov: Any = None) -> Any:
        """The mean of y and, on request, its standard deviation or its joint covariance.

        Both include the noise, as a prediction of y does; ``fit_.predict_f`` has the function alone.
        With several targets the covariance is (n, n, n_targets). Always arrays, which is what
        scikit-learn's own tools expect; ``predict_table`` has pandas. With ``X_var`` (of the shape of X)
        the inputs are Gaussian with these variances, or with ``X_cov`` (n×D×D) with these covariances, and the
        moments are over them too.
        """
        if return_std and return_cov:
            raise ValueError("ask for return_std or return_cov, not both")
        X = self._inputs(X)
        if X_var is not None or X_cov is not None:
            if return_cov:
                raise ValueError("return_cov is not available with X_var or X_cov; fit_.output_covariance has that of the outputs")
            mean, variance = self.fit_.predict_y(X, X_var, X_cov)
            return (mean, np.sqrt(variance)) if return_std else mean
        if return_std:
            mean, variance = self.fit_.predict_y(X)
            return mean, np.sqrt(variance)
        mean = self.fit_.predict_mean(X)
        return (mean, self._covariance_of_y(X)) if return_cov else mean

    def predict_table(self, X: Any) -> Any:
        """A pandas table with the index of X: mean, variance (of y), variance_f, lower and upper."""
        table = self.fit_.predict_table(self._inputs(X))
        return table.set_index(X.index) if hasattr(X, "index") and hasattr(X, "iloc") else table

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Joint draws of y, noise included: (n, n_samples), or (n, n_targets, n_samples)."""
        X = self._inputs(X)
        seed = seed_of(random_state)
        draws = self.fit_.sample(X, draws=n_samples, seed=seed)
        noise = np.random.default_rng(seed).standard_normal(draws.shape)
        return np.moveaxis(draws + np.sqrt(self.noise_variance_) * noise, 0, -1)

    def _inputs(self, X):
        # What needs no conversion needs none of scikit-learn's checks, which cost more than a
        # prediction at a single row.
        if (hasattr(self, "fit_") and type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2
                and X.flags.c_contiguous and len(X) and X.shape[1] == self.n_features_in_ and not
                hasattr(self, "feature_names_in_") and np.isfinite(X).all()):
            return X
        check_is_fitted(self, "fit_")
        return validate_data(self, X, reset=False, dtype=np.float64, order="C")

    def _covariance_of_y(self, X):
        noise = self.fit_.noise_variance
        covariances = [self.fit_.covariance(X, output=p) for p in range(noise.size)]
        for p, covariance in enumerate(covariances):
            covariance[np.diag_indices_from(covariance)] += noise[p]
        return covariances[0] if noise.size == 1 else np.stack(covariances, axis=-1)


@documented
class GPRegressor(_Regressor):
    """Exact Gaussian-process regression with trained noise.

    Parameters
    ----------
    <kernel>
    <regression mean>
    <regression scale>
    restarts : int, default 0
        Number of starts; 0 is three up to 1000 rows, else one.
    max_iter : int, default 1000
        Iterations of each start; 0 keeps the data-scaled starts.
    <random_state>
    <verbose>

    Attributes
    ----------
    <fit_>
    <objective>
    <features>

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> X = np.linspace(0, 6, 30).reshape(-1, 1)
    >>> gp = cv.GPRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(gp.score(X, np.sin(X[:, 0])) > 0.999)
    True
    """

    def __init__(self, kernel: Union[str, Kernel] = "se(ard)", mean: Union[str, Mean] = "zero",
                 scale: str = "columns", restarts: int = 0, max_iter: int = 1000,
                 random_state: Any = None, verbose: bool = False):
        self.kernel = kernel
        self.mean = mean
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _model(self, X, y, seed, **names):
        return Regression(X, y, kernel=self.kernel, mean=self.mean, scale=self.scale, **names)


@documented
class SparseGPRegressor(_Regressor):
    """Sparse Gaussian-process regression with trained noise, for many rows.

    Parameters
    ----------
    <kernel>
    <regression mean>
    model : str, default "vfe"
        ``"vfe"``, ``"vfe(tight)"``, ``"fitc"``, ``"pep(0.5)"``, ``"dtc"``, ``"sor"``, ``"pitc"`` or
        ``"cglb"``.
    inducing : None, int or array of shape (n_inducing, n_features), default None
        Number of inducing inputs; None: automatic; or the inducing inputs, in the units of X.
    <selection>
    inducing_features : str, default "points"
        The inducing variables: ``"points"``; for kernels made of se ``"multiscale"``, ``"frequency"``,
        ``"timefrequency"`` and ``"eigen"`` (also matern12); for Matérn kernels ``"fourier"`` and
        ``"fourier(l2)"``; for both ``"orthogonal"``; for any ``"basis(C)"`` with C points each and
        ``"empirical"``; for a sum of kernels over columns ``"stacked(KIND)"``, M shared evenly between its
        parts. With ``model="sor"`` also ``"rff"``, ``"ssgp"``, ``"hilbert"`` and ``"bumps"``.
    missing_inputs : {"error", "learn"}, default "error"
        What NaN in X does: with ``"learn"`` and model ``"vfe"`` it is learned.
    <regression scale>
    restarts : int, default 0
        Starts of the exact fit of some rows from which training starts; 0 is three.
    max_iter : int, default 1000
        Iterations of each part of training; 0 keeps the data-scaled start.
    <random_state>
    <verbose>

    Attributes
    ----------
    <fit_>
    <objective>
    upper_bound_value_ : float or None
        Upper bound on the evidence; None for models without a bound.
    inducing_inputs_ : array of shape (n_inducing, n_features)
        In the units of X; not for ``"eigen"``, ``"frequency"`` and ``"fourier"``, which have none.
    inputs_ : array of shape (n_samples, n_features)
        With ``missing_inputs="learn"``: X with the means of what was missing.
    <features>

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> X = np.linspace(0, 6, 300).reshape(-1, 1)
    >>> gp = cv.SparseGPRegressor(inducing=10, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(gp.score(X, np.sin(X[:, 0])) > 0.999), gp.inducing_inputs_.shape
    (True, (10, 1))
    """

    def __init__(self, kernel: Union[str, Kernel] = "se(ard)", mean: Union[str, Mean] = "zero",
                 model: str = "vfe", inducing: Any = None, selection: str = "greedy_variance",
                 inducing_features: str = "points", missing_inputs: str = "error", scale: str = "columns", restarts: int = 0,
                 max_iter: int = 1000, random_state: Any = None, verbose: bool = False):
        self.kernel = kernel
        self.mean = mean
        self.model = model
        self.inducing = inducing
        self.selection = selection
        self.inducing_features = inducing_features
        self.missing_inputs = missing_inputs
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "SparseGPRegressor":
        """Trains the kernel's parameters, the noise and the inducing variables."""
        super().fit(X, y)
        self.upper_bound_value_ = self.fit_.upper_bound
        if "features.Z" in self.fit_.parameters:
            self.inducing_inputs_ = self.fit_.Z
        return self

    def _finite(self):
        if self.missing_inputs not in ("error", "learn"):
            raise InputError(f"unknown missing_inputs '{self.missing_inputs}'; choose 'error' or 'learn'")
        return "allow-nan" if self.missing_inputs == "learn" else True

    def _train(self, X, y, seed, **names):
        if not np.isnan(X).any():
            return super()._train(X, y, seed, **names)
        if self.model != "vfe" or self.mean != "zero":
            raise InputError(f"missing inputs are learned by 'vfe' with mean 'zero', not by '{self.model}' with "
                             f"'{self.mean}'")
        if self.inducing is not None and np.ndim(self.inducing):
            raise InputError("with missing inputs, inducing must be a number")
        model = MissingInputsRegression(X, y, kernel=self.kernel, scale=self.scale, seed=seed,
                                        inducing=50 if self.inducing is None else self.inducing, **names)
        fit = model.fit(max_iter=self.max_iter, progress=bool(self.verbose))
        self.inputs_ = model.input_mean
        return fit

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_inputs == "learn"
        return tags

    def _model(self, X, y, seed, **names):
        return SparseRegression(X, y, kernel=self.kernel, mean=self.mean, model=self.model,
                                inducing=self.inducing, selection=self.selection, features=self.inducing_features,
                                scale=self.scale, seed=seed, **names)
