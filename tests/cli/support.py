"""What the tests of the command line share. The program is the first argument of every test."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

COVARY = os.path.abspath(sys.argv.pop(1))


def covary(*args, **more):
    return subprocess.run([COVARY, *args], capture_output=True, text=True, timeout=120, **more)


def no_nan(constant):
    raise ValueError(f"{constant} in JSON")


class CommandLine(unittest.TestCase):
    """A scratch folder with the files of `covary example`."""

    example = "curve"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = lambda name: os.path.join(self.folder.name, name)
        covary("example", self.example, self.folder.name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def json_of(self, *args, status=0):
        run = covary(*args, "--json")
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        return self.object_in(run.stdout)

    def object_in(self, text):
        lines = text.strip().splitlines()
        self.assertEqual(len(lines), 1, "exactly one object")
        return json.loads(lines[0], parse_constant=no_nan)

    def fitted(self, *more, out="m.cov"):
        """The path of a model of train.csv."""
        self.json_of("fit", self.path("train.csv"), "--target", "y", "--out", self.path(out), *more)
        return self.path(out)

    def refused(self, *args, status=2, says=()):
        """The call fails with the status and one line that says these words."""
        run = covary(*args)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        notes, found, error = ("\n" + run.stderr).partition("\ncovary: ")  # notes on how the table was read come before
        self.assertTrue(found and "error" not in notes, run.stderr)
        for words in says:
            self.assertIn(words, found + error)
