"""Checks the documentation; see check-docs.sh. Standard library only.

In ```sh blocks the lines that begin with `covary` are run, in one scratch folder for each page that holds the files of
`covary example curve`. A line may end in `# exit 2` for the status it should have. A ```text block that follows is what
they print: the same words, numbers to 1 %, what training cost aside, and `…` on a line of its own for anything.
In ```kernel blocks each line is an expression; in docs/kernels.md so is inline code that begins with a kernel's name.
```cpp blocks are compiled, not linked, each as the body of a function.
The grammar must be that of the parser's header, every option of --help must be described, and the table of models must
be the one that `covary models` prints.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from models_table import current, made

ROOT = pathlib.Path.cwd()
COVARY = pathlib.Path(sys.argv[1]).resolve()
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FOLDERS = "include/covary|src|docs|scripts|tests|bench|examples|apps|cmake|experiments"
KERNELS = "se|rbf|matern12|matern32|matern52|rq|periodic|cosine|linear|poly|constant|white|additive"
ENVIRONMENT = {**os.environ, "PATH": f"{COVARY.parent}:{os.environ['PATH']}"}

counts, failures = {}, []


def check(kind, page, what, good, why=""):
    counts[kind] = counts.get(kind, 0) + 1
    if not good:
        failures.append(f"{page.relative_to(ROOT)}: {what}" + (f": {why}" if why else ""))


def blocks(text):
    """(language, content, line number of its end) of each fenced block."""
    lines, language = text.split("\n"), None
    for number, line in enumerate(lines):
        if line.startswith("```"):
            if language is None:
                language, first = line[3:].strip(), number + 1
            else:
                yield language, "\n".join(lines[first:number]), number
                language = None


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def slug(heading):
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower())
    return kept.strip().replace(" ", "-")


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        check("links", page, target, file.exists(), "there is no such file")
        if anchor and file.exists():
            headings = re.findall(r"^#+ (.*)$", without_blocks(file.read_text()), flags=re.M)
            check("links", page, target, anchor in map(slug, headings), "there is no such heading")


def check_files(page, text):
    outside_links = re.sub(r"\]\([^)\s]+\)", "]", text)
    for name in re.findall(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./*-]*[\w*]", outside_links):
        found = any(ROOT.glob(name)) if "*" in name else (ROOT / name).exists()
        check("files", page, name, found, "there is no such file")
    for name in re.findall(r'#include "(covary/[\w/.]+)"', text):
        check("files", page, name, (ROOT / "include" / name).exists(), "there is no such header")


def run(line, folder, limit=300):
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=limit)


def same_output(expected, printed):
    """Word by word; a mismatch is returned as a sentence."""
    def words(text):
        text = re.sub(r" after \d+ iterations, .*", "", text)
        return re.findall(r"[A-Za-z_]\w*|[-+]?\d+\.?\d*(?:e[-+]?\d+)?|\S", text)

    rest, at_start = words(printed), True
    for part in re.split(r"^…$", expected, flags=re.M):
        wanted = words(part)
        places = range(1 if at_start else len(rest) - len(wanted) + 1)
        place = next((p for p in places if len(rest) >= p + len(wanted)
                      and all(map(same_word, wanted, rest[p:]))), None)
        if place is None:
            return f"printed\n{printed}"
        rest, at_start = rest[place + len(wanted):], False
    return "" if not rest or expected.rstrip().endswith("…") else f"printed more\n{printed}"


def same_word(wanted, printed):
    if wanted == printed:
        return True
    try:
        a, b = float(wanted), float(printed)
    except ValueError:
        return False
    return abs(a - b) <= 0.01 * max(abs(a), abs(b)) or max(abs(a), abs(b)) < 1e-4


def check_commands(page, text, folder):
    run("covary example curve .", folder)
    lines = text.split("\n")
    for language, content, end in blocks(text):
        if language != "sh":
            continue
        printed = ""
        for line in content.replace("\\\n", " ").split("\n"):
            if not line.startswith(("covary ", "printf ")):
                continue
            status = int((re.findall(r"# exit (\d)$", line) or ["0"])[0])
            done = run(line, folder)
            printed += done.stdout + (done.stderr if status else "")
            check("commands", page, line, done.returncode == status,
                  f"exit status {done.returncode}, {done.stderr.strip()}")
        if lines[end + 1:end + 3] == ["", "```text"]:
            stop = lines.index("```", end + 3)
            why = same_output("\n".join(lines[end + 3:stop]), printed)
            check("outputs", page, content.split("\n")[0], not why, why)


def check_kernels(page, text, folder):
    found = [line.split("#")[0].strip() for language, content, _ in blocks(text)
             if language == "kernel" for line in content.split("\n")]
    if page.name == "kernels.md":
        spans = re.findall(r"`([^`\n]+)`", without_blocks(text))
        found += [s for s in spans if re.match(rf"(?:\d+ \*|\(|(?:{KERNELS})\b)", s)
                  and s not in ("poly", "additive")]
    run("covary example friedman kernels && head -20 kernels/train.csv > kernels.csv", folder)
    for expression in filter(None, found):
        settings = "--target y --max-iter 0 --quiet" + (" --inputs 0:2" if "lengthscales=" in expression else "")
        done = run(f"covary fit kernels.csv {settings} --kernel '{expression}'", folder)
        check("kernels", page, expression, done.returncode == 0, done.stderr.strip())


def check_grammar():
    page = ROOT / "docs/kernels.md"
    header = (ROOT / "include/covary/kernels/expression.hpp").read_text()
    for rule in re.findall(r"^//   (\w+ += .*;)$", header, flags=re.M):
        check("grammar rules", page, rule, rule in page.read_text(), "the header says so")


def check_options():
    page = ROOT / "docs/command-line.md"
    verbs = re.findall(r"^  (\w+) ", run("covary --help", ROOT).stdout.partition("Subcommands:")[2], flags=re.M)
    for verb in (v for v in verbs if v != "covary"):
        section = re.findall(rf"^## {verb}\n(.*?)^## ", page.read_text(), flags=re.M | re.S)
        if verb == "compare":  # whose options are those of fit
            section += re.findall(r"^## fit\n(.*?)^## ", page.read_text(), flags=re.M | re.S)
        options = re.findall(r"^  (--[\w-]+)", run(f"covary {verb} --help", ROOT).stdout, flags=re.M)
        shared = page.read_text().partition("\n## ")[0]
        for option in options:
            check("options", page, f"{verb} {option}", f"`{option}" in shared + "".join(section), "not described")


def check_models():
    page = ROOT / "docs/models.md"
    check("tables of models", page, "the table of models", current(page.read_text()) == made(COVARY),
          "run scripts/models_table.py")


def check_snippets():
    source = ["#include <optional>", '#include "covary/models/regression.hpp"']
    bodies = []
    for page in PAGES:
        for number, (language, content, _) in enumerate(blocks(page.read_text())):
            if language != "cpp":
                continue
            source += re.findall(r"^#include .*$", content, flags=re.M)
            body = re.sub(r"^#include .*$", "", content, flags=re.M)
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT)))
            bodies.append(f'#line 1 "{page.relative_to(ROOT)}, block {number}"\n[[maybe_unused]] void '
                          f"{name}_{number}(RowMatrix X, RowMatrix Y, RowMatrix Xnew, RowMatrix Ynew) {{\n{body}\n}}")
            counts["snippets"] = counts.get("snippets", 0) + 1
    source += ["using namespace covary;", *bodies]
    flags = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True).stdout.split()
    done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Iinclude", *flags, "-x", "c++", "-"],
                          input="\n".join(source), capture_output=True, text=True)
    if done.returncode:
        failures.append("C++ snippets do not compile:\n" + done.stderr[:4000])


for page in PAGES:
    text = page.read_text()
    check_links(page, text)
    check_files(page, text)
    with tempfile.TemporaryDirectory() as folder:
        check_commands(page, text, folder)
        check_kernels(page, text, folder)
check_grammar()
check_options()
check_models()
check_snippets()

for failure in failures:
    print("FAILED", failure)
print(f"{len(PAGES)} pages: " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
      + f"; {len(failures)} failures")
sys.exit(1 if failures else 0)
