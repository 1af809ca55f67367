"""The section 'Time to a test NLPD' of the page that bench/report.py writes, with its picture."""

import math

from tables import PEERS, number, read_lines, table

NAMES = {"ours": "Covary", **PEERS}
COLOURS = {"ours": "#0b5394", "gpflow": "#cc4125", "gpytorch": "#6aa84f"}
LEVELS = [2.0, 1.5, 1.2, 1.05]  # times the lowest NLPD that every program reached
WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 640, 360, 60, 48, 16


def time_to(points, level):
    """Seconds until the NLPD is first there, or None."""
    return next((seconds for seconds, nlpd in points if nlpd <= level), None)


def round_numbers(low, high):
    """1, 2 and 5 times powers of ten between the two."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]


def picture(lines):
    """Both axes by their logarithms."""
    points = [point for line in lines for point in line["points"]]
    spans = [(min(values) / 1.1, max(values) * 1.1) for values in zip(*points, strict=True)]

    def place(value, axis):
        low, high = map(math.log, spans[axis])
        share = (math.log(value) - low) / (high - low)
        return LEFT + share * (WIDTH - LEFT - EDGE) if axis == 0 else HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - EDGE)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
           ' font-size="12">', "<title>Test NLPD against seconds of training</title>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for axis in (0, 1):
        for value in round_numbers(*spans[axis]):
            at = place(value, axis)
            ends = (f'x1="{at:.1f}" y1="{EDGE}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}"' if axis == 0
                    else f'x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - EDGE}" y2="{at:.1f}"')
            label = (f'x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle"' if axis == 0
                     else f'x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end"')
            svg += [f'<line {ends} stroke="#ddd"/>', f"<text {label}>{value:g}</text>"]
    svg += [f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 10}" text-anchor="middle">seconds of training</text>',
            f'<text transform="translate(16 {(HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
            "test NLPD</text>"]
    for i, line in enumerate(lines):
        colour = COLOURS[line["program"]]
        path = " ".join(f"{place(s, 0):.1f},{place(v, 1):.1f}" for s, v in line["points"])
        svg += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
                f'<text x="{WIDTH - EDGE - 8}" y="{EDGE + 18 * (i + 1)}" text-anchor="end" fill="{colour}">'
                f'{NAMES[line["program"]]}</text>']
    return "\n".join([*svg, "</svg>"]) + "\n"


def level_row(level, lines):
    times = [time_to(line["points"], level) for line in lines]
    others = [t for t in times[1:] if t is not None]
    ratio = [number(min(others) / times[0]) if others else "–"] if len(lines) > 1 else []
    return [f"{level:.4f}", *(number(t) for t in times), *ratio]


def nlpd_section(results, page_path):
    """Lines of the page and the picture beside it, or none when nothing was measured."""
    found = read_lines(results / "nlpd.jsonl") + read_lines(results / "nlpd_peers.jsonl")
    lines = [x for x in found if x.get("points")]
    if not lines or lines[0]["program"] != "ours":
        return []
    image = page_path.with_name("benchmarks-nlpd.svg")
    image.write_text(picture(lines))
    lowest = max(min(nlpd for _, nlpd in line["points"]) for line in lines)
    ours = lines[0]
    header = ["test NLPD"] + [NAMES[x["program"]] + ", s" for x in lines]
    header += ["fastest peer / ours"] if len(lines) > 1 else []
    made = ", ".join(f"{NAMES[x['program']]} {x['steps']}" for x in lines)
    best = ", ".join(f"{NAMES[x['program']]} {min(nlpd for _, nlpd in x['points']):.4f}" for x in lines)
    return [
        "", "## Time to a test NLPD: USPS digits with and without loops", "",
        f"SVGP by minibatches of {ours['batch']} of {ours['rows']} rows, M = {ours['m']}, SE over 256 pixels, Bernoulli"
        f" likelihood, {ours['threads']} threads. All start from the same\nparameters and inducing inputs and take"
        " natural steps of 0.1 for q and Adam's of 0.02 for the rest. Seconds are those of training alone;\nrows of the"
        f" table are {', '.join(f'{level:g}' for level in LEVELS)} times the lowest NLPD that every program reached."
        f" Steps made: {made}. Lowest NLPD: {best}.", "",
        table(header, [level_row(level * lowest, lines) for level in LEVELS]), "",
        f"![Test NLPD against seconds of training]({image.name})",
        *[f"- {NAMES[x['program']]}: {x['skipped']}" for x in found if "skipped" in x],
    ]
