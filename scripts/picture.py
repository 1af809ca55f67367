#!/usr/bin/env python3
"""Writes docs/pictures/fit.svg, the picture of a fit in README.md: the first figure of a report, on its own.

    scripts/picture.py COVARY

The data are the first rows of `covary example curve` without those between 3.2 and 4.6, so that the band opens there.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "fit.svg"
COMMANDS = """set -e
{covary} example curve .
awk -F, 'NR == 1 || (NR <= 90 && ($1 < 3.2 || $1 > 4.6))' train.csv > gap.csv
{covary} fit gap.csv --target y --kernel se --out model.cov
{covary} report model.cov --out report.html
"""
LEGEND = [(60, "dots data", "data"), (150, "line mean", "mean"), (245, "band function", "95 % band of f"),
          (390, "band outcome", "95 % band of a new y"), (570, "line draw", "draws of f")]


def legend(y):
    for x, kind, words in LEGEND:
        mark = (f"M{x} {y - 5}h22v10h-22z" if kind.startswith("band") else f"M{x + 11} {y}h0" if kind.startswith("dots")
                else f"M{x} {y}h22")
        yield f'<path class="{kind}" d="{mark}"/><text class="tick" x="{x + 28}" y="{y}">{words}</text>'


def main():
    with tempfile.TemporaryDirectory() as folder:
        covary = str(Path(sys.argv[1]).resolve())
        subprocess.run(["bash", "-c", COMMANDS.format(covary=covary)], cwd=folder, check=True, capture_output=True)
        page = (Path(folder) / "report.html").read_text()
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    rules = [rule for rule in re.findall(r"[^{}\n][^{}]*\{[^{}]*\}", re.sub(r"@media.*?\}\s*\}", "", style, flags=re.S))
             if re.match(r":root|svg text|\.grid|\.frame|\.data|\.draw|path\.(line|band|dots)", rule)]
    dark = re.search(r"@media screen and \(prefers-color-scheme:dark\)\{.*?\}\}", style, re.S)[0]
    figure = re.search(r'<figure class="wide">.*?</figure>', page, re.S)[0]
    figure = re.search(r'(<svg viewBox="0 0 (\d+) (\d+)".*</svg>)', figure, re.S)
    svg, width, height = figure[1], int(figure[2]), int(figure[3])
    size = f'viewBox="0 0 {width} {height + 26}" width="{width}" height="{height + 26}"'
    svg = svg.replace(f'<svg viewBox="0 0 {width} {height}"', f'<svg xmlns="http://www.w3.org/2000/svg" {size}', 1)
    svg = svg.replace("<title", "<!-- written by scripts/picture.py -->\n<style>" + "\n".join([*rules, dark]) +
                      "\nsvg{background:var(--paper);font-family:system-ui,sans-serif}</style>\n<title", 1)
    svg = svg[:-len("</svg>")] + "".join(legend(height + 10)) + "</svg>\n"
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(svg)
    print(f"{PICTURE.name}: {len(svg.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
