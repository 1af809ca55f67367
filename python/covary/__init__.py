"""Covary: Gaussian processes with a C++ core.

Level one is scikit-learn's manner, level two mirrors the C++ library.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 10, 50).reshape(-1, 1)
>>> y = np.sin(X[:, 0])
>>> model = cv.GPRegressor(kernel="matern52", random_state=0).fit(X, y)
>>> mean, sd = model.predict(X[:3], return_std=True)
>>> mean.shape, sd.shape
((3,), (3,))
>>> fit = cv.Regression(X, y, kernel=cv.Kernel("se") + "linear").fit(seed=0)
>>> fit.predict_y(X[:3])[0].shape
(3,)
>>> cv.SparseRegression(X, y, inducing=8).fit(seed=0).Z.shape  # for many rows
(8, 1)
>>> cv.GPClassifier(random_state=0).fit(X, y > 0).predict([[1.5]]).tolist()
[True]
"""

import importlib
from typing import TYPE_CHECKING

from ._core import (
    ClassDensityFit,
    CovaryError,
    ExpressionError,
    FileError,
    Fit,
    Generalised,
    GeneralisedFit,
    Gplvm,
    GplvmFit,
    InputError,
    Interrupted,
    Kernel,
    MapGplvm,
    MapGplvmFit,
    Mean,
    MissingInputsRegression,
    NumericalError,
    ParameterDraws,
    Parameters,
    PpcaFit,
    Regression,
    RegressionFit,
    SparseRegression,
    Summary,
    Svgp,
    UncertainInputsRegression,
    Unsupported,
    __version__,
    fit,
    fit_class_density,
    fit_dual_ppca,
    fit_file,
    fit_ppca,
    lag_names,
    lag_windows,
    load,
    models,
    set_threads,
    threads,
)

if TYPE_CHECKING:
    from . import plot as plot
    from .classifiers import GPClassifier as GPClassifier
    from .classifiers import GPLVMClassifier as GPLVMClassifier
    from .classifiers import SparseGPClassifier as SparseGPClassifier
    from .estimators import GPRegressor as GPRegressor
    from .estimators import SparseGPRegressor as SparseGPRegressor
    from .latent import MAPGPLVM as MAPGPLVM
    from .latent import MRD as MRD
    from .latent import PPCA as PPCA
    from .latent import BayesianGPLVM as BayesianGPLVM
    from .latent import DynamicalGPLVM as DynamicalGPLVM
    from .series import AutoregressiveGP as AutoregressiveGP

__all__ = [
    "AutoregressiveGP", "BayesianGPLVM", "ClassDensityFit", "CovaryError", "DynamicalGPLVM", "ExpressionError",
    "FileError", "Fit", "GPClassifier", "GPLVMClassifier", "GPRegressor", "Generalised", "GeneralisedFit", "Gplvm",
    "GplvmFit", "InputError", "Interrupted", "Kernel", "MAPGPLVM", "MRD", "MapGplvm", "MapGplvmFit", "Mean", "MissingInputsRegression", "NumericalError", "PPCA",
    "ParameterDraws", "Parameters", "PpcaFit", "Regression", "RegressionFit", "SparseGPClassifier", "SparseGPRegressor", "SparseRegression", "Summary", "Svgp", "UncertainInputsRegression", "Unsupported",
    "__version__", "fit", "fit_class_density", "fit_dual_ppca", "fit_file", "fit_ppca", "lag_names", "lag_windows", "load", "models",
    "plot", "set_threads", "threads",
]


def _restored(state):
    """A fit from its pickle."""
    from ._core import _restore
    return _restore(state)


def __getattr__(name):
    # scikit-learn and matplotlib are wanted only by those who ask for what needs them.
    if name in ("GPRegressor", "SparseGPRegressor"):
        return getattr(importlib.import_module(".estimators", __name__), name)
    if name in ("GPClassifier", "GPLVMClassifier", "SparseGPClassifier"):
        return getattr(importlib.import_module(".classifiers", __name__), name)
    if name in ("BayesianGPLVM", "DynamicalGPLVM", "MAPGPLVM", "MRD", "PPCA"):
        return getattr(importlib.import_module(".latent", __name__), name)
    if name == "AutoregressiveGP":
        return importlib.import_module(".series", __name__).AutoregressiveGP
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module 'covary' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
