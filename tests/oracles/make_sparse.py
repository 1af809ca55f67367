#!/usr/bin/env python3
"""Writes sparse.json: sparse regression at given parameters and inducing inputs as GPflow and GPy compute it.

    bench/peers/install.sh scikit-learn gpy gpflow
    build/peers/scikit-learn/bin/python tests/oracles/make_sparse.py

Each entry holds the log evidence or bound, the mean and variance of f at the test inputs and, from GPflow's SGPR, the
upper bound, with the absolute jitter that the peer added to Kuu. Everything agrees with N×N NumPy within TOLERANCE.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

from make_exact import difference
from sparse_cases import make_cases, make_datasets

HERE = Path(__file__).resolve().parent
PEERS = {"gpflow": "sparse_gpflow", "gpy": "sparse_gpy"}
TOLERANCE = 1e-8  # relative to the largest entry of the quantity, or to one


def arrays_of(case, datasets):
    data = datasets[case.dataset]
    return data["X"], data["Y"][:, : case.outputs], data["Z"], data["Xstar"]


def ask_all_cases(module):
    """In the peer's own environment: a list of answers for each case."""
    peer = importlib.import_module(module)
    data = make_datasets()
    answers = [peer.evaluate(case, *arrays_of(case, data)) for case in make_cases()]
    json.dump({"version": peer.VERSION, "answers": answers}, sys.stdout)


def run_peer(name):
    python = HERE.parents[1] / "build" / "peers" / name / "bin" / "python"
    if not python.exists():
        sys.exit(f"no environment for {name}; make it with bench/peers/install.sh {name}")
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    command = [str(python), "-W", "ignore", str(HERE / "make_sparse.py"), "--peer", name]
    return json.loads(subprocess.run(command, env=quiet, stdout=subprocess.PIPE, check=True).stdout)


def main():
    import sparse_reference  # needs SciPy and mpmath, which the environment of scikit-learn has

    datasets, cases = make_datasets(), make_cases()
    worst, written = {}, []
    for name in PEERS:
        peer = run_peer(name)
        for case, answers in zip(cases, peer["answers"], strict=True):
            for answer in answers:
                ours = sparse_reference.evaluate(
                    case, answer["approximation"], answer["jitter"], *arrays_of(case, datasets)
                )
                for quantity, value in ours.items():
                    if quantity not in answer:
                        continue
                    gap = difference(answer[quantity], value)
                    key = name, answer["approximation"], quantity
                    worst[key] = max(worst.get(key, 0.0), gap)
                    if not gap <= TOLERANCE:
                        sys.exit(f"{case.label()}: {' '.join(key)} differs from the reference by {gap:.1e}")
                place = {"dataset": case.dataset, "kernel": case.kernel.expression(), "outputs": case.outputs}
                mean = {"mean_weights": case.mean_weights} if case.mean_weights else {}
                written.append(
                    place
                    | {"parameters": case.parameters()}
                    | mean
                    | answer
                    | {"peer": name, "peer_version": peer["version"]}
                )
    tables = {name: {k: v.tolist() for k, v in table.items()} for name, table in datasets.items()}
    body = ",\n".join(json.dumps(case, ensure_ascii=False) for case in written)
    text = '{"datasets": ' + json.dumps(tables) + ',\n"cases": [\n' + body + "\n]}\n"
    (HERE / "sparse.json").write_text(text)
    print(f"{len(written)} cases, {len(text) // 1000} kB; largest relative differences from the reference:")
    for key, gap in sorted(worst.items()):
        print(f"  {key[0]:8} {key[1]:10} {key[2]:12} {gap:.1e}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        ask_all_cases(PEERS[sys.argv[2]])
    else:
        main()
