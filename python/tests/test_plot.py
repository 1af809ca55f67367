import numpy as np
import pytest
from conftest import wave

import covary as cv

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def fresh_figure():
    plt.close("all")
    yield
    plt.close("all")


def test_curve_draws_mean_data_bands_and_draws():
    fit = cv.Regression(*wave(dims=1)).fit(restarts=1)
    x = np.linspace(-3, 3, 50)
    ax = cv.plot.curve(fit, X=x, draws=4)
    assert len(ax.collections) == 2 and len(ax.lines) == 1 + 4 + 1
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), fit.predict_f(x.reshape(-1, 1))[0])
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), fit.Y)
    assert ax.get_xlabel() == "x0" and ax.get_ylabel() == "y"


def test_residuals_and_predictions(fitted):
    Z, z = wave(20, seed=6)
    ax = cv.plot.residuals(fitted, Z, z)
    mean, variance = fitted.predict_y(Z)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), (z - mean) / np.sqrt(variance))
    ax = cv.plot.predicted_against_observed(fitted, ax=plt.figure().gca())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), fitted.leave_one_out()[0])
    with pytest.raises(ValueError, match="together"):
        cv.plot.residuals(fitted, Z)


def test_lengthscales_name_the_inputs_the_relevant_one_on_top(fitted):
    fit = cv.Regression(*wave(80, 4)).fit(restarts=1)
    ax = cv.plot.lengthscales(fit)
    bars = ax.patches
    assert len(bars) == 4 and ax.get_yticklabels()[-1].get_text() == "x0"
    assert bars[-1].get_width() == pytest.approx(1 / min(fit.parameters["kernel.lengthscales"]))
    with pytest.raises(ValueError, match="one lengthscale for each input"):
        cv.plot.lengthscales(cv.Regression(*wave(), kernel="linear").fit(max_iter=1))


def test_trace_and_refusal(fitted):
    ax = cv.plot.trace(fitted)
    assert ax.lines[0].get_ydata()[-1] == fitted.summary.trace[-1, 1]
    with pytest.raises(ValueError, match="one input, this one has 2"):
        cv.plot.curve(fitted)


def test_draws_are_named_once():
    ax = cv.plot.curve(cv.GPRegressor(restarts=1).fit(*wave(dims=1)), draws=4)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["95 % of y", "95 % of f", "mean", "draws", "data"]


def test_components_are_slices_through_the_medians(fitted):
    axes = cv.plot.components(fitted, input=1)
    assert [ax.get_title() for ax in axes] == ["se(ard)", "linear"] and axes[-1].get_xlabel() == "x1"
    x, y = axes[1].lines[0].get_data()
    rows = np.column_stack([np.full(x.size, np.median(fitted.X[:, 0])), x])
    np.testing.assert_allclose(y, fitted.components(rows)[1][1])
    with pytest.raises(ValueError, match="2 terms and was given 1 axes"):
        cv.plot.components(fitted, axes=[plt.figure().gca()])


@pytest.mark.parametrize("what", ["mean", "sd"])
def test_surface_is_the_prediction_over_two_inputs(fitted, what, monkeypatch):
    given, draw = [], plt.Axes.contourf
    monkeypatch.setattr(plt.Axes, "contourf", lambda ax, *a, **k: (given.extend(a), draw(ax, *a, **k))[1])
    ax = cv.plot.surface(fitted, inputs=(1, 0), what=what, points=9)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x0")
    x, y, values = given
    assert x[0] < fitted.X[:, 1].min() and x[-1] > fitted.X[:, 1].max()
    mean, variance = fitted.predict_f([[y[2], x[7]], [y[8], x[0]]])  # row of values: input 0
    np.testing.assert_allclose([values[2, 7], values[8, 0]], mean if what == "mean" else np.sqrt(variance))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), fitted.X[:, 1])
    assert ax.figure.axes[1].get_ylabel() == ("y" if what == "mean" else "standard deviation of y")


def test_surface_refusals(fitted):
    for inputs in ((0, 0), (0, 2), (-1, 0)):
        with pytest.raises(ValueError, match="two different inputs"):
            cv.plot.surface(fitted, inputs=inputs)
    with pytest.raises(ValueError, match="'mean' or 'sd'"):
        cv.plot.surface(fitted, what="median")


def test_calibration_counts_what_fell_where(fitted):
    """Of predictions N(m, s²) with y put at known quantiles: 0.05 (twice), 0.5 and 0.95."""
    Z, _ = wave(4, seed=6)
    mean, variance = fitted.predict_y(Z)
    y = mean + np.sqrt(variance) * np.array([-1.6448536269514722, -1.6448536269514722, 0, 1.6448536269514722])
    ax = cv.plot.pit(fitted, Z, y, bins=5)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches[:5]], [2.5, 0, 1.25, 0, 1.25])
    ax = cv.plot.coverage(fitted, Z, y, ax=plt.figure().gca())
    nominal, observed = ax.lines[-1].get_data()
    np.testing.assert_allclose(observed[np.searchsorted(nominal, [0.5, 0.89, 0.91])], [0.25, 0.25, 1])


def test_calibration_leaves_missing_outputs_out():
    X, y = wave()
    fit = cv.Regression(X, np.where(np.arange(40) < 3, np.nan, y)).fit(max_iter=3, restarts=1)
    bars = cv.plot.pit(fit, bins=4).patches[:4]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(4)


@pytest.fixture(scope="module")
def sparse():
    return cv.SparseRegression(*wave(200, dims=1), inducing=9).fit(seed=1)


def test_curve_of_a_sparse_fit_has_ticks_at_the_inducing_inputs(sparse):
    X, y = wave(200, dims=1)
    ax = cv.plot.curve(sparse)
    assert [line.get_label() for line in ax.lines] == ["mean", "inducing inputs"]
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), sparse.Z[:, 0])
    x = ax.lines[0].get_xdata()
    assert x[0] < sparse.Z.min() and x[-1] > sparse.Z.max()
    ax = cv.plot.curve(sparse, data=(X, y), ax=plt.figure().gca())
    assert [line.get_label() for line in ax.lines] == ["mean", "data", "inducing inputs"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), y)


def test_split_is_stacked_to_the_variance_of_f(sparse):
    x = np.linspace(-4, 4, 50)
    ax = cv.plot.split(sparse, X=x)
    tops = [band.get_paths()[0].vertices for band in ax.collections]
    assert tops[1][:, 1].max() == pytest.approx(sparse.predict_f(x.reshape(-1, 1))[1].max())
    assert tops[0][:, 1].max() == pytest.approx(sparse.split(x.reshape(-1, 1))[1].max())
    with pytest.raises(cv.Unsupported, match="needs a sparse model"):
        cv.plot.split(cv.Regression(*wave(dims=1)).fit(max_iter=0))


def test_scores_of_a_sparse_fit_take_data(sparse):
    for draw in (cv.plot.residuals, cv.plot.predicted_against_observed, cv.plot.pit, cv.plot.coverage):
        with pytest.raises(ValueError, match="a vfe fit keeps no training rows .* give X and Y"):
            draw(sparse)
    X, y = wave(30, dims=1, seed=6)
    mean, variance = sparse.predict_y(X)
    ax = cv.plot.residuals(sparse, X, y)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), (y - mean) / np.sqrt(variance))


def test_slices_of_a_sparse_fit_go_through_the_medians_of_its_inducing_inputs():
    fit = cv.SparseGPRegressor("se(ard) + linear", inducing=15, random_state=0).fit(*wave(100)).fit_
    x, y = cv.plot.components(fit, input=1)[1].lines[0].get_data()
    rows = np.column_stack([np.full(x.size, np.median(fit.Z[:, 0])), x])
    np.testing.assert_allclose(y, fit.components(rows)[1][1])
    ax = cv.plot.surface(fit, ax=plt.figure().gca(), points=5)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), fit.Z[:, 0])


def test_bracket(sparse, fitted):
    few = cv.SparseRegression(*wave(200, dims=1), inducing=4).fit(seed=1)
    ax = cv.plot.bracket([sparse, few])
    upper, lower = ax.lines
    np.testing.assert_array_equal(upper.get_data(), [[4, 9], [few.upper_bound, sparse.upper_bound]])
    np.testing.assert_array_equal(lower.get_ydata(), [few.value, sparse.value])
    with pytest.raises(ValueError, match="got exact"):
        cv.plot.bracket([sparse, fitted])
    with pytest.raises(ValueError, match="got none"):
        cv.plot.bracket([])
