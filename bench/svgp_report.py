"""The section 'Minibatches' of the page that bench/report.py writes."""

import statistics

from tables import PEERS, at_least, number, read_lines, table

PEER_RATIO, PEER_BATCH, PEER_M = 5.0, 256, 200  # the fastest peer ≥ 5 × ours there


def milliseconds(seconds):
    return number(1e3 * seconds)


def row_of(key, lines, peers, names):
    case, batch, m = key
    same = lambda x: (x["case"], x["batch"], x["m"]) == key
    rounds = [x for x in lines if same(x)]
    measured = {x["peer"]: x for x in peers if same(x) and "seconds" in x}
    seconds = statistics.median(x["seconds"] for x in rounds)
    limit = statistics.median(x["limit_seconds"] for x in rounds)
    ratio = statistics.median(x["seconds"] / x["limit_seconds"] for x in rounds)
    row = [f"{case}, batch {batch}, M = {m}", milliseconds(seconds), milliseconds(limit), number(ratio)]
    row += [milliseconds(measured[p]["seconds"]) if p in measured else "–" for p in names]
    if names:
        ahead = min(x["seconds"] for x in measured.values()) / seconds if measured else None
        judged = ahead and (batch, m) == (PEER_BATCH, PEER_M)
        row.append(at_least(ahead, PEER_RATIO) if judged else number(ahead))
    bounds = [rounds[0]["bound"]] + [measured[p]["bound"] for p in names if p in measured]
    return row + [", ".join(f"{bound:.3f}" for bound in bounds)]


def svgp_section(results):
    """Lines of the page, or none when nothing was measured."""
    lines, peers = read_lines(results / "svgp.jsonl"), read_lines(results / "svgp_peers.jsonl")
    if not lines:
        return []
    names = [p for p in PEERS if any(x["peer"] == p for x in peers)]
    keys = dict.fromkeys((x["case"], x["batch"], x["m"]) for x in lines)
    header = ["case", "ours, ms", "limit, ms", "ours / limit"] + [PEERS[p] + ", ms" for p in names]
    header += ["fastest peer / ours"] if names else []
    page = [
        "", "## Minibatches: a step of SVGP, SE-ARD, D = 8", "",
        f"The bound of a batch with all gradients, the natural-gradient step of q and Adam's step of the rest,"
        f" {lines[0]['threads']} threads, hot: the median of\n{lines[0]['steps']} steps less the first. The *limit* is"
        " the factorisations, solves and products of such a step alone, by the same threads. Peers\nhave the same data,"
        " inducing inputs and lengths of steps. GPflow compiles both steps as one `tf.function`, which evaluates the"
        " bound\nfor each of them, as its manual has it; GPyTorch (probit link) has no compiled form. *Bounds* are a"
        " row's after these steps,\nours over all rows and the peers' over the last fifty batches.", "",
        table(header + ["bounds"], [row_of(key, lines, peers, names) for key in keys]),
    ]
    skipped = [f"- {PEERS[x['peer']]}, {x['case']}: {x['skipped']}" for x in peers if "skipped" in x]
    return page + ([""] + skipped if skipped else [])
