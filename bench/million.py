#!/usr/bin/env python3
"""Trains a sparse model of a million rows by the command line: 50 iterations, M = 500, D = 8.

    python bench/million.py build/release/bin/covary [ROWS]

Needs NumPy. Prints one JSON line: iterations, minutes of processors and of the clock, peak memory of the whole process and
the size of the data in it. Not a part of `make bench`: it takes some 35 minutes of processors.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def main():
    covary, N, D = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000000, 8
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    w = rng.standard_normal((D, 3))
    f = np.sin(X @ w[:, 0]) + 0.5 * np.cos(X @ w[:, 1]) + 0.3 * (X @ w[:, 2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.npy")
        np.save(path, np.column_stack([X, f + 0.2 * rng.standard_normal(N)]))
        size = os.path.getsize(path)
        began = time.time()
        run = subprocess.run([covary, "fit", path, "--target", str(D), "--model", "vfe", "--inducing", "500", "--max-iter",
                              "50", "--seed", "1", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    fit = json.loads(run.stdout)
    print(json.dumps({"rows": N, "iterations": fit["iterations"], "evaluations": fit["evaluations"], "value": fit["value"],
                      "route": fit["route"], "minutes": round((time.time() - began) / 60, 1),
                      "processor_minutes": round((used.ru_utime + used.ru_stime) / 60, 1),
                      "peak_memory_mb": round(used.ru_maxrss / 1024, 1), "data_mb": round(size / 1e6, 1)}))


if __name__ == "__main__":
    main()
