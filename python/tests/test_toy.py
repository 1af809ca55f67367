"""A model that is a source and a line of the table (tests/toy): Python knows it as the command line does."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """
import importlib.machinery, importlib.util, json, os, pickle, sys
loader = importlib.machinery.ExtensionFileLoader("_toy", os.environ["COVARY_TOY"])
toy = sys.modules["covary._core"] = importlib.util.module_from_spec(importlib.util.spec_from_loader("_toy", loader))
loader.exec_module(toy)

import pandas as pd
import covary as cv

def refused(call, says):
    try:
        call()
    except cv.Unsupported as error:
        assert says in str(error), error
    else:
        raise AssertionError(says)

rows = pd.read_csv("rows.csv")
call = {"model": "mean_only", "target": "y", "inputs": ["t", "u"]}
assert "mean_only" in [m["name"] for m in cv.models()]
fit = cv.fit(rows, out="python.cov", **call)
assert type(fit) is cv.Fit and fit.model == "mean_only" and "the mean of y" in str(fit)
assert abs(fit.describe()["mean"] - rows["y"].mean()) < 1e-12
predicted = fit.predict_table(rows)
for again in (cv.load("python.cov"), pickle.loads(pickle.dumps(fit))):
    pd.testing.assert_frame_equal(again.predict_table(rows), predicted, check_exact=True)
assert abs(fit.evaluate(rows)["rmse"] ** 2 - predicted["variance"][0]) < 1e-12
fit.report("page.html", rows)
assert "the mean of y" in open("page.html").read()
refused(lambda: cv.fit(rows, kernel="se", **call), "--kernel is for --model")
refused(lambda: fit.predict_table(rows, components=True), "--components is for ")
refused(lambda: fit.sample_table(rows), "sample is not available for mean_only")
refused(lambda: fit.update(rows), "update is not available for mean_only")
refused(lambda: fit.compress(), "compress is not available for mean_only")
print(json.dumps(predicted.to_dict("list")))
"""


@pytest.mark.skipif("COVARY_TOY" not in os.environ, reason="scripts/test-python.sh builds the extension with the toy model")
def test_a_model_of_the_table_is_known_in_python(tmp_path):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/cli"))
    from model_lines import write_tables
    write_tables(tmp_path)
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    toy = pathlib.Path(__file__).parents[2] / "build/release/tests/covary_toy"
    if not os.access(toy, os.X_OK):
        pytest.skip("no command line with the toy model: make build makes it")
    shell = lambda *words: json.loads(subprocess.run([toy, *words, "--json"], capture_output=True, text=True, check=True,
                                                     cwd=tmp_path, timeout=120).stdout)
    shell("fit", "rows.csv", "--model", "mean_only", "--target", "y", "--inputs", "t,u", "--out", "shell.cov")
    for file in ("python.cov", "shell.cov"):
        predicted = shell("predict", file, "rows.csv")
        assert {name: predicted[name] for name in ("mean", "variance")} == json.loads(done.stdout)
