#!/usr/bin/env python3
"""Runs exact.py for every installed peer, one after the other, and gathers the lines in build/peers/exact.jsonl.

    bench/peers/run_all.py [the options of exact.py]
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "peers"
PEERS = ["scikit-learn", "gpy", "gpflow", "gpytorch"]


def run(peer):
    """Yields the peer's JSON lines, shown on the way."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    if not python.exists():
        print(f"{peer}: not installed (bench/peers/install.sh {peer}); left out", file=sys.stderr)
        return
    command = [str(python), str(HERE / "exact.py"), peer, *sys.argv[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            yield line


def main():
    if not ENVIRONMENTS.exists():
        sys.exit("no peer is installed; run bench/peers/install.sh first")
    # Written as they come, so that an interrupted run keeps what it measured.
    with open(ENVIRONMENTS / "exact.jsonl", "w", buffering=1) as out:
        for peer in PEERS:
            out.writelines(run(peer))


if __name__ == "__main__":
    main()
