import numpy as np
import pandas as pd
import pytest

import covary as cv


@pytest.fixture
def frame(data):
    X, y = data
    return pd.DataFrame({"width": X[:, 0], "height": X[:, 1], "weight": y}, index=range(100, 140))


def test_names_are_kept_and_columns_found_by_them(frame):
    fit = cv.Regression(frame[["width", "height"]], frame["weight"]).fit(restarts=1)
    assert fit.input_names == ["width", "height"] and fit.output_names == ["weight"]
    expected = fit.predict_y(frame[["width", "height"]].to_numpy())[0]
    np.testing.assert_array_equal(fit.predict_y(frame)[0], expected)  # more columns, any order
    np.testing.assert_array_equal(fit.predict_y(frame[["height", "width"]])[0], expected)
    renamed = frame[["width", "height"]].set_axis(["a", "b"], axis=1)
    with pytest.raises(cv.InputError, match="lacks the model's inputs 'width', 'height'; its columns are a, b"):
        fit.predict_y(renamed)
    with pytest.raises(cv.InputError, match="lacks the model's input 'height'; its columns are width, weight, more"):
        fit.predict_y(frame[["width", "weight"]].assign(more=1))


def test_table_in_table_out(frame):
    fit = cv.Regression(frame[["width", "height"]], frame["weight"]).fit(restarts=1)
    table = fit.predict_table(frame)
    assert list(table.columns) == ["mean", "variance", "sd", "variance_f", "lower", "upper"]
    assert list(table.index) == list(frame.index)
    mean, variance = fit.predict_y(frame)
    np.testing.assert_array_equal(table["mean"], mean)
    np.testing.assert_allclose(table["upper"] - table["lower"], 2 * 1.959963984540054 * np.sqrt(variance))
    two = cv.Regression(frame[["width"]], frame[["height", "weight"]]).fit(restarts=1, max_iter=5)
    assert "mean_height" in two.predict_table(frame) and "upper_weight" in two.predict_table(frame)


def test_predictions_at_a_table_are_pandas(frame):
    X = frame[["width", "height"]]
    fit = cv.Regression(X, frame["weight"], kernel="se + linear").fit(restarts=1)
    plain = X.to_numpy()
    for call in (fit.predict_f, fit.predict_y):
        for made, expected in zip(call(X), call(plain)):
            pd.testing.assert_series_equal(made, pd.Series(expected, index=frame.index, name="weight"))
    assert isinstance(fit.predict_mean(X), pd.Series) and isinstance(fit.predict_mean(plain), np.ndarray)
    for (_, mean, _), (_, expected, _) in zip(fit.components(X), fit.components(plain)):
        pd.testing.assert_series_equal(mean, pd.Series(expected, index=frame.index, name="weight"))
    slope = fit.gradient(X)[0]
    pd.testing.assert_frame_equal(slope, pd.DataFrame(fit.gradient(plain)[0], X.index, X.columns.astype(object)),
                                  check_column_type=False)
    covariance = fit.covariance(X)
    assert list(covariance.index) == list(covariance.columns) == list(frame.index)
    draws = fit.sample(X, draws=3, seed=1)
    assert draws.shape == (3, 40) and list(draws.columns) == list(frame.index)
    np.testing.assert_array_equal(draws, fit.sample(plain, draws=3, seed=1))


def test_predictions_of_several_outputs_at_a_table(frame):
    fit = cv.Regression(frame[["width"]], frame[["height", "weight"]]).fit(restarts=1, max_iter=5)
    mean, variance = fit.predict_y(frame)
    assert list(mean.columns) == list(variance.columns) == ["height", "weight"]
    assert list(mean.index) == list(frame.index)
    assert fit.sample(frame, draws=3).shape == (3, 40, 2)


def test_table_of_the_estimator(frame):
    X = frame[["width", "height"]]
    gp = cv.GPRegressor(restarts=1, random_state=0).fit(X, frame["weight"])
    table = gp.predict_table(X)
    assert list(table.index) == list(frame.index)
    mean, sd = gp.predict(X, return_std=True)
    np.testing.assert_array_equal(table["mean"], mean)
    np.testing.assert_allclose(table["variance"], sd**2, rtol=1e-12)


def test_text_is_refused_by_name(frame):
    frame["colour"] = "red"
    with pytest.raises(cv.InputError, match="X cannot be read as an array of numbers"):
        cv.Regression(frame[["width", "colour"]], frame["weight"])
