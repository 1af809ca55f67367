"""Pictures of a fit with matplotlib.

Each function takes a ``Fit`` or a fitted estimator, draws into ``ax`` (the current axes by default)
and returns it. Functions that score predictions take new X and Y, or use leave-one-out. A sparse fit
keeps no training rows: its inducing inputs replace them where only inputs matter, and scores need
X and Y.
"""

import math

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
except ImportError as error:
    raise ImportError("covary.plot needs matplotlib: pip install 'covary[plot]'") from error

from ._drawing import HALF, band, column, fit_of, one_input, predicted, rows_of, scored, slice_of, ticks, uniform

__all__ = ["bracket", "components", "coverage", "curve", "lengthscales", "pit", "predicted_against_observed",
           "residuals", "split", "surface", "trace"]


def curve(fit, X=None, draws=0, seed=0, output=0, ax=None, data=None) -> Axes:
    """The mean with 95 % bands of the function and of y, the data, and joint draws; for one input.

    ``X`` is where to draw, by default the range of the data and a tenth more at each end. ``data`` are
    the rows to draw, (X, Y), by default those of training. For a sparse fit, which does not keep them,
    the inducing inputs are drawn as ticks at the bottom.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 30)
    >>> fit = cv.Regression(x.reshape(-1, 1), np.sin(x)).fit()
    >>> cv.plot.curve(fit, draws=3).get_ylabel()
    'y'
    """
    fit = fit_of(fit)
    x = one_input(fit, "curve", X, data)
    ax = ax or plt.gca()
    inputs = x.reshape(-1, 1)
    mean, of_f, of_y = (column(a, output) for a in (*fit.predict_f(inputs), fit.predict_y(inputs)[1]))
    for variance, alpha, label in ((of_y, 0.15, "95 % of y"), (of_f, 0.3, "95 % of f")):
        band(ax, x, mean, variance, alpha=alpha, label=label)
    ax.plot(x, mean, color="C0", label="mean")
    if draws:
        sampled = fit.sample(inputs, draws=draws, seed=seed)
        sampled = sampled if sampled.ndim == 2 else sampled[..., output]
        ax.plot(x, sampled.T, color="C1", alpha=0.6, linewidth=0.7, label=["draws"] + ["_"] * (draws - 1))
    if data is None and fit.can("training_outputs"):
        data = fit.X, fit.Y
    if data is not None:
        ax.plot(np.ravel(data[0]), column(data[1], output), "k.", markersize=4, label="data")
    if fit.can("inducing"):
        ticks(ax, fit)
    ax.set_xlabel(fit.input_names[0])
    ax.set_ylabel(fit.output_names[output])
    ax.legend(frameon=False)
    return ax


def split(fit, X=None, output=0, ax=None) -> Axes:
    """What a sparse fit's variance is made of, for one input: f = g + h.

    The part of g shrinks with more data; the part of h is there because no inducing input reaches
    so far, and only more of them would reduce it.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 200)
    >>> fit = cv.SparseRegression(x.reshape(-1, 1), np.sin(x), inducing=4).fit()
    >>> cv.plot.split(fit).get_ylabel()
    'variance of f'
    """
    fit = fit_of(fit)
    x = one_input(fit, "split", X, None)
    _, of_g, of_h = (column(a, output) for a in fit.split(x.reshape(-1, 1)))
    ax = ax or plt.gca()
    ax.stackplot(x, of_g, of_h, colors=["C0", "C1"], alpha=0.5,
                 labels=["of g: data can change it", "of h: they cannot"])
    ticks(ax, fit)
    ax.set_xlabel(fit.input_names[0])
    ax.set_ylabel("variance of f")
    ax.legend(frameon=False)
    return ax


def bracket(fits, ax=None) -> Axes:
    """Where the evidence of the exact model lies, against the number of inducing inputs.

    ``fits`` are sparse fits whose objective is a bound ("vfe" and "vfe(tight)"), or one of them. Each
    bracket is of the exact model at the parameters of its own fit.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 200)
    >>> fits = [cv.SparseRegression(x.reshape(-1, 1), np.sin(x), inducing=m).fit() for m in (4, 8)]
    >>> cv.plot.bracket(fits).get_xlabel()
    'inducing inputs'
    """
    fits = [fit_of(f) for f in (fits if isinstance(fits, (list, tuple)) else [fits])]
    without = [f.model for f in fits if f.upper_bound is None]
    if without or not fits:
        raise ValueError(f"bracket() draws fits with an upper bound, of models 'vfe' and 'vfe(tight)'; "
                         f"got {', '.join(without) or 'none'}")
    ax = ax or plt.gca()
    fits = sorted(fits, key=lambda f: len(f.Z))
    inducing = [len(f.Z) for f in fits]
    lower, upper = [f.value for f in fits], [f.upper_bound for f in fits]
    ax.fill_between(inducing, lower, upper, color="C0", alpha=0.2, linewidth=0)
    ax.plot(inducing, upper, "v-", color="C1", label="upper bound")
    ax.plot(inducing, lower, "^-", color="C0", label="lower bound")
    ax.set_xlabel("inducing inputs")
    ax.set_ylabel("log evidence")
    ax.legend(frameon=False)
    return ax


def components(fit, input=0, output=0, axes=None) -> np.ndarray:
    """Each term of a sum along one input, the others at their medians (of Z, if sparse), with 95 % bands.

    A term is a deviation from the mean of y, in the units of y. Draws into as many axes as there are
    terms, one above the other, and returns them.

    >>> import numpy as np, covary as cv
    >>> x = np.linspace(0, 5, 30)
    >>> fit = cv.Regression(x.reshape(-1, 1), np.sin(x) + x, kernel="se + linear").fit()
    >>> [ax.get_title() for ax in cv.plot.components(fit)]
    ['se', 'linear']
    """
    fit = fit_of(fit)
    x, inputs = slice_of(fit, {input: 200})
    parts = fit.components(inputs)
    if axes is None:
        figure, axes = plt.subplots(len(parts), sharex=True, squeeze=False, constrained_layout=True,
                                    figsize=(6.4, 0.8 + 1.8 * len(parts)))
    axes = np.ravel(axes)
    if axes.size != len(parts):
        raise ValueError(f"components() draws {len(parts)} terms and was given {axes.size} axes")
    for ax, (name, mean, variance) in zip(axes, parts):
        band(ax, x[0], column(mean, output), column(variance, output), alpha=0.3)
        ax.plot(x[0], column(mean, output), color="C0")
        ax.set_title(name)
        ax.set_ylabel(fit.output_names[output])
    axes[-1].set_xlabel(fit.input_names[input])
    return axes


def surface(fit, inputs=(0, 1), what="mean", points=60, output=0, ax=None) -> Axes:
    """The mean of the function, or its standard deviation (``what="sd"``), over two inputs.

    Other inputs are held at their medians. With two inputs the data are drawn too. Of a sparse fit
    both are of the inducing inputs.
    """
    fit = fit_of(fit)
    D = len(fit.input_names)
    first, second = inputs
    if D < 2 or first == second or not {first, second} <= set(range(D)):
        raise ValueError(f"surface() draws over two different inputs, got {first} and {second} of {D}")
    if what not in ("mean", "sd"):
        raise ValueError(f"surface() draws 'mean' or 'sd', not {what!r}")
    ax = ax or plt.gca()
    (x, y), grid = slice_of(fit, {first: points, second: points})
    mean, variance = fit.predict_f(grid)
    values = column(mean if what == "mean" else np.sqrt(variance), output).reshape(points, points)
    filled = ax.contourf(x, y, values, levels=20, cmap="viridis" if what == "mean" else "magma")
    name = fit.output_names[output]
    ax.figure.colorbar(filled, ax=ax, label=name if what == "mean" else f"standard deviation of {name}")
    if D == 2:
        rows = rows_of(fit)
        ax.plot(rows[:, first], rows[:, second], "o", markersize=3, markerfacecolor="white",
                markeredgecolor="black", markeredgewidth=0.6)
    ax.set_xlabel(fit.input_names[first])
    ax.set_ylabel(fit.input_names[second])
    return ax


def predicted_against_observed(fit, X=None, Y=None, output=0, ax=None) -> Axes:
    """Predictions with 95 % bars against what was observed; leave-one-out without X and Y."""
    fit = fit_of(fit)
    ax = ax or plt.gca()
    observed, mean, variance = scored(fit, X, Y, output)
    ax.errorbar(observed, mean, HALF * np.sqrt(variance), fmt=".", markersize=4, elinewidth=0.5)
    ends = [np.nanmin(observed), np.nanmax(observed)]
    ax.plot(ends, ends, color="0.5", linewidth=0.8)
    ax.set_xlabel(f"observed {fit.output_names[output]}")
    ax.set_ylabel(predicted(X))
    return ax


def residuals(fit, X=None, Y=None, output=0, ax=None) -> Axes:
    """Standardised residuals against predictions; 95 % lie between the lines if the model is right."""
    fit = fit_of(fit)
    ax = ax or plt.gca()
    observed, mean, variance = scored(fit, X, Y, output)
    ax.plot(mean, (observed - mean) / np.sqrt(variance), ".", markersize=4)
    for level in (-HALF, 0.0, HALF):
        ax.axhline(level, color="0.5", linewidth=0.8, linestyle="-" if level == 0.0 else "--")
    ax.set_xlabel(predicted(X))
    ax.set_ylabel("standardised residual")
    return ax


def pit(fit, X=None, Y=None, output=0, bins=10, ax=None) -> Axes:
    """How often y fell into each part of its predicted distribution (probability integral transform).

    Flat if the model is calibrated: 95 % of the bars end between the dashed lines. A hump says that
    the predictions are too wide, a dip that they are too narrow, a slope that they are off.
    """
    ax = ax or plt.gca()
    u = uniform(fit_of(fit), X, Y, output)
    ax.hist(u, bins=bins, range=(0, 1), weights=np.full(u.size, bins / u.size), color="C0", edgecolor="white")
    half = HALF * math.sqrt((bins - 1) / u.size)
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
    u = uniform(fit_of(fit), X, Y, output)
    nominal = np.linspace(0, 1, 101)
    observed = np.searchsorted(np.sort(np.abs(2 * u - 1)), nominal, side="right") / u.size
    half = HALF * np.sqrt(nominal * (1 - nominal) / u.size)
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
    fit = fit_of(fit)
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
    fit = fit_of(fit)
    ax = ax or plt.gca()
    table = fit.summary.trace
    ax.plot(table[:, 0], table[:, 1], marker=".")
    ax.set_xlabel("iteration")
    ax.set_ylabel(fit.summary.objective.replace("_", " "))
    return ax
