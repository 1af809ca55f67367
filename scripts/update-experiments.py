#!/usr/bin/env python3
"""Runs experiments and writes what they measured, with the commit, into docs/experiments/NAME.md and the index.

    scripts/update-experiments.py COVARY [NAME …]     all of them without names
    scripts/update-experiments.py COVARY NAME=FILE    what `experiment run NAME --json` wrote before

The table of a page is replaced by the rows that the command prints; the words around it stay. In docs/experiments.md
the count of claims follows; its main figures are chosen by hand, and those that the page no longer has are named.
A run without a result leaves its page as it is; one whose claims do not hold is shown with them.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

INDEX = Path(__file__).resolve().parent.parent / "docs" / "experiments.md"
PAGES = INDEX.with_suffix("")
HEADER = "| quantity | reported | measured | remark |\n|---|---|---|---|\n"


def cell(text):
    return text.replace("|", "\\|") + " " if text else ""


def table(rows):
    return HEADER + "".join(
        "| " + "| ".join(cell(row[key]) for key in ("quantity", "reported", "measured", "remark")) + "|\n" for row in rows)


def replaced(page, name, rows, commit):
    page, count = re.subn(re.escape(HEADER) + r"(?:\|.*\n)*", lambda _: table(rows), page, count=1)
    if count != 1:
        sys.exit(f"the page of {name} has no table to replace")
    return re.sub(r"Measured at commit \S+\.", f"Measured at commit {commit}.", page, count=1)


def verdict(page):
    kept, broken = page.count("| holds |\n"), page.count("| DOES NOT HOLD |\n")
    if not kept + broken:
        return "no claim"
    if broken:
        return f"{kept} of {kept + broken} hold"
    return f"all {kept} hold" if kept > 1 else "holds"


def indexed(index, name, page):
    row = re.search(rf"^\| \[`{name}`\].*$", index, re.M)
    if not row:
        sys.exit(f"{INDEX.name} has no row for {name}")
    *cells, _ = row[0].strip("| ").split(" | ")
    for number in re.findall(r"\d+\.\d+", " ".join(cells[2:])):
        if number not in page:
            print(f"{name}: {number} in {INDEX.name} is no longer on its page")
    return index.replace(row[0], "| " + " | ".join([*cells, verdict(page)]) + " |")


def main():
    covary, names = sys.argv[1], sys.argv[2:]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True).stdout.strip()
    for name in names or sorted(page.stem for page in PAGES.glob("*.md")):
        name, _, file = name.partition("=")
        if file:
            result = Path(file).read_text()
        else:
            run = subprocess.run([covary, "experiment", "run", name, "--json", "--quiet"], capture_output=True, text=True)
            result = run.stdout
            if run.returncode:
                print(f"{name}: {run.stderr.strip() or 'a claim did not hold'}", flush=True)
        if not result:
            continue
        file = PAGES / f"{name}.md"
        page = replaced(file.read_text(), name, json.loads(result)["rows"], commit)
        file.write_text(page)
        INDEX.write_text(indexed(INDEX.read_text(), name, page))
        print(f"{name}: {commit}", flush=True)


if __name__ == "__main__":
    main()
