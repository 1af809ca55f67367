"""Runs the blocks of docs/tutorial.md, in order, in a scratch folder: run.py COVARY LIBRARY_FOLDER PYTHON

Shell blocks run with the built `covary` on the path; a line that ends in `# exit 2` must end so. The C++ blocks make one
program, which is compiled against the build in LIBRARY_FOLDER and run after the shell blocks, whose files it reads. So do
the Python blocks, by the interpreter PYTHON if it has the package; otherwise that is said, and nothing else is left out.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

COVARY, LIBRARY, PYTHON = (os.path.abspath(p) for p in sys.argv[1:4])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"
ENVIRONMENT = {**os.environ, "PATH": f"{os.path.dirname(COVARY)}:{os.environ['PATH']}"}


def blocks(language):
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)


def run(what, command, folder, status=0, **more):
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, **more)
    if done.returncode != status:
        sys.exit(f"{what}\nended with {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_shell(folder):
    count = 0
    for block in blocks("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            status = int((re.findall(r"# exit (\d)$", line) or ["0"])[0])
            run(line, ["bash", "-o", "pipefail", "-c", line], folder, status)
            count += 1
    return count


def run_cpp(folder):
    text = "\n".join(blocks("c++"))
    includes = "\n".join(re.findall(r"^#include .*$", text, flags=re.M))
    body = re.sub(r"^#include .*$", "", text, flags=re.M)
    pathlib.Path(folder, "tutorial.cpp").write_text(
        f"{includes}\nusing namespace covary;\nint main() {{\n{body}\nreturn 0;\n}}\n")
    flags = run("pkg-config", ["pkg-config", "--cflags", "--libs", f"--define-variable=libdir={LIBRARY}",
                               f"--define-variable=includedir={ROOT}/include", f"{LIBRARY}/covary.pc"], folder)
    run("the C++ blocks", [os.environ.get("CXX", "c++"), "-std=c++20", "tutorial.cpp", *flags.split(), "-o", "tutorial"],
        folder)
    run("the C++ program", ["./tutorial"], folder)
    return len(blocks("c++"))


def run_python(folder):
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import covary"], capture_output=True).returncode:
        return "no (the package is not installed)"
    run("the Python blocks", [PYTHON, "-c", "\n".join(blocks("python"))], folder)
    return len(blocks("python"))


with tempfile.TemporaryDirectory() as scratch:
    print(f"shell lines: {run_shell(scratch)}, C++ blocks: {run_cpp(scratch)}, Python blocks: {run_python(scratch)}")
