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
                          cv.PPCA(latent=1), cv.MAPGPLVM(max_iter=5)])
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


def test_mappings_may_be_through_sums_of_points():
    Y = curve(30)[1]
    for more in ({}, {"views": {"a": [0, 1], "b": [2, 3]}}, {"steps": 5}):
        model = cv.Gplvm(Y, latent=2, inducing=4, features="basis(2)", restarts=1, **more)
        before = model.elbo()
        assert model.fit(max_iter=5).value != before
        assert any(path.endswith("features.weights") for path in model.parameters)
    with pytest.raises(cv.Unsupported, match="points and basis"):
        cv.Gplvm(Y, latent=2, features="eigen")


def test_dynamics_forecast_and_views_share():
    t, Y = curve()
    model = cv.DynamicalGPLVM(latent=2, inducing=12, times=t, fixed_point=3, random_state=0, max_iter=200).fit(Y)
    mean, sd = model.forecast([1.52], return_std=True)
    assert mean.shape == sd.shape == (1, 4)
    assert np.abs(mean - Y[-1]).max() < 0.5
    both = cv.MRD({"a": [0, 1], "b": [2, 3]}, latent=2, inducing=12, random_state=0, max_iter=100).fit(Y)
    assert both.relevance_.shape == (2, 2)
    assert both.fit_.views == {"a": [0, 1], "b": [2, 3]}
    mrd = cv.MRD({"a": [0, 1], "b": [2, 3]}, latent=2, inducing=12, restarts=1, random_state=0, max_iter=0)
    values = {mrd.set_params(start_view=view).fit(Y).fit_.value for view in (None, "a", "b")}
    assert len(values) == 3
    with pytest.raises(cv.InputError, match="no view 'c'"):
        mrd.set_params(start_view="c").fit(Y)


def test_views_over_time(tmp_path):
    t = np.linspace(0, 6, 60)
    noise = 0.02 * np.random.default_rng(1).standard_normal((60, 5))
    Y = np.column_stack([np.sin(t), np.cos(t), np.sin(t)**2, np.cos(t) * np.sin(t), 2 * np.sin(t + 1)]) + noise
    views = {"a": [0, 1, 4], "b": [2, 3]}
    settings = {"latent": 2, "inducing": 15, "restarts": 1, "random_state": 0, "max_iter": 200}
    mrd = cv.MRD(views, times=t, dynamics="se + white", fixed_point=3, **settings).fit(Y)
    assert mrd.fit_.views == views and mrd.relevance_.shape == (2, 2)
    ahead = np.array([6.05, 6.1])
    mean, sd = mrd.forecast(ahead, return_std=True)
    truth = np.column_stack([np.sin(ahead), np.cos(ahead), np.sin(ahead)**2, np.cos(ahead) * np.sin(ahead),
                             2 * np.sin(ahead + 1)])
    assert mean.shape == sd.shape == (2, 5) and np.abs(mean - truth).max() < 0.2
    half = Y[20:40].copy()  # one view of a further sequence is missing: time and the other view tell
    half[:, 2:4] = np.nan
    assert np.abs(mrd.complete(half, t[20:40]) - Y[20:40]).mean() < 0.15
    mrd.fit_.save(tmp_path / "views.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "views.cov").forecast(ahead)[0], mrd.fit_.forecast(ahead)[0])
    static = cv.MRD(views, **settings).fit(Y)
    assert mrd.fit_.value != static.fit_.value
    with pytest.raises(cv.InputError, match="no dynamics"):
        static.forecast(ahead)
    with pytest.raises(cv.InputError, match="give times"):
        cv.MRD(views, sequences=[0, 30], **settings).fit(Y)
    two = cv.MRD(views, times=t, sequences=[0, 30], **settings).set_params(max_iter=5).fit(Y)
    assert not np.array_equal(two.fit_.forecast(ahead, 1)[0], two.fit_.forecast(ahead, 0)[0])


def test_times_are_any_columns():
    rng = np.random.default_rng(2)
    X, at = rng.uniform(-2, 2, (80, 2)), rng.uniform(-1.5, 1.5, (50, 2))
    f = lambda X: np.column_stack([np.sin(X[:, 0]) + 0.5 * X[:, 1], np.tanh(X[:, 0] - X[:, 1])])
    Y = f(X) + 0.02 * rng.standard_normal((80, 2))
    model = cv.DynamicalGPLVM(latent=2, inducing=15, times=X, dynamics="se(ard) + white", restarts=1, random_state=0,
                              max_iter=200).fit(Y)
    assert np.abs(model.forecast(at) - f(at)).mean() < 0.2 * f(at).std()


def test_rows_with_times_are_one_sequence():
    t, Y = curve()
    model = cv.DynamicalGPLVM(latent=2, inducing=12, times=t, random_state=0, max_iter=200).fit(Y)
    some = Y[20:50].copy()
    some[12:15] = np.nan
    mean, sd = model.complete(some, t[20:50], return_std=True)
    assert np.abs(mean - Y[20:50]).max() < 0.2 and np.all(sd > 0)
    X, variance = model.fit_.infer_sequence(some, t[20:50], own_noise=True)
    assert X.shape == variance.shape == (30, 2)
    with pytest.raises(cv.InputError, match="times"):
        model.complete(some, t[:3])
    with pytest.raises(cv.InputError, match="dynamics"):
        cv.Gplvm(Y, latent=2, inducing=12).fit(max_iter=3).infer_sequence(some, t[20:50])


def test_an_empty_view_has_correspondences():
    t = np.linspace(-1.5, 1.5, 40)
    Y = np.column_stack([t, np.sin(2 * t), t**2, np.tanh(2 * t)]) + 0.02 * np.random.default_rng(0).standard_normal((40, 4))
    mrd = cv.MRD({"a": [0, 1], "b": [2, 3]}, latent=2, inducing=12, random_state=0, max_iter=100).fit(Y)
    half = Y[::8].copy()
    half[:, 2:] = np.nan
    rows, distances, outputs = mrd.correspond(half, 3)
    assert rows.shape == distances.shape == (5, 3) and outputs.shape == (5, 3, 4) and rows.dtype == np.int64
    assert np.abs(rows - np.arange(0, 40, 8)[:, None]).max() < 6 and (np.diff(distances) >= 0).all()
    assert np.abs(outputs[:, 0] - Y[::8]).max() < 0.3
    with pytest.raises(cv.InputError, match="2 of 2 views"):
        mrd.correspond(Y)


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


def test_the_bound_has_referees():
    _, Y = curve(8)
    Y = Y + 0.2 * np.random.default_rng(1).standard_normal(Y.shape)
    fit = cv.Gplvm(Y, latent=1, inducing=8, restarts=1).fit(max_iter=100)
    value, error = fit.estimate_log_evidence(Y, samples=3000)
    assert fit.value <= value + 3 * error
    for method in ("slice", "retrospective"):
        draws = fit.sample_latent(Y, draws=20, method=method, burn_in=5, seed=1)
        assert draws.shape == (20, 8, 1) and np.all(np.isfinite(draws))
        np.testing.assert_array_equal(draws, fit.sample_latent(Y, draws=20, method=method, burn_in=5, seed=1))
    with pytest.raises(cv.InputError, match="slice or retrospective"):
        fit.sample_latent(Y, method="gibbs")
    with pytest.raises(cv.InputError, match="trained on 8 rows"):
        fit.sample_latent(Y[:4])


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


def test_points_in_place_of_distributions(tmp_path):
    t, Y = curve(40)
    model = cv.MAPGPLVM(latent=1, back_constraint="kernel", max_iter=150, random_state=0)
    X = model.fit_transform(Y)
    np.testing.assert_allclose(X, model.embedding_, atol=1e-8)
    assert abs(np.corrcoef(X[:, 0], t)[0, 1]) > 0.9
    mean, sd = model.inverse_transform(X, return_std=True)
    assert np.abs(mean - Y).mean() < 0.1 and np.all(sd > 0)
    some = Y[[20]].copy()
    some[0, 2] = np.nan
    assert np.abs(model.inverse_transform(model.transform(some))[0] - Y[20]).max() < 0.3
    model.fit_.save(tmp_path / "m.cov")
    for other in (cv.load(tmp_path / "m.cov"), pickle.loads(pickle.dumps(model.fit_))):
        assert isinstance(other, cv.MapGplvmFit)
        assert np.array_equal(other.X, model.fit_.X) and other.value == model.fit_.value
        assert np.array_equal(other.place(Y[:3]), model.fit_.place(Y[:3]))
    assert model.fit_.sample(X[:2], draws=5).shape == (5, 2, 4)
    # Classes, views and times.
    apart = cv.MAPGPLVM(discriminative=100.0, views={"a": [0, 1], "b": [2, 3]}, max_iter=60, random_state=0)
    assert apart.fit(Y, t > 0).fit_.views == {"a": [0, 1], "b": [2, 3]}
    assert np.isfinite(apart.fit_.log_prior) and apart.fit_.spread.shape == (2,)
    with pytest.raises(ValueError, match="classes y"):
        apart.fit(Y)
    smooth = cv.MapGplvm(Y, latent=1, times=t, back_constraint="network", hidden=5)
    before = smooth.log_likelihood()
    fit = smooth.fit(max_iter=60)
    assert fit.value > before and smooth.log_likelihood() == pytest.approx(fit.value)
    assert fit.decode(*fit.forecast([1.52]))[0].shape == (1, 4)
    with pytest.raises(cv.InputError, match="complete rows"):
        cv.MapGplvm(np.vstack([Y, some]), back_constraint="kernel")
    alike = cv.BayesianGPLVM(latent=1, inducing=8, back_constraint="kernel", max_iter=30, restarts=1).fit(np.vstack([Y, Y[:1]]))
    assert alike.embedding_[0, 0] == pytest.approx(alike.embedding_[-1, 0], abs=1e-8)
    with pytest.raises(cv.InputError, match="kernel or network"):
        cv.MapGplvm(Y, back_constraint="forest")
