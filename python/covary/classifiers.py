"""Level one: classifiers in the manner of scikit-learn."""

from typing import Any, TypeVar, Union

import numpy as np

from ._core import ClassDensityFit, Generalised, GeneralisedFit, Kernel, Mean, Svgp, fit_class_density
from ._scikit_learn import (
    ClassifierMixin,
    Estimator,
    check_classification_targets,
    check_is_fitted,
    check_sample_weight,
    documented,
    output_names,
    seed_of,
    validate_data,
)

__all__ = ["GPClassifier", "GPLVMClassifier", "SparseGPClassifier"]

_Self = TypeVar("_Self", bound="_Classifier")


class _Classifier(ClassifierMixin, Estimator):
    """What the classifiers share: they differ in the model that they train, ``_train``."""

    likelihood: str
    multi_class: str
    random_state: Any
    fit_: GeneralisedFit

    def fit(self: _Self, X: Any, y: Any, sample_weight: Any = None) -> _Self:
        """Trains the parameters of the kernel, and what the labels say of the functions.

        ``sample_weight`` multiplies the log-likelihoods of the rows: 2 counts a row twice, 0 leaves it out.
        ``method="ep"`` takes whole numbers.
        """
        if self.multi_class not in ("joint", "one_vs_rest"):
            raise ValueError(f"unknown multi_class {self.multi_class!r}; choose 'joint' or 'one_vs_rest'")
        target_names = output_names(y)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X, dtype=np.float64)
            if sample_weight.min() < 0:
                raise ValueError(f"sample_weight must not be negative, got {sample_weight.min()}")
            if sample_weight.max() == 0:
                raise ValueError("all of sample_weight is zero; a classifier needs rows of two classes at least")
            X, y, sample_weight = (part[sample_weight > 0] for part in (X, y, sample_weight))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class only, '{self.classes_[0]}'; a classifier needs rows of two at least")
        names = getattr(self, "feature_names_in_", None)
        columns = {"input_names": None if names is None else list(names),
                   "output_name": target_names[0] if target_names else None}
        self.fit_ = self._train(X, codes.astype(np.float64), likelihood=self._likelihood(),
                                classes=[_name(label) for label in self.classes_],
                                weights=sample_weight, seed=seed_of(self.random_state), **columns)
        self.kernel_ = self.fit_.kernel
        self.n_iter_ = self.fit_.summary.iterations
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, (n, n_classes) in the order of ``classes_``."""
        check_is_fitted(self, "fit_")
        return self.fit_.predict_proba(validate_data(self, X, reset=False, dtype=np.float64, order="C"))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class, the first of equals."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def _likelihood(self):
        """The expression for as many classes as there are."""
        K, many = len(self.classes_), len(self.classes_) > 2
        if self.likelihood == "auto":
            return "bernoulli" if not many else "softmax" if self.multi_class == "joint" else "one_vs_rest"
        two = self.likelihood.startswith("bernoulli")
        if many and self.multi_class == "one_vs_rest":
            if not two:
                raise ValueError(f"multi_class='one_vs_rest' does not take {self.likelihood}: each class against the "
                                 "others is 'bernoulli' or 'bernoulli(probit)'")
            return self.likelihood.replace("bernoulli", "one_vs_rest")
        if many and two:
            raise ValueError(f"y has {K} classes and {self.likelihood} takes two: likelihood='softmax' models them "
                             "together, multi_class='one_vs_rest' each against the others")
        return self.likelihood


@documented
class GPClassifier(_Classifier):
    """Gaussian-process classification, for up to some thousands of rows.

    Parameters
    ----------
    <kernel>
    likelihood : str, default "auto"
        ``"auto"`` is ``"bernoulli"`` for two classes and ``"softmax"`` for more. Also
        ``"bernoulli(probit)"``, and with ``method="vgp"`` ``"robust_max"``.
    method : {"laplace", "ep", "vgp"}, default "laplace"
        How the posterior is approximated. EP takes two classes, or one against the rest.
    power : float, default 1.0
        Power of EP, above 0 and at most 1.
    <mean>
    <multi_class>
    <scale>
    <pca>
    <gplvm>
    restarts : int, default 0
        Number of starts; 0 is three up to 300 rows, else one.
    max_iter : int, default 100
        Iterations of each start; 0 keeps the data-scaled start.
    <random_state>
    <verbose>

    Attributes
    ----------
    <classes_>
    <objective>
    <features>

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> X = np.linspace(-3, 3, 60).reshape(-1, 1)
    >>> y = np.where(np.abs(X[:, 0]) < 1, "near", "far")
    >>> gp = cv.GPClassifier(random_state=0).fit(X, y)
    >>> gp.predict([[0.0], [2.5]]).tolist()
    ['near', 'far']
    >>> gp.predict_proba([[1.0]]).shape
    (1, 2)
    """

    def __init__(self, kernel: Union[str, Kernel] = "se(ard)", likelihood: str = "auto", method: str = "laplace",
                 power: float = 1.0, mean: Union[str, Mean] = "zero", multi_class: str = "joint",
                 scale: str = "columns", pca: int = 0, gplvm: int = 0, restarts: int = 0,
                 max_iter: int = 100, random_state: Any = None, verbose: bool = False):
        self.kernel = kernel
        self.likelihood = likelihood
        self.method = method
        self.power = power
        self.mean = mean
        self.multi_class = multi_class
        self.scale = scale
        self.pca = pca
        self.gplvm = gplvm
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, X, codes, likelihood, seed, **more):
        if self.method == "ep" and likelihood.startswith(("softmax", "robust_max")):
            raise ValueError(f"method='ep' does not take {likelihood}: use method='laplace' or 'vgp', or "
                             "multi_class='one_vs_rest'")
        model = Generalised(X, codes, kernel=self.kernel, likelihood=likelihood, method=self.method,
                            power=self.power, mean=self.mean, scale=self.scale, pca=self.pca,
                            gplvm=self.gplvm, seed=seed, **more)
        return model.fit(seed=seed, restarts=self.restarts, max_iter=self.max_iter, progress=bool(self.verbose))


@documented
class SparseGPClassifier(_Classifier):
    """Sparse variational Gaussian-process classification, for many rows.

    Parameters
    ----------
    <kernel>
    likelihood : str, default "auto"
        ``"auto"`` is ``"bernoulli"`` for two classes and ``"softmax"`` for more. Also
        ``"bernoulli(probit)"`` and ``"robust_max"``.
    <mean>
    inducing : int, None or array of shape (n_inducing, n_features), default 100
        How many inducing inputs, at most one for each row; or themselves, in the units of X.
    <selection>
    inducing_features : str, default "points"
        The inducing variables, as in ``SparseGPRegressor``.
    covariance : str, default "full"
        Covariance of q(u): ``"full"``, ``"blocks(20)"`` or ``"diagonal"``.
    batch : int, default 0
        Rows of a minibatch; 0 is all rows up to 20 000, else 1024; all rows, too, if they fit
        in one batch.
    epochs : int, default 0
        Passes of minibatches over the data; 0 is twenty, but 2000 to 20 000 steps.
    <multi_class>
    <scale>
    <pca>
    <gplvm>
    max_iter : int, default 100
        Iterations when all rows are used; 0 keeps the data-scaled start.
    <random_state>
    <verbose>

    Attributes
    ----------
    <classes_>
    <objective>
    <features>

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> X = np.random.default_rng(0).uniform(-3, 3, (500, 2))
    >>> y = np.hypot(X[:, 0], X[:, 1]) < 2
    >>> gp = cv.SparseGPClassifier(inducing=25, max_iter=30, random_state=0).fit(X, y)
    >>> gp.predict([[0.0, 0.0], [2.5, 2.5]]).tolist()
    [True, False]
    >>> bool(gp.score(X, y) > 0.95)
    True
    """

    def __init__(self, kernel: Union[str, Kernel] = "se(ard)", likelihood: str = "auto",
                 mean: Union[str, Mean] = "zero", inducing: Any = 100, selection: str = "greedy_variance",
                 inducing_features: str = "points", covariance: str = "full", batch: int = 0, epochs: int = 0, multi_class: str = "joint",
                 scale: str = "columns", pca: int = 0, gplvm: int = 0, max_iter: int = 100, random_state: Any = None,
                 verbose: bool = False):
        self.kernel = kernel
        self.likelihood = likelihood
        self.mean = mean
        self.inducing = inducing
        self.selection = selection
        self.inducing_features = inducing_features
        self.covariance = covariance
        self.batch = batch
        self.epochs = epochs
        self.multi_class = multi_class
        self.scale = scale
        self.pca = pca
        self.gplvm = gplvm
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, X, codes, **more):
        inducing = self.inducing
        if isinstance(inducing, (int, np.integer)) and not isinstance(inducing, bool):
            inducing = min(int(inducing), len(X))
        batch = self.batch if self.batch < len(X) else 0
        model = Svgp(X, codes, kernel=self.kernel, mean=self.mean, inducing=inducing, selection=self.selection,
                     features=self.inducing_features, covariance=self.covariance, batch=batch, epochs=self.epochs, scale=self.scale, pca=self.pca,
                     gplvm=self.gplvm, **more)
        return model.fit(max_iter=self.max_iter, progress=bool(self.verbose))


@documented
class GPLVMClassifier(ClassifierMixin, Estimator):
    """Classification by Bayes' rule over the density of each class, a Bayesian GP-LVM of its rows.

    Parameters
    ----------
    latent : int, default 10
        Maximum dimension of the latent space of a class, at most one for each column.
    kernel : str or Kernel, default "se(ard)"
    inducing : int, default 50
        Inducing inputs of each class, at most one for each of its rows.
    prior : {"shares", "uniform"}, default "shares"
        Prior of the classes: their shares of the rows, or all equal.
    scale : {"global", "columns", "none"}, default "global"
    restarts : int, default 0
        Number of starts for each class; 0: four up to 500 rows, two up to 2000, else one.
    max_iter : int, default 200
        Iterations of each start.
    random_state : int, RandomState instance or None, default None
    verbose : bool, default False

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    fit_ : covary.ClassDensityFit
    <objective>
    n_iter_ : int
        The most that a class took.

    Examples
    --------
    >>> import numpy as np, covary as cv
    >>> t = np.linspace(-1, 1, 30)
    >>> X = np.vstack([np.column_stack([t, t, np.sin(3 * t)]), np.column_stack([t, -t, np.cos(3 * t)])])
    >>> X += 0.03 * np.random.default_rng(0).standard_normal(X.shape)
    >>> y = np.repeat(["up", "down"], 30)
    >>> model = cv.GPLVMClassifier(latent=2, inducing=8, max_iter=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    fit_: ClassDensityFit

    def __init__(self, latent: int = 10, kernel: Union[str, Kernel] = "se(ard)", inducing: int = 50,
                 prior: str = "shares", scale: str = "global", restarts: int = 0, max_iter: int = 200,
                 random_state: Any = None, verbose: bool = False):
        self.latent = latent
        self.kernel = kernel
        self.inducing = inducing
        self.prior = prior
        self.scale = scale
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "GPLVMClassifier":
        """Trains a latent-variable model of the rows of each class, of which there must be two at least."""
        target_names = output_names(y)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class only, '{self.classes_[0]}'; a classifier needs rows of two at least")
        names = getattr(self, "feature_names_in_", None)
        self.fit_ = fit_class_density(
            X, codes.astype(np.float64), latent=self.latent, kernel=self.kernel, inducing=self.inducing,
            prior=self.prior, scale=self.scale, restarts=self.restarts, max_iter=self.max_iter,
            seed=seed_of(self.random_state), classes=[_name(label) for label in self.classes_],
            input_names=None if names is None else list(names), output_name=target_names[0] if target_names else None,
            progress=bool(self.verbose))
        self.n_iter_ = max(density.summary.iterations for density in self.fit_.densities)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, (n, n_classes) in the order of ``classes_``."""
        check_is_fitted(self, "fit_")
        return self.fit_.predict_proba(validate_data(self, X, reset=False, dtype=np.float64, order="C"))

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log p(x, class), (n, n_classes)."""
        check_is_fitted(self, "fit_")
        return self.fit_.log_joint(validate_data(self, X, reset=False, dtype=np.float64, order="C"))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class, the first of equals."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[np.argmax(joint, axis=1)]


def _name(label: Any) -> str:
    """Whole numbers by their digits, as the command line has them."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)
