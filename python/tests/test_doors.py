"""Python and the command line go through one table and one way to train: the same models, options, refusals and bits."""

import json
import logging
import pathlib
import shlex
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import covary as cv

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/cli"))

from model_lines import LINES, VARIANTS, write_tables  # noqa: E402


@pytest.fixture
def tables(tmp_path):
    write_tables(tmp_path)
    return tmp_path


def options_of(line):
    """The table of a line, and its options as cv.fit has them."""
    table, *words = shlex.split(line)
    options = {}
    for name, value in zip(words, words[1:] + ["--"]):
        if name.startswith("--"):
            options.setdefault(name[2:].replace("-", "_"), []).append(True if value.startswith("--") else value)
    return table, {name: values[0] if len(values) == 1 else values for name, values in options.items()}


def timeless(fit):
    if isinstance(fit, dict):
        return {k: timeless(v) for k, v in fit.items() if k not in ("seconds", "file", "cost", "interrupted")}
    return [timeless(v) for v in fit] if isinstance(fit, list) else fit


def test_the_table_is_that_of_the_command_line(command_line):
    assert cv.models() == json.loads(command_line("models", "--json"))["models"]


@pytest.mark.parametrize("label", LINES | VARIANTS)
def test_every_model_gives_the_same_bits_through_both_doors(label, tables, command_line):
    line = (LINES | VARIANTS)[label]
    table, options = options_of(line)
    by_python = cv.fit(tables / table, out=str(tables / "python.cov"), progress=False, **options)
    shell = json.loads(command_line("fit", tables / table, *shlex.split(line)[1:], "--out", tables / "shell.cov",
                                    "--json"))
    assert timeless(by_python.describe()) == timeless({k: shell[k] for k in by_python.describe()})
    shown = [json.loads(command_line("show", tables / f"{door}.cov", "--json")) for door in ("python", "shell")]
    assert timeless(shown[0]) == timeless(shown[1])
    again = cv.load(tables / "python.cov")
    again.save(tables / "again.cov")
    assert (tables / "again.cov").read_bytes() == (tables / "python.cov").read_bytes()
    rows, asked = pd.read_csv(tables / "rows.csv"), {"steps": 3} if "lags" in options else {}
    predicted = by_python.predict_table(rows, **asked)
    for fit in (again, cv.load(tables / "shell.cov")):
        pd.testing.assert_frame_equal(fit.predict_table(rows, **asked), predicted, check_exact=True)


MODELS_OF_TABLE = {m["label"]: m for m in cv.models()}


@pytest.mark.parametrize("label", [label for label in LINES if "sample" in MODELS_OF_TABLE[label]["options"]])
def test_draws_are_those_of_the_command_line(label, tables, command_line):
    table, options = options_of(LINES[label])
    fit = cv.fit(tables / table, out=str(tables / "m.cov"), progress=False, **options)
    points = pd.read_csv(tables / "rows.csv")
    points["x0"], points["x1"] = points["t"], points["u"]  # of a latent space, beside inputs and outputs
    points.to_csv(tables / "points.csv", index=False)
    sampler = {"posterior": "elliptical" if "likelihoods" in MODELS_OF_TABLE[label]["capabilities"]
               and "gplvm" not in label else "slice", "burn_in": 3, "thin": 2}
    for asked in ({"draws": 2}, {"draws": 2, "seed": 7}, {"draws": 2, **sampler}):
        if "posterior" in asked and "posterior" not in MODELS_OF_TABLE[label]["options"]["sample"]:
            with pytest.raises(cv.Unsupported, match="--posterior is for "):
                fit.sample_table(points, **asked)
            continue
        words = [word for name, value in asked.items() for word in ("--" + name.replace("_", "-"), value)]
        shell = json.loads(command_line("sample", tables / "m.cov", tables / "points.csv", *words, "--json"))
        drawn = fit.sample_table(points, **asked)
        assert {name: drawn[name].tolist() for name in drawn} == {name: shell[name] for name in drawn}
        assert len(drawn.columns) > 0


@pytest.mark.parametrize("label", ["exact", "svgp", "ppca"])
def test_any_fit_can_be_compressed_or_says_why_not(label, tables, command_line):
    table, options = options_of(LINES[label])
    fit = cv.fit(tables / table, out=str(tables / "m.cov"), progress=False, **options)
    if label == "ppca":
        with pytest.raises(cv.Unsupported, match="compress is not available for ppca"):
            fit.compress()
        return
    small = cv.Fit.compress(fit, loss=1.0, features=["points"], most_inducing=9, max_iter=20, seed=1)
    command_line("compress", tables / "m.cov", "--out", tables / "s.cov", "--loss", 1, "--features", "points", "--most", 9,
                 "--max-iter", 20, "--seed", 1)
    rows = pd.read_csv(tables / "rows.csv")
    pd.testing.assert_frame_equal(small.predict_table(rows), cv.load(tables / "s.cov").predict_table(rows), check_exact=True)
    assert small.diagnostics["numbers"] < small.diagnostics["numbers_before"]


def test_questions_that_cannot_be_answered_are_refused(tables):
    rows = pd.read_csv(tables / "rows.csv")
    exact, laplace = (cv.fit(tables / "rows.csv", progress=False, **options_of(LINES[m])[1]) for m in ("exact", "laplace"))
    for fit, ask, options, says in (
            (laplace, "sample_table", {"burn_in": 3}, "--burn-in needs --posterior"),
            (laplace, "sample_table", {"posterior": "gibbs"}, "--posterior takes slice, retrospective, elliptical, got 'gibbs'"),
            (laplace, "sample_table", {"draws": 0}, "--draws takes a number of at least 1, got '0'"),
            (exact, "predict_table", {"draws": "many"}, "draws cannot be 'many'"),
            (exact, "predict_table", {"component": True}, "no option 'component' .did you mean 'components'"),
            (exact, "predict_table", {"threshold": 0.4}, "--threshold is for "),
            (laplace, "evaluate", {"threshold": 2.0}, "--threshold must lie between 0 and 1, got 2"),
            (exact, "predict_table", {"seed": 3}, "--seed ")):
        with pytest.raises(cv.CovaryError, match=says):
            getattr(fit, ask)(rows, **options)


def test_a_report_reads_exposures(tables):
    counts = {"target": "count", "inputs": ["t", "u"], "likelihood": "poisson", "exposure": "e", "max_iter": 3}
    fit = cv.fit(tables / "rows.csv", "laplace", progress=False, **counts)
    rows, pages = pd.read_csv(tables / "rows.csv"), []
    for exposure in ("e", "w"):
        fit.report(tables / "page.html", rows, exposure=exposure)
        pages.append((tables / "page.html").read_text())
    assert pages[0] != pages[1]
    exact = cv.fit(tables / "rows.csv", progress=False, **options_of(LINES["exact"])[1])
    with pytest.raises(cv.Unsupported, match="--exposure is for "):
        exact.report(tables / "page.html", rows, exposure="e")


def test_options_have_an_effect(tables, capfd, caplog):
    train = tables / "rows.csv"
    gaussian = {"target": "y", "inputs": ["t", "u"], "max_iter": 3, "progress": False}
    fit = cv.fit(train, "exact", folds=3, **gaussian)
    assert fit.cross_validation["folds"] == 3 and fit.cross_validation["observations"] == 24
    cv.fit(train, "exact", verbose=True, **gaussian)
    assert "iteration 3 objective" in capfd.readouterr().err
    with caplog.at_level(logging.INFO, "covary"):
        cv.fit(train, "vfe", inducing=5, stream=True, **gaussian)
    assert "streaming 24 rows" in caplog.text
    cv.fit(train, "exact", out=str(tables / "m.cov"), without_outputs=True, **gaussian)
    assert not cv.load(tables / "m.cov").can("training_outputs")
    headless = tables / "headless.csv"
    headless.write_text("10,20\n3,5\n4,7\n6,6\n")
    assert cv.fit(headless, "exact", header="yes", target="20", max_iter=0).output_names == ["20"]


def test_what_has_no_effect_is_refused(tables):
    train, gaussian = tables / "rows.csv", {"target": "y", "inputs": ["t", "u"], "max_iter": 1}
    in_memory = np.arange(12.0).reshape(6, 2)
    for data, more, says in ((train, {"resume": True}, "--resume needs the checkpoint"),
                             (train, {"without_outputs": True}, "--without-outputs needs a model file"),
                             (train, {"stream": True}, "--stream is for --model vfe"),
                             (train, {"stream": True, "model": "vfe", "folds": 2}, "--stream cannot be used here"),
                             (train, {"folds": "nothing"}, "nothing"),
                             (in_memory, {"target": "c1", "inputs": "c0", "header": "yes"}, "--header is for a file"),
                             (in_memory, {"target": "c1", "inputs": "c0", "stream": True, "model": "vfe"}, "--stream is for"),
                             (train, {"model": "vfe", "inducing": 5, "inducing_file": str(tables / "Z.csv")}, "--inducing has no effect"),
                             (train, {"no_scale": True, "scale": "columns"}, "--scale has no effect with --no-scale"),
                             (train, {"latent": 2}, "--latent is for"), (train, {"kernle": "se"}, "no option 'kernle'")):
        with pytest.raises(cv.CovaryError, match=says):
            cv.fit(data, **{"model": "exact", **gaussian, **more})
    with pytest.raises(cv.CovaryError, match="--target is required"):
        cv.fit(train, "exact")
    series = cv.fit(train, "exact", target="y", lags=2, max_iter=0, progress=False)
    with pytest.raises(cv.InputError, match="--draws needs --steps and --propagation draws"):
        series.predict_table(pd.read_csv(train), steps=3, draws=5)
    many = tables / "many.npy"
    np.save(many, np.zeros((400_000, 2)))
    with pytest.raises(cv.CovaryError, match="of memory"):
        cv.fit(many, "exact", target="c1")


def wave(n=30):
    x = np.linspace(0, 5, n)
    return x.reshape(-1, 1), np.sin(x) + 0.1 * np.cos(37 * x)


def holed():
    X, y = wave()
    X = np.column_stack([X[:, 0], np.cos(X[:, 0])])
    X[3, 1] = np.nan
    return X, y


def outputs():
    X, y = wave()
    return np.column_stack([y, y ** 2, np.cos(X[:, 0]), X[:, 0]])


MODELS = {
    "Regression": lambda: cv.Regression(*wave()),
    "SparseRegression": lambda: cv.SparseRegression(*wave(), inducing=6),
    "Generalised": lambda: cv.Generalised(wave()[0], wave()[1] > 0),
    "Svgp": lambda: cv.Svgp(wave()[0], wave()[1] > 0, inducing=6),
    "Svgp by minibatches": lambda: cv.Svgp(wave()[0], wave()[1] > 0, inducing=6, batch=10, steps=30),
    "Gplvm": lambda: cv.Gplvm(outputs(), latent=2, inducing=6, restarts=1),
    "MapGplvm": lambda: cv.MapGplvm(outputs(), latent=2),
    "MissingInputsRegression": lambda: cv.MissingInputsRegression(*holed(), inducing=6),
    "UncertainInputsRegression": lambda: cv.UncertainInputsRegression(*wave(), input_variance=0.01, inducing=6),
    "Generalised with gplvm": lambda: cv.Generalised(outputs(), outputs()[:, 0] > 0, gplvm=1),
    "Svgp with gplvm": lambda: cv.Svgp(outputs(), outputs()[:, 0] > 0, gplvm=1, inducing=6),
    "fit_class_density": lambda: SimpleNamespace(fit=partial(
        cv.fit_class_density, outputs(), outputs()[:, 0] > 0, latent=1, inducing=6, restarts=1)),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_class_can_be_stopped_and_resumed_with_the_same_bits(name, tmp_path):
    whole = MODELS[name]().fit(max_iter=6)
    state, calls = tmp_path / "state", []
    MODELS[name]().fit(max_iter=6, checkpoint=state, callback=lambda *now: calls.append(now) or len(calls) < 2)
    assert len(calls) == 2 and state.exists()
    resumed = MODELS[name]().fit(max_iter=6, checkpoint=state, resume=True)
    assert resumed.value == whole.value and resumed.summary.iterations == whole.summary.iterations
    with pytest.raises(cv.InputError, match="resume needs the checkpoint"):
        MODELS[name]().fit(resume=True)
    with pytest.raises(cv.InputError, match="other data or options|checkpoint"):
        MODELS[name]().fit(seed=99, max_iter=6, checkpoint=state, resume=True)


@pytest.mark.parametrize("name", MODELS)
def test_every_class_has_a_limit_of_time_and_a_start(name, tmp_path):
    assert "second" in MODELS[name]().fit(max_seconds=1e-9).summary.reason
    if "minibatches" in name:
        return
    fit = MODELS[name]().fit(max_iter=4)
    fit.save(tmp_path / "m.cov")
    # A latent space of the inputs is no parameter of the model behind it.
    starts = (fit, tmp_path / "m.cov") if "gplvm" in name else (fit, tmp_path / "m.cov", fit.parameters)
    values = [MODELS[name]().fit(max_iter=0, from_=start).value for start in starts]
    assert values == [values[0]] * len(values) and values[0] == pytest.approx(fit.value)


def test_a_schedule_of_svgp_has_an_effect():
    def value(**options):
        return cv.Svgp(wave()[0], wave()[1] > 0, inducing=6, batch=10, steps=40, **options).fit().value
    usual = value()
    for options in ({"schedule": "constant"}, {"decay": 0.9}, {"every": 3}, {"warm_up": 10}):
        assert value(**options) != usual
    with pytest.raises(cv.InputError, match="schedule 'weekly'"):
        value(schedule="weekly")


def test_what_a_posterior_can_be_asked():
    exact, sparse = cv.Regression(*wave()).fit(max_iter=2), cv.SparseRegression(*wave(), inducing=6).fit(max_iter=2)
    for what, of_exact, of_sparse in (("training_inputs", True, False), ("inducing", False, True), ("split", False, True),
                                      ("leave_one_out", True, False), ("exact_evidence", True, False)):
        assert (exact.can(what), sparse.can(what)) == (of_exact, of_sparse), what
    assert cv.Svgp(wave()[0], wave()[1] > 0, inducing=6).fit(max_iter=2).can("inducing")
    with pytest.raises(cv.InputError, match="did you mean 'training_inputs'"):
        exact.can("training_input")
