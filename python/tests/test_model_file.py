"""Model files, alone and between the doors."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import covary as cv


def test_round_trip_gives_the_same_bits(tmp_path, data, fitted):
    path = tmp_path / "model.cov"
    fitted.save(path)
    for loaded in (cv.load(path), cv.Fit.load(str(path))):
        for a, b in zip(fitted.predict_y(data[0]), loaded.predict_y(data[0])):
            np.testing.assert_array_equal(a, b)
        assert str(loaded) == str(fitted)
    assert fitted.__reduce__()[1][0] == path.read_bytes()
    assert load_file(path)["X"].shape == (40, 2)


def test_damage_is_told(tmp_path, fitted):
    path = tmp_path / "model.cov"
    fitted.save(path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-9] + b"x" + whole[-8:], b"", b"not a model at all"):
        path.write_bytes(damaged)
        with pytest.raises(cv.FileError) as caught:
            cv.load(path)
        assert isinstance(caught.value, OSError)
    with pytest.raises(cv.FileError, match="nowhere"):
        cv.load(tmp_path / "nowhere.cov")
    with pytest.raises(OSError):
        fitted.save(tmp_path / "no" / "such" / "folder.cov")
    restore = fitted.__reduce__()[0]
    with pytest.raises(cv.FileError):
        restore(whole[:-1])


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(cv.InputError("y has 3 values")))
    assert type(error) is cv.InputError and str(error) == "y has 3 values"


def read(path):
    """A table with the very numbers that the command line reads; pandas may round them otherwise."""
    table = pd.read_csv(path, dtype=str)
    return table.apply(lambda column: column if column.name == "colour" else column.map(float))


@pytest.fixture
def curve(tmp_path, command_line):
    command_line("example", "friedman", tmp_path)
    return pd.read_csv(tmp_path / "train.csv").head(80), tmp_path


def test_same_fit_through_both_doors_gives_the_same_bits(curve, command_line):
    frame, folder = curve
    frame.to_csv(folder / "t.csv", index=False)
    frame = read(folder / "t.csv")
    shell = json.loads(command_line("fit", folder / "t.csv", "--target", "y", "--seed", 3, "--restarts", 2,
                                    "--kernel", "matern52(ard) + linear", "--out", folder / "shell.cov", "--json"))
    X, y = frame.drop(columns="y"), frame["y"]
    fit = cv.Regression(X, y, kernel="matern52(ard) + linear").fit(seed=3, restarts=2)
    gp = cv.GPRegressor("matern52(ard) + linear", restarts=2, random_state=3).fit(X, y)
    assert fit.value == shell["value"] == gp.objective_value_
    for path, value in shell["parameters"].items():
        np.testing.assert_array_equal(fit.parameters[path], value)
        np.testing.assert_array_equal(gp.fit_.parameters[path], value)
    loaded = cv.load(folder / "shell.cov")
    np.testing.assert_array_equal(loaded.predict_y(X)[0], gp.predict(X))
    np.testing.assert_array_equal(loaded.predict_y(X)[1], fit.predict_y(X)[1])
    predicted = json.loads(command_line("predict", folder / "shell.cov", folder / "t.csv", "--json"))
    np.testing.assert_array_equal(predicted["mean"], gp.predict(X))
    np.testing.assert_array_equal(predicted["variance"], fit.predict_y(X)[1])
    fit.save(folder / "python.cov")
    by_shell, by_python = (load_file(folder / name) for name in ("shell.cov", "python.cov"))
    assert by_shell.keys() == by_python.keys()
    for name in by_shell:
        np.testing.assert_array_equal(by_shell[name], by_python[name])


@pytest.mark.parametrize("model, inducing", [("vfe", 15), ("vfe", None), ("fitc", 10), ("pep(0.5)", 10), ("pitc", 10)])
def test_same_sparse_fit_through_both_doors_gives_the_same_bits(curve, command_line, model, inducing):
    frame, folder = curve
    frame.to_csv(folder / "t.csv", index=False)
    frame = read(folder / "t.csv")
    shell = json.loads(command_line("fit", folder / "t.csv", "--target", "y", "--seed", 3, "--restarts", 2,
                                    "--model", model, "--inducing", inducing or "auto", "--selection", "kmeans",
                                    "--max-iter", 30, "--out", folder / "shell.cov", "--json"))
    X, y = frame.drop(columns="y"), frame["y"]
    options = {"model": model, "inducing": inducing, "selection": "kmeans"}
    fit = cv.SparseRegression(X, y, **options, seed=3).fit(restarts=2, max_iter=30)
    gp = cv.SparseGPRegressor(**options, restarts=2, max_iter=30, random_state=3).fit(X, y)
    assert fit.value == shell["value"] == gp.objective_value_
    assert fit.upper_bound == shell["upper_bound"]
    assert fit.diagnostics == shell["diagnostics"]
    fit.save(folder / "python.cov")
    by_shell, by_python = (load_file(folder / name) for name in ("shell.cov", "python.cov"))
    assert by_shell.keys() == by_python.keys()
    for name in by_shell:
        np.testing.assert_array_equal(by_shell[name], by_python[name])
    loaded = cv.load(folder / "shell.cov")
    np.testing.assert_array_equal(loaded.Z, fit.Z)
    for file in ("shell.cov", "python.cov"):
        predicted = json.loads(command_line("predict", folder / file, folder / "t.csv", "--json"))
        np.testing.assert_array_equal(predicted["mean"], loaded.predict_y(X)[0])
        np.testing.assert_array_equal(predicted["variance"], fit.predict_y(X)[1])
    assert json.loads(command_line("show", folder / "python.cov", "--json"))["upper_bound"] == fit.upper_bound


def test_command_line_reads_what_python_wrote(curve, command_line):
    frame, folder = curve
    X = frame.drop(columns="y")
    gp = cv.GPRegressor(random_state=0, restarts=1).fit(X, frame["y"])
    gp.fit_.save(folder / "python.cov")
    frame.to_csv(folder / "t.csv", index=False)
    shell = json.loads(command_line("predict", folder / "python.cov", folder / "t.csv", "--json"))
    table = gp.fit_.predict_table(read(folder / "t.csv"))
    for column in table:
        np.testing.assert_array_equal(table[column], shell[column])
    shown = json.loads(command_line("show", folder / "python.cov", "--json"))
    assert shown["inputs"] == list(X.columns) and shown["outputs"] == ["y"]


def test_text_columns_of_a_file_from_the_command_line(tmp_path, command_line):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.uniform(0, 5, 40), "colour": random.choice(["red", "blue"], 40)})
    frame["y"] = np.sin(frame["x"]) + (frame["colour"] == "red")
    frame.to_csv(tmp_path / "t.csv", index=False)
    command_line("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m.cov")
    shell = json.loads(command_line("predict", tmp_path / "m.cov", tmp_path / "t.csv", "--json"))
    fit = cv.load(tmp_path / "m.cov")
    frame = read(tmp_path / "t.csv")
    np.testing.assert_array_equal(fit.predict_y(frame)[0], shell["mean"])
    with pytest.raises(cv.InputError, match="colour"):
        fit.predict_y(frame.assign(colour="green"))
