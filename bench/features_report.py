"""The section 'Structured inducing variables' of the page that bench/report.py writes."""

import statistics

from tables import at_least, at_most, number, read_lines, table

FOURIER_JUDGED = (1000000, 1000)  # (N, M) for which the ratio is asked; an even M is taken one lower
FOURIER_RATIO = 200.0  # inducing points ≥ so many × an evaluation
KINDS = ["stacked(eigen)", "points", "stacked(points)", "stacked(eigen)/diagonal"]
# Seconds of a step with eigenfunctions and with points, M a column: minutes of 1000 steps there.
THESIS = {60: (0.1752, 0.2664), 90: (0.3342, 0.5244), 120: (0.5244, 0.9396)}
THESIS_SHARE, THESIS_BATCH = 5.0, 500


def fourier_row(case, lines):
    rounds = [x for x in lines if (x["n"], x["m"]) == case]
    judged = case[0] == FOURIER_JUDGED[0] and abs(case[1] - FOURIER_JUDGED[1]) <= 1
    ratio = statistics.median(x["points_seconds"] / x["seconds"] for x in rounds)
    median = {k: statistics.median(x[k] for x in rounds) for k in ["pass_seconds", "seconds", "points_seconds"]}
    return ["N = {}, M = {}".format(*case), number(median["pass_seconds"]), number(1e3 * median["seconds"]),
            number(median["points_seconds"]), at_least(ratio, FOURIER_RATIO) if judged else number(ratio),
            f"{rounds[0]['value']:.0f}", f"{rounds[0]['points_value']:.0f}"]


def svgp_row(m, lines):
    seconds, inducing = {}, {}
    for kind in KINDS:
        rounds = [x for x in lines if (x["m"], x["kind"]) == (m, kind)]
        seconds[kind] = statistics.median(x["seconds"] for x in rounds)
        inducing[kind] = rounds[0]["inducing"]
    eigen, points, stacked, diagonal = (seconds[kind] for kind in KINDS)
    batch = lines[0]["batch"]
    judged = m in THESIS and batch == THESIS_BATCH
    own, others = THESIS.get(m, (0, 0))
    ms, ratio = 1e3 * eigen, points / eigen
    return [f"M = {m} a column, batch {batch}", at_most(ms, 1e3 * own / THESIS_SHARE) if judged else number(ms),
            number(1e3 * points), at_least(ratio, others / own) if judged else number(ratio),
            f"{1e3 * stacked:.3g} ({inducing['stacked(points)']} of them)", number(stacked / eigen), number(1e3 * diagonal)]


def svgp_lines(lines):
    if not lines:
        return []
    header = ["case", "eigen, ms", "points, ms", "points / eigen", "stacked points, ms", "stacked points / eigen",
              "eigen, diagonal S, ms"]
    sizes = dict.fromkeys(x["m"] for x in lines)
    return [
        "", "A step of an SVGP of a sum of SE over eight columns, Bernoulli (`features_bench svgp KIND M BATCH`): the bound of"
        " a batch with all\ngradients, the natural-gradient step of q and Adam's step of the rest. Eigenfunctions, M for each"
        " column, beside 8M inducing points\nwhose Kuu is dense, and beside points of each column, whose Kuu has blocks. Asked:"
        " the ratios of Burt (2018), 4.44/2.92, 8.74/5.57\nand 15.66/8.74, and a fifth of the times there.", "",
        table(header, [svgp_row(m, lines) for m in sizes]),
    ]


def features_section(results):
    """Lines of the page, or none when nothing was measured."""
    lines = read_lines(results / "features.jsonl")
    fourier = [x for x in lines if x["case"] == "fourier"]
    if not fourier:
        return []
    cases = dict.fromkeys((x["n"], x["m"]) for x in fourier)
    header = ["case", "one pass, s", "evaluation, ms", "points, s", "points / evaluation", "bound", "bound of points"]
    return [
        "", "## Structured inducing variables", "",
        f"Fourier features, one column, Matérn 3/2, VFE, {fourier[0]['threads']} threads (`features_bench fourier N M`):"
        " one pass over the rows, then the\nbound with its gradient at parameters that change between runs, beside one"
        " evaluation of as many inducing points on a grid over the data.", "",
        table(header, [fourier_row(case, fourier) for case in cases]),
    ] + svgp_lines([x for x in lines if x["case"] == "svgp"])
