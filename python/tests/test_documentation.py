"""The examples in docstrings and on the page are run, and the types are checked."""

import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import covary
import covary.estimators

pytest.importorskip("matplotlib").use("Agg")


def documented():
    """Every public thing with an example in its docstring, methods included."""
    seen = [("covary", covary)] + [(name, getattr(covary, name)) for name in covary.__all__ if name != "plot"]
    seen += [(f"plot.{name}", getattr(covary.plot, name)) for name in covary.plot.__all__]
    for name, value in list(seen):
        if inspect.isclass(value):
            seen += [(f"{name}.{key}", method) for key, method in vars(value).items() if not key.startswith("_")]
    return [(name, value.__doc__) for name, value in seen if ">>>" in (getattr(value, "__doc__", None) or "")]


@pytest.mark.parametrize("name, text", documented(), ids=[name for name, _ in documented()])
def test_docstrings(name, text):
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {}, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test)
    assert test.examples and runner.summarize(verbose=False).failed == 0


def test_there_are_examples_to_run():
    names = {name for name, _ in documented()}
    assert {"covary", "Kernel", "Mean", "Parameters", "Regression", "Regression.fit", "Fit", "GPRegressor"} <= names
    assert {"SparseRegression", "SparseRegression.fit", "SparseGPRegressor"} <= names
    assert {"Generalised", "Svgp", "GeneralisedFit", "GPClassifier", "SparseGPClassifier"} <= names
    assert {"plot.bracket", "plot.curve", "plot.components", "plot.split"} <= names


def test_public_things_have_docstrings():
    for name in covary.__all__:
        text = getattr(covary, name).__doc__
        assert text and not re.search(r"^ *<\w+>$", text, re.M), name  # shared entries are in their places
    for name in covary.plot.__all__:
        assert getattr(covary.plot, name).__doc__, name


@pytest.mark.parametrize("page, least", [("README.md", 1), ("docs/python.md", 5), ("docs/classification.md", 1)])
def test_the_page_runs(tmp_path, monkeypatch, page, least):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.M | re.S)
    assert len(blocks) >= least
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_stubs_are_there_and_hold(tmp_path):
    folder = pathlib.Path(covary.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
    program = tmp_path / "typed.py"
    program.write_text(
        "import numpy as np\nimport covary as cv\n"
        "fit: cv.RegressionFit = cv.Regression(np.zeros((3, 1)), [1, 2, 3], kernel='se').fit(seed=1)\n"
        "mean, variance = fit.predict_f(np.zeros((3, 1)))\n"
        "k: cv.Kernel = 2 * cv.Kernel('se') + 'white'\n"
        "x: float = fit.value\n"
        "gp: cv.GPRegressor = cv.GPRegressor(kernel=k).fit(np.zeros((3, 1)), [1, 2, 3])\n"
        "same: cv.RegressionFit = gp.fit_\n"
        "n: int = fit.predict_mean([[0.0]]).size\n"
        "sparse: cv.RegressionFit = cv.SparseRegression(np.zeros((3, 1)), [1, 2, 3], inducing=2, model='fitc').fit()\n"
        "m, v, h = sparse.split([[0.0]])\n"
        "d: dict[str, float] = sparse.diagnostics\n"
        "z: int = sparse.Z.size + h.size\n"
        "name: str = sparse.model\n"
        "bound: float | None = sparse.upper_bound\n"
        "few: cv.SparseGPRegressor = cv.SparseGPRegressor(inducing=5).fit(np.zeros((3, 1)), [1, 2, 3])\n"
        "loaded: cv.Fit = cv.load('m.cov')\n"
        "classes: cv.GeneralisedFit = cv.Generalised(np.zeros((3, 1)), ['a', 'b', 'a'], method='ep').fit(seed=1)\n"
        "p: int = classes.predict_proba([[0.0]]).size + len(classes.classes)\n"
        "elbo: float = cv.Svgp(np.zeros((3, 1)), [0, 1, 0], inducing=2, weights=[1, 2, 3]).elbo()\n"
        "gc: cv.GPClassifier = cv.GPClassifier(kernel=k, method='vgp').fit(np.zeros((3, 1)), [1, 2, 3])\n"
        "inner: cv.GeneralisedFit = gc.fit_\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import covary as cv\nx: str = cv.threads()\ncv.Kernel(3)\ncv.GPRegressor(restarts='many')\n"
                     "cv.SparseGPRegressor(model=3)\ncv.GPClassifier(method=1)\n")
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache")]
    good = subprocess.run([*mypy, str(program)], capture_output=True, text=True)
    assert good.returncode == 0, good.stdout
    bad = subprocess.run([*mypy, str(wrong)], capture_output=True, text=True)
    assert bad.returncode == 1 and bad.stdout.count("error:") == 5, bad.stdout
