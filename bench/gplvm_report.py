"""The section 'Latent variables' of the page that bench/report.py writes."""

import statistics
import sys

from tables import PEERS, at_least, at_most, number, read_lines, table

JUDGED = [(1000, 10, 50), (5000, 10, 50)]  # (N, Q, M) that the asked ratios are for
PEER_RATIO = {"gpy": 10.0, "gpflow": 5.0}  # the peer ≥ so many × ours
LIMIT_RATIO = 2.0  # ours ≤ 2 × the exponentials and products it needs
NUMPY_RATIO = {1000: 3.0}  # by N: NumPy on one thread ≥ so many × ours
AGREEMENT = 1e-4  # of bounds, relative: peers add other jitters to Kuu
NUMPY_AGREEMENT = 1e-8  # it adds none, as ours


def key(x):
    return x["n"], x["q"], x["m"]


def check_agreement(case, ours, value, name, most):
    gap = abs(value - ours) / abs(ours)
    if not gap <= most:
        sys.exit(f"{case}: our bound and that of {name} differ by {gap:.1e}")


def evaluation_row(case, lines, by_numpy, peers, names):
    rounds = [x for x in lines if key(x) == case]
    judged = case in JUDGED
    seconds = statistics.median(x["seconds"] for x in rounds)
    limit = statistics.median(x["limit_seconds"] for x in rounds)
    ratio = statistics.median(x["seconds"] / x["limit_seconds"] for x in rounds)
    row = ["N = {}, Q = {}, M = {}".format(*case), number(1e3 * seconds), number(1e3 * limit),
           at_most(ratio, LIMIT_RATIO) if judged else number(ratio)]
    if in_turn := [x for x in by_numpy if key(x) == case]:
        check_agreement(row[0], rounds[0]["value"], in_turn[0]["value"], "NumPy", NUMPY_AGREEMENT)
        numpy_seconds = statistics.median(x["seconds"] for x in in_turn)
        ahead, least = numpy_seconds / seconds, NUMPY_RATIO.get(case[0]) if judged else None
        row += [number(1e3 * numpy_seconds), at_least(ahead, least) if least else number(ahead)]
    elif by_numpy:
        row += ["–", "–"]
    measured = {x["peer"]: x for x in peers if key(x) == case and "seconds" in x}
    for p in names:
        if p not in measured:
            row += ["–", "–"]
            continue
        check_agreement(row[0], rounds[0]["value"], measured[p]["value"], PEERS[p], AGREEMENT)
        ahead = measured[p]["seconds"] / seconds
        row += [number(1e3 * measured[p]["seconds"]), at_least(ahead, PEER_RATIO[p]) if judged else number(ahead)]
    memory = max(x["peak_memory_mb"] for x in rounds)
    return row + [f"{memory:.0f} MB", f"{rounds[0]['parameters_mb']:.1f} MB"]


def wide_table(lines):
    rows = [[f"N = {x['n']}, P = {x['p']}", f"{x['data_mb']:.0f} MB", number(x["seconds"]), x["iterations"], x["active"],
             f"{x['peak_memory_mb']:.0f} MB"] for x in lines if x["case"] == "wide"]
    return table(["training", "outputs", "seconds", "iterations", "dimensions in use", "added to the outputs"], rows)


def gplvm_section(results):
    """Lines of the page, or none when nothing was measured."""
    lines, peers = read_lines(results / "gplvm.jsonl"), read_lines(results / "gplvm_peers.jsonl")
    evaluations = [x for x in lines if x["case"] == "evaluation"]
    if not evaluations:
        return []
    by_numpy = read_lines(results / "gplvm_numpy.jsonl")
    names = [p for p in PEERS if any(x["peer"] == p for x in peers)]
    header = ["case", "ours, ms", "limit, ms", "ours / limit"]
    header += ["NumPy, one thread, ms", "NumPy / ours"] if by_numpy else []
    for p in names:
        header += [f"{PEERS[p]}, ms", f"{PEERS[p]} / ours"]
    header += ["added to the data", "parameters"]
    cases = dict.fromkeys(key(x) for x in evaluations)
    page = [
        "", "## Latent variables: the Bayesian GP-LVM, SE-ARD", "",
        f"One evaluation of the bound with the gradient in everything (kernel, noise, inducing inputs, q(X)), P = 12,"
        f" {evaluations[0]['threads']} threads, hot, at\nparameters that change between runs: `gplvm_bench N Q M`. The"
        " *limit* is what Ψ2 needs by the same threads, in turn with ours: the exponentials of\n½M(M+1) pairs for each"
        " row, once, and the three products around them with Q + 1 features. Ours keeps the exponentials while 64 MB hold"
        "\nthem and makes them again beyond, where no memory grows with N but the parameters, their gradient and copies of"
        " them. Peers have the\nsame data and parameters and run afterwards; the bounds agree but for the jitter that each adds.",
    ]
    if by_numpy:
        page += [f"*NumPy* {by_numpy[0]['version']} takes turns with ours, on one thread: the exponentials once, kept for"
                 " all rows, and three products around them with\n2Q + 1 features (`bench/peers/gplvm_numpy.py`); its bound"
                 " agrees with ours to 1e-8."]
    page += ["", table(header, [evaluation_row(case, evaluations, by_numpy, peers, names) for case in cases])]
    if any(x["case"] == "wide" for x in lines):
        page += ["", "Training on many more outputs than rows (`gplvm_bench wide N P ITERATIONS`): Q = 5, M = 50, one start"
                 " and principal\ncomponents included.", "", wide_table(lines)]
    skipped = [f"- {PEERS[x['peer']]} with N = {x['n']}: {x['skipped']}" for x in peers if "skipped" in x]
    return page + ([""] + skipped if skipped else [])
