#!/usr/bin/env python3
"""Runs experiments and writes what they measured, with the commit, into docs/experiments.md.

    scripts/update-experiments.py COVARY [NAME …]     all of them without names
    scripts/update-experiments.py COVARY NAME=FILE    what `experiment run NAME --json` wrote before

The table of a section is replaced by the rows that the command prints; the words around it stay. A run without a
result leaves its section as it is; one whose claims do not hold is shown with them.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "experiments.md"
HEADER = "| quantity | reported | measured | remark |\n|---|---|---|---|\n"


def cell(text):
    return text.replace("|", "\\|") + " " if text else ""


def table(rows):
    return HEADER + "".join(
        "| " + "| ".join(cell(row[key]) for key in ("quantity", "reported", "measured", "remark")) + "|\n" for row in rows)


def replaced(page, name, rows, commit):
    begin = page.index(f"\n## {name}\n")
    end = page.find("\n## ", begin + 1)
    section = page[begin:end if end > 0 else len(page)]
    new, count = re.subn(re.escape(HEADER) + r"(?:\|.*\n)*", lambda _: table(rows), section, count=1)
    if count != 1:
        sys.exit(f"the section {name} has no table to replace")
    page = page.replace(section, new)
    return re.sub(rf"(\| \[`{name}`\].*\| )\S[^|]*( \|\n)", rf"\g<1>{commit}\g<2>", page)


def main():
    covary, names = sys.argv[1], sys.argv[2:]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True).stdout.strip()
    for name in names or re.findall(r"^## (\S+)$", PAGE.read_text(), re.M):
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
        PAGE.write_text(replaced(PAGE.read_text(), name, json.loads(result)["rows"], commit))
        print(f"{name}: {commit}", flush=True)


if __name__ == "__main__":
    main()
