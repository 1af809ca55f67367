"""The toy model passes the conformance suite of models: its line is all that it takes."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

import model_lines  # noqa: E402

model_lines.LINES["mean_only"] = "rows.csv --model mean_only --target y --inputs t,u"

from conformance import EveryModel  # noqa: E402
from conformance_test import BadTables, Fits  # noqa: E402, F401
from conformance_verbs_test import Abilities, Verbs  # noqa: E402, F401
from options_test import Options  # noqa: E402

EveryModel.tried = Options.tried = {"mean_only"}

if __name__ == "__main__":
    unittest.main()
