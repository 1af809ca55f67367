"""Pictures of a fit with matplotlib.

Each function takes a ``Fit`` or a fitted ``GPRegressor``, draws into ``ax`` (the current axes by
default) and returns it. What scores predictions takes new X and Y, or does it by leave-one-out.
"""

import math

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
except ImportError as error:
    raise ImportError("covary.plot needs matplotlib: pip install 'covary[plot]'") from error

__all__ = ["components", "coverage", "curve", "lengthscales", "pit", "predicted_against_observed", "residuals",
           "surface", "trace"]

_HALF = 1.959963984540054  # 95 % of a Gaussian lie within so many standard deviations


def curve(fit, X=None, draws=0, seed=0, output=0, ax=None) -> Axes:
    """The mean with 95 % bands of the function and of y, the data, and joint draws; for one input.

    ``X`` is where to draw, by default the range of the data and a tenth more at each end.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 30)
    >>> fit = cv.Regression(x.reshape(-1, 1), np.sin(x)).fit()
    >>> cv.plot.curve(fit, draws=3).get_ylabel()
    'y'
    """
    fit = _fit(fit)
    if fit.X.shape[1] != 1:
        raise ValueError(f"curve() draws models of one input, this one has {fit.X.shape[1]}; "
                         f"surface() and components() draw slices")
    ax = ax or plt.gca()
    data = fit.X[:, 0]
    x = _range(data, 400) if X is None else np.sort(np.asarray(X, dtype=float).ravel())
    inputs = x.reshape(-1, 1)
    mean, of_f, of_y = (_column(a, output) for a in (*fit.predict_f(inputs), fit.predict_y(inputs)[1]))
    for variance, alpha, label in ((of_y, 0.15, "95 % of y"), (of_f, 0.3, "95 % of f")):
        _band(ax, x, mean, variance, alpha=alpha, label=label)
    ax.plot(x, mean, color="C0", label="mean")
    if draws:
        sampled = fit.sample(inputs, draws=draws, seed=seed)
        sampled = sampled if sampled.ndim == 2 else sampled[..., output]
        ax.plot(x, sampled.T, color="C1", alpha=0.6, linewidth=0.7, label=["draws"] + ["_"] * (draws - 1))
    ax.plot(data, _column(fit.Y, output), "k.", markersize=4, label="data")
    ax.set_xlabel(fit.input_names[0])
    ax.set_ylabel(fit.output_names[output])
    ax.legend(frameon=False)
    return ax


def components(fit, input=0, output=0, axes=None) -> np.ndarray:
    """Each term of a sum along one input, the others at their medians, with 95 % bands.

    A term is a deviation from the mean of y, in the units of y. Draws into as many axes as there are
    terms, one above the other, and returns them.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 30)
    >>> fit = cv.Regression(x.reshape(-1, 1), np.sin(x) + x, kernel="se + linear").fit()
    >>> [ax.get_title() for ax in cv.plot.components(fit)]
    ['se', 'linear']
    """
    fit = _fit(fit)
    x, inputs = _slice(fit, {input: 200})
    parts = fit.components(inputs)
    if axes is None:
        figure, axes = plt.subplots(len(parts), sharex=True, squeeze=False, constrained_layout=True,
                                    figsize=(6.4, 0.8 + 1.8 * len(parts)))
    axes = np.ravel(axes)
    if axes.size != len(parts):
        raise ValueError(f"components() draws {len(parts)} terms and was given {axes.size} axes")
    for ax, (name, mean, variance) in zip(axes, parts):
        _band(ax, x[0], _column(mean, output), _column(variance, output), alpha=0.3)
        ax.plot(x[0], _column(mean, output), color="C0")
        ax.set_title(name)
        ax.set_ylabel(fit.output_names[output])
    axes[-1].set_xlabel(fit.input_names[input])
    return axes


def surface(fit, inputs=(0, 1), what="mean", points=60, output=0, ax=None) -> Axes:
    """The mean of the function, or its standard deviation (``what="sd"``), over two inputs.

    Other inputs are held at their medians. With two inputs the data are drawn too.
    """
    fit = _fit(fit)
    D = fit.X.shape[1]
    first, second = inputs
    if D < 2 or first == second or not {first, second} <= set(range(D)):
        raise ValueError(f"surface() draws over two different inputs, got {first} and {second} of {D}")
    if what not in ("mean", "sd"):
        raise ValueError(f"surface() draws 'mean' or 'sd', not {what!r}")
    ax = ax or plt.gca()
    (x, y), grid = _slice(fit, {first: points, second: points})
    mean, variance = fit.predict_f(grid)
    values = _column(mean if what == "mean" else np.sqrt(variance), output).reshape(points, points)
    filled = ax.contourf(x, y, values, levels=20, cmap="viridis" if what == "mean" else "magma")
    name = fit.output_names[output]
    ax.figure.colorbar(filled, ax=ax, label=name if what == "mean" else f"standard deviation of {name}")
    if D == 2:
        ax.plot(fit.X[:, first], fit.X[:, second], "o", markersize=3, markerfacecolor="white",
                markeredgecolor="black", markeredgewidth=0.6)
    ax.set_xlabel(fit.input_names[first])
    ax.set_ylabel(fit.input_names[second])
    return ax


def predicted_against_observed(fit, X=None, Y=None, output=0, ax=None) -> Axes:
    """Predictions with 95 % bars against what was observed; leave-one-out without X and Y."""
    fit = _fit(fit)
    ax = ax or plt.gca()
    observed, mean, variance = _scored(fit, X, Y, output)
    ax.errorbar(observed, mean, _HALF * np.sqrt(variance), fmt=".", markersize=4, elinewidth=0.5)
    ends = [np.nanmin(observed), np.nanmax(observed)]
    ax.plot(ends, ends, color="0.5", linewidth=0.8)
    ax.set_xlabel(f"observed {fit.output_names[output]}")
    ax.set_ylabel(_predicted(X))
    return ax


def residuals(fit, X=None, Y=None, output=0, ax=None) -> Axes:
    """Standardised residuals against predictions; 95 % lie between the lines if the model is right."""
    fit = _fit(fit)
    ax = ax or plt.gca()
    observed, mean, variance = _scored(fit, X, Y, output)
    ax.plot(mean, (observed - mean) / np.sqrt(variance), ".", markersize=4)
    for level in (-_HALF, 0.0, _HALF):
        ax.axhline(level, color="0.5", linewidth=0.8, linestyle="-" if level == 0.0 else "--")
    ax.set_xlabel(_predicted(X))
    ax.set_ylabel("standardised residual")
    return ax


def pit(fit, X=None, Y=None, output=0, bins=10, ax=None) -> Axes:
    """How often y fell into each part of its predicted distribution (probability integral transform).

    Flat if the model is calibrated: 95 % of the bars end between the dashed lines. A hump says that
    the predictions are too wide, a dip that they are too narrow, a slope that they are off.
    """
    ax = ax or plt.gca()
    u = _uniform(_fit(fit), X, Y, output)
    ax.hist(u, bins=bins, range=(0, 1), weights=np.full(u.size, bins / u.size), color="C0", edgecolor="white")
    half = _HALF * math.sqrt((bins - 1) / u.size)
    for level in (1 - half, 1.0, 1 + half):
        ax.axhline(level, color="0.3", linewidth=0.8, linestyle="-" if level == 1.0 else "--")
    ax.set_ylim(bottom=0)
    ax.set_xlim(0, 1)
    ax.set_xlabel("predicted probability of a smaller y")
    ax.set_ylabel("density")
    return ax


def coverage(fit, X=None, Y=None, output=0, ax=None) -> Axes:
    """How many y lie in the central interval of each nominal probability; on the diagonal if calibrated.

    A curve within the grey band is calibrated as far as so few rows can tell (95 %, at each point).
    """
    ax = ax or plt.gca()
    u = _uniform(_fit(fit), X, Y, output)
    nominal = np.linspace(0, 1, 101)
    observed = np.searchsorted(np.sort(np.abs(2 * u - 1)), nominal, side="right") / u.size
    half = _HALF * np.sqrt(nominal * (1 - nominal) / u.size)
    ax.fill_between(nominal, np.maximum(nominal - half, 0), np.minimum(nominal + half, 1), color="0.5", alpha=0.25,
                    linewidth=0)
    ax.plot([0, 1], [0, 1], color="0.3", linewidth=0.8)
    ax.plot(nominal, observed, color="C0")
    ax.set_aspect("equal")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("nominal probability")
    ax.set_ylabel("observed fraction")
    return ax


def lengthscales(fit, ax=None) -> Axes:
    """1/lengthscale of each input in scaled units: long bars matter. For a kernel with one ARD term."""
    fit = _fit(fit)
    found = {path: value for path, value in fit.parameters.items()
             if path.endswith(".lengthscales") and np.size(value) == len(fit.input_names)}
    if len(found) != 1:
        raise ValueError(f"lengthscales() draws kernels with one lengthscale for each input in one term, "
                         f"this one is {fit.kernel} and has {len(found)} such terms")
    ax = ax or plt.gca()
    relevance = 1.0 / np.atleast_1d(next(iter(found.values())))
    order = np.argsort(relevance)
    ax.barh(np.array(fit.input_names)[order], relevance[order])
    ax.set_xlabel("1 / lengthscale")
    return ax


def trace(fit, ax=None) -> Axes:
    """The objective against the iterations of the best start."""
    fit = _fit(fit)
    ax = ax or plt.gca()
    table = fit.summary.trace
    ax.plot(table[:, 0], table[:, 1], marker=".")
    ax.set_xlabel("iteration")
    ax.set_ylabel(fit.summary.objective.replace("_", " "))
    return ax


def _fit(fit):
    return getattr(fit, "fit_", fit)


def _predicted(X):
    return "predicted" if X is not None else "predicted from all the others"


def _column(values, output):
    values = np.asarray(values, dtype=float)
    return values if values.ndim == 1 else values[:, output]


def _band(ax, x, mean, variance, **style):
    half = _HALF * np.sqrt(variance)
    ax.fill_between(x, mean - half, mean + half, color="C0", linewidth=0, **style)


def _range(data, points):
    margin = 0.1 * (data.max() - data.min() or 1.0)
    return np.linspace(data.min() - margin, data.max() + margin, points)


def _slice(fit, points):
    """Axes over the given inputs (with so many points each) and the rows of their grid."""
    axes = [_range(fit.X[:, d], n) for d, n in points.items()]
    grid = np.meshgrid(*axes)
    rows = np.tile(np.median(fit.X, axis=0), (grid[0].size, 1))
    for d, values in zip(points, grid):
        rows[:, d] = values.ravel()
    return axes, rows


def _scored(fit, X, Y, output):
    """Observed values with the mean and the variance of their predictions."""
    if (X is None) != (Y is None):
        raise ValueError("give X and Y together, or neither for leave-one-out")
    if X is None:
        mean, variance, _ = fit.leave_one_out()
        Y = fit.Y
    else:
        mean, variance = fit.predict_y(X)
    return tuple(_column(a, output) for a in (Y, mean, variance))


def _uniform(fit, X, Y, output):
    """Φ((y − mean)/sd) of the observed y: uniform when the predictions are calibrated."""
    observed, mean, variance = _scored(fit, X, Y, output)
    z = (observed - mean) / np.sqrt(variance)
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in z[np.isfinite(z)]])
