"""The table of docs/models.md, made of `covary models --json`.

scripts/models_table.py build/release/bin/covary writes it into the page; check_docs.py checks that it is current.
"""

import json
import pathlib
import subprocess
import sys

BEGIN, END = "<!-- made by scripts/models_table.py -->", "<!-- end -->"


def made(covary):
    models = json.loads(subprocess.run([covary, "models", "--json"], capture_output=True, text=True, check=True).stdout)["models"]
    lines = ["| model | what it is | use it for | time of an evaluation | memory |", "|---|---|---|---|---|"]
    for m in models:
        name = m["label"].replace(m["written"], f"`{m['written']}`", 1) + "".join(f" (= `{a}`)" for a in m["aliases"])
        lines.append(f"| [{name}]({m['page']}) | {m['sentence']} | {m['use']} | {m['time']} | {m['memory']} |")
    abilities = []
    for m in models:
        abilities += [a for a in m["capabilities"] if a not in abilities]
    lines += ["", "| can | models |", "|---|---|"]
    for a in abilities:
        with_it = [f"`{m['label']}`" if m["label"] == m["written"] else f"`{m['written']}`{m['label'][len(m['written']):]}"
                   for m in models if a in m["capabilities"]]
        lines.append(f"| {a} | {', '.join(with_it)} |")
    return "\n".join(lines)


def current(text):
    return text.partition(BEGIN)[2].partition(END)[0].strip()


if __name__ == "__main__":
    page = pathlib.Path("docs/models.md")
    text = page.read_text()
    page.write_text(text.partition(BEGIN)[0] + BEGIN + "\n\n" + made(sys.argv[1]) + "\n\n" + END
                    + text.partition(END)[2])
