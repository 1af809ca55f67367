"""What the pages of measurements are written with."""

import json

PEERS = {"scikit-learn": "scikit-learn", "gpy": "GPy", "gpflow": "GPflow", "gpytorch": "GPyTorch"}


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def number(value, digits=3):
    """Three significant digits, never in scientific notation."""
    if value is None:
        return "–"
    decimals = max(0, digits - len(str(int(abs(value))))) if abs(value) >= 1 else digits + (value < 0.1) + (value < 0.01)
    return f"{value:.{decimals}f}"


def verdict(value, bound, ok):
    return f"{number(value)} ({bound}: {'met' if ok else '**not met**'})"


def at_most(value, limit):
    return verdict(value, f"≤ {limit:g}", value <= limit)


def at_least(value, limit):
    return verdict(value, f"≥ {limit:g}", value >= limit)


def table(header, rows):
    """Markdown whose columns are aligned, so that it reads as plain text too."""
    cells = [[str(c) for c in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)
