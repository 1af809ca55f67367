#!/usr/bin/env python3
"""Time and peak memory of `covary predict` as its table grows: stream.py COVARY FOLDER, one JSON line for each size.

The model has 200 rows and one input. COVARY_BENCH_ROWS="100000 1000000" are the sizes.
"""

import json
import os
import subprocess
import sys
import time

covary, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
path = lambda name: os.path.join(folder, name)


def run(*arguments):
    """Seconds and peak memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen([covary, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"covary {' '.join(arguments)} failed")
    return time.perf_counter() - begin, 1024 * usage.ru_maxrss


run("example", "curve", folder)
run("fit", path("train.csv"), "--target", "y", "--max-iter", "0", "--quiet", "--out", path("model.cov"))
for rows in map(int, os.environ.get("COVARY_BENCH_ROWS", "100000 1000000").split()):
    with open(path("rows.csv"), "w") as file:
        file.write("x\n")
        file.writelines(f"{-1 + 8 * i / rows:.9f}\n" for i in range(rows))
    seconds, peak = run("predict", path("model.cov"), path("rows.csv"), "--out", path("out.csv"))
    print(json.dumps({"case": "stream", "rows": rows, "seconds": seconds, "peak_memory_mb": peak / 2**20}), flush=True)
    os.remove(path("rows.csv"))
    os.remove(path("out.csv"))
