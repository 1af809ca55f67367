"""Every experiment in its small form, in a clone without data sets; the quick ones whole."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import COVARY, CommandLine

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


class Experiments(CommandLine):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run([COVARY, "experiment", "list", "--json"], capture_output=True, text=True, check=True)
        cls.all = json.loads(listed.stdout)["experiments"]

    # A folder from which neither ./data nor ../shared/data is there.
    def setUp(self):
        super().setUp()
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.bare = os.path.join(self.scratch.name, "within", "empty")
        os.makedirs(self.bare)

    def run_bare(self, *args):
        return subprocess.run([COVARY, "experiment", "run", *args], capture_output=True, text=True, check=False,
                              cwd=self.bare, env={**os.environ, "COVARY_DATA": self.bare})

    def result_of(self, *args):
        run = self.run_bare(*args, "--json")
        self.assertEqual(run.returncode, 0, run.stderr[-1000:])
        return json.loads(run.stdout)

    def test_the_small_form_runs_everywhere(self):
        with ThreadPoolExecutor(2) as two:  # numbers do not depend on threads
            runs = two.map(lambda e: self.run_bare(e["name"], "--small", "--threads", "1"), self.all)
        for e, run in zip(self.all, runs):
            with self.subTest(experiment=e["name"]):
                self.assertEqual(run.returncode, 0, run.stderr[-1000:])
                head, *rows, form = run.stdout.splitlines()
                self.assertTrue(head.startswith(e["name"]))
                self.assertGreater(len(rows), 2)  # the heads of the columns too
                self.assertIn("small form", form)
                self.assertIsNone(re.search(r"\bnan\b", run.stdout, re.I), run.stdout)
                self.assertNotRegex(run.stdout, r"  (holds|DOES NOT HOLD)\n")
                self.assertEqual(bool(e["data"]), "generated numbers take its place" in run.stderr)

    def test_every_data_set_says_where_it_comes_from(self):
        listed = subprocess.run([COVARY, "experiment", "data", "--json"], capture_output=True, text=True, check=True)
        told = {d["name"]: d for d in json.loads(listed.stdout)["data"]}
        self.assertEqual(set(told), {name for e in self.all for name in e["data"]})
        for d in told.values():
            self.assertTrue(d["from"] and d["columns"])
            self.assertTrue(all(f.startswith(d["name"] + "/") for f in d["files"].split(", ")))
        one = subprocess.run([COVARY, "experiment", "data", "usps"], capture_output=True, text=True, check=True,
                             cwd=self.bare, env={**os.environ, "COVARY_DATA": self.bare}).stdout
        self.assertIn("usps/train.csv.gz is missing", one)
        self.assertIn("from hastie", one)
        none = subprocess.run([COVARY, "experiment", "data", "usp"], capture_output=True, text=True)
        self.assertEqual(none.returncode, 2)
        self.assertIn("usps", none.stderr)

    def test_rows_are_saved_as_they_come(self):
        file = os.path.join(self.bare, "rows.jsonl")
        rows = self.result_of("factor-graph", "--save", file)["rows"]
        self.assertEqual([json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()], rows)

    def test_documents_have_names(self):
        for e in self.all:
            self.assertNotRegex(e["what"], r"\b00\d\b")
        self.assertIn("Gaussian Processes for Time Series", self.result_of("factor-graph")["source"])

    def test_what_needs_no_data_and_is_quick_holds(self):
        for e in self.all:
            if e["data"] or e["long"]:
                continue
            with self.subTest(experiment=e["name"]):
                result = self.result_of(e["name"])
                self.assertTrue(result["holds"])
                self.assertTrue(result["rows"])

    def test_every_experiment_has_its_page_and_its_row(self):
        names = sorted(e["name"] for e in self.all)
        self.assertEqual(names, sorted(page.stem for page in (DOCS / "experiments").glob("*.md")))
        index = (DOCS / "experiments.md").read_text(encoding="utf-8")
        self.assertEqual(names, sorted(re.findall(r"^\| \[`([a-z0-9-]+)`\]\(experiments/\1\.md\)", index, re.M)))

    def test_the_small_form_takes_the_other_settings(self):
        one = self.result_of("mrd-toy", "--small")
        self.assertEqual((one["small"], one["holds"]), (True, None))
        two = self.result_of("mrd-toy", "--small", "--repeats", "2")
        self.assertGreater(len(two["rows"]), len(one["rows"]))
        other = self.result_of("mrd-toy", "--small", "--seed", "1")
        self.assertNotEqual(one["rows"], other["rows"])
        refused = self.run_bare("factor-graph", "--small", "--repeats", "2")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--repeats", refused.stderr)

    def test_a_checkpoint_of_the_small_form_is_its_own(self):
        kept = ("mrd-toy", "--repeats", "1", "--checkpoint", self.path("kept.json"), "--resume")
        one = self.result_of(*kept, "--small")
        again = self.run_bare(*kept, "--small")
        self.assertIn("from the checkpoint", again.stderr)
        self.assertIn(one["rows"][0]["remark"], again.stdout)
        whole = self.run_bare(*kept)
        self.assertEqual(whole.returncode, 2)
        self.assertIn("another run", whole.stderr)


if __name__ == "__main__":
    unittest.main()
