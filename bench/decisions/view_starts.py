"""Bounds of two views from each start: see docs/decisions/latent-starts.md.

    python3 bench/decisions/view_starts.py build/release/bin/covary data/oil_flow/train.csv [ROWS …]

Three random subsets of each number of rows (100 and 300): twelve readings in one view, three labels of ±1 in the other, with the
options of the experiment `mrd-oil`, four starts."""
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

NAMES = ("each view", "what they share", "all together", "shaken")


def write_subset(path, table, rows, seed):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"r{c}" for c in range(12)] + ["l0", "l1", "l2"])
        for row in random.Random(seed).sample(table, rows):
            out.writerow(row[:12] + [1 if k == int(float(row[14])) else -1 for k in range(3)])


program, path = sys.argv[1:3]
with open(path, newline="") as file:
    table = [row for row in csv.reader(file) if row and row[0].lstrip("-")[:1].isdigit()]
with tempfile.TemporaryDirectory() as folder:
    for rows in [int(r) for r in sys.argv[3:]] or [100, 300]:
        for seed in range(3):
            subset = pathlib.Path(folder) / "subset.csv"
            write_subset(subset, table, rows, seed)
            run = subprocess.run([program, "fit", subset, "--model", "mrd", "--view", "readings=0:12", "--view", "labels=12:15",
                                  "--latent", "8", "--inducing", "50", "--max-iter", "500", "--restarts", "4", "--json", "--quiet"],
                                 capture_output=True, text=True, check=True)
            starts = json.loads(run.stdout)["starts"]
            print(f"{rows} rows, set {seed}: " + ", ".join(f"{n} {s['value']:.1f}" for n, s in zip(NAMES, starts)), flush=True)
