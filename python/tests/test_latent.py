"""Latent-variable models."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

import covary as cv


@parametrize_with_checks([cv.BayesianGPLVM(inducing=8, max_iter=5, restarts=1),
                          cv.DynamicalGPLVM(inducing=8, max_iter=3, restarts=1), cv.MRD(inducing=8, max_iter=3, restarts=1),
                          cv.PPCA(latent=1)])
def test_scikit_learn_says_yes(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def curve(n=60):
    t = np.linspace(-1.5, 1.5, n)
    noise = 0.02 * np.random.default_rng(0).standard_normal((n, 4))
    return t, np.column_stack([t, np.sin(2 * t), t**2, np.tanh(2 * t)]) + noise


def test_a_curve_has_one_dimension():
    t, Y = curve()
    model = cv.BayesianGPLVM(latent=3, inducing=12, random_state=0, max_iter=600)
    X = model.fit(Y).embedding_
    assert np.sum(model.relevance_ > 0.01) == 1
    used = int(np.argmax(model.relevance_[0]))
    assert abs(np.corrcoef(X[:, used], t)[0, 1]) > 0.9
    assert np.abs(model.inverse_transform(X) - Y).mean() < 0.05
    some = Y[[20]].copy()
    some[0, 2:] = np.nan
    assert abs(model.transform(some)[0, used] - X[20, used]) < 0.3
    assert np.abs(model.inverse_transform(model.transform(some))[0] - Y[20]).max() < 0.3
    density = model.score_samples(Y)
    assert density.shape == (60,) and model.score(Y) == pytest.approx(density.mean())
    assert model.score(Y + [0, 0, 0, 1]) < model.score(Y) - 10


def test_dynamics_forecast_and_views_share():
    t, Y = curve()
    model = cv.DynamicalGPLVM(latent=2, inducing=12, times=t, random_state=0, max_iter=200).fit(Y)
    mean, sd = model.forecast([1.52], return_std=True)
    assert mean.shape == sd.shape == (1, 4)
    assert np.abs(mean - Y[-1]).max() < 0.5
    both = cv.MRD({"a": [0, 1], "b": [2, 3]}, latent=2, inducing=12, random_state=0, max_iter=100).fit(Y)
    assert both.relevance_.shape == (2, 2)
    assert both.fit_.views == {"a": [0, 1], "b": [2, 3]}


def test_a_walk_through_the_latent_space(tmp_path):
    _, Y = curve(30)
    fit = cv.Gplvm(Y, latent=2, inducing=8).fit(max_iter=50)
    walk = np.column_stack([np.linspace(-1, 1, 7), np.zeros(7)])
    draws = fit.sample(walk, draws=300, seed=1)
    assert draws.shape == (300, 7, 4)
    mean, variance = fit.decode(walk)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 0.4 * np.sqrt(variance))
    fit.explore(tmp_path / "walk.html", draw="curve", title="A <walk>")
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    assert "A &lt;walk&gt;" in page and '"draw":"curve"' in page
    with pytest.raises(cv.InputError, match="image"):
        fit.explore(tmp_path / "no.html", draw="image(9x9)")


def test_minibatches_and_other_likelihoods(tmp_path):
    _, Y = curve(60)
    model = cv.BayesianGPLVM(latent=2, inducing=10, batch_size=20, steps=300, random_state=0).fit(Y)
    assert "minibatches of 20" in model.fit_.summary.route
    assert np.sqrt(np.mean((model.inverse_transform(model.embedding_) - Y) ** 2)) < 0.2
    collapsed = cv.Gplvm(Y, latent=2, inducing=10, seed=3, jitter=1e-6)
    stochastic = cv.Gplvm(Y, latent=2, inducing=10, seed=3, jitter=1e-6, batch=20)
    assert stochastic.elbo() == pytest.approx(collapsed.elbo(), rel=1e-8)
    labels = (Y > 0).astype(float)
    labels[3, 1] = np.nan
    model = cv.BayesianGPLVM(latent=2, inducing=8, likelihood="bernoulli", steps=60, random_state=0).fit(labels)
    assert model.fit_.likelihood == "bernoulli(logit)"
    back = model.inverse_transform(model.transform(labels[:5]))
    assert back.shape == (5, Y.shape[1]) and np.all((back >= 0) & (back <= 1))
    model.fit_.save(tmp_path / "labels.cov")
    again = cv.load(tmp_path / "labels.cov")
    assert np.array_equal(again.decode(again.mean)[0], model.fit_.decode(model.fit_.mean)[0])
    with pytest.raises(cv.InputError):
        cv.BayesianGPLVM(likelihood="bernoulli").fit(Y)


def test_files_and_pickles_keep_the_bits(tmp_path):
    _, Y = curve(30)
    fit = cv.Gplvm(Y, latent=2, inducing=8).fit(max_iter=10)
    fit.save(tmp_path / "m.cov")
    for other in (cv.load(tmp_path / "m.cov"), pickle.loads(pickle.dumps(fit))):
        assert isinstance(other, cv.GplvmFit)
        assert np.array_equal(other.mean, fit.mean)
        assert np.array_equal(other.decode(fit.mean, fit.variance)[0], fit.decode(fit.mean, fit.variance)[0])
        assert other.value == fit.value


def test_bad_input_says_what_to_do():
    _, Y = curve(20)
    with pytest.raises(cv.InputError, match="at least one dimension"):
        cv.Gplvm(Y, latent=0)
    with pytest.raises(cv.InputError, match="20 rows"):
        cv.Gplvm(Y, times=np.arange(5))
    gone = Y.copy()
    gone[3] = np.nan
    with pytest.raises(cv.InputError, match="row 3 has no observed output"):
        cv.Gplvm(gone)
    with pytest.raises(cv.InputError, match="no dynamics"):
        cv.Gplvm(Y, latent=2).fit(max_iter=1).forecast([1.0])


def test_ppca_is_that_of_scikit_learn(tmp_path):
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 5)) + 0.2 * rng.standard_normal((60, 5)) + 3
    ours, theirs = cv.PPCA(latent=2, scale="none").fit(Y), PCA(2).fit(Y)
    # scikit-learn divides by N − 1.
    assert ours.fit_.noise_variance == pytest.approx(theirs.noise_variance_ * 59 / 60, rel=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    C = ours.fit_.W @ ours.fit_.W.T + ours.fit_.noise_variance * np.eye(5)
    expected = multivariate_normal(Y.mean(0), C).logpdf(Y)
    np.testing.assert_allclose(ours.score_samples(Y), expected, rtol=1e-9)
    assert ours.fit_.value == pytest.approx(expected.sum(), rel=1e-9) and ours.score(Y) == pytest.approx(expected.mean())
    assert np.abs(ours.inverse_transform(ours.transform(Y)) - Y).mean() < 0.25
    np.testing.assert_allclose(ours.transform(Y), ours.embedding_, atol=1e-9)
    some = Y[:1].copy()
    some[0, 3] = np.nan
    assert abs(ours.fit_.fill(some)[0][0, 3] - Y[0, 3]) < 4 * np.sqrt(ours.fit_.fill(some)[1][0, 3])
    ours.fit_.save(tmp_path / "p.cov")
    back = cv.load(tmp_path / "p.cov")
    np.testing.assert_array_equal(back.infer(Y)[0], ours.transform(Y))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(back)).mean, back.mean)
    X, noise, value = cv.fit_dual_ppca(Y, 2)
    K = X @ X.T + noise * np.eye(60)
    assert value == pytest.approx(multivariate_normal(np.zeros(60), K).logpdf((Y - Y.mean(0)).T).sum(), rel=1e-9)
    with pytest.raises(ValueError, match="no direction for the noise"):
        cv.PPCA(latent=5).fit(Y)
