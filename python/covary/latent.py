"""Level one: latent-variable models in the manner of scikit-learn's transformers."""

from typing import Any, Dict, List, Optional, Union

import numpy as np

from ._core import Gplvm, GplvmFit, InputError, Kernel, MapGplvm, MapGplvmFit, fit_ppca
from ._scikit_learn import Estimator, TransformerMixin, check_is_fitted, documented, seed_of, validate_data

__all__ = ["BayesianGPLVM", "DynamicalGPLVM", "MAPGPLVM", "MRD", "PPCA"]


class _Latent(TransformerMixin, Estimator):
    """What the models share: they differ in the arguments of ``covary.Gplvm``, ``_more``."""

    latent: int
    fit_: GplvmFit

    def fit(self, X: Any, y: Any = None):
        """Finds q of the latent inputs, the mapping and how many dimensions are in use. y is not used."""
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", ensure_min_samples=2)
        model = Gplvm(X, latent=self.latent, kernel=self.kernel, inducing=self.inducing, scale=self.scale,
                      restarts=self.restarts, seed=seed_of(self.random_state), **self._more(X))
        self.fit_ = model.fit(max_iter=self.max_iter, progress=bool(self.verbose))
        self.embedding_ = self.fit_.mean
        self.relevance_ = self.fit_.relevance
        self.n_iter_ = self.fit_.summary.iterations
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """``fit(X).transform(X)``: each row placed separately. ``embedding_`` has the means found in training."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """The means of the latent inputs of rows, whose cells may be missing (NaN)."""
        check_is_fitted(self, "fit_")
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        return self.fit_.infer(X)[0]

    def inverse_transform(self, X: Any, return_std: bool = False) -> Any:
        """The outputs at points of the latent space, with their standard deviations on request."""
        check_is_fitted(self, "fit_")
        mean, variance = self.fit_.decode(np.asarray(X, dtype=np.float64))
        return (mean, np.sqrt(variance)) if return_std else mean

    def score_samples(self, X: Any) -> np.ndarray:
        """An estimate of the log density of each row, over the cells that are not missing."""
        check_is_fitted(self, "fit_")
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        return self.fit_.log_density(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of ``score_samples``."""
        return float(self.score_samples(X).mean())

    def _more(self, X) -> Dict[str, Any]:
        return {}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.latent


@documented
class BayesianGPLVM(_Latent):
    """A Bayesian Gaussian-process latent-variable model: few dimensions behind many columns.

    Parameters
    ----------
    latent : int, default 2
        Maximum dimension of the latent space; dimensions that are not needed switch off.
    kernel : str or Kernel, default "se(ard)"
    inducing : int, default 50
        Inducing inputs, at most one for each row.
    back_constraint : {None, "kernel", "network"}, default None
        The means of q(X) as a function of the rows; None: free.
    scale : {"global", "columns", "none"}, default "global"
    restarts : int, default 0
        Number of starts; 0 is four up to 500 rows, two up to 2000, else one.
    max_iter : int, default 1000
        Iterations of training with all rows; 0 only evaluates.
    batch_size : int, default 0
        Rows of a minibatch; 0 is all rows, or 256 if the likelihood is not Gaussian.
    steps : int, default 0
        Minibatch steps; 0 is fifty passes over the rows, at least 2000 steps.
    likelihood : str, default "gaussian"
        How the columns arise from their functions: "bernoulli" for labels 0 and 1, "poisson" for counts, ….
    random_state : int, RandomState instance or None, default None
    verbose : bool, default False

    Attributes
    ----------
    embedding_ : array of shape (n_samples, latent)
    relevance_ : array of shape (n_views, latent)
    fit_ : covary.GplvmFit
    <objective>
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> t = np.linspace(-1.5, 1.5, 60)
    >>> Y = np.column_stack([t, np.sin(2 * t), t**2]) + 0.02 * np.random.default_rng(0).standard_normal((60, 3))
    >>> model = cv.BayesianGPLVM(latent=2, inducing=12, max_iter=200, random_state=0)
    >>> X = model.fit_transform(Y)
    >>> X.shape, model.inverse_transform(X).shape
    ((60, 2), (60, 3))
    """

    def __init__(self, latent: int = 2, kernel: Union[str, Kernel] = "se(ard)", inducing: int = 50,
                 back_constraint: Optional[str] = None, scale: str = "global", restarts: int = 0, max_iter: int = 1000,
                 batch_size: int = 0, steps: int = 0, likelihood: str = "gaussian", random_state: Any = None,
                 verbose: bool = False):
        self.latent = latent
        self.kernel = kernel
        self.inducing = inducing
        self.back_constraint = back_constraint
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.steps = steps
        self.likelihood = likelihood
        self.random_state = random_state
        self.verbose = verbose

    def _more(self, X):
        return {"batch": self.batch_size, "steps": self.steps, "likelihood": self.likelihood,
                "back_constraint": self.back_constraint}


class _Dynamical(_Latent):
    """What models over time share."""

    def _dynamics(self, times) -> Dict[str, Any]:
        return {"times": np.asarray(times, dtype=np.float64), "dynamics": self.dynamics,
                "sequences": [int(s) for s in self.sequences], "fixed_point": self.fixed_point}

    def forecast(self, times: Any, sequence: int = 0, return_std: bool = False) -> Any:
        """The outputs at further times of a sequence, or with −1 of a new one."""
        check_is_fitted(self, "fit_")
        mean, variance = self.fit_.decode(*self.fit_.forecast(times, sequence))
        return (mean, np.sqrt(variance)) if return_std else mean

    def complete(self, X: Any, times: Any = None, return_std: bool = False) -> Any:
        """The outputs of a further sequence of which some are missing (NaN); its rows are placed together.

        ``times`` are those of its rows; None is 0, 1, 2, ….
        """
        check_is_fitted(self, "fit_")
        X = np.ascontiguousarray(X, dtype=np.float64)
        times = np.arange(len(X), dtype=np.float64) if times is None else times
        mean, variance = self.fit_.decode(*self.fit_.infer_sequence(X, times))
        return (mean, np.sqrt(variance)) if return_std else mean


class DynamicalGPLVM(_Dynamical):
    """A latent-variable model whose latent inputs follow Gaussian processes over time.

    Like BayesianGPLVM, with:

    Parameters
    ----------
    times : array of shape (n_samples,) or (n_samples, d), or None
        Times of the rows of ``fit``; None is 0, 1, 2, ….
    dynamics : str or Kernel, default "se + white"
    sequences : list of int, default ()
        First rows of independent sequences; empty: one sequence.
    fixed_point : int, default 10
        Steps of q(X) to its fixed point before each part of training, as long as the bound rises.
    """

    def __init__(self, latent: int = 2, kernel: Union[str, Kernel] = "se(ard)", inducing: int = 50, times: Any = None,
                 dynamics: Union[str, Kernel] = "se + white", sequences: Any = (), fixed_point: int = 10,
                 scale: str = "global", restarts: int = 0, max_iter: int = 1000, random_state: Any = None,
                 verbose: bool = False):
        self.latent = latent
        self.kernel = kernel
        self.inducing = inducing
        self.times = times
        self.dynamics = dynamics
        self.sequences = sequences
        self.fixed_point = fixed_point
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _more(self, X):
        times = np.arange(len(X), dtype=np.float64) if self.times is None else self.times
        return self._dynamics(times)


class MRD(_Dynamical):
    """Manifold relevance determination: several views of the same rows share some latent dimensions.

    Like BayesianGPLVM, with ``times`` as in DynamicalGPLVM, and:

    Parameters
    ----------
    views : dict of str and list of int, or None
        The columns of each view; None: one view of all columns.
    start_view : str or None, default None
        All dimensions start from components of this view, which the others explain as far as they can: for predicting
        this view from the others.
    times : array of shape (n_samples,) or (n_samples, d), or None
        What the latent inputs follow by Gaussian processes. None: no dynamics.
    dynamics : str or Kernel, default "se + white"
    sequences : list of int, default ()
        First rows of independent sequences; empty: one sequence.
    fixed_point : int, default 10
        With times: steps of q(X) to its fixed point before each part of training, as long as the bound rises.
    """

    def __init__(self, views: Optional[Dict[str, List[int]]] = None, latent: int = 4,
                 kernel: Union[str, Kernel] = "se(ard)", inducing: int = 50, scale: str = "global", restarts: int = 0,
                 max_iter: int = 1000, random_state: Any = None, verbose: bool = False,
                 start_view: Optional[str] = None, times: Any = None, dynamics: Union[str, Kernel] = "se + white",
                 sequences: Any = (), fixed_point: int = 10):
        self.views = views
        self.start_view = start_view
        self.times = times
        self.dynamics = dynamics
        self.sequences = sequences
        self.fixed_point = fixed_point
        self.latent = latent
        self.kernel = kernel
        self.inducing = inducing
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def correspond(self, X: Any, neighbours: int = 1) -> Any:
        """For rows that leave a view empty (NaN): training rows that are nearest in what the views share, n×k, their
        distances, and all outputs decoded with each, n×k×P.
        """
        check_is_fitted(self, "fit_")
        return self.fit_.correspond(np.ascontiguousarray(X, dtype=np.float64), neighbours)

    def _more(self, X):
        views = {} if self.views is None else {"views": {name: list(columns) for name, columns in self.views.items()}}
        if self.times is None and len(self.sequences):
            raise InputError("sequences need times: give times")
        over_time = {} if self.times is None else self._dynamics(self.times)
        return {**views, "start_view": self.start_view or "", **over_time}


@documented
class MAPGPLVM(TransformerMixin, Estimator):
    """A Gaussian-process latent-variable model whose latent inputs are points (Lawrence 2005).

    Converges faster than BayesianGPLVM, but uses all dimensions and overfits if there are many.

    Parameters
    ----------
    latent : int, default 2
    kernel : str or Kernel, default "se"
    back_constraint : {None, "kernel", "network"}, default None
        The inputs as a function of the rows, which are then placed at once; or any points.
    discriminative : float, default 0
        How strongly the prior keeps the classes y of the rows apart.
    views : dict of str and list of int, or None
        Columns with mappings of their own from the one latent space; None is one of all columns.
    times : array of shape (n_samples,) or (n_samples, d), or None
        What the inputs follow by Gaussian processes with the kernel ``dynamics``.
    dynamics : str or Kernel, default "se + white"
    sequences : list of int, default ()
        First rows of independent sequences; empty: one sequence.
    scale : {"global", "columns", "none"}, default "global"
    restarts : int, default 0
    max_iter : int, default 1000
    random_state : int, RandomState instance or None, default None
    verbose : bool, default False

    Attributes
    ----------
    embedding_ : array of shape (n_samples, latent)
    fit_ : covary.MapGplvmFit
    <objective>
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> t = np.linspace(-1.5, 1.5, 40)
    >>> Y = np.column_stack([t, np.sin(2 * t), t**2]) + 0.02 * np.random.default_rng(0).standard_normal((40, 3))
    >>> model = cv.MAPGPLVM(latent=1, back_constraint="kernel", max_iter=100, random_state=0)
    >>> X = model.fit_transform(Y)
    >>> X.shape, model.inverse_transform(X).shape
    ((40, 1), (40, 3))
    """

    def __init__(self, latent: int = 2, kernel: Union[str, Kernel] = "se", back_constraint: Optional[str] = None,
                 discriminative: float = 0.0, views: Optional[Dict[str, List[int]]] = None, times: Any = None,
                 dynamics: Union[str, Kernel] = "se + white", sequences: Any = (), scale: str = "global",
                 restarts: int = 0, max_iter: int = 1000, random_state: Any = None, verbose: bool = False):
        self.latent = latent
        self.kernel = kernel
        self.back_constraint = back_constraint
        self.discriminative = discriminative
        self.views = views
        self.times = times
        self.dynamics = dynamics
        self.sequences = sequences
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    fit_: MapGplvmFit

    def fit(self, X: Any, y: Any = None) -> "MAPGPLVM":
        """Finds the latent inputs and the mapping. y are classes, used if ``discriminative`` is positive."""
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", ensure_min_samples=2)
        labels: List[int] = []
        if self.discriminative > 0:
            if y is None:
                raise ValueError("a discriminative prior needs the classes y of the rows")
            labels = np.unique(np.asarray(y), return_inverse=True)[1].tolist()
        model = MapGplvm(X, latent=self.latent, kernel=self.kernel, views=self.views, times=self.times,
                         dynamics=self.dynamics, sequences=[int(s) for s in self.sequences],
                         back_constraint=self.back_constraint, labels=labels, discriminative=self.discriminative,
                         scale=self.scale, restarts=self.restarts, seed=seed_of(self.random_state))
        self.fit_ = model.fit(max_iter=self.max_iter, progress=bool(self.verbose))
        self.embedding_ = self.fit_.X
        self.n_iter_ = self.fit_.summary.iterations
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """``fit(X, y).transform(X)``: each row placed separately. ``embedding_`` has the inputs found in training."""
        return self.fit(X, y).transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """The latent inputs of rows, whose cells may be missing (NaN)."""
        check_is_fitted(self, "fit_")
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        return self.fit_.place(X)

    def inverse_transform(self, X: Any, return_std: bool = False) -> Any:
        """The outputs at points of the latent space, with their standard deviations on request."""
        check_is_fitted(self, "fit_")
        mean, variance = self.fit_.decode(np.asarray(X, dtype=np.float64))
        return (mean, np.sqrt(variance)) if return_std else mean

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.latent


@documented
class PPCA(TransformerMixin, Estimator):
    """Probabilistic principal components: a Gaussian with few directions and isotropic noise, in closed form.

    Parameters
    ----------
    latent : int, default 2
        Dimensions of the latent space, fewer than the directions in which the rows vary.
    scale : {"global", "columns", "none"}, default "global"

    Attributes
    ----------
    embedding_ : array of shape (n_samples, latent)
    explained_variance_ratio_ : array of shape (latent,)
    fit_ : covary.PpcaFit
    <objective>

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((50, 5))
    >>> model = cv.PPCA(latent=2).fit(Y)
    >>> model.transform(Y).shape, model.score_samples(Y).shape
    ((50, 2), (50,))
    """

    def __init__(self, latent: int = 2, scale: str = "global"):
        self.latent = latent
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> "PPCA":
        """The maximum of the likelihood. y is not used."""
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2, ensure_min_features=2)
        self.fit_ = fit_ppca(X, latent=self.latent, scale=self.scale)
        self.embedding_ = self.fit_.mean
        self.explained_variance_ratio_ = self.fit_.explained
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The means of the latent inputs of rows; ``fit_.infer`` takes rows with missing cells (NaN) too."""
        return self.fit_.infer(self._rows(X))[0]

    def inverse_transform(self, X: Any, return_std: bool = False) -> Any:
        """The outputs at points of the latent space, with their standard deviations on request."""
        check_is_fitted(self, "fit_")
        mean, variance = self.fit_.decode(np.asarray(X, dtype=np.float64))
        return (mean, np.sqrt(variance)) if return_std else mean

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density of each row."""
        return self.fit_.log_density(self._rows(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def _rows(self, X):
        check_is_fitted(self, "fit_")
        return validate_data(self, X, reset=False, dtype=np.float64, order="C")

    @property
    def _n_features_out(self) -> int:
        return self.latent
