#!/usr/bin/env python3
"""Turns what scripts/bench.sh measured into tables: printed, and written with the machine's facts as a page.

    bench/report.py RESULTS --out PAGE [--rounds R] [--load L] [--elapsed SECONDS]
    bench/report.py RESULTS --out PAGE --only gplvm | features     that section of a page that there is

Fails when ours and the limit, two independent programs, disagree in the evidence or its gradient.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from features_report import features_section
from gplvm_report import gplvm_section
from latent_report import latent_section
from nlpd_report import nlpd_section
from sparse_report import sparse_section
from svgp_report import svgp_section
from tables import PEERS, number, read_lines, table, verdict

LIMIT_RATIO, LIMIT_FROM = 1.25, 2000  # ours ≤ 1.25 × (dpotrf + dpotri) for N ≥ 2000
PEER_RATIO, PEER_FROM = 3.0, 1000  # the fastest peer ≥ 3 × ours for N ≥ 1000
MEMORY_N2 = 2.0  # peak memory ≤ 2 N² doubles, plus O(N·D)
PREDICT_US = {"mean": 20, "mean and variance": 150}  # one row with a loaded exact model of N = 1000, hot
TAPE_NS = 1000.0  # the tape's own cost for a small operation


def check_agreement(ours, limit):
    """Two programs without a common line of code for the evidence must give the same answer."""
    n = ours["n"]
    value = abs(ours["value"] - limit["value"]) / abs(limit["value"])
    largest = max(abs(g) for g in limit["gradient"])
    gradient = max(abs(a - b) for a, b in zip(ours["gradient"], limit["gradient"])) / largest
    if not max(value, gradient) <= 1e-8:
        sys.exit(f"N = {n}: ours and LAPACK disagree, evidence by {value:.1e}, gradient by {gradient:.1e}")


class Rounds:
    """The lines of ours and the limit, round by round, for one (N, threads)."""

    def __init__(self, lines, n, threads):
        pick = lambda case: [x for x in lines if (x["case"], x["n"], x["threads"]) == (case, n, threads)]
        self.ours, self.limit = pick("ours"), pick("limit")
        if not self.ours or len(self.ours) != len(self.limit):
            sys.exit(f"N = {n}, {threads} threads: {len(self.ours)} rounds of ours, {len(self.limit)} of the limit")
        for pair in zip(self.ours, self.limit):
            check_agreement(*pair)
        self.seconds = statistics.median(x["seconds"] for x in self.ours)
        self.fastest = min(x["fastest"] for x in self.ours)
        self.limit_seconds = statistics.median(x["seconds"] for x in self.limit)
        self.ratios = sorted(a["seconds"] / b["seconds"] for a, b in zip(self.ours, self.limit))
        self.ratio = statistics.median(self.ratios)  # pair by pair: drift cancels
        self.memory = max(x["peak_memory_n2"] for x in self.ours)


def evidence_table(lines, peers, threads):
    sizes = list(dict.fromkeys(x["n"] for x in lines))
    names = [p for p in PEERS if any(x["peer"] == p for x in peers)]
    rows, notes = [], []
    for n in sizes:
        r = Rounds(lines, n, threads)
        spread = f"{number(r.ratios[0])}–{number(r.ratios[-1])}"
        if n >= LIMIT_FROM:
            ratio = verdict(r.ratio, f"≤ {LIMIT_RATIO}", r.ratio <= LIMIT_RATIO)
        else:
            ratio = number(r.ratio)
        memory = verdict(r.memory, f"≤ {MEMORY_N2:.0f}", r.memory <= MEMORY_N2)
        row = [f"N = {n}", number(r.seconds), number(r.limit_seconds), ratio, spread, memory]
        measured = {x["peer"]: x for x in peers if x["n"] == n and "seconds" in x}
        notes += [f"{PEERS[x['peer']]} at N = {n}: {x['skipped']}" for x in peers if x["n"] == n and "skipped" in x]
        row += [number(measured[p]["seconds"]) if p in measured else "–" for p in names]
        if names and measured:
            ahead = min(x["seconds"] for x in measured.values()) / r.seconds
            best = min(x["fastest"] for x in measured.values()) / r.fastest
            lead = verdict(ahead, f"≥ {PEER_RATIO:.0f}", ahead >= PEER_RATIO) if n >= PEER_FROM else number(ahead)
            row += [lead, number(best)]
        elif names:
            row += ["–", "–"]
        rows.append(row)
    header = ["case", "ours, s", "limit, s", "ours / limit", "over the rounds", "peak memory, N² doubles"]
    header += [PEERS[p] + ", s" for p in names]
    header += ["fastest peer / ours", "the same by best runs"] if names else []
    return table(header, rows), notes


def scaling_table(lines, threads):
    sizes = {x["n"] for x in lines if x["threads"] == 1}
    if threads == 1 or not sizes:
        return None
    n = sizes.pop()
    one, all_threads = Rounds(lines, n, 1), Rounds(lines, n, threads)
    rows = []
    for t, r in [(1, one), (threads, all_threads)]:
        speedups = [number(one.seconds / r.seconds), number(one.limit_seconds / r.limit_seconds)]
        rows.append([f"N = {n}, {t} thread{'s' * (t > 1)}", number(r.seconds), speedups[0], number(r.limit_seconds),
                     speedups[1], number(r.ratio)])
    return table(["case", "ours, s", "speed-up", "limit, s", "speed-up", "ours / limit"], rows)


def google_benchmark(path):
    """The median over repetitions of each benchmark's counter, or of its real time in µs."""
    if not path.exists():
        return {}
    found = {}
    for run in json.loads(path.read_text())["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        scale = {"ns": 1e-3, "us": 1.0, "ms": 1e3}[run["time_unit"]]
        value = run.get("ns/op", run.get("ns", run["real_time"] * scale))
        found.setdefault(run["run_name"].removesuffix("/real_time"), []).append(value)
    return {name: statistics.median(values) for name, values in found.items()}


def tape_tables(runs):
    small = []
    for name in ["scale", "add", "hadamard", "matmul", "solve"]:
        tape, bare = runs[f"tape_{name}"], runs.get(f"bare_{name}")
        over = tape - (bare or 0.0)
        small.append([name, number(tape), number(bare), verdict(over, f"≤ {TAPE_NS:.0f}", over <= TAPE_NS)])
    bounds = []
    for name in [n for n in runs if n.startswith("bound_on_tape/")]:
        tape, hand = runs[name], runs[name.replace("on_tape", "by_hand")]
        bounds.append(["M = " + name.split("/")[1], number(tape), number(hand), number(tape / hand)])
    return [
        table(["4×4 operation", "tape, ns", "arithmetic alone, ns", "the tape's own, ns"], small),
        table(["collapsed bound", "tape, µs", "by hand, µs", "ratio"], bounds),
    ]


def kernel_tables(runs):
    kernels = [n.removesuffix(" gram") for n in runs if n.endswith(" gram")]
    rows = [[k, number(runs[k + " gram"]), number(runs[k + " pullback"])] for k in kernels]
    exps = [[n.removeprefix("exp "), number(v)] for n, v in runs.items() if n.startswith("exp ")]
    return [
        table(["kernel, D = 8, N = 2000", "Gram, ns an entry", "pullback, ns an entry"], rows),
        table(["vector_exp, one thread", "ns an element"], exps),
    ]


def other_table(lines):
    rows = []
    for x in lines:
        if x["case"] == "csv":
            rows.append([f"CSV of {x['mb']:.0f} MB, read", f"{number(x['read_mb_per_s'])} MB/s"])
            rows.append([f"CSV of {x['mb']:.0f} MB, written", f"{number(x['write_mb_per_s'])} MB/s"])
        if x["case"] == "startup":
            rows.append([f"`{x['command']}`, start to end", f"{number(1e3 * x['seconds'])} ms"])
        if x["case"] == "predict":
            us, limit = 1e6 * x["seconds"], PREDICT_US[x["call"]]
            rows.append([f"one row, loaded model of N = {x['n']}: {x['call']}",
                         verdict(us, f"µs, at most {limit}", us <= limit)])
        if x["case"] == "stream":
            rows.append([f"`covary predict` of {x['rows']} rows, N = 200: time, peak memory",
                         f"{number(x['seconds'])} s, {number(x['peak_memory_mb'])} MB"])
    return table(["other", "measured"], rows)


def command_output(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_and_date():
    commit = command_output("git", "rev-parse", "--short=12", "HEAD") or "unknown"
    changed = command_output("git", "status", "--porcelain", "--", ":/", ":(exclude,top)docs/benchmarks*")
    return f"{datetime.date.today().isoformat()}, commit {commit}{' with uncommitted changes' if changed else ''}"


def machine_facts(results, threads, load):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = read_lines(results / "facts.jsonl")[0]
    return [
        f"- Machine: {cpu}, {threads} cores, {memory:.0f} GB; load average before the run {load}.",
        f"- BLAS: {facts['blas']}, core type {facts['core']}. Compiler: {facts['compiler']}, Release.",
        f"- Measured: {commit_and_date()}.",
    ]


def command_line():
    given = [f"{name}='{os.environ[name]}'" for name in ["PEERS", "QUICK", "SIZES", "ROUNDS"] if name in os.environ]
    return " ".join(["make bench", *given])


def replace_section(page, lines):
    """The page with this section in the place of the one of its name, or before the tape of autodiff."""
    begin = page.find(f"\n{lines[1]}\n")
    if begin < 0:
        begin = end = page.index("\n## The tape of ")
    else:
        end = page.index("\n## ", begin + 1)
    return page[:begin] + "\n".join(lines) + "\n" + page[end:]


def only_section(options):
    lines = {"gplvm": gplvm_section, "features": features_section}[options.only](options.results)
    if not lines:
        sys.exit(f"nothing was measured for {options.only}")
    lines += ["", f"Measured alone: `make bench ONLY={options.only}`, {commit_and_date()}."]
    options.out.write_text(replace_section(options.out.read_text(), lines))
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description="Tables from the results of scripts/bench.sh.")
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", default="?")
    parser.add_argument("--load", default="unknown")
    parser.add_argument("--elapsed", type=float, default=0.0)
    parser.add_argument("--only", choices=["gplvm", "features"])
    options = parser.parse_args()
    if options.only:
        only_section(options)
        return

    lines = read_lines(options.results / "exact.jsonl")
    peers = read_lines(options.results / "peers.jsonl")
    threads = max(x["threads"] for x in lines)
    main_table, notes = evidence_table(lines, peers, threads)
    names = [f"{name}_peers.jsonl" for name in ["sparse", "latent", "svgp", "nlpd", "gplvm"]]
    all_peers = peers + [x for name in names for x in read_lines(options.results / name)]
    versions = dict.fromkeys(f"{PEERS[x['peer']]} {x['version']}" for x in all_peers if "version" in x)

    page = ["# Benchmarks", "", "Written by `make bench`; not edited by hand.", ""]
    page += machine_facts(options.results, threads, options.load)
    page += [f"- Command: `{command_line()}`, {options.elapsed / 60:.1f} minutes."]
    page += [f"- Peers: {', '.join(versions)}."] if versions else []
    page += ["", "## Evidence with all gradients: SE-ARD, D = 8", ""]
    page += [
        f"Every program on {threads} threads, hot, at parameters that change between runs. *Ours* is"
        " `exact_log_evidence` with its gradient; the *limit*"
        "\nis LAPACK's `dpotrf` + `dpotri` of the same covariance matrix by threaded OpenBLAS, which computes no kernel"
        f" and no gradient.\nThe two take turns, a process each, rounds: {options.rounds}; seconds are the median over"
        " rounds of each round's median, ours / limit the\nmedian of the rounds' ratios. They agree in evidence and"
        " gradient to 1e-8. Peers run afterwards, on data drawn in the same way,\nand are checked against NumPy. Peak"
        " memory is the growth of the process's high-water mark over its state after a run on 200\nrows (threads"
        " started, BLAS's buffers made).",
        "",
        main_table,
    ]
    page += [""] + [f"- {note}" for note in notes] if notes else []
    if scaling := scaling_table(lines, threads):
        page += ["", "## Threads", "", scaling]
    page += sparse_section(options.results)
    page += latent_section(options.results)
    page += svgp_section(options.results)
    page += nlpd_section(options.results, options.out)
    page += gplvm_section(options.results)
    page += features_section(options.results)
    if tape := google_benchmark(options.results / "autodiff.json"):
        page += ["", "## The tape of `autodiff`, one thread", "", "\n\n".join(tape_tables(tape))]
    if kernels := google_benchmark(options.results / "kernels.json"):
        page += ["", f"## Kernels, {threads} threads", "", "\n\n".join(kernel_tables(kernels))]
    if other := read_lines(options.results / "other.jsonl"):
        page += ["", "## Files and start-up", "", other_table(other)]
    text = "\n".join(page) + "\n"
    options.out.write_text(text)
    print(text)
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
