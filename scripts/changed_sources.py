#!/usr/bin/env python3
"""Prints the C++ sources that a change since a revision touches: those changed, and those that include a changed header.

    scripts/changed_sources.py REVISION FILE...

Where .clang-tidy has changed they are all.
"""
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = [Path(p) for p in ("include", "src", "experiments", "apps/covary")]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def included(file):
    """The headers of ours that a file names; the compiler looks beside the file first."""
    for name in INCLUDE.findall(file.read_text()):
        yield from (h for h in (folder / name for folder in [file.parent, *FOLDERS]) if h.is_file())


def reaches(file, changed, seen):
    if file in changed:
        return True
    if file in seen:
        return False
    seen.add(file)
    return any(reaches(header, changed, seen) for header in included(file))


def main():
    revision, *files = sys.argv[1:]
    names = subprocess.run(["git", "diff", "--name-only", revision, "--"], capture_output=True, text=True)
    if names.returncode:
        sys.exit(f"{names.stderr.strip()}\nSINCE takes a revision, for example SINCE=HEAD~1")
    changed = {Path(name) for name in names.stdout.splitlines()}
    for file in files:
        if Path(".clang-tidy") in changed or reaches(Path(file), changed, set()):
            print(file)


if __name__ == "__main__":
    main()
