"""Bounds of GP-LVMs with and without steps of q(X) to its fixed point: see docs/decisions/latent-starts.md.

    python3 bench/decisions/latent_starts.py build/release/bin/covary [table.csv extra arguments of fit …]

Without a table: five generated series of 150 rows, ten outputs that are smooth functions of three latent curves."""
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile


def curve(rng):
    """A sum of a few waves over [0, 30]."""
    waves = [(rng.gauss(0, 1), rng.uniform(0.2, 0.9), rng.uniform(0, 2 * math.pi)) for _ in range(5)]
    return [sum(a * math.sin(w * 0.2 * i + p) for a, w, p in waves) / math.sqrt(2.5) for i in range(150)]


def write_series(path, seed):
    rng = random.Random(seed)
    x = list(zip(curve(rng), curve(rng), curve(rng)))
    maps = [([rng.gauss(0, 0.8) for _ in range(3)], rng.uniform(0, 6), [rng.gauss(0, 0.5) for _ in range(3)]) for _ in range(10)]
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"y{p}" for p in range(10)] + ["t"])
        for i, row in enumerate(x):
            y = [math.sin(sum(a * b for a, b in zip(w, row)) + c) + sum(a * b for a, b in zip(u, row)) + rng.gauss(0, 0.05)
                 for w, c, u in maps]
            out.writerow([*y, i])


def show(program, name, table, arguments):
    for steps in ("0", "10"):
        run = subprocess.run([program, "fit", table, "--model", "gplvm", "--restarts", "1", "--fixed-point", steps, "--json",
                              "--quiet", *arguments], capture_output=True, text=True, check=True)
        fit = json.loads(run.stdout)
        print(f"{name}, {steps} steps: bound {fit['value']:.1f}, {fit['iterations']} iterations, {len(fit['active'])} dimensions, "
              f"{fit['seconds']:.1f} s, jitter {fit['jitter']:.1e}", flush=True)


if len(sys.argv) > 2:
    show(sys.argv[1], pathlib.Path(sys.argv[2]).name, sys.argv[2], sys.argv[3:])
else:
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(5):
            table = f"{folder}/series.csv"
            write_series(table, seed)
            for dynamics in (["--dynamics", "t"], []):
                target = ["--target", ",".join(f"y{p}" for p in range(10))]
                show(sys.argv[1], f"series {seed}, {'over time' if dynamics else 'rows apart'}", table,
                     ["--latent", "8", "--max-iter", "300", *target, *dynamics])
