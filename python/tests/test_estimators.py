import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from conftest import wave
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

import covary as cv


@parametrize_with_checks([
    cv.GPRegressor(),
    cv.GPRegressor("matern52 + linear", mean="constant", restarts=1),
    cv.SparseGPRegressor(),
    cv.SparseGPRegressor("matern52 + linear", mean="constant", model="fitc", inducing=7, selection="kmeans",
                         restarts=1),
])
def test_scikit_learn_says_yes(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module", params=[cv.GPRegressor, cv.SparseGPRegressor])
def gp(request):
    return request.param(random_state=0).fit(*wave())


def test_prediction_is_of_y(gp):
    Z, _ = wave(6, seed=2)
    mean, sd = gp.predict(Z, return_std=True)
    same, covariance = gp.predict(Z, return_cov=True)
    np.testing.assert_allclose(mean, same, rtol=1e-9)
    np.testing.assert_array_equal(same, gp.predict(Z))
    np.testing.assert_allclose(np.diag(covariance), sd**2, rtol=1e-9)
    np.testing.assert_allclose(sd**2, gp.fit_.predict_f(Z)[1] + gp.noise_variance_, rtol=1e-12)
    assert 0.003 < gp.noise_variance_ < 0.03  # of 0.1²
    assert gp.score(*wave(200, seed=4)) > 0.97
    with pytest.raises(ValueError, match="not both"):
        gp.predict(Z, return_std=True, return_cov=True)


def test_arrays_that_need_no_conversion_are_checked_all_the_same(gp):
    Z, _ = wave(6, seed=2)
    np.testing.assert_array_equal(gp.predict(Z), gp.predict(Z.tolist()))
    np.testing.assert_array_equal(gp.predict(Z), gp.predict(np.asfortranarray(Z)))
    for wrong in (np.full((1, 2), np.nan), np.zeros((1, 3)), np.zeros((0, 2)), np.zeros(2)):
        with pytest.raises(ValueError):
            gp.predict(wrong)
    with pytest.raises(NotFittedError):
        clone(gp).predict(Z)


def test_sample_y_has_the_covariance_of_y(gp):
    Z, _ = wave(3, seed=2)
    draws = gp.sample_y(Z, n_samples=6000, random_state=1)
    assert draws.shape == (3, 6000)
    mean, covariance = gp.predict(Z, return_cov=True)
    sd = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(draws.mean(1) - mean) < 5 * sd / np.sqrt(6000))
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.1 * sd.max() ** 2)
    np.testing.assert_array_equal(draws, gp.sample_y(Z, n_samples=6000, random_state=1))


@pytest.fixture(params=["exact", "sparse"])
def estimator(request):
    """One of either kind, quick to fit."""
    if request.param == "exact":
        return cv.GPRegressor(restarts=1, random_state=0)
    return cv.SparseGPRegressor(inducing=20, restarts=1, random_state=0)


def test_several_targets(estimator):
    X, y = wave()
    gp = estimator.fit(X, np.column_stack([y, -3 * y]))
    mean, covariance = gp.predict(X[:4], return_cov=True)
    assert mean.shape == (4, 2) and covariance.shape == (4, 4, 2)
    np.testing.assert_allclose(covariance[..., 1], 9 * covariance[..., 0], rtol=1e-9)
    assert gp.sample_y(X[:4], n_samples=5).shape == (4, 2, 5)
    assert gp.noise_variance_.shape == (2,)


def test_scikit_learn_tools(estimator):
    X, y = wave(60)
    pipeline = make_pipeline(PolynomialFeatures(2), clone(estimator))
    assert pipeline.fit(X, y).score(X, y) > 0.95
    assert np.mean(cross_val_score(estimator, X, y, cv=3)) > 0.9
    search = GridSearchCV(estimator, {"kernel": ["constant", "se(ard)"]}, cv=3)
    assert search.fit(X, y).best_params_ == {"kernel": "se(ard)"}
    copy = clone(estimator.set_params(kernel=cv.Kernel("rq"), scale="none"))
    assert copy.kernel == cv.Kernel("rq") and copy.scale == "none"


def test_sparse_attributes():
    X, y = wave(100)
    gp = cv.SparseGPRegressor(inducing=15, random_state=0).fit(X, y)
    assert gp.objective_value_ == gp.fit_.value <= gp.upper_bound_value_ == gp.fit_.upper_bound
    np.testing.assert_array_equal(gp.inducing_inputs_, gp.fit_.Z)
    assert gp.fit_.model == "vfe"
    assert gp.inducing_inputs_.shape == (15, 2) and gp.score(*wave(200, seed=4)) > 0.97
    assert cv.SparseGPRegressor(model="fitc", inducing=5, max_iter=5).fit(X, y).upper_bound_value_ is None
    search = GridSearchCV(cv.SparseGPRegressor(random_state=0, restarts=1), {"inducing": [1, 15]}, cv=3)
    assert search.fit(X, y).best_params_ == {"inducing": 15}


def test_inducing_inputs_as_an_array():
    X, y = wave(100)
    gp = clone(cv.SparseGPRegressor(inducing=X[:12], max_iter=0, random_state=0)).fit(X, y)
    np.testing.assert_allclose(gp.inducing_inputs_, X[:12], atol=1e-12)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib(gp, backend):
    Z, _ = wave(30, seed=9)
    parts = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(gp.predict)(z) for z in np.split(Z, 3))
    np.testing.assert_allclose(np.concatenate(parts), gp.predict(Z), rtol=1e-12)


def test_pickle(gp):
    Z, _ = wave(30, seed=9)
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.predict(Z, return_std=True)[1], gp.predict(Z, return_std=True)[1])
    assert again.fit_.value == gp.fit_.value


def test_pandas_names_are_kept(estimator):
    X, y = wave()
    frame = pd.DataFrame(X, columns=["a", "b"])
    gp = estimator.fit(frame, pd.Series(y, name="mass"))
    assert list(gp.feature_names_in_) == gp.fit_.input_names == ["a", "b"]
    assert gp.fit_.output_names == ["mass"]
    with pytest.raises(ValueError, match="feature names"):
        gp.predict(frame[["b", "a"]])


def test_random_state():
    X, y = wave()
    one, two = (cv.GPRegressor(random_state=np.random.RandomState(1)).fit(X, y) for _ in range(2))
    assert one.objective_value_ == two.objective_value_


def test_wrong_arguments_are_told_by_fit():
    X, y = wave()
    with pytest.raises(cv.ExpressionError, match="unknown kernel 'sea'"):
        cv.GPRegressor(kernel="sea").fit(X, y)
    with pytest.raises(ValueError, match="scale|columns"):
        cv.GPRegressor(scale="rows").fit(X, y)
    with pytest.raises(ValueError, match="unknown approximation"):
        cv.SparseGPRegressor(model="fit").fit(X, y)
    with pytest.raises(ValueError, match="inducing must be at least 1"):
        cv.SparseGPRegressor(inducing=0).fit(X, y)


@pytest.mark.parametrize("estimator, objective", [
    (cv.GPRegressor(max_iter=2), "log_marginal_likelihood"),
    (cv.SparseGPRegressor(inducing=5, max_iter=2), "elbo"),
    (cv.SparseGPRegressor(model="fitc", inducing=5, max_iter=2), "log_marginal_likelihood"),
    (cv.AutoregressiveGP(model="exact", max_iter=2), "log_marginal_likelihood"),
    (cv.GPClassifier(max_iter=2), "log_evidence(laplace)"),
    (cv.GPClassifier(method="ep", max_iter=2), "log_evidence(ep)"),
    (cv.GPClassifier(method="vgp", max_iter=2), "elbo"),
    (cv.SparseGPClassifier(inducing=5, max_iter=2), "elbo"),
    (cv.GPLVMClassifier(latent=1, inducing=5, max_iter=2), "elbo"),
    (cv.BayesianGPLVM(latent=1, inducing=5, max_iter=2), "elbo"),
    (cv.MAPGPLVM(latent=1, max_iter=2), "log_posterior"),
    (cv.PPCA(latent=1), "log_likelihood"),
], ids=lambda e: e if isinstance(e, str) else type(e).__name__)
def test_objective_has_its_right_name(estimator, objective):
    assert not hasattr(estimator, "objective_") and not hasattr(estimator, "objective_value_")
    X, y = wave(30)
    X = np.column_stack([X, y])
    estimator.fit(X, y > np.median(y)) if hasattr(estimator, "predict_proba") else estimator.fit(X, y)
    assert estimator.objective_ == objective == estimator.fit_.summary.objective
    assert estimator.objective_value_ == estimator.fit_.value
