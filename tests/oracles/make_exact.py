#!/usr/bin/env python3
"""Writes exact.json: the exact GP at given parameters as independent implementations compute it.

    bench/peers/install.sh scikit-learn gpy gpflow
    build/peers/scikit-learn/bin/python tests/oracles/make_exact.py

Each case holds the log marginal likelihood, its gradient in the constrained parameters, and the mean and variance of f
at the test inputs, jitter zero on both sides, from the first peer in PEERS that has the kernel. Every other peer that
has it, the NumPy reference, and for the evidence also 30-digit arithmetic, must agree within TOLERANCE.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from cases import make_cases, make_datasets

HERE = Path(__file__).resolve().parent
PEERS = {"scikit-learn": "peer_scikit_learn", "gpflow": "peer_gpflow", "gpy": "peer_gpy"}
QUANTITIES = ["log_marginal_likelihood", "gradient", "mean", "variance_f"]
TOLERANCE = 1e-8  # relative to the largest entry of the quantity, or to one


def ask_all_cases(module):
    """In the peer's own environment: one answer for each case, None where it has no such kernel."""
    peer = importlib.import_module(module)
    data = make_datasets()
    answers = [peer.evaluate(case, *(data[case.dataset][k] for k in ("X", "y", "Xstar"))) for case in make_cases()]
    json.dump({"version": peer.VERSION, "answers": answers}, sys.stdout)


def run_peer(name):
    python = HERE.parents[1] / "build" / "peers" / name / "bin" / "python"
    if not python.exists():
        sys.exit(f"no environment for {name}; make it with bench/peers/install.sh {name}")
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    command = [str(python), "-W", "ignore", str(HERE / "make_exact.py"), "--peer", name]
    return json.loads(subprocess.run(command, env=quiet, stdout=subprocess.PIPE, check=True).stdout)


def flat(value):
    if isinstance(value, dict):
        return np.concatenate([np.ravel(value[key]) for key in sorted(value)])
    return np.ravel(value)


def difference(a, b):
    a, b = flat(a), flat(b)
    assert a.shape == b.shape
    return float(np.max(np.abs(a - b)) / max(1.0, np.max(np.abs(b))))


def main():
    import reference  # needs SciPy and mpmath, which the environment of scikit-learn has

    datasets, cases = make_datasets(), make_cases()
    peers = {name: run_peer(name) for name in PEERS}
    worst = {}
    written = []
    for i, case in enumerate(cases):
        X, y, Xstar = (datasets[case.dataset][k] for k in ("X", "y", "Xstar"))
        answers = {name: peer["answers"][i] for name, peer in peers.items() if peer["answers"][i] is not None}
        ours = reference.evaluate(case.kernel, case.parameters(), X, y, Xstar)
        exact = reference.log_marginal_likelihood_in_30_digits(case.kernel, case.noise, X, y)
        label = f"{case.dataset}: {case.kernel.expression()}"
        if not answers:
            sys.exit(f"{label}: no peer has this kernel")
        for name, answer in answers.items():
            gaps = {quantity: difference(answer[quantity], ours[quantity]) for quantity in QUANTITIES}
            gaps["log_marginal_likelihood in 30 digits"] = difference(answer["log_marginal_likelihood"], exact)
            for quantity, gap in gaps.items():
                worst[name, quantity] = max(worst.get((name, quantity), 0.0), gap)
                if not gap <= TOLERANCE:
                    sys.exit(f"{label}: {name} and the reference differ by {gap:.1e} in {quantity}")
        for a in answers:
            for b in answers:
                gap = max(difference(answers[a][q], answers[b][q]) for q in QUANTITIES)
                assert gap <= TOLERANCE, f"{label}: {a} and {b} differ by {gap:.1e}"
        first, *others = answers
        written.append(
            {"dataset": case.dataset, "kernel": case.kernel.expression(), "parameters": case.parameters()}
            | answers[first]
            | {"peer": first, "peer_version": peers[first]["version"]}
            | {"agreeing": {name: peers[name]["version"] for name in others}}
        )
    tables = {name: {k: v.tolist() for k, v in table.items()} for name, table in datasets.items()}
    body = ",\n".join(json.dumps(case, ensure_ascii=False) for case in written)
    text = '{"datasets": ' + json.dumps(tables) + ',\n"cases": [\n' + body + "\n]}\n"
    (HERE / "exact.json").write_text(text)
    print(f"{len(written)} cases, {len(text) // 1000} kB; largest relative differences from the reference:")
    for (name, quantity), gap in sorted(worst.items()):
        print(f"  {name:14} {quantity:38} {gap:.1e}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        ask_all_cases(PEERS[sys.argv[2]])
    else:
        main()
