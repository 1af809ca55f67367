"""The section 'Labels: Laplace and EP' of the page that bench/report.py writes."""

import statistics
import sys

from tables import PEERS, at_least, number, read_lines, table

PEER_RATIO, PEER_FROM = 3.0, 1000  # the fastest peer ≥ 3 × ours for N ≥ 1000
AGREEMENT = 1e-2  # of values and gradients, relative: peers stop early, but at the same place


def difference(ours, peer):
    """The larger of the relative differences in value and gradient."""
    value = abs(ours["value"] - peer["value"]) / abs(ours["value"])
    largest = max(abs(g) for g in ours["gradient"])
    return max(value, max(abs(a - b) for a, b in zip(ours["gradient"], peer["gradient"], strict=True)) / largest)


def row_of(case, n, lines, peers, names):
    rounds = [x for x in lines if (x["case"], x["n"]) == (case, n)]
    seconds = statistics.median(x["seconds"] for x in rounds)
    measured = {x["peer"]: x for x in peers if (x["case"], x["n"]) == (case, n) and "seconds" in x}
    row = [f"N = {n}, {case}", number(seconds), rounds[0]["iterations"]]
    row += [number(measured[p]["seconds"]) if p in measured else "–" for p in names]
    if not names:
        return row
    if not measured:
        return row + ["–", "–"]
    gap = max(difference(rounds[0], x) for x in measured.values())
    if not gap <= AGREEMENT:
        sys.exit(f"N = {n}, {case}: ours and a peer differ by {gap:.1e}")
    ahead = min(x["seconds"] for x in measured.values()) / seconds
    return row + [at_least(ahead, PEER_RATIO) if n >= PEER_FROM else number(ahead), f"{gap:.0e}"]


def latent_section(results):
    """Lines of the page, or none when nothing was measured."""
    lines, peers = read_lines(results / "latent.jsonl"), read_lines(results / "latent_peers.jsonl")
    if not lines:
        return []
    names = [p for p in PEERS if any(x["peer"] == p for x in peers)]
    cases = dict.fromkeys((x["case"], x["n"]) for x in lines)
    header = ["case", "ours, s", "iterations"] + [PEERS[p] + ", s" for p in names]
    header += ["fastest peer / ours", "they differ by"] if names else []
    page = [
        "", "## Labels: Laplace and EP, SE-ARD, D = 2", "",
        f"The log evidence with its gradient from a cold start, {lines[0]['threads']} threads, at parameters that"
        " change between runs. Peers have the same data\nand stop at their own tolerances; *they differ by* is the"
        " largest relative difference of values and of gradients. GPy's EP is made to\nupdate its sites for each"
        " evaluation, which it does not by default.", "",
        table(header, [row_of(case, n, lines, peers, names) for case, n in cases]),
    ]
    skipped = [f"- {PEERS[x['peer']]}, {x['case']} with N = {x['n']}: {x['skipped']}" for x in peers if "skipped" in x]
    return page + ([""] + skipped if skipped else [])
