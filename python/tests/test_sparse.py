import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import wave

import covary as cv

MODELS = ["vfe", "vfe(tight)", "fitc", "pep(0.5)", "dtc", "sor", "pitc", "cglb"]


@pytest.fixture(scope="module")
def many():
    return wave(300, dims=1)


@pytest.fixture(scope="module")
def sparse(many):
    return cv.SparseRegression(*many, kernel="se", inducing=10).fit(seed=1)


def at_given_parameters(X, y, Z, **options):
    model = cv.SparseRegression(X, y, kernel="se", scale="none", inducing=Z, **options)
    values = {"kernel.variance": 1.3, "kernel.lengthscales": 0.7, "likelihood.variance": 0.04}
    for path, value in values.items():
        model.parameters[path] = value
    return model


def se(a, b):
    return 1.3 * np.exp(-0.5 * ((a - b.T) / 0.7) ** 2)


def normal(y, covariance):
    return -0.5 * (y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(2 * np.pi * covariance)[1])


def by_numpy(X, y, Z, model):
    """Value of the objective by the N×N formulae."""
    K, Kuf = se(X, X), se(Z, X)
    Q = Kuf.T @ np.linalg.solve(se(Z, Z), Kuf)
    d, noise = np.diag(K - Q), 0.04
    if model in ("dtc", "sor"):
        return normal(y, Q + noise * np.eye(len(y)))
    if model == "fitc":
        return normal(y, Q + np.diag(d + noise))
    if model == "pep(0.5)":
        return normal(y, Q + np.diag(0.5 * d + noise)) - 0.5 * np.sum(np.log1p(0.5 * d / noise))
    value = normal(y, Q + noise * np.eye(len(y)))
    if model == "cglb":  # its quadratic term is that of the exact model
        Kn, Qn = se(X, X) + noise * np.eye(len(y)), Q + noise * np.eye(len(y))
        value += 0.5 * y @ np.linalg.solve(Qn, y) - 0.5 * y @ np.linalg.solve(Kn, y)
    if model in ("vfe(tight)", "cglb"):
        return value - 0.5 * np.sum(np.log1p(d / noise))
    return value - 0.5 * d.sum() / noise


@pytest.mark.parametrize("model", [m for m in MODELS if m != "pitc"])
def test_objective_is_the_formula(model):
    X, y = wave(60, dims=1)
    Z = np.linspace(-1.9, 1.9, 7).reshape(-1, 1)
    made = at_given_parameters(X, y, Z, model=model)
    exact = normal(y, se(X, X) + 0.04 * np.eye(60))
    assert made.elbo() == pytest.approx(by_numpy(X, y, Z, model), abs=1e-7 if model == "cglb" else 1e-8)
    assert made.upper_bound() >= exact - 1e-8
    fit = made.fit(max_iter=0)
    assert fit.model == made.model == model and fit.value == made.elbo()
    np.testing.assert_allclose(fit.Z, Z, atol=1e-14)
    if model.startswith("vfe") or model == "cglb":
        assert made.elbo() <= exact <= fit.upper_bound == made.upper_bound()
    else:
        assert fit.upper_bound is None


def test_pitc_with_one_group_is_exact():
    X, y = wave(60, dims=1)
    made = at_given_parameters(X, y, X[:7], model="pitc", groups=1)
    assert made.elbo() == pytest.approx(normal(y, se(X, X) + 0.04 * np.eye(60)), abs=1e-7)


def test_prediction_against_numpy_in_the_units_of_the_data():
    """Of the scaled data by formula; the units undone by hand."""
    X, y = wave(80, dims=1)
    X, y = 10 + 3 * X, 5 + 20 * y
    Z = np.linspace(4.5, 15.5, 6).reshape(-1, 1)
    fit = cv.SparseRegression(X, y, kernel="se", inducing=Z, scale="columns").fit(max_iter=0)
    (x_shift, x_scale), (y_shift, y_scale) = fit.input_scaling, fit.output_scaling
    p = fit.parameters
    k = lambda a, b: p["kernel.variance"] * np.exp(-0.5 * ((a - b.T) / x_scale / p["kernel.lengthscales"]) ** 2)
    noise, r = p["likelihood.variance"], (y - y_shift) / y_scale
    new = np.array([[2.0], [9.0], [30.0]])
    Kuu, Kuf, Kus = k(Z, Z), k(Z, X), k(Z, new)
    S = np.linalg.inv(Kuu + Kuf @ Kuf.T / noise)
    g_mean = y_shift + y_scale * (Kus.T @ S @ Kuf @ r / noise)
    g_variance = y_scale**2 * np.einsum("us,uv,vs->s", Kus, S, Kus)
    h_variance = y_scale**2 * (p["kernel.variance"] - np.einsum("us,us->s", Kus, np.linalg.solve(Kuu, Kus)))
    mean, variance = fit.predict_f(new)
    np.testing.assert_allclose(mean, g_mean, rtol=1e-8)
    np.testing.assert_allclose(variance, g_variance + h_variance, rtol=1e-8)
    for ours, theirs in zip(fit.split(new), (g_mean, g_variance, h_variance)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fit.predict_y(new)[1], variance + fit.noise_variance[0], rtol=1e-12)
    np.testing.assert_allclose(fit.predict_mean(new), mean, rtol=1e-9)
    np.testing.assert_allclose(np.diag(fit.covariance(new)), variance, rtol=1e-8)
    np.testing.assert_allclose(fit.Z, Z, rtol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_the_wave(many, model):
    fit = cv.SparseRegression(*many, kernel="se", model=model, inducing=12).fit(max_iter=50)
    Z, z = wave(200, dims=1, seed=4)
    assert np.sqrt(np.mean((fit.predict_mean(Z) - z) ** 2)) < 0.12  # of noise 0.1
    assert f"{model} regression" in repr(fit) and "12 inducing inputs" in str(fit)
    assert fit.Z.shape == (12, 1) and fit.diagnostics["inducing"] == 12
    assert fit.sample(Z[:5], draws=3).shape == (3, 5)
    assert fit.gradient(Z[:5])[0].shape == (5, 1)


def test_training_fills_the_bracket(many, sparse):
    assert sparse.value <= sparse.upper_bound
    assert sparse.upper_bound - sparse.value < 1.0
    assert sparse.diagnostics["bracket"] == pytest.approx(sparse.upper_bound - sparse.value, abs=1e-9)
    assert {"complexity", "fit", "trace", "mean_residual_ratio"} <= set(sparse.diagnostics)
    assert sparse.summary.objective == "elbo" and "elbo" in repr(sparse)
    exact = cv.Regression(*many, kernel="se", scale="auto")
    for path, value in sparse.parameters.items():
        if path != "features.Z":
            exact.parameters[path] = value
    assert sparse.value <= exact.log_marginal_likelihood() <= sparse.upper_bound
    assert exact.fit(max_iter=0).upper_bound is None and exact.fit(max_iter=0).diagnostics == {}


def test_automatic_number_of_inducing_inputs(many):
    model = cv.SparseRegression(*many, kernel="se")
    fit = model.fit(seed=2)
    assert 5 < len(fit.Z) < 100 and "M = " in fit.summary.reason
    assert fit.upper_bound - fit.value <= 0.01 * 300 + 1e-9
    assert model.parameters["features.Z"].size == len(fit.Z)
    assert len(model.fit(seed=2).Z) <= 1.5 * len(fit.Z)  # found anew, not grown further each time


def test_inducing_inputs_in_every_form(many):
    X, y = many
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 0] ** 2})
    Z = pd.DataFrame({"b": [0.0, 1.0], "a": [0.5, -1.0]})
    fit = cv.SparseRegression(frame, y, inducing=Z).fit(max_iter=0)
    np.testing.assert_allclose(fit.Z, [[0.5, 0.0], [-1.0, 1.0]], atol=1e-14)
    assert cv.SparseRegression(X, y, inducing=np.int64(3)).fit(max_iter=0).Z.shape == (3, 1)
    assert cv.SparseRegression(X, y, inducing=[[0], [1]]).fit(max_iter=0).Z.ravel() == pytest.approx([0, 1])
    # No more than there are rows.
    assert cv.SparseRegression(X[:5], y[:5], kernel="matern12", inducing=50).fit(max_iter=0).Z.shape == (5, 1)
    far = cv.SparseRegression(X, y, inducing=[[0.0], [1e6], [0.0]]).fit(max_iter=0)
    assert np.isfinite(far.predict_f(X)[1]).all()


def test_inducing_inputs_may_be_fixed(many):
    Z = np.linspace(-2, 2, 8).reshape(-1, 1)
    model = cv.SparseRegression(*many, inducing=Z)
    model.parameters.fix("features.Z")
    np.testing.assert_allclose(model.fit(max_iter=10).Z, Z, atol=1e-12)
    assert model.parameters["likelihood.variance"] != pytest.approx(0.1)


@pytest.mark.parametrize("selection", ["greedy_variance", "kmeans", "hierarchical_kmeans", "random", "grid",
                                       "leverage"])
def test_selection(many, selection):
    one, two = (cv.SparseRegression(*many, inducing=9, selection=selection, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.parameters["features.Z"], two.parameters["features.Z"])
    assert one.parameters["features.Z"].size == 9


def test_placement(many):
    X, y = many
    places = []
    for outputs in (y, np.sign(y)):
        model = cv.SparseRegression(X, outputs, inducing=9, placement="expected_kl", placement_rows=100, subset=0)
        model.parameters.fix("kernel")
        model.parameters.fix("likelihood")
        before = model.mean_kl()
        fit = model.fit(max_iter=30)
        assert fit.diagnostics["expected_kl"] == model.mean_kl() < before
        assert pickle.loads(pickle.dumps(model)).mean_kl() == model.mean_kl()
        places.append(fit.Z)
    np.testing.assert_allclose(*places, atol=1e-5)
    with pytest.raises(ValueError, match="vfe"):
        cv.SparseRegression(X, y, inducing=9, model="fitc", placement="expected_kl")


@pytest.mark.parametrize("features, kernel, model", [
    ("rff", "se", "sor"), ("ssgp", "matern32", "sor"), ("hilbert", "se", "sor"), ("bumps", "se", "sor"),
    ("eigen", "se", "sor"), ("eigen", "matern12", "vfe"), ("fourier(l2)", "matern12", "vfe"),
    ("orthogonal", "matern52", "vfe"), ("empirical", "se", "vfe")])
def test_functions_and_further_features(many, features, kernel, model, tmp_path):
    X, y = many
    made = cv.SparseRegression(X, y, kernel=kernel, model=model, inducing=21, features=features, seed=1)
    fit = made.fit(max_iter=20)
    again = pickle.loads(pickle.dumps(made))
    assert again.elbo() == made.elbo()
    fit.save(tmp_path / "f.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "f.cov").predict_y(X)[0], fit.predict_y(X)[0])
    assert np.mean((fit.predict_y(X)[0].ravel() - np.ravel(y)) ** 2) < np.var(y)
    if model == "sor" and features != "eigen":
        with pytest.raises(ValueError, match="use --model sor"):
            cv.SparseRegression(X, y, kernel=kernel, inducing=21, features=features)


def test_compress(many):
    X, y = many
    fit = cv.SparseRegression(X, y, kernel="se", inducing=20).fit(seed=1, max_iter=20)
    small = fit.compress(loss=0.05, features=["points", "basis(2)"], max_iter=30)
    assert small.diagnostics["numbers"] < small.diagnostics["numbers_before"]
    assert 0 <= small.diagnostics["compression_loss"] <= 0.05
    assert np.abs(small.predict_y(X)[0] - fit.predict_y(X)[0]).max() < 0.5
    with pytest.raises(ValueError, match="positive"):
        fit.compress(loss=0)


def test_plan(many):
    X, y = many[0][:, :1], many[1]
    model = cv.SparseRegression(X, y, kernel="se", features="eigen")
    fit = model.fit(seed=1)
    plan = model.plan()
    assert plan["kl_low"] <= plan["kl_high"] and plan["trace"] >= 0 and plan["inducing"] >= 1
    assert fit.diagnostics["planned_inducing"] == plan["inducing"]
    assert fit.diagnostics["expected_kl_high"] <= 0.01
    with pytest.raises(ValueError, match="eigenfunctions"):
        cv.SparseRegression(X, y, inducing=5).plan()


@pytest.mark.parametrize("features", ["multiscale", "frequency", "timefrequency", "basis(2)", "eigen", "stacked(eigen)"])
def test_features(many, features, tmp_path):
    X, y = many
    model = cv.SparseRegression(X, y, kernel="se", inducing=12, features=features, seed=1)
    assert features in repr(model)
    fit = model.fit(max_iter=40)
    assert fit.value <= fit.upper_bound
    # The model has no jitter, which training may have needed: its bound is no lower.
    assert fit.value - 1e-6 <= model.elbo() <= fit.upper_bound + 1e-6
    assert pickle.loads(pickle.dumps(model)).elbo() == model.elbo()
    fit.save(tmp_path / "features.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "features.cov").predict_y(X)[0], fit.predict_y(X)[0])
    if features in ("eigen", "frequency", "stacked(eigen)"):
        with pytest.raises(cv.InputError, match="cover all inputs"):
            fit.Z
    else:
        assert fit.Z.shape[1] == 1
    assert cv.SparseGPRegressor("se", inducing=12, inducing_features=features, max_iter=40).fit(X, y).score(X, y) > 0.8


def test_pickled_features_of_several_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    for features, kernel in [("stacked(points)", "se@0 + se@1"), ("fourier", "matern32@0 * matern12@1")]:
        model = cv.SparseRegression(X, y, kernel=kernel, inducing=10, features=features, subset=0)
        assert pickle.loads(pickle.dumps(model)).elbo() == model.elbo()


def test_several_and_missing_outputs():
    X, y = wave(100)
    Y = np.column_stack([y, 2 * y + 1])
    Y[3, 1] = np.nan
    fit = cv.SparseRegression(X, Y, inducing=20).fit(max_iter=20)
    mean, variance = fit.predict_y(X[:5])
    g_mean, g_variance, h_variance = fit.split(X[:5])
    assert mean.shape == g_mean.shape == h_variance.shape == (5, 2)
    np.testing.assert_allclose(g_variance + h_variance + fit.noise_variance, variance, rtol=1e-10)
    assert fit.sample(X[:5], draws=3).shape == (3, 5, 2)


def test_noise_of_each_row_and_mean_function(many):
    X, y = many
    noise = np.where(np.arange(300) < 150, 0.5, 0.0)
    with_noise = at_given_parameters(X, y, X[::30], noise=noise)
    assert with_noise.elbo() != at_given_parameters(X, y, X[::30]).elbo()
    line = cv.SparseRegression(X, y + 50 * X[:, 0], mean="linear", inducing=10).fit(max_iter=30)
    far = line.predict_mean([[100.0], [101.0]])
    assert far[1] - far[0] == pytest.approx(50, abs=1)


def test_what_needs_the_training_data_is_refused(many, sparse, fitted):
    for wanted in (lambda: sparse.X, lambda: sparse.Y, sparse.leave_one_out):
        with pytest.raises(cv.Unsupported, match="needs an exact model, .* the model is vfe"):
            wanted()
    for wanted in (lambda: fitted.Z, lambda: fitted.split(np.zeros((1, 2)))):
        with pytest.raises(cv.Unsupported, match="needs a sparse model; the model is exact"):
            wanted()
    assert fitted.model == "exact" and fitted.upper_bound is None


def test_conditioning_on_further_rows():
    X, y = wave(300, dims=1)
    first = cv.SparseRegression(X[:200], y[:200], inducing=12, scale="none").fit(max_iter=30)
    later = first.condition(X[200:], y[200:])
    whole = cv.SparseRegression(X, y, inducing=first.Z, scale="none", jitter=first.summary.jitter)
    for path, value in first.parameters.items():
        whole.parameters[path] = value
    whole = whole.fit(max_iter=0)
    np.testing.assert_allclose(later.predict_f(X)[0], whole.predict_f(X)[0], atol=1e-7)
    assert later.value == pytest.approx(whole.value, abs=1e-5)
    assert later.upper_bound is None and later.diagnostics == {}  # those were of the first rows
    assert first.upper_bound is not None


def test_callback_stops_all_parts_and_may_fail(many):
    seen = []

    def three(iteration, value, norm):
        seen.append(value)
        return len(seen) < 3

    fit = cv.SparseRegression(*many).fit(callback=three)
    assert len(seen) == 3 and not fit.summary.converged
    with pytest.raises(ZeroDivisionError):
        cv.SparseRegression(*many, inducing=5).fit(callback=lambda i, value, norm: 1 / 0)


def test_callback_sees_the_objective_of_the_data(many):
    seen = []
    fit = cv.SparseRegression(*many, kernel="se", inducing=6).fit(callback=lambda i, value, norm: seen.append(value))
    assert max(seen) == pytest.approx(fit.value, abs=1e-3)


def test_no_time_stops_all_parts(many):
    fit = cv.SparseRegression(*many).fit(max_seconds=1e-9)
    assert not fit.summary.converged and "limit of 1e-09 seconds" in fit.summary.reason


def test_same_bits_for_any_number_of_threads():
    X, y = wave(2000, 3)
    before, results = cv.threads(), []
    try:
        for threads in (1, 2, 3):
            cv.set_threads(threads)
            fit = cv.SparseRegression(X, y, inducing=30, subset=200).fit(seed=4, max_iter=10)
            results.append((fit.value, *fit.predict_y(X)[1]))
    finally:
        cv.set_threads(before)
    assert results[0] == results[1] == results[2]


def test_many_rows_have_the_bits_of_few(sparse):
    Z, _ = wave(60_000, dims=1, seed=2)
    whole = sparse.predict_y(Z)[1]
    np.testing.assert_array_equal(whole[:512], sparse.predict_y(Z[:512])[1])
    np.testing.assert_array_equal(whole[51_200:51_712], sparse.predict_y(Z[51_200:51_712])[1])


@pytest.mark.parametrize("model", ["pep(0.3)", "pitc", "vfe"])
def test_copies_of_a_model(model):
    X, y = wave(60)
    made = cv.SparseRegression(X, y, kernel="rq", mean="constant", model=model, inducing=8, selection="kmeans",
                               noise=np.full(60, 0.01), scale="global", seed=3)
    made.parameters["kernel.alpha"] = 2.5
    made.parameters.fix("kernel.alpha")
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other.elbo() == made.elbo() and other.model == model
        assert other.parameters.table() == made.parameters.table()
        assert other.fit(max_iter=5).value == copy.copy(made).fit(max_iter=5).value
        other.parameters["likelihood.variance"] = 3
        assert made.parameters["likelihood.variance"] != 3


def test_a_copy_outlives_its_model(many):
    made = cv.SparseRegression(*many, inducing=8)
    value, other = made.elbo(), copy.copy(made)
    del made
    assert other.elbo() == value


def test_copies_of_a_fit_predict_the_same_bits(many, sparse, tmp_path):
    sparse.save(tmp_path / "sparse.cov")
    for made in (copy.copy(sparse), pickle.loads(pickle.dumps(sparse)), cv.load(tmp_path / "sparse.cov")):
        for a, b in zip(sparse.predict_y(many[0]), made.predict_y(many[0])):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(made.Z, sparse.Z)
        assert made.diagnostics == sparse.diagnostics and made.upper_bound == sparse.upper_bound
        assert str(made) == str(sparse)


def test_pandas(many):
    X, y = many
    frame = pd.DataFrame({"time": X[:, 0]}, index=np.arange(300) + 7)
    fit = cv.SparseRegression(frame, pd.Series(y, name="mass"), inducing=8).fit(max_iter=5)
    assert fit.input_names == ["time"] and fit.output_names == ["mass"]
    mean, _, rest = fit.split(frame)
    assert mean.name == "mass" and list(rest.index) == list(frame.index)
    assert list(fit.predict_table(frame).columns) == ["mean", "variance", "sd", "variance_f", "lower", "upper"]


def test_many_inducing_inputs_print_as_their_range(many):
    X, y = wave(200, 3)
    model = cv.SparseRegression(X, y, kernel="matern12", inducing=60)
    lines = [line for line in str(model.parameters).splitlines() if "features.Z" in line]
    assert len(lines) == 1 and "60x3" in lines[0]
    assert model.parameters["features.Z"].shape == (60, 3)
    assert len(model._repr_html_()) < 3000 and "60 inducing inputs" in repr(model)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"inducing": 0}, "inducing must be at least 1"),
        ({"inducing": -3}, "inducing must.*got -3"),
        ({"inducing": 2.5}, "inducing must.*got 2.5"),
        ({"inducing": True}, "inducing must.*got True"),
        ({"inducing": "many"}, "inducing must.*got 'many'"),
        ({"inducing": np.zeros((3, 2))}, "2 columns, X has 1"),
        ({"inducing": np.zeros((0, 1))}, "no rows"),
        ({"inducing": [[np.nan]]}, "finite"),
        ({"inducing": [1.0, 2.0]}, "two dimensions"),
        ({"model": "exact"}, "unknown approximation 'exact'"),
        ({"model": "pep(1.5)"}, "0 < α ≤ 1, got 1.5"),
        ({"selection": "best"}, "choose greedy_variance"),
        ({"route": "scenic"}, "unknown route 'scenic'"),
        ({"bracket": 0.0}, "bracket must be positive"),
        ({"scale": "rows"}, "scale|columns"),
        ({"noise": np.zeros(3)}, "300|noise"),
    ],
)
def test_wrong_options(many, options, message):
    with pytest.raises(cv.InputError, match=message):
        cv.SparseRegression(*many, **options)


def test_wrong_calls(many, sparse):
    with pytest.raises(cv.InputError, match="starts"):
        cv.SparseRegression(*many, inducing=3).fit(restarts=-1)
    with pytest.raises(cv.InputError, match="1 input columns, the new inputs have 3"):
        sparse.predict_f(np.zeros((1, 3)))
    with pytest.raises(cv.InputError, match="3 columns, but the scaling was made for 1"):
        sparse.split(np.zeros((1, 3)))


def test_rows_of_a_file_give_the_bits_of_rows_in_memory(many, tmp_path):
    X, y = many
    path = tmp_path / "rows.npy"
    np.save(path, np.column_stack([y, X]))
    options = dict(kernel="se", inducing=10)
    seen = []
    fit = cv.fit_file(str(path), target=0, seed=3, max_iter=15, callback=lambda i, value, g: seen.append(value), **options)
    assert seen[-1] == pytest.approx(fit.value, rel=1e-6)  # in the units of the data
    same = cv.SparseRegression(X, y, seed=3, scale="columns", **options).fit(max_iter=15)
    assert fit.value == same.value
    np.testing.assert_array_equal(fit.predict_y(X)[0], same.predict_y(X)[0])
    again = cv.fit_file(str(path), target=[-2], inputs=[1], seed=3, max_iter=15, **options)
    assert again.value == fit.value


def test_files_that_cannot_be_fitted_are_refused(tmp_path):
    path = str(tmp_path / "rows.npy")
    with pytest.raises(cv.FileError):
        cv.fit_file(path, target=0)
    np.save(path, np.ones((30, 2)))
    for wrong in (dict(target=2), dict(target=-3), dict(target=0, inducing=0), dict(target=0, inputs=[5])):
        with pytest.raises(cv.InputError):
            cv.fit_file(path, **wrong)
    for model in ("pitc", "cglb"):
        with pytest.raises(cv.Unsupported, match="in memory"):
            cv.fit_file(path, target=0, model=model, inducing=5)
    np.save(path, np.ones((30, 2), dtype=np.float32))
    with pytest.raises(cv.FileError):
        cv.fit_file(path, target=0)


def test_noisy_inputs(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (120, 1))
    f = lambda X: np.sin(2 * X[:, 0]) + 0.3 * X[:, 0]
    y = f(X) + 0.05 * rng.standard_normal(120)
    seen = X + 0.3 * rng.standard_normal((120, 1))
    at = np.linspace(-2.8, 2.8, 100).reshape(-1, 1)
    error = lambda fit: np.sqrt(np.mean((fit.predict_y(at)[0].ravel() - f(at)) ** 2))
    ignored = error(cv.SparseRegression(seen, y, inducing=20).fit())
    for variance in (0.09, None, [0.09], np.full((120, 1), 0.09)):
        model = cv.UncertainInputsRegression(seen, y, input_variance=variance, inducing=20)
        with pytest.raises(cv.InputError, match=r"call fit\(\) first"):
            model.input_mean
        fit = model.fit()
        assert error(fit) < 0.8 * ignored
        assert np.abs(model.input_mean - X).mean() < np.abs(seen - X).mean()
        assert model.input_variance.shape == (120, 1) and (model.input_variance > 0).all()
        assert model.error_variance.shape == ((120, 1) if np.ndim(variance) == 2 else (1, 1))
        if variance is None:
            assert 0.2 < np.sqrt(model.error_variance[0, 0]) < 0.4
        else:
            np.testing.assert_allclose(model.error_variance, 0.09)
    fit.save(tmp_path / "noisy.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "noisy.cov").predict_y(at)[0], fit.predict_y(at)[0])
    with pytest.raises(cv.InputError, match="negative"):
        cv.UncertainInputsRegression(seen, y, input_variance=-1)
    assert "120 rows" in repr(model)


def test_missing_inputs_are_learned():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    f = lambda X: np.column_stack([np.sin(X[:, 0]) + 0.3 * X[:, 1], X[:, 0] + np.tanh(X[:, 1])])
    Y = f(X) + 0.01 * rng.standard_normal((60, 2))
    holed = X.copy()
    holed[20:, 1] = np.nan
    gp = cv.SparseGPRegressor(inducing=20, missing_inputs="learn", random_state=0, max_iter=200).fit(holed, Y)
    assert np.array_equal(np.isnan(holed) | np.isclose(gp.inputs_, holed), np.ones((60, 2), bool))
    assert np.abs(gp.inputs_ - X)[20:, 1].mean() < 0.4
    at = rng.standard_normal((200, 2))
    alone = cv.SparseGPRegressor(inducing=20, random_state=0).fit(X[:20], Y[:20])
    assert np.abs(gp.predict(at) - f(at)).mean() < np.abs(alone.predict(at) - f(at)).mean()
    model = cv.MissingInputsRegression(holed, Y, inducing=10)
    with pytest.raises(cv.InputError, match=r"call fit\(\) first"):
        model.input_mean
    fit = model.fit(max_iter=5)
    assert fit.model == "vfe" and fit.input_names == ["x0", "x1"]
    assert (model.input_variance[:20] == 0).all() and (model.input_variance[20:, 1] > 0).all()
    with pytest.raises(ValueError, match="NaN"):
        cv.SparseGPRegressor().fit(holed, Y)
    with pytest.raises(cv.InputError, match="by 'vfe'"):
        cv.SparseGPRegressor(model="fitc", missing_inputs="learn").fit(holed, Y)
