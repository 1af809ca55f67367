#!/usr/bin/env python3
"""Our rows of docs/benchmarks.md by two revisions, in turn: revisions.py OLD NEW [--rounds R] [--only WORD].

OLD and NEW are folders of builds that have the target `covary_bench` and `covary`, for example of `git worktree add`. Each
round runs every case once by either, the order changing from round to round; printed are the medians and the median of the
rounds' ratios new / old. `--scatter` is how far a ratio may be from 1 to pass for noise; the exit status is 1 where one is
above it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = (
    [("exact_bench", str(n)) for n in (500, 1000, 2000, 5000)]
    + [("sparse_bench", "36000", str(m), *route) for m in (100, 500, 1000) for route in (
        ("vfe", "fast"), ("vfe", "safe"), ("fitc", "safe"), ("pep(0.5)", "safe"))]
    + [("sparse_predict_bench", "36000", "500", "1000000")]
    + [("latent_bench", "1000", method, f"bernoulli({link})") for method in ("laplace", "ep") for link in ("logit", "probit")]
    + [("svgp_bench", likelihood, "256", "200") for likelihood in ("bernoulli(logit)", "gaussian")]
    + [("gplvm_bench", "1000", "10", "50"), ("gplvm_bench", "5000", "10", "50"), ("gplvm_bench", "100000", "5", "100"),
       ("gplvm_bench", "wide", "100", "1000000", "20")]
    + [("features_bench", "fourier", "1000000", "999")]
    + [("features_bench", "svgp", kind, str(m), "500") for m in (60, 120) for kind in (
        "stacked(eigen)", "points", "stacked(points)", "stacked(eigen)/diagonal")]
    + [("csv_bench", "FILE", "100"), ("predict_bench",), ("startup.py",), ("stream.py",)]
)


def lines(build, case, folder):
    """What a case of a build prints: {name: seconds}."""
    program = case[0]
    covary = os.path.join(build, "bin", "covary")
    if program == "startup.py":
        command = [sys.executable, os.path.join(HERE, program), covary, "--version"]
    elif program == "stream.py":
        command = [sys.executable, os.path.join(HERE, program), covary, folder]
    else:
        command = [os.path.join(build, "bin", program), *(os.path.join(folder, "table.csv") if a == "FILE" else a for a in case[1:])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    out = {}
    for line in filter(None, done.stdout.splitlines()):
        row = json.loads(line)
        label = " ".join(str(row[k]) for k in ("call", "rows") if k in row and program in ("predict_bench", "stream.py"))
        for key, value in row.items():
            if (key.endswith("seconds") or key.endswith("_per_s")) and isinstance(value, (int, float)) and "limit" not in key:
                name = " ".join(filter(None, [os.path.splitext(program)[0], *case[1:], label, "" if key == "seconds" else key]))
                out[name] = 1.0 / value if key.endswith("_per_s") else value
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--scatter", type=float, default=0.1)
    options = parser.parse_args()
    builds = [options.old, options.new]
    worse = 0
    print("| case | old | new | new / old |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if options.only not in " ".join(case):
                continue
            found = [[], []]
            for r in range(options.rounds):
                for b in (0, 1) if r % 2 == 0 else (1, 0):
                    found[b].append(lines(builds[b], case, folder))
            for name in found[0][0]:
                if name not in found[1][0]:
                    continue
                old, new = ([f[name] for f in found[b]] for b in (0, 1))
                ratio = statistics.median(n / o for n, o in zip(new, old))
                worse += ratio > 1.0 + options.scatter
                print(f"| `{name}` | {statistics.median(old):.4g} | {statistics.median(new):.4g} | {ratio:.2f} |", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
