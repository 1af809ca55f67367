#!/usr/bin/env python3
"""Test NLPD against the seconds of training of a peer's SVGP by minibatches, on USPS digits with and without loops.

    build/peers/gpflow/bin/python bench/peers/nlpd.py gpflow [--seconds 60] [--threads T]

Rows, start, inducing inputs, batches and the lengths of the steps are those of bench/nlpd_bench.cpp; the steps are
those of svgp.py. One JSON line: program, version, rows, batch, m, threads, steps, points ([seconds, NLPD] each); the
clock stands still while the test rows are predicted, and does not count imports and compilation.
The data are looked for in $COVARY_DATA, ./data and ../shared/data; without them the line has "skipped".
"""

import argparse
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np

from svgp import PEERS, Batches

INDUCING, BATCH = 200, 256
VARIANCE, LENGTHSCALE = 4.0, 10.0


def find_data(name):
    folders = [os.environ["COVARY_DATA"]] if os.environ.get("COVARY_DATA") else []
    found = [path for folder in [*folders, "data", "../shared/data"] if (path := Path(folder) / name).exists()]
    if not found:
        raise FileNotFoundError(f"the data file '{name}' is missing; COVARY_DATA names the folder that holds it")
    return found[0]


def read_digits():
    tables = []
    for name in ["usps/train.csv.gz", "usps/test.csv.gz"]:
        with gzip.open(find_data(name), "rt") as file:
            tables.append(np.loadtxt(file, delimiter=",", skiprows=1))
    rows = np.concatenate(tables)
    rows = rows[~np.isin(rows[:, 0], [4, 7])]
    X, y = np.ascontiguousarray(rows[:, 1:]), np.isin(rows[:, 0], [1, 2, 3, 5]).astype(float)
    test = np.arange(len(y)) % 4 == 3
    return X[~test], y[~test], X[test], y[test]


def nlpd(peer, X, y):
    p = peer.probability(X)
    return float(-np.mean(np.log(np.where(y == 1.0, p, 1.0 - p))))


def measure(options):
    X, y, X_test, y_test = read_digits()
    Z = X[np.arange(INDUCING) * len(y) // INDUCING]
    peer = PEERS[options.peer]("bernoulli(logit)", Z, len(y), options.threads, VARIANCE, [LENGTHSCALE])
    batches, points, steps, seconds, next_point = Batches(X, y, BATCH), [], 0, 0.0, 0.05
    peer.warm_up(X[:BATCH], y[:BATCH])
    while seconds < options.seconds:
        X_batch, y_batch = batches(steps)
        begin = time.perf_counter()
        peer.step(X_batch, y_batch)
        seconds += time.perf_counter() - begin
        steps += 1
        if seconds >= next_point:
            points.append([seconds, nlpd(peer, X_test, y_test)])
            next_point = 1.15 * seconds
    return {"version": peer.version, "rows": len(y), "steps": steps, "points": points}


def main():
    parser = argparse.ArgumentParser(description="Test NLPD of a peer's SVGP against its time of training.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
        os.environ[name] = str(options.threads)
    line = {"peer": options.peer, "program": options.peer, "batch": BATCH, "m": INDUCING, "threads": options.threads}
    try:
        line |= measure(options)
    except FileNotFoundError as error:
        line |= {"skipped": str(error)}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
