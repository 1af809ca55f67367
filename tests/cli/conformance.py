"""What the conformance tests share: a fit of every model of the table, made once."""

import functools
import json
import os
import tempfile

from model_lines import LINES, VARIANTS, merged, without, write_tables
from support import CommandLine, covary, no_nan


CALLS = LINES | VARIANTS


def for_every(lines):
    """Makes a test of one fit that of each of these lines: test(self, label, its entry in the table, its fit)."""
    def of_each(test):
        @functools.wraps(test)
        def all_of_them(self):
            for label in filter(self.tried.__contains__, lines):
                with self.subTest(label):
                    status, fit = self.fit(label)
                    self.assertEqual(status, 0, fit)
                    test(self, label, self.models[label.split(", ")[0]], fit)
        return all_of_them
    return of_each


for_every_model, for_every_way = for_every(LINES), for_every(CALLS)


def timeless(fit):
    """What a fit says of itself, but for times, files and the forecast of memory, which goes by threads."""
    if isinstance(fit, dict):
        return {k: timeless(v) for k, v in fit.items() if k not in ("seconds", "file", "cost")}
    return [timeless(v) for v in fit] if isinstance(fit, list) else fit


def numbers_in(value):
    """All numbers of an object, and None for what is not finite."""
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)
    elif value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def columns_of(fit):
    """What a table to predict has: the inputs, or the outputs of a model without inputs."""
    return fit.get("inputs") or fit["outputs"]


class EveryModel(CommandLine):
    tried = CALLS

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.home = scratch.name
        write_tables(cls.home)
        cls.models = {m["label"]: m for m in json.loads(covary("models", "--json").stdout)["models"]}
        cls.fits = {}

    def setUp(self):
        self.path = lambda name: os.path.join(self.home, name)

    def test_the_lines_are_those_of_the_table(self):
        self.assertEqual(set(LINES), set(self.models), "each model of the table has a line in model_lines.py")

    @staticmethod
    def call_of(label, more=()):
        """The arguments of fit: a table that is given in `more` goes before that of the line."""
        table, *call = CALLS[label].split()
        if more and not more[0].startswith("-"):
            table, *more = more
        if "--lags" in more:  # the inputs are the past of the targets
            call = without(call, ("--inputs",))
        return [table, *merged(call, more)]

    def fit(self, label, *more):
        """Status and object of a fit, which is made once."""
        if (label, more) not in self.fits:
            file = f"{len(self.fits)}.cov"
            run = covary("fit", *self.call_of(label, more), "--out", file, "--json", cwd=self.home)
            self.fits[label, more] = run.returncode, self.object_in(run.stdout)
        return self.fits[label, more]

    def file_of(self, label, *more):
        status, fit = self.fit(label, *more)
        self.assertEqual(status, 0, fit)
        return fit["file"]

    def run_json(self, *args, status=0):
        """The one object that a call prints."""
        run = covary(*args, "--json", cwd=self.home)
        self.assertEqual(run.returncode, status, f"{' '.join(args)}\n{run.stderr}{run.stdout[:1000]}")
        return self.object_in(run.stdout)

    def refusal(self, *args, says=()):
        """The error of a call that is wrong."""
        answer = self.run_json(*args, status=2)
        self.assertEqual(set(answer), {"error", "kind"})
        for words in says:
            self.assertIn(words, answer["error"], " ".join(args))
        return answer["error"]

    def predicted(self, file, table="rows.csv", *more):
        return {k: v for k, v in self.run_json("predict", file, table, *more).items() if k != "file"}

    def assert_finite(self, value):
        self.assertTrue(all(v is not None for v in numbers_in(value)), str(value)[:1000])

    def made_of(self, name, text):
        """The name of a table in the folder of the test."""
        self.write(name, text)
        return name
