#!/usr/bin/env python3
"""Writes latent.json: inference for other likelihoods at given parameters as independent implementations compute it.

    bench/peers/install.sh scikit-learn gpy gpflow
    build/peers/scikit-learn/bin/python tests/oracles/make_latent.py

Laplace by scikit-learn and GPy, EP by GPy, the full variational bound and SVGP at a given q(u) by GPflow. Each entry
holds the value, its gradient in the kernel's parameters, the mean and variance of f at the test inputs and, where the
peer has them, at the data, and class probabilities. The gradients of each peer agree with differences of its own values
within TOLERANCE; those of the variational bound, for which GPflow climbs long, are taken where no slope by q is left.
"""

import importlib
import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np

from latent_cases import inducing_cases, make_datasets, one_latent_cases

HERE = Path(__file__).resolve().parent
PEERS = {"scikit-learn": "latent_scikit_learn", "gpy": "latent_gpy", "gpflow": "latent_gpflow"}
TOLERANCE = 1e-5  # relative to the largest entry of the gradient, or to one
STEP = 1e-3


def moved(case, name, index, step):
    """The case with an entry of one of the kernel's parameters changed."""
    other = deepcopy(case)
    values = other.kernel.values
    if np.ndim(values[name]):
        values[name][index] += step
    else:
        values[name] += step
    return other


def require_slopes(case, answers, evaluate):
    """Stops where a gradient does not agree with differences of the values, of fourth order."""
    slopes = {}
    for name, value in case.kernel.values.items():
        for i in range(np.size(value)):
            at = {k: [a["value"] for a in evaluate(moved(case, name, i, k * STEP))] for k in (-2, -1, 1, 2)}
            slopes[name, i] = [
                (8 * (at[1][j] - at[-1][j]) - (at[2][j] - at[-2][j])) / (12 * STEP) for j in range(len(answers))
            ]
    for j, answer in enumerate(answers):
        given = {name: np.ravel(answer["gradient"][f"{case.kernel.path}.{name}"]) for name in case.kernel.values}
        largest = max(1.0, max(np.max(np.abs(g)) for g in given.values()))
        for (name, i), slope in slopes.items():
            gap = abs(given[name][i] - slope[j]) / largest
            if not gap <= TOLERANCE:
                sys.exit(f"{case.label()}: {answer['method']}, the slope by {name} is off by {gap:.1e}")


def ask_all_cases(module):
    """In the peer's own environment: (kind of case, its number, answer) for each that the peer has."""
    peer = importlib.import_module(module)
    data = make_datasets()
    found = []
    for number, case in enumerate(one_latent_cases()):
        evaluate = lambda case: peer.evaluate(case, data[case.dataset])
        answers = evaluate(case)
        if answers and answers[0]["method"] != "variational":
            require_slopes(case, answers, evaluate)
        found += [("one latent", number, answer) for answer in answers]
    if hasattr(peer, "evaluate_inducing"):
        for number, case in enumerate(inducing_cases()):
            evaluate = lambda case: [peer.evaluate_inducing(case, data[case.dataset])]
            [answer] = evaluate(case)
            require_slopes(case, [answer], evaluate)
            found.append(("inducing", number, answer))
    json.dump({"version": peer.VERSION, "answers": found}, sys.stdout)


def run_peer(name):
    python = HERE.parents[1] / "build" / "peers" / name / "bin" / "python"
    if not python.exists():
        sys.exit(f"no environment for {name}; make it with bench/peers/install.sh {name}")
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    command = [str(python), "-W", "ignore", str(HERE / "make_latent.py"), "--peer", name]
    done = subprocess.run(command, env=quiet, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{name} gave no answers")
    return json.loads(done.stdout)


def main():
    cases = {"one latent": one_latent_cases(), "inducing": inducing_cases()}
    written = []
    for name in PEERS:
        peer = run_peer(name)
        for kind, number, answer in peer["answers"]:
            case = cases[kind][number]
            written.append(
                {"dataset": case.dataset, "target": case.target, "kernel": case.kernel.expression()}
                | {"likelihood": case.likelihood, "parameters": case.parameters(), "constant_mean": case.mean}
                | answer
                | {"peer": name, "peer_version": peer["version"]}
            )
    tables = {name: {k: v.tolist() for k, v in table.items()} for name, table in make_datasets().items()}
    body = ",\n".join(json.dumps(case, ensure_ascii=False) for case in written)
    text = '{"datasets": ' + json.dumps(tables) + ',\n"cases": [\n' + body + "\n]}\n"
    (HERE / "latent.json").write_text(text)
    print(f"{len(written)} cases, {len(text) // 1000} kB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        ask_all_cases(PEERS[sys.argv[2]])
    else:
        main()
