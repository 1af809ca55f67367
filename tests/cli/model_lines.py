"""How `fit` is called on a few rows: a line for each model of the table, to which a new one adds its own, and for other ways to train them."""

import math
import os
import random

GAUSSIAN = "--target y --inputs t,u --max-iter 5"
LABELS = "--target class --inputs t,u --likelihood bernoulli"
CLASSES = f"{LABELS} --max-iter 5"
LATENT = "--target t,u,y,z --latent 2"

# The label in the table, then the training data and what else `fit` is given.
LINES = {
    "exact": f"rows.csv --model exact {GAUSSIAN}",
    "vfe": f"rows.csv --model vfe --inducing 6 {GAUSSIAN}",
    "vfe with --missing learn": f"holed.csv --model vfe --missing learn --inducing 6 {GAUSSIAN}",
    "noisy_inputs": f"rows.csv --model noisy_inputs --input-noise 0.01,0.01 --inducing 6 {GAUSSIAN}",
    "warped": f"rows.csv --model warped --inducing 6 {GAUSSIAN}",
    "vfe(tight)": f"rows.csv --model vfe(tight) --inducing 6 {GAUSSIAN}",
    "fitc": f"rows.csv --model fitc --inducing 6 {GAUSSIAN}",
    "pep(α)": f"rows.csv --model pep(0.5) --inducing 6 {GAUSSIAN}",
    "dtc": f"rows.csv --model dtc --inducing 6 {GAUSSIAN}",
    "sor": f"rows.csv --model sor --inducing 6 {GAUSSIAN}",
    "pitc": f"rows.csv --model pitc --inducing 6 {GAUSSIAN}",
    "cglb": f"rows.csv --model cglb --inducing 6 {GAUSSIAN}",
    "laplace": f"rows.csv --model laplace {CLASSES}",
    "ep": f"rows.csv --model ep {CLASSES}",
    "vgp": f"rows.csv --model vgp {CLASSES}",
    "svgp": f"rows.csv --model svgp --inducing 6 {CLASSES}",
    "fitc (non-Gaussian)": f"rows.csv --model fitc --inducing 6 {CLASSES}",
    "pep(α) (non-Gaussian)": f"rows.csv --model pep(0.5) --inducing 6 {CLASSES}",
    "gplvm": f"rows.csv --model gplvm --inducing 6 --max-iter 5 {LATENT}",
    "gplvm by minibatches": f"rows.csv --model gplvm --inducing 6 --batch 8 --epochs 2 {LATENT}",
    "mrd": f"rows.csv --model mrd --view p=t,u --view q=y,z --inducing 6 --max-iter 5 {LATENT}",
    "map_gplvm": f"rows.csv --model map_gplvm --max-iter 5 {LATENT}",
    "ppca": f"rows.csv --model ppca {LATENT}",
    "class_density": "rows.csv --model class_density --target class --inputs t,u,y,z --latent 2 --inducing 6 --max-iter 5",
}

# Other ways to train a model: its label and the way, then as above.
VARIANTS = {
    "svgp, minibatches": f"rows.csv --model svgp --inducing 6 --batch 8 --epochs 2 {LABELS}",
    "svgp, natural gradients": "rows.csv --model svgp --inducing 6 --batch 8 --steps 5 --target y --inputs t,u",
    "svgp, streamed": f"rows.csv --model svgp --inducing 6 --batch 8 --epochs 2 --stream {LABELS}",
    "svgp, principal components": f"rows.csv --model svgp --inducing 6 --pca 1 {CLASSES}",
    "vfe, streamed": f"rows.csv --model vfe --inducing 6 --stream {GAUSSIAN}",
    "vfe, automatic number": f"rows.csv --model vfe --inducing auto {GAUSSIAN}",
    "exact, autoregression": "rows.csv --model exact --target y --lags 2 --max-iter 5",
    "vfe, autoregression": "rows.csv --model vfe --inducing 6 --target y,z --lags 2 --max-iter 5",
    "gplvm, dynamics": f"rows.csv --model gplvm --inducing 6 --dynamics time --max-iter 5 {LATENT}",
    "gplvm by minibatches, counts": "rows.csv --model gplvm --inducing 6 --batch 8 --epochs 2 --target e,w --likelihood poisson --latent 1",
    "mrd, dynamics": f"rows.csv --model mrd --view p=t,u --view q=y,z --inducing 6 --dynamics time --max-iter 5 {LATENT}",
    "map_gplvm, dynamics": f"rows.csv --model map_gplvm --dynamics time --max-iter 5 {LATENT}",
}

COLUMNS = "t,u,y,z,s,e,w,class,time,half,count,three".split(",")


def rows_of(n):
    """Inputs t and u, outputs y and z, and columns for every other role."""
    rng, rows = random.Random(1), []
    for i in range(n):
        t, u = -2 + 4 * i / n, rng.uniform(-1, 1)
        y = math.sin(2 * t) + 0.5 * u + 0.2 * rng.gauss(0, 1)
        rows.append([t, u, y, math.cos(t) + 0.1 * rng.gauss(0, 1), 0.1 + 0.1 * (i % 3), 1 + i % 3, i % 2 + 1,
                     "ab"[y > 0], 0.1 * i, 2 * i // n, round(math.exp(y)), "uvw"[int(u > 0) + (y > 0)]])
    return rows


def holed(rows):
    """The same without an input of one row and the outputs of others."""
    rows = [list(row) for row in rows]
    rows[5][0] = rows[3][2] = ""
    return rows


def text_of(rows, columns=COLUMNS):
    return ",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def write_tables(folder):
    rows = rows_of(24)
    points = "t,u\n" + "".join(f"{i - 1.5},{0.3 * i - 0.5}\n" for i in range(4))
    for name, text in (("rows.csv", text_of(rows)), ("many.csv", text_of(rows_of(60))), ("holed.csv", text_of(holed(rows))), ("Z.csv", points)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def without(call, names):
    """The call without these options, each of which has one argument."""
    out, skip = [], False
    for word in call:
        if skip:
            skip = False
        elif word in names:
            skip = True
        else:
            out.append(word)
    return out


def merged(call, more):
    return without(call, {word for word in more if word.startswith("--")}) + list(more)
