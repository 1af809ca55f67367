"""Autoregression."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import covary as cv


def wave(n=80):
    t = 0.3 * np.arange(n)
    noise = 0.02 * np.random.default_rng(0).standard_normal((n, 2))
    return np.column_stack([10 + np.sin(t), 3 * np.cos(t)]) + noise


def test_windows_and_their_names():
    X, Y = cv.lag_windows([1.0, 2.0, 3.0, 4.0], 2)
    assert X.tolist() == [[1, 2], [2, 3]] and Y.tolist() == [[3], [4]]
    assert cv.lag_names(["a", "b"], 2) == ["a[t-2]", "b[t-2]", "a[t-1]", "b[t-1]"]
    with pytest.raises(cv.InputError, match="fewer lags"):
        cv.lag_windows([1.0, 2.0], 2)


@pytest.mark.parametrize("model", ["exact", "vfe"])
def test_a_wave_goes_on(model):
    Y = wave(100)
    gp = cv.AutoregressiveGP(lags=3, model=model, inducing=20, random_state=0, max_iter=100)
    mean, sd = clone(gp).fit(Y[:80]).forecast(20, return_std=True)
    assert mean.shape == sd.shape == (20, 2)
    assert np.abs(mean[:, 0] - Y[80:, 0]).max() < 0.3
    gp.fit(Y[:80, 0])
    assert np.array_equal(gp.forecast(3), gp.forecast(3, Y[:80, 0]))
    assert gp.forecast(3).shape == (3,)
    first, sd = gp.forecast(1, return_std=True)
    by_hand, variance = gp.fit_.predict_y(Y[77:80, 0].reshape(1, -1))
    assert first == pytest.approx(by_hand, abs=1e-9) and sd**2 == pytest.approx(variance, rel=1e-4)
    grown = gp.forecast(20, return_std=True)[1][-1]
    assert grown > gp.forecast(20, propagation="plug-in", return_std=True)[1][-1]
    again = pickle.loads(pickle.dumps(gp))
    assert np.array_equal(again.forecast(5), gp.forecast(5))


def test_draws_are_series_that_may_follow():
    Y = wave(80)
    gp = cv.AutoregressiveGP(lags=3, inducing=15, random_state=0, max_iter=60).fit(Y)
    drawn = gp.sample(10, 50)
    assert drawn.shape == (50, 10, 2) and np.array_equal(drawn, gp.sample(10, 50))
    mean, variance = gp.fit_.simulate(Y, 10, "draws", draws=50)
    # Variances are those of the draws, but at least the noise that every observation has.
    noise = variance.min(0)
    assert np.allclose(mean, drawn.mean(0), atol=1e-9)
    assert np.allclose(variance, np.maximum(drawn.var(0, ddof=1), noise), rtol=1e-6)
    assert np.abs(gp.forecast(10, propagation="draws") - gp.forecast(10)).max() < 0.2
    assert gp.fit(Y[:, 0]).sample(4, 3).shape == (3, 4)


def test_parameters_are_drawn_too():
    Y = wave(30)[:, 0]
    gp = cv.AutoregressiveGP(lags=3, model="exact", random_state=0).fit(Y)
    draws = gp.fit_.sample_parameters(20, seed=1, chains=2, burn_in=20, thin=1)
    assert len(draws) == 20 and draws.values["kernel.lengthscales"].shape == (20, 3)
    assert (draws.values["likelihood.variance"] > 0).all() and draws.r_hat >= 1 and draws.evaluations > 0
    again = gp.fit_.sample_parameters(20, seed=1, chains=2, burn_in=20, thin=1)
    assert np.array_equal(draws.values["kernel.variance"], again.values["kernel.variance"])
    far = np.full((1, 3), 10.0)
    mean, variance = gp.fit_.predict_y(far, parameters=draws)
    assert mean.shape == variance.shape == (1,) and variance > 0
    assert gp.fit_.simulate_draws(Y, 5, 30, parameters=draws).shape == (30, 5)
    mean, sd = gp.forecast(5, propagation="draws", return_std=True, parameter_draws=8)
    assert np.isfinite(mean).all() and (sd > 0).all()
    with pytest.raises(cv.InputError, match="propagation='draws'"):
        gp.fit_.simulate(Y, 5, parameters=draws)
    with pytest.raises(cv.Unsupported):
        cv.AutoregressiveGP(lags=3, inducing=5, max_iter=3, random_state=0).fit(Y).fit_.sample_parameters()


def test_bad_calls():
    gp = cv.AutoregressiveGP(lags=2, model="exact", max_iter=3, random_state=0).fit(wave(20))
    with pytest.raises(cv.InputError, match="propagation"):
        gp.forecast(3, propagation="hope")
    with pytest.raises(cv.Unsupported, match="sparse"):
        gp.forecast(3, propagation="augmented")
    with pytest.raises(cv.InputError, match="must be complete"):
        gp.forecast(3, np.full((5, 2), np.nan))
