#!/usr/bin/env python3
"""How long a program takes to start and end: startup.py PROGRAM [ARGUMENT…], one JSON line."""

import json
import os
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ.get("COVARY_BENCH_RUNS", "25"))


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


command = sys.argv[1:]
seconds(command)
times = [seconds(command) for _ in range(RUNS)]
name = " ".join([os.path.basename(command[0]), *command[1:]])
print(json.dumps({"case": "startup", "command": name, "seconds": statistics.median(times), "fastest": min(times)}))
