"""The section 'Sparse regression' of the page that bench/report.py writes."""

import statistics
import sys

from tables import PEERS, at_least, at_most, number, read_lines, table

LIMIT_N = 36000  # the limits are for so many rows
LIMIT_RATIO = {100: 2.2, 500: 1.4, 1000: 1.3}  # ours ≤ so many × the bare BLAS calls of the route, by M
OTHER_RATIO = 2.0  # FITC and power-EP ≤ 2 × VFE
PEER_RATIO = {"safe": 4.0, "fast": 6.0}  # the fastest peer ≥ so many × ours, at PEER_M
PEER_M = 500
PREDICT_RATIO = 3.0  # the fastest peer ≥ 3 × ours for LARGE rows with M = 500
LARGE = 1000000
LARGE_MB = 300.0  # what an evaluation may add to LARGE rows of data with M = 500


class Sparse:
    def __init__(self, results):
        self.lines = read_lines(results / "sparse.jsonl")
        self.peers = read_lines(results / "sparse_peers.jsonl")
        self.whole = any(x["n"] == LIMIT_N for x in self.lines)
        self.names = [p for p in PEERS if any(x["peer"] == p for x in self.peers)]

    def rounds(self, case, m):
        found = [x for x in self.lines if x["case"] == case and x["m"] == m]
        if not found:
            sys.exit(f"sparse regression with M = {m}: nothing was measured for {case}")
        return found

    def seconds(self, case, m):
        return statistics.median(x["seconds"] for x in self.rounds(case, m))

    def ratio(self, case, other, m):
        """Round by round: drift of the machine cancels."""
        pairs = zip(self.rounds(case, m), self.rounds(other, m), strict=True)
        return statistics.median(a["seconds"] / b["seconds"] for a, b in pairs)

    def fastest_peer(self, task, m, field="seconds"):
        return min((x[field] for x in self.peers if x["task"] == task and x["m"] == m and "seconds" in x), default=None)

    def peer_cells(self, task, m):
        measured = {x["peer"]: x for x in self.peers if x["task"] == task and x["m"] == m and "seconds" in x}
        return [f"{number(measured[p]['seconds'])}, {measured[p]['peak_bytes'] / 2**20:.0f} MB" if p in measured else "–"
                for p in self.names]


def judged(value, bound, judge, is_judged):
    if value is None:
        return "–"
    return judge(value, bound) if is_judged else number(value)


def objective_tables(s, sizes):
    routes, others, peers = [], [], []
    for m in sizes:
        for route in ["fast", "safe"]:
            case, limit = f"vfe {route}", f"limit {route}"
            ratio = s.ratio(case, limit, m)
            memory = max(x["peak_memory_mb"] for x in s.rounds(case, m))
            rho = s.rounds(case, m)[0]["rho"]
            routes.append([f"M = {m}, {route}", number(s.seconds(case, m)), number(s.seconds(limit, m)),
                           judged(ratio, LIMIT_RATIO.get(m), at_most, s.whole and m in LIMIT_RATIO),
                           f"{memory:.0f} MB", f"{rho:.0e}"])
        others.append([f"M = {m}", number(s.seconds("vfe safe", m))] + [
            judged(s.ratio(f"{name} safe", "vfe safe", m), OTHER_RATIO, at_most, s.whole) for name in ["fitc", "pep(0.5)"]])
        fastest = s.fastest_peer("objective", m)
        leads = [judged(fastest and fastest / s.seconds(f"vfe {route}", m), bound, at_least, s.whole and m == PEER_M)
                 for route, bound in PEER_RATIO.items()]
        peers.append([f"M = {m}", *s.peer_cells("objective", m), *leads])
    found = [
        table(["VFE, route", "ours, s", "limit, s", "ours / limit", "ours, memory", "ρ"], routes),
        table(["safe route", "VFE, s", "FITC / VFE", "power-EP(0.5) / VFE"], others),
    ]
    if s.names:
        header = ["VFE"] + [f"{PEERS[p]}: s, memory" for p in s.names]
        found.append(table(header + [f"fastest peer / ours, {route}" for route in PEER_RATIO], peers))
    return found


def prediction_table(s):
    rows = []
    for m in dict.fromkeys(x["m"] for x in s.lines if x["case"] == "predict"):
        line, seconds = s.rounds("predict", m)[0], s.seconds("predict", m)
        fastest = s.fastest_peer("predict", m)
        row = [f"{line['rows']} rows, M = {m}", f"{number(seconds)}, {line['peak_memory_mb']:.0f} MB"]
        if s.names:
            row += s.peer_cells("predict", m)
            row += [judged(fastest and fastest / seconds, PREDICT_RATIO, at_least, line["rows"] == LARGE)]
        rows.append(row)
    header = ["mean and variance", "ours: s, memory"] + [f"{PEERS[p]}: s, memory" for p in s.names]
    return table(header + ["fastest peer / ours"] * bool(s.names), rows)


def large_table(s):
    rows = []
    for x in [x for x in s.lines if x["case"].startswith("large ")]:
        memory = judged(x["peak_memory_mb"], LARGE_MB, at_most, x["n"] == LARGE)
        rows.append([f"N = {x['n']}, M = {x['m']}", number(x["seconds"]), memory])
    return table(["VFE with all gradients, safe", "ours, s", "MB added to the data"], rows)


def sparse_section(results):
    """Lines of the page, or none when nothing was measured."""
    s = Sparse(results)
    if not s.lines:
        return []
    first = next(x for x in s.lines if x["case"].startswith("vfe "))
    sizes = list(dict.fromkeys(x["m"] for x in s.lines if x["case"].startswith("vfe ")))
    threads = first["threads"]
    page = [
        "", f"## Sparse regression: SE-ARD, N = {first['n']}, D = 8", "",
        f"The bound or evidence with the gradient in all parameters and inducing inputs, {threads} threads, hot, at"
        " parameters that change\nbetween runs. The *limit* of a route is its bare BLAS calls by threaded OpenBLAS on the"
        " whole M×N array: `dsyrk` + `dgemm` (fast),\n`dtrsm` + `dsyrk` + `dgemm` (safe). Ours and the limits take turns;"
        " ratios are medians over the rounds. ρ says which route our default\ntakes: fast up to 1e-8, safe up to 1e-2."
        " Memory of ours is added to the data and the process, that of peers is all of the process.\nPeers evaluate"
        " VFE, run afterwards and predict in batches of 20000 rows.", "",
        "\n\n".join([*objective_tables(s, sizes), prediction_table(s), large_table(s)]),
    ]
    skipped = [f"- {PEERS[x['peer']]}, {x['task']} with M = {x['m']}: {x['skipped']}" for x in s.peers if "skipped" in x]
    return page + ([""] + skipped if skipped else [])
