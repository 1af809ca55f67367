#!/usr/bin/env python3
"""Runs one of the scripts beside it for every installed peer that has it, one after the other, and gathers the lines in
build/peers/exact.jsonl and so on.

    bench/peers/run_all.py exact|sparse|latent|svgp|nlpd|gplvm [the options of that script]
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "peers"
PEERS = {
    "exact": ["scikit-learn", "gpy", "gpflow", "gpytorch"],
    "sparse": ["gpy", "gpflow", "gpytorch"],
    "latent": ["scikit-learn", "gpy"],
    "svgp": ["gpflow", "gpytorch"],
    "nlpd": ["gpflow", "gpytorch"],
    "gplvm": ["gpy", "gpflow"],
}


def run(what, peer):
    """Yields the peer's JSON lines, shown on the way."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    if not python.exists():
        print(f"{peer}: not installed (bench/peers/install.sh {peer}); left out", file=sys.stderr)
        return
    command = [str(python), str(HERE / f"{what}.py"), peer, *sys.argv[2:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            yield line


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what not in PEERS:
        sys.exit(f"usage: run_all.py {'|'.join(PEERS)} [options]")
    if not ENVIRONMENTS.exists():
        sys.exit("no peer is installed; run bench/peers/install.sh first")
    # Written as they come, so that an interrupted run keeps what it measured.
    with open(ENVIRONMENTS / f"{what}.jsonl", "w", buffering=1) as out:
        for peer in PEERS[what]:
            out.writelines(run(what, peer))


if __name__ == "__main__":
    main()
