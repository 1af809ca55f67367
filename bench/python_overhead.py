#!/usr/bin/env python3
"""What Python adds to a hot prediction at one row, with a trained exact model of N = 1000 and D = 8.

python_overhead.py [PREDICT_BENCH]: a JSON line for each call. PREDICT_BENCH is the program of
bench/predict_bench.cpp, which measures the same model without Python; with it, `added` is the difference.
The two take turns, and of each the median of its quietest round counts: a difference of medians taken
at different times would be one of the machine's loads. `rounds` shows how quiet it was.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import covary as cv

N, D, CALLS, ROUNDS = 1000, 8, 1000, 15
LIMITS = {"mean": 20e-6, "mean and variance": 150e-6}  # of the core; Python may add 50e-6


def seconds(call):
    times = []
    for _ in range(2 * CALLS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[CALLS:])


random = np.random.default_rng(0)
X = random.uniform(size=(N, D))
y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.standard_normal(N)
gp = cv.GPRegressor(restarts=1, max_iter=20, random_state=0).fit(X, y)
fit, row = gp.fit_, X[:1].copy()

doors = {
    "Fit.predict_mean": ("mean", lambda: fit.predict_mean(row)),
    "Fit.predict_y": ("mean and variance", lambda: fit.predict_y(row)),
    "GPRegressor.predict": ("mean", lambda: gp.predict(row)),
    "GPRegressor.predict(return_std=True)": ("mean and variance", lambda: gp.predict(row, return_std=True)),
}
core = {call: [] for call in LIMITS}
python = {door: [] for door in doors}
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.cov"
    fit.save(path)
    for _ in range(ROUNDS):
        if len(sys.argv) > 1:
            done = subprocess.run([sys.argv[1], path], capture_output=True, text=True, check=True)
            for line in map(json.loads, done.stdout.splitlines()):
                core[line["call"]].append(line["seconds"])
        for door, (_, work) in doors.items():
            python[door].append(seconds(work))


def spread(times):
    return [min(times), statistics.median(times), max(times)]


for door, (call, _) in doors.items():
    line = {"case": "python", "call": call, "door": door, "n": N, "seconds": min(python[door]),
            "rounds": spread(python[door])}
    if core[call]:
        line |= {"core": min(core[call]), "core_rounds": spread(core[call]),
                 "added": min(python[door]) - min(core[call]), "limit_of_core": LIMITS[call]}
    print(json.dumps(line))
