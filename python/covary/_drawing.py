"""What the pictures share."""

import math

import numpy as np

HALF = 1.959963984540054  # 95 % of a Gaussian lie within so many standard deviations


def fit_of(fit):
    return getattr(fit, "fit_", fit)


def rows_of(fit):
    """Rows that cover the inputs: the data, or the inducing inputs of a fit that does not keep them."""
    return fit.X if fit.can("training_inputs") else fit.Z


def one_input(fit, name, X, data):
    """Where to draw a fit of one input."""
    D = rows_of(fit).shape[1]
    if D != 1:
        raise ValueError(f"{name}() draws models of one input, this one has {D}; surface() and components() "
                         f"draw slices")
    if X is not None:
        return np.sort(np.asarray(X, dtype=float).ravel())
    return range_of(np.ravel(rows_of(fit) if data is None else np.asarray(data[0], dtype=float)), 400)


def ticks(ax, fit):
    ax.plot(fit.Z[:, 0], np.zeros(len(fit.Z)), "|", color="C3", markersize=10, clip_on=False,
            transform=ax.get_xaxis_transform(), label="inducing inputs")


def predicted(X):
    return "predicted" if X is not None else "predicted from all the others"


def column(values, output):
    values = np.asarray(values, dtype=float)
    return values if values.ndim == 1 else values[:, output]


def band(ax, x, mean, variance, **style):
    half = HALF * np.sqrt(variance)
    ax.fill_between(x, mean - half, mean + half, color="C0", linewidth=0, **style)


def range_of(data, points):
    margin = 0.1 * (data.max() - data.min() or 1.0)
    return np.linspace(data.min() - margin, data.max() + margin, points)


def slice_of(fit, points):
    """Axes over the given inputs (with so many points each) and the rows of their grid."""
    data = rows_of(fit)
    axes = [range_of(data[:, d], n) for d, n in points.items()]
    grid = np.meshgrid(*axes)
    rows = np.tile(np.median(data, axis=0), (grid[0].size, 1))
    for d, values in zip(points, grid):
        rows[:, d] = values.ravel()
    return axes, rows


def scored(fit, X, Y, output):
    """Observed values with the mean and the variance of their predictions."""
    if (X is None) != (Y is None):
        raise ValueError("give X and Y together, or neither for leave-one-out")
    if X is None:
        if not fit.can("leave_one_out"):
            raise ValueError(f"a {fit.model} fit keeps no training rows to leave out one by one: give X and Y")
        mean, variance, _ = fit.leave_one_out()
        Y = fit.Y
    else:
        mean, variance = fit.predict_y(X)
    return tuple(column(a, output) for a in (Y, mean, variance))


def uniform(fit, X, Y, output):
    """Φ((y − mean)/sd) of the observed y: uniform when the predictions are calibrated."""
    observed, mean, variance = scored(fit, X, Y, output)
    z = (observed - mean) / np.sqrt(variance)
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in z[np.isfinite(z)]])
