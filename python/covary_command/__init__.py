"""The command `covary` of the Python package: becomes the program beside the extension, without importing either."""

import os
import sys
from importlib.util import find_spec


def main() -> None:
    folder = find_spec("covary").submodule_search_locations[0]
    os.execv(os.path.join(folder, "covary"), ["covary", *sys.argv[1:]])
