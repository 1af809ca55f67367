"""Level one: autoregression of series."""

from typing import Any, Optional, Union

import numpy as np

from ._core import Fit, InputError, Kernel, Regression, SparseRegression, lag_names, lag_windows
from ._scikit_learn import Estimator, check_is_fitted, documented, output_names, seed_of

__all__ = ["AutoregressiveGP"]


@documented
class AutoregressiveGP(Estimator):
    """Autoregression of series, and free simulation that feeds the uncertainty back.

    Parameters
    ----------
    lags : int, default 1
        Number of past values of each series that the next ones depend on.
    kernel : str or Kernel, default "se(ard)"
    model : str, default "vfe"
        ``"exact"``, or a sparse model of SparseGPRegressor.
    inducing : int or None, default None
        Inducing inputs of a sparse model; None: automatic.
    scale : {"columns", "global", "none", "auto"}, default "columns"
    restarts : int, default 0
    max_iter : int, default 1000
    random_state : int, RandomState instance or None, default None
    verbose : bool, default False

    Attributes
    ----------
    fit_ : covary.Fit
        The regression on windows.
    <objective>
    series_ : array of shape (lags, n_series)
        The end of the series of ``fit``.

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> y = np.sin(0.3 * np.arange(80)) + 0.01 * np.random.default_rng(0).standard_normal(80)
    >>> gp = cv.AutoregressiveGP(lags=4, model="exact", random_state=0).fit(y)
    >>> mean, sd = gp.forecast(10, return_std=True)
    >>> bool(np.abs(mean - np.sin(0.3 * np.arange(80, 90))).max() < 0.05)
    True
    """

    fit_: Fit
    series_: np.ndarray

    def __init__(self, lags: int = 1, kernel: Union[str, Kernel] = "se(ard)", model: str = "vfe",
                 inducing: Optional[int] = None, scale: str = "columns", restarts: int = 0, max_iter: int = 1000,
                 random_state: Any = None, verbose: bool = False):
        self.lags = lags
        self.kernel = kernel
        self.model = model
        self.inducing = inducing
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, series: Any, y: Any = None):
        """Trains on all windows of series of T or T×P values, NaN where missing. y is not used."""
        values = self._values(series)
        X, Y = lag_windows(values, self.lags)
        names = output_names(series) or (["y"] if values.shape[1] == 1 else [f"y{p}" for p in range(values.shape[1])])
        seed = seed_of(self.random_state)
        more = {"kernel": self.kernel, "scale": self.scale, "input_names": lag_names(names, self.lags),
                "output_names": names}
        if self.model == "exact":
            model = Regression(X, Y, **more)
        else:
            model = SparseRegression(X, Y, model=self.model, inducing=self.inducing, seed=seed, **more)
        self.fit_ = model.fit(seed=seed, restarts=self.restarts, max_iter=self.max_iter, progress=bool(self.verbose))
        self.series_ = values[-self.lags:].copy()
        return self

    def forecast(self, steps: int, series: Any = None, propagation: str = "moments", return_std: bool = False,
                 parameter_draws: int = 0) -> Any:
        """The steps after the end of a series, by default that of ``fit``, with standard deviations on request.

        ``propagation`` is how predictions are fed back: as Gaussians (``"moments"``), also as further data
        (``"augmented"``, for ``"vfe"`` only), or as if they had been observed (``"plug-in"``). ``"draws"`` simulates
        100 draws of the function separately; only this uses the same function at every step. With
        ``parameter_draws`` each of those has its own kernel and noise, this many drawn from their posterior: for
        ``model="exact"`` and few windows, which leave the parameters uncertain.
        """
        check_is_fitted(self, "fit_")
        start = self.series_ if series is None else self._values(series)
        seed = seed_of(self.random_state)
        drawn = self.fit_.sample_parameters(parameter_draws, seed) if parameter_draws else None
        mean, variance = self.fit_.simulate(start, steps, propagation, seed=seed, parameters=drawn)
        return (mean, np.sqrt(variance)) if return_std else mean

    def sample(self, steps: int, n_samples: int = 100, series: Any = None) -> np.ndarray:
        """Possible continuations: n_samples×steps values, or n_samples×steps×P for several series."""
        check_is_fitted(self, "fit_")
        start = self.series_ if series is None else self._values(series)
        return self.fit_.simulate_draws(start, steps, n_samples, seed_of(self.random_state))

    @staticmethod
    def _values(series):
        values = np.asarray(series, dtype=np.float64)
        if values.ndim not in (1, 2):
            raise InputError(f"series have {values.ndim} dimensions; they are T or T×P values")
        return np.ascontiguousarray(values.reshape(len(values), -1))
