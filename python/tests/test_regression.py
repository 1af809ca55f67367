import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from conftest import wave

import covary as cv

X8 = np.array([[0.0], [0.5], [1.2], [2.0], [3.1]])
y8 = np.array([0.3, 0.8, 0.6, -0.4, -1.0])


def at_given_parameters(**options):
    model = cv.Regression(X8, y8, kernel="se", scale="none", **options)
    for path, value in {"kernel.variance": 1, "kernel.lengthscales": 0.8, "likelihood.variance": 0.04}.items():
        model.parameters[path] = value
    return model


def test_t8_value_and_prediction():
    """Five points whose evidence and prediction are known (spec T8)."""
    model = at_given_parameters()
    assert model.log_marginal_likelihood() == pytest.approx(-4.384338332209974, abs=1e-12)
    fit = model.fit(max_iter=0)
    mean, variance = fit.predict_f([[1.5]])
    assert mean == pytest.approx([0.25099915220009233], abs=1e-13)
    assert variance == pytest.approx([0.0405125373652675], abs=1e-13)
    assert fit.predict_y([[1.5]])[1] == pytest.approx([0.0805125373652675], abs=1e-13)
    assert fit.covariance([[1.5]])[0, 0] == pytest.approx(variance[0], abs=1e-13)


def by_numpy(X, y, Z, noise):
    """Mean and covariance of f by the formula, with the parameters above."""
    k = lambda a, b: np.exp(-0.5 * ((a - b.T) / 0.8) ** 2)
    K = k(X, X) + np.diag(0.04 + noise)
    solved = np.linalg.solve(K, k(X, Z))
    return solved.T @ y, k(Z, Z) - k(X, Z).T @ solved


def test_noise_of_each_row_against_numpy():
    noise = np.array([0, 0.1, 0.2, 0, 0.5])
    Z = np.array([[0.7], [4.0], [-1.0]])
    fit = at_given_parameters(noise=noise).fit(max_iter=0)
    mean, covariance = by_numpy(X8, y8, Z, noise)
    np.testing.assert_allclose(fit.predict_f(Z)[0], mean, atol=1e-13)
    np.testing.assert_allclose(fit.covariance(Z), covariance, atol=1e-13)


def test_leave_one_out_is_what_its_name_says():
    mean, variance, log_density = at_given_parameters().fit(max_iter=0).leave_one_out()
    total = 0
    for i in range(5):
        keep = np.arange(5) != i
        m, c = by_numpy(X8[keep], y8[keep], X8[[i]], np.zeros(4))
        v = c[0, 0] + 0.04
        np.testing.assert_allclose([mean[i], variance[i]], [m[0], v], atol=1e-12)
        total += -0.5 * np.log(2 * np.pi * v) - (y8[i] - m[0]) ** 2 / (2 * v)
    assert log_density == pytest.approx(total, abs=1e-11)


def test_components_add_up_and_gradients_are_slopes(fitted):
    Z, _ = wave(7, seed=3)
    mean, variance = fitted.predict_f(Z)
    parts = fitted.components(Z)
    assert [name for name, _, _ in parts] == ["se(ard)", "linear"]
    shift = fitted.output_scaling[0][0]
    np.testing.assert_allclose(sum(m for _, m, _ in parts) + shift, mean, atol=1e-10)
    slope, variance_slope = fitted.gradient(Z)
    assert slope.shape == variance_slope.shape == Z.shape
    h = 1e-5
    for d in range(2):
        step = h * np.eye(2)[d]
        up, down = fitted.predict_f(Z + step), fitted.predict_f(Z - step)
        np.testing.assert_allclose(slope[:, d], (up[0] - down[0]) / (2 * h), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(variance_slope[:, d], (up[1] - down[1]) / (2 * h), rtol=1e-4, atol=1e-6)


def test_draws_have_the_moments_of_the_posterior(fitted):
    Z, _ = wave(4, seed=5)
    draws = fitted.sample(Z, draws=4000, seed=3)
    assert draws.shape == (4000, 4)
    mean, variance = fitted.predict_f(Z)
    assert np.all(np.abs(draws.mean(0) - mean) < 5 * np.sqrt(variance / 4000))
    np.testing.assert_allclose(draws.var(0), variance, rtol=0.15)
    np.testing.assert_array_equal(draws[:3], fitted.sample(Z, draws=3, seed=3))
    assert np.any(draws[:3] != fitted.sample(Z, draws=3, seed=4))


def test_several_and_missing_outputs(data):
    X, y = data
    Y = np.column_stack([y, 2 * y + 1])
    Y[3, 1] = np.nan
    fit = cv.Regression(X, Y).fit(restarts=1)
    mean, variance = fit.predict_y(X[:5])
    assert mean.shape == variance.shape == (5, 2)
    assert np.isfinite(mean).all() and (variance > 0).all()
    assert fit.output_names == ["y0", "y1"]
    assert fit.sample(X[:5], draws=3).shape == (3, 5, 2)
    assert np.isnan(fit.Y[3, 1]) and np.allclose(fit.X, X)


def test_training_improves_and_says_so(data):
    model = cv.Regression(*data)
    before = model.log_marginal_likelihood()
    seen = []
    fit = model.fit(seed=2, restarts=2, callback=lambda i, value, norm: seen.append((i, value, norm)))
    assert fit.value > before
    assert model.log_marginal_likelihood() == pytest.approx(fit.value, abs=1e-9)
    s = fit.summary
    assert s.converged and s.iterations > 0 and s.reason
    assert seen[s.iterations - 1][1] == pytest.approx(s.value, abs=1e-9) or s.best_start > 0
    assert s.trace.shape[1] == 4 and s.trace[-1, 1] == pytest.approx(s.value, abs=1e-6)
    assert "log_marginal_likelihood" in repr(s) and len(seen) >= s.iterations
    assert set(fit.standard_errors) == set(model.parameters.keys())
    assert "s.e." in str(fit) and "exact regression" in repr(fit) and "<table>" in fit._repr_html_()
    assert np.isfinite(model.laplace_log_evidence())


def test_a_callback_may_stop_and_may_fail(data):
    assert not cv.Regression(*data).fit(callback=lambda i, value, norm: i < 2).summary.converged
    with pytest.raises(ZeroDivisionError):
        cv.Regression(*data).fit(callback=lambda i, value, norm: 1 / 0)


def test_same_seed_same_bits_for_any_number_of_threads():
    X, y = wave(300, 3)
    before = cv.threads()
    results = []
    try:
        for threads in (1, 2, 3):
            cv.set_threads(threads)
            fit = cv.Regression(X, y).fit(seed=4, restarts=2)
            results.append((fit.value, *fit.predict_y(X)[1]))
    finally:
        cv.set_threads(before)
    assert results[0] == results[1] == results[2]


def test_arrays_of_every_layout_give_the_same_bits(data, fitted):
    X, y = data
    expected = fitted.predict_f(X)[0]
    wide = np.zeros((40, 4))
    wide[:, ::2] = X
    readonly = X.copy()
    readonly.flags.writeable = False
    for made in (np.asfortranarray(X), wide[:, ::2], readonly, X.tolist(), X.astype(object)):
        np.testing.assert_array_equal(fitted.predict_f(made)[0], expected)
    assert fitted.predict_f(X.astype(np.float32))[0] == pytest.approx(expected, abs=1e-4)
    assert fitted.predict_f(np.empty((0, 2)))[0].shape == (0,)


def numpy_bytes(call):
    """The most that NumPy had allocated during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_copies_where_the_layout_allows(fitted):
    X = np.zeros((100_000, 2))
    assert numpy_bytes(lambda: fitted.predict_mean(X)) < 0.1 * X.nbytes
    assert numpy_bytes(lambda: fitted.predict_y(X)) < 0.1 * X.nbytes  # nor are the results copied
    assert numpy_bytes(lambda: fitted.predict_mean(np.asfortranarray(X))) >= X.nbytes
    mean = fitted.predict_mean(X)
    assert not mean.flags.owndata  # it is the core's own array


def test_results_own_their_memory(data):
    mean, _ = cv.Regression(*data).fit(max_iter=0).predict_f(data[0])
    kept = mean.copy()
    cv.Regression(*data).fit(max_iter=0).predict_f(data[0] + 1)
    np.testing.assert_array_equal(mean, kept)
    assert mean.flags.c_contiguous and mean.flags.writeable


def test_conditioning_on_further_rows(data):
    X, y = data
    first = cv.Regression(X[:30], y[:30], scale="none").fit(restarts=1)
    later = first.condition(X[30:], y[30:])
    whole = cv.Regression(X, y, scale="none")
    for path, value in first.parameters.items():
        whole.parameters[path] = value
    np.testing.assert_allclose(later.predict_f(X)[0], whole.fit(max_iter=0).predict_f(X)[0], atol=1e-9)
    assert first.X.shape == (30, 2) and later.X.shape == (40, 2)


def test_the_mean_alone_has_the_same_bits(data, fitted):
    np.testing.assert_array_equal(fitted.predict_mean(data[0]), fitted.predict_y(data[0])[0])
    with pytest.raises(cv.InputError, match="2 input columns"):
        fitted.predict_mean(np.zeros((1, 3)))


def test_many_rows_have_the_bits_of_few():
    X, y = wave(1000)
    fit = cv.Regression(X, y, mean="linear").fit(max_iter=0, standard_errors="no")
    Z, _ = wave(12_000, seed=2)  # more than are predicted at a time
    mean, variance = fit.predict_y(Z)
    np.testing.assert_array_equal(mean, fit.predict_mean(Z))
    few = [fit.predict_y(z) for z in (Z[:512], Z[11_776:])]
    np.testing.assert_array_equal(variance[:512], few[0][1])
    np.testing.assert_array_equal(variance[11_776:], few[1][1])


def test_without_its_outputs_a_fit_predicts_the_same_bits(data, fitted):
    X, _ = data
    bare = pickle.loads(pickle.dumps(fitted.without_outputs()))
    for a, b in zip(fitted.predict_y(X), bare.predict_y(X)):
        np.testing.assert_array_equal(a, b)
    for wanted in (lambda: bare.Y, bare.leave_one_out, lambda: bare.condition(X, X[:, 0])):
        with pytest.raises(cv.Unsupported, match="without its training outputs"):
            wanted()
    assert fitted.Y.shape == (40,) and "exact regression of y" in str(bare)


def test_copies_of_a_model(data):
    model = cv.Regression(*data, kernel="rq", mean="constant", noise=np.full(40, 0.01), scale="global")
    model.parameters["kernel.alpha"] = 2.5
    model.parameters.fix("kernel.alpha")
    for made in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert made.log_marginal_likelihood() == model.log_marginal_likelihood()
        assert made.parameters.table() == model.parameters.table()
        made.parameters["likelihood.variance"] = 3
        assert model.parameters["likelihood.variance"] != 3


def test_copies_of_a_fit_predict_the_same_bits(data, fitted):
    X, _ = data
    for made in (copy.copy(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        for a, b in zip(fitted.predict_y(X), made.predict_y(X)):
            np.testing.assert_array_equal(a, b)
        assert str(made) == str(fitted)


@pytest.mark.parametrize(
    "X, Y, message",
    [
        (np.zeros(3), np.zeros(3), r"two dimensions.*reshape\(-1, 1\)"),
        (np.zeros((3, 1)), np.zeros(4), "3 rows but Y is 4×1"),
        (np.zeros((0, 1)), np.zeros(0), "empty"),
        ([[0], [np.inf]], [0, 1], "non-finite value, the first at row 1"),
        ([["a"], ["b"]], [0, 1], "X cannot be read as an array of numbers"),
        ([[0], [1]], [0, 1j], "Y cannot be read as an array of numbers"),
        ([[0], [1]], np.zeros((2, 1, 1)), "one or two dimensions"),
        ([[0, 1], [1]], [0, 1], "X cannot be read"),
    ],
)
def test_wrong_data(X, Y, message):
    with pytest.raises(cv.InputError, match=message) as caught:
        cv.Regression(X, Y)
    assert isinstance(caught.value, ValueError)


def test_wrong_options(data, fitted):
    with pytest.raises(cv.InputError, match="scale|columns"):
        cv.Regression(*data, scale="rows")
    with pytest.raises(cv.InputError, match="40|noise"):
        cv.Regression(*data, noise=np.zeros(3))
    with pytest.raises(cv.InputError, match="3 names for 2 columns"):
        cv.Regression(*data, input_names=["a", "b", "c"])
    with pytest.raises(cv.InputError, match="standard_errors"):
        cv.Regression(*data).fit(standard_errors="maybe")
    with pytest.raises(cv.InputError, match="2 input columns, the new inputs have 3"):
        fitted.predict_f(np.zeros((1, 3)))
    with pytest.raises(cv.InputError, match="no output 1"):
        fitted.covariance(np.zeros((1, 2)), output=1)
    with pytest.raises(TypeError):
        cv.Regression(*data, colour="red")


def test_gaussian_inputs_by_sampling_them():
    rng = np.random.default_rng(0)
    fit = at_given_parameters().fit(max_iter=0)
    at, S = np.array([[1.5], [2.5]]), np.array([[0.3], [0.0]])
    mean, variance = fit.predict_f(at, S)
    draws = 1.5 + np.sqrt(0.3) * rng.standard_normal((200_000, 1))
    f, v = fit.predict_f(draws)
    assert mean[0] == pytest.approx(f.mean(), abs=0.01)
    assert variance[0] == pytest.approx(f.var() + v.mean(), abs=0.01)
    assert fit.predict_y(at, X_var=S)[1] == pytest.approx(variance + 0.04, abs=1e-12)
    assert fit.predict_f(at[1:])[0] == pytest.approx(mean[1:], abs=1e-12)
    two = cv.SparseRegression(X8, np.column_stack([y8, y8**2]), inducing=5).fit(max_iter=5)
    C = two.output_covariance(at, S)
    assert C.shape == (2, 2, 2)
    assert C[0].diagonal() == pytest.approx(two.predict_f(at, S)[1][0], abs=1e-12)
    gp = cv.GPRegressor(random_state=0).fit(X8, y8)
    mean, sd = gp.predict(at, return_std=True, X_var=S)
    assert sd[0] > gp.predict(at, return_std=True)[1][0]
    assert gp.predict(at, return_std=True, X_cov=S[:, :, None])[1] == pytest.approx(sd, rel=1e-9)
    with pytest.raises(cv.InputError, match="variance -1"):
        fit.predict_f(at, -np.ones((2, 1)))
    with pytest.raises(cv.InputError, match="2×1×1"):
        fit.predict_f(at, X_cov=S)
    with pytest.raises(cv.InputError, match="not both"):
        fit.predict_f(at, S, S[:, :, None])
