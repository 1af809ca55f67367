"""Models of any likelihood at level two."""

import copy
import json
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from conftest import wave
from safetensors.numpy import load_file

import covary as cv


def labels(n=60, seed=0):
    X, f = wave(n, seed=seed)
    return X, np.where(f > 0, "up", "down")


def test_decisions_by_expected_cost(fitted, tmp_path):
    X = labels()[0]
    p = fitted.predict_proba(X)
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])  # of deciding j when the class is k
    decided, cost = fitted.decide(X, costs)
    np.testing.assert_allclose(cost, (p @ costs).min(axis=1))
    assert decided == [fitted.classes[j] for j in (p @ costs).argmin(axis=1)]
    assert decided != fitted.predict_table(X)["class"].tolist()
    table = pd.DataFrame({"up": [0.0, 1.0], "class": ["up", "down"], "down": [9.0, 0.0]})
    assert fitted.decide(X, table)[0] == decided
    table.to_csv(tmp_path / "costs.csv", index=False)
    from_file = fitted.predict_table(X, loss=str(tmp_path / "costs.csv"))
    assert from_file["class"].tolist() == decided
    np.testing.assert_allclose(from_file["expected_loss"], cost)
    with pytest.raises(cv.InputError, match="2 classes need 2×2"):
        fitted.decide(X, np.eye(3))
    with pytest.raises(cv.Unsupported, match="--loss absolute is for numbers"):
        fitted.predict_table(X, loss="absolute")


def test_decisions_for_shares():
    X, f = wave(40)
    fit = cv.Generalised(X, 1 / (1 + np.exp(-f)), likelihood="beta").fit(seed=1, restarts=1)
    at = fit.predict_table(X, loss="absolute")
    high = fit.predict_table(X, loss="quantile(0.9)")
    assert ((0 < at["decision"]) & (at["decision"] < high["decision"]) & (high["decision"] < 1)).all()
    # The median has the least absolute loss: no more than the mean's, which is at most the standard deviation.
    assert (at["expected_loss"] <= np.sqrt(at["variance"]) * (1 + 1e-3)).all() and (at["expected_loss"] > 0).all()


def three(n=60, seed=0):
    X, f = wave(n, seed=seed)
    return X, np.select([f < -0.5, f < 0.5], ["low", "middle"], "high")


@pytest.fixture(scope="module")
def fitted():
    return cv.Generalised(*labels(), likelihood="bernoulli").fit(seed=1, restarts=1)


@pytest.mark.parametrize("method, power", [("laplace", 1.0), ("ep", 1.0), ("ep", 0.5), ("vgp", 1.0),
                                           ("fitc", 1.0), ("pep", 0.5)])
def test_two_classes_by_every_method(method, power):
    X, y = labels()
    inducing = 12 if method in ("fitc", "pep") else None
    model = cv.Generalised(X, y, likelihood="bernoulli(probit)", method=method, power=power, inducing=inducing)
    before = model.value()
    fit = model.fit(restarts=1, max_iter=40)
    assert fit.value > before and fit.classes == ["down", "up"]
    assert model.value() == pytest.approx(fit.value, rel=1e-9)
    assert fit.model == model.method == (f"{method}(0.5)" if power < 1 else method)
    p = fit.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert np.mean((p[:, 1] > 0.5) == (y == "up")) > 0.9
    mean, variance = fit.predict_y(X)
    np.testing.assert_allclose(mean, p[:, 1], rtol=1e-12)
    np.testing.assert_allclose(variance, mean * (1 - mean), rtol=1e-8)
    np.testing.assert_allclose(fit.log_density(X, y), np.log(np.where(y == "up", p[:, 1], p[:, 0])), rtol=1e-6)


@pytest.mark.parametrize("functions", [0, 2])
def test_several_outputs_by_svgp(functions):
    X, f = wave(50)
    Y = np.column_stack([f, -2 * f + 1, f**2])
    Y[3, 0] = Y[7, 2] = np.nan
    model = cv.Svgp(pd.DataFrame(X), pd.DataFrame(Y, columns=["a", "b", "c"]), likelihood="gaussian", inducing=10,
                    functions=functions)
    assert pickle.loads(pickle.dumps(model)).elbo() == model.elbo() == copy.copy(model).elbo()
    fit = model.fit(max_iter=20)
    assert fit.output_names == ["a", "b", "c"] and ("mixing.weights" in fit.parameters) == (functions > 0)
    mean, variance = fit.predict_y(X)
    assert mean.shape == variance.shape == fit.log_density(X, Y).shape == (50, 3)
    assert np.isnan(fit.log_density(X, Y)).sum() == 2
    assert list(fit.predict_table(X))[:6] == ["mean_a", "variance_a", "sd_a", "mean_b", "variance_b", "sd_b"]
    assert fit.sample(X[:4], draws=2).shape == (2, 4, 3)
    if functions:
        with pytest.raises(cv.Unsupported, match="mixtures"):
            fit.predict_y(X, X_var=np.full_like(X, 0.1))
    else:
        assert (fit.predict_y(X, X_var=np.full_like(X, 0.1))[1].mean(0) > variance.mean(0)).all()
        assert fit.condition(X[:3], Y[:3]).rows == 53
    by_name = cv.fit(pd.DataFrame(np.column_stack([X, Y]), columns=["u", "v", "a", "b", "c"]), target=["a", "b", "c"],
                     model="svgp", inducing=10, max_iter=2, **({"functions": functions} if functions else {}))
    assert by_name.output_names == ["a", "b", "c"] and by_name.rows == 50


def test_gaussian_inputs_need_gaussian_noise():
    X, y = labels()
    with pytest.raises(cv.Unsupported, match="Gaussian noise"):
        cv.Svgp(X, y, inducing=5).fit(max_iter=0).predict_f(X, X_var=np.full_like(X, 0.1))


def test_inducing_inputs_of_sparse_ep():
    X, y = labels()
    model = cv.Generalised(X, y, method="pep", power=0.5, inducing=7, selection="informative_vectors")
    again = pickle.loads(pickle.dumps(model))
    assert again.method == "pep(0.5)" and again.value() == model.value()
    fit = model.fit(max_iter=5)
    assert fit.Z.shape == (7, 2) and fit.diagnostics["inducing"] == 7
    assert {tuple(z) for z in cv.Generalised(X, y, method="fitc", inducing=X[:4]).fit(max_iter=0).Z.round(9)} \
        == {tuple(x) for x in X[:4].round(9)}
    sums = cv.Generalised(X, y, method="fitc", inducing=5, features="basis(2)")
    assert pickle.loads(pickle.dumps(sums)).value() == sums.value()
    assert sums.fit(max_iter=2).parameters["features.weights"].size == 10
    with pytest.raises(ValueError, match="no features"):
        cv.Generalised(X, y, method="ep", features="eigen")
    with pytest.raises(ValueError, match="method='pep'"):
        cv.Generalised(X, y, method="fitc", power=0.5)
    with pytest.raises(ValueError, match="no inducing inputs"):
        cv.Generalised(X, y, method="ep", inducing=5)
    with pytest.raises(cv.Unsupported, match="fitc or pep"):
        cv.Generalised(*three(), likelihood="softmax", method="fitc")


def test_samples_are_of_the_latent_functions(fitted):
    X, _ = labels()
    f = fitted.sample(X[:6], draws=500, seed=2)
    mean, variance = fitted.predict_f(X[:6])
    assert f.shape == (500, 6)
    assert (np.abs(f.mean(axis=0) - mean) < 4 * np.sqrt(variance / 500)).all()
    np.testing.assert_array_equal(f, fitted.sample(X[:6], draws=500, seed=2))
    several = cv.Generalised(*three(), likelihood="softmax").fit(max_iter=0)
    assert several.sample(X[:4], draws=2).shape == (2, 4, 3)


def test_gaussian_likelihood_is_regression():
    X, y = wave()
    exact = cv.Regression(X, y, kernel="se(ard)").fit(seed=1, restarts=1)
    fit = cv.Generalised(X, y, likelihood="gaussian")
    for path in exact.parameters.keys():
        fit.parameters[path] = exact.parameters[path]
    assert fit.value() == pytest.approx(exact.value, rel=1e-9)
    got, wanted = fit.fit(max_iter=0).predict_y(X), exact.predict_y(X)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-7)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-7)


def test_several_functions_have_columns():
    X, y = three()
    fit = cv.Generalised(X, y, likelihood="softmax").fit(restarts=1, max_iter=10)
    assert fit.likelihood == "softmax(3)" and fit.classes == ["high", "low", "middle"]
    mean, variance = fit.predict_f(X[:5])
    assert mean.shape == variance.shape == (5, 3) and fit.predict_proba(X[:5]).shape == (5, 3)
    with pytest.raises(cv.Unsupported, match="predict_proba"):
        fit.predict_y(X)
    noisy = cv.Svgp(*wave(), likelihood="heteroscedastic", inducing=10)
    assert "function.1.kernel.variance" in noisy.parameters.keys()
    together = cv.Svgp(*wave(), likelihood="heteroscedastic", inducing=10, separate_kernels=False)
    assert "kernel.variance" in together.parameters.keys()
    with pytest.raises(cv.Unsupported, match="predict_y"):
        noisy.fit(max_iter=0).predict_proba(X)


def test_labels_of_any_kind():
    X, y = labels()
    up = y == "up"
    names = lambda y, **options: cv.Generalised(X, y, **options).fit(max_iter=0)  # noqa: E731
    by_name = names(y)
    for same, classes in ((up, ["False", "True"]), (np.where(up, 12, 3), ["3", "12"]), (up.astype(float), ["0", "1"]),
                          (pd.Series(np.where(up, "b", "a"), name="letter"), ["a", "b"]),
                          (np.where(up, "b", "a").astype(object), ["a", "b"]), (np.where(up, b"b", b"a"), ["a", "b"])):
        fit = names(same)
        assert fit.classes == classes
        np.testing.assert_array_equal(fit.predict_proba(X), by_name.predict_proba(X))
        np.testing.assert_array_equal(fit.log_density(X, same), by_name.log_density(X, y))
    assert names(pd.Series(y, name="letter")).output_name == "letter"
    given = names(up.astype(int), classes=["no", "yes"])
    assert given.classes == ["no", "yes"]
    np.testing.assert_array_equal(given.log_density(X, np.where(up, "yes", "no")), given.log_density(X, up.astype(int)))
    turned = names(y, classes=["up", "down"])
    np.testing.assert_allclose(turned.predict_proba(X)[:, ::-1], by_name.predict_proba(X), rtol=1e-6)


def test_missing_targets_are_left_out():
    X, y = labels()
    holes = y.astype(object)
    holes[::5] = None
    fit = cv.Generalised(X, holes).fit(max_iter=0)
    assert fit.rows == 48
    for same in (pd.Series(holes, dtype="string"), pd.Series(holes).map({"down": 0.0, "up": 1.0}),
                 pd.Series(holes).map({"down": 0, "up": 1}).astype("Int64")):
        np.testing.assert_array_equal(cv.Generalised(X, same).fit(max_iter=0).predict_proba(X), fit.predict_proba(X))
    assert np.isnan(fit.log_density(X, holes)).sum() == 12
    assert cv.Svgp(X, holes, inducing=5).fit(max_iter=0).rows == 48


def test_wrong_targets_are_told(fitted):
    X, y = labels()
    with pytest.raises(ValueError, match="class"):
        cv.Generalised(X, ["up"] * 60)
    with pytest.raises(ValueError, match="class"):
        cv.Svgp(X, np.zeros(60), classes=["a", "b"])
    with pytest.raises(ValueError, match="sideways"):
        fitted.log_density(X[:2], ["up", "sideways"])
    with pytest.raises(ValueError, match="sideways"):
        cv.Generalised(X, np.where(y == "up", "sideways", y), classes=["up", "down"])
    with pytest.raises(ValueError):
        cv.Generalised(X, np.arange(60) % 3, likelihood="bernoulli")
    with pytest.raises(ValueError, match="whole|integer|0.5"):
        cv.Generalised(X, np.full(60, 0.5), likelihood="poisson")
    with pytest.raises(ValueError, match="poisson has none"):
        cv.Generalised(X, np.ones(60), likelihood="poisson", classes=["a", "b"])
    with pytest.raises(ValueError, match="columns"):
        cv.Generalised(X, np.ones((60, 2)), likelihood="poisson")
    with pytest.raises(ValueError, match="60"):
        cv.Generalised(X, y[:50])
    with pytest.raises(ValueError, match="60"):
        cv.Svgp(X, y[:50])
    with pytest.raises(ValueError, match="50"):
        cv.Generalised(X, np.arange(60), likelihood="poisson", aux=np.ones(50))
    with pytest.raises(ValueError, match="unknown method 'exact'"):
        cv.Generalised(X, y, method="exact")
    with pytest.raises(cv.ExpressionError, match="bernouli"):
        cv.Generalised(X, y, likelihood="bernouli")
    with pytest.raises(ValueError, match="inducing must be at least 1"):
        cv.Svgp(X, y, inducing=0)
    with pytest.raises(cv.Unsupported):
        cv.Generalised(*three(), likelihood="softmax", method="ep")
    with pytest.raises(cv.Unsupported, match="no inducing"):
        fitted.Z  # noqa: B018


def test_exposure_beside_counts():
    random = np.random.default_rng(0)
    X, exposure = np.linspace(0, 5, 80).reshape(-1, 1), random.uniform(1, 20, 80)
    counts = random.poisson(exposure * np.exp(np.sin(X[:, 0])))
    fits = [cv.Generalised(X, counts, kernel="se", likelihood="poisson", aux=exposure).fit(restarts=1),
            cv.Svgp(X, counts, kernel="se", likelihood="poisson", aux=exposure, inducing=15).fit()]
    for fit in fits:
        one, _ = fit.predict_y(X)
        np.testing.assert_allclose(fit.predict_y(X, aux=exposure)[0], one * exposure, rtol=1e-9)
        assert np.abs(np.log(one) - np.sin(X[:, 0])).max() < 0.5
        assert fit.log_density(X, counts, aux=exposure).mean() > fit.log_density(X, counts).mean()
    assert fits[0].value == pytest.approx(fits[1].value, abs=2.0)
    with pytest.raises(ValueError, match="79"):
        fits[0].predict_y(X, aux=exposure[:79])


def test_svgp_of_all_rows_nears_the_full_variational_bound():
    X, y = labels()
    full, sparse = cv.Generalised(X, y, method="vgp"), cv.Svgp(X, y, inducing=X)
    sparse.parameters["kernel.variance"] = full.parameters["kernel.variance"]
    sparse.parameters["kernel.lengthscales"] = full.parameters["kernel.lengthscales"]
    assert sparse.elbo() == pytest.approx(full.value(), abs=1e-3)
    diagonal = cv.Svgp(X, y, inducing=X, covariance="diagonal")
    assert diagonal.elbo() < cv.Svgp(X, y, inducing=X, covariance="blocks(20)").elbo() < sparse.elbo() + 1e-6


def test_minibatches_and_weights():
    X, y = labels(400)
    model = cv.Svgp(X, y, inducing=15, batch=50, epochs=25, natural_step=0.2, learning_rate=0.03)
    seen = []
    fit = model.fit(callback=lambda step, value, norm: seen.append((step, value)))
    assert model.batch == 50 and fit.summary.iterations == 200
    assert [step for step, _ in seen] == list(range(1, len(seen) + 1)) and 100 < len(seen) <= 200
    assert fit.value > seen[0][1] and np.mean((fit.predict_proba(X)[:, 1] > 0.5) == (y == "up")) > 0.9
    seldom = []
    cv.Svgp(X, y, inducing=15, batch=50, epochs=25, adam_every=4).fit(callback=lambda *step: seldom.append(step))
    assert len(seldom) == -(-len(seen) // 4)
    stopped = model.fit(callback=lambda step, *_: step < 3).summary
    assert stopped.reason == "stopped by the caller" and stopped.iterations == 200 - len(seen) + 3
    twice = cv.Svgp(np.vstack([X, X]), np.concatenate([y, y]), inducing=X[:10])
    assert cv.Svgp(X, y, inducing=X[:10], weights=np.full(400, 2.0)).elbo() == pytest.approx(twice.elbo(), rel=1e-9)


def test_callback_and_stop():
    seen = []
    model = cv.Generalised(*labels())
    fit = model.fit(restarts=1, callback=lambda i, value, norm: seen.append(value) or len(seen) < 3)
    assert len(seen) == 3 and fit.summary.iterations == 3
    assert fit.value == pytest.approx(seen[-1], rel=1e-9)
    given = model.parameters["kernel.variance"]

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(callback=interrupt)
    assert model.parameters["kernel.variance"] == given


@pytest.mark.parametrize("options, word", [({}, "objective"), ({"inducing": 9}, "objective"),
                                           ({"inducing": 9, "batch": 20, "epochs": 3}, "steps of minibatches")])
def test_progress_is_told(capsys, options, word):
    model = (cv.Svgp if options else cv.Generalised)(*labels(), **options)
    model.fit(progress=True, max_iter=3)
    assert word in capsys.readouterr().err
    model.fit(progress=False, max_iter=3)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("make", [lambda: cv.Generalised(*three(), likelihood="softmax"),
                                  lambda: cv.Svgp(*labels(), likelihood="bernoulli", inducing=8, seed=2)])
def test_models_are_copied_and_pickled(make):
    model = make()
    model.parameters["kernel.variance"] = 2.5
    model.parameters.fix("kernel.variance")
    value = model.value() if hasattr(model, "value") else model.elbo()
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (again.value() if hasattr(again, "value") else again.elbo()) == pytest.approx(value, rel=1e-12)
        assert repr(again) == repr(model)
        again.parameters["kernel.variance"] = 1.0
        assert model.parameters["kernel.variance"] == 2.5
    again = pickle.loads(pickle.dumps(model))
    X = three()[0]
    np.testing.assert_array_equal(again.fit(max_iter=5).predict_proba(X), model.fit(max_iter=5).predict_proba(X))


def test_fits_are_saved_and_pickled(tmp_path, fitted):
    X, _ = labels(20, seed=3)
    fitted.save(tmp_path / "m.cov")
    for again in (cv.load(tmp_path / "m.cov"), cv.GeneralisedFit.load(tmp_path / "m.cov"),
                  pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert type(again) is cv.GeneralisedFit and str(again) == str(fitted)
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    with pytest.raises(cv.Unsupported, match="bernoulli"):
        cv.RegressionFit.load(tmp_path / "m.cov")
    regression = cv.Regression(*wave()).fit(max_iter=0)
    regression.save(tmp_path / "r.cov")
    assert type(cv.load(tmp_path / "r.cov")) is cv.RegressionFit
    with pytest.raises(cv.Unsupported, match="covary.load"):
        cv.GeneralisedFit.load(tmp_path / "r.cov")


def test_pandas(fitted):
    X, y = labels()
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(100, 160))
    fit = cv.Generalised(frame, pd.Series(y, name="way")).fit(max_iter=0)
    assert fit.input_names == ["a", "b"] and fit.output_name == "way"
    p = fit.predict_proba(frame[["b", "a"]])
    assert list(p.columns) == ["down", "up"] and p.index[0] == 100
    np.testing.assert_array_equal(p.to_numpy(), fit.predict_proba(X))
    table = fit.predict_table(frame)
    assert list(table.columns) == ["class", "p_down", "p_up", "mean_f", "variance_f"] and table.index[0] == 100
    assert fit.predict_f(frame)[0].name == "f"


def test_threads_may_share_a_fit(fitted):
    X, _ = labels(200, seed=5)
    wanted, got = fitted.predict_proba(X), {}

    def work(k):
        got[k] = fitted.predict_proba(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        np.testing.assert_array_equal(got[k], wanted)


@pytest.mark.parametrize("model, likelihood", [("laplace", "bernoulli"), ("ep(0.5)", "bernoulli(probit)"),
                                               ("vgp", "bernoulli"), ("laplace", "softmax"), ("svgp", "softmax")])
def test_same_fit_through_both_doors_gives_the_same_bits(tmp_path, command_line, model, likelihood):
    X, y = three(40) if likelihood == "softmax" else labels(40)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "way": y}).to_csv(tmp_path / "t.csv", index=False)
    text = pd.read_csv(tmp_path / "t.csv", dtype=str)
    frame = pd.DataFrame({name: text[name].map(float) for name in "ab"})
    sparse = ["--inducing", 8] if model == "svgp" else ["--restarts", 2]
    shell = json.loads(command_line("fit", tmp_path / "t.csv", "--target", "way", "--likelihood", likelihood, "--model",
                                    model, "--seed", 3, "--max-iter", 8, *sparse, "--out", tmp_path / "shell.cov",
                                    "--json"))
    if model == "svgp":
        fit = cv.Svgp(frame, text["way"], likelihood=likelihood, inducing=8, seed=3).fit(max_iter=8)
    else:
        options = {"method": "ep", "power": 0.5} if model == "ep(0.5)" else {"method": model}
        fit = cv.Generalised(frame, text["way"], likelihood=likelihood, **options).fit(seed=3, restarts=2, max_iter=8)
    assert fit.value == shell["value"] and fit.classes == shell["classes"] and fit.rows == shell["n"]
    fit.save(tmp_path / "python.cov")
    by_shell, by_python = (load_file(tmp_path / name) for name in ("shell.cov", "python.cov"))
    assert by_shell.keys() == by_python.keys()
    for name in by_shell:
        np.testing.assert_array_equal(by_shell[name], by_python[name])
    predicted = json.loads(command_line("predict", tmp_path / "python.cov", tmp_path / "t.csv", "--json"))
    table = cv.load(tmp_path / "shell.cov").predict_table(frame)
    for column in table:
        np.testing.assert_array_equal(table[column], predicted[column])


def test_text_of_a_fit(fitted):
    assert "laplace model of y on 2 inputs, 60 rows, likelihood bernoulli" in str(fitted)
    assert "log_evidence" in repr(fitted) and "kernel.variance" in fitted._repr_html_()
    assert "elbo" in repr(cv.Svgp(*labels(), inducing=5).fit(max_iter=0))
