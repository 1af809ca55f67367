"""Help, version, doctor, suggestions for what does not exist, and outputs that cannot be written."""

import os
import re
import resource
import shlex
import subprocess
import unittest

from support import COVARY, CommandLine, covary


def verbs():
    return re.findall(r"^  (\w+) ", covary("--help").stdout.partition("Subcommands:")[2], flags=re.M)


class Help(CommandLine):
    def test_the_example_of_every_verb_runs(self):
        folder = self.folder.name
        covary("fit", "train.csv", "--target", "y", "--out", "model.cov", cwd=folder)
        covary("fit", "train.csv", "--model", "gplvm", "--latent", "2", "--max-iter", "5", "--restarts", "1", "--out",
               "latent.cov", cwd=folder)
        os.link(self.path("grid.csv"), self.path("new.csv"))
        self.assertGreaterEqual(set(verbs()), set("fit predict evaluate sample update compress compare show report explore "
                                                  "example models experiment doctor".split()))
        for verb in verbs():
            examples = covary(verb, "--help").stdout.partition("Example:")[2].strip().splitlines()
            self.assertTrue(examples, verb)
            for line in examples:
                with self.subTest(example=line):
                    program, *args = shlex.split(line)
                    self.assertEqual(program, "covary")
                    run = covary(*args, cwd=folder)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertTrue(run.stdout)

    def test_version_tells_how_it_was_built(self):
        text = covary("--version").stdout
        for words in ("covary 0.", "gcc", "OpenBLAS", "SIMD"):
            self.assertIn(words, text)

    def test_doctor(self):
        facts = self.json_of("doctor", "--threads", "2")
        self.assertEqual(facts["threads"], 2)
        for asked, used in ((), 3), (("--threads", "2"), 2):
            run = covary("doctor", "--json", *asked, env={**os.environ, "COVARY_NUM_THREADS": "3"})
            self.assertEqual(self.object_in(run.stdout)["threads"], used)
        self.assertEqual(facts["blas"]["threads"], 1)
        self.assertIn(facts["simd"], ("avx512", "avx2", "baseline"))
        self.assertTrue(0 < facts["memory"]["available_bytes"] <= facts["memory"]["total_bytes"])
        self.assertIn(facts["version"], covary("doctor").stdout)

    def test_what_does_not_exist_is_answered_with_what_does(self):
        train = self.path("train.csv")
        fit = ("fit", train, "--target", "y")
        for call, words in (((("predct",)), "'predict'"), ((*fit, "--kernl", "se"), "'--kernel'"),
                            ((*fit, "--kernel", "mattern32"), "matern32"),
                            (("fit", train, "--target", "yy"), "'y'"),
                            ((*fit, "--set", "kernel.varience=1"), "kernel.variance"),
                            ((*fit, "--model", "exat"), "'exact'"),
                            (("experiment", "run", "factor-grph"), "factor-graph")):
            with self.subTest(call=call):
                self.refused(*call, says=["did you mean", words])

    def test_a_number_out_of_range(self):
        fit = ("fit", self.path("train.csv"), "--target", "y")
        self.refused(*fit, "--max-iter", "-1", says=["--max-iter", "'-1' is not a number of at least 0"])
        self.refused(*fit, "--learning-rate", "0", says=["--learning-rate", "'0' is not a positive number"])

    def test_another_letter_is_no_suggestion(self):
        run = covary("fit", self.path("train.csv"), "--target", "q")
        self.assertIn("there is no column 'q'; the columns are x, y", run.stderr)

    def test_a_column_without_values(self):
        empty = self.write("empty.csv", "x,y,z\n1,,1\n2,,2\n3,,3\n")
        for call in (("--target", "y", "--inputs", "x"), ("--target", "y,z"), ("--model", "ppca", "--latent", "1"),
                     ("--target", "y,z", "--inducing", "2", "--stream")):
            self.refused("fit", empty, *call, says=["column 'y' has no values"])
        self.refused("fit", self.write("rows.csv", "a,b,c\n1,2,3\n2,4,1\n0,1,2\n"), "--model", "mrd", "--view", "p=a",
                     "--view", "q=b", says=["column 'c' is in no view"])

    def test_a_full_disk(self):
        model = self.fitted()
        grid = self.path("grid.csv")
        self.refused("predict", model, grid, "--out", "/dev/full", status=1, says=["No space left"])
        self.refused("sample", model, grid, "--out", "/dev/full", status=1, says=["No space left"])
        self.refused("fit", self.path("train.csv"), "--target", "y", "--out", "/dev/full", status=1)
        for call in (("show", model), ("predict", model, grid), ("doctor",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run([COVARY, *call], stdout=full, stderr=subprocess.PIPE, text=True,
                                     timeout=120, check=False)
            self.assertEqual(run.returncode, 1, call)
            self.assertIn("standard output", run.stderr)

    def test_a_file_that_may_not_grow_leaves_nothing_half_written(self):
        model = self.fitted()
        before = set(os.listdir(self.folder.name))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        for call in (("predict", model, self.path("grid.csv"), "--out", self.path("p.csv")),
                     ("sample", model, self.path("grid.csv"), "--out", self.path("s.csv")),
                     ("update", model, self.path("test.csv"), "--out", self.path("u.cov")),
                     ("fit", self.path("train.csv"), "--target", "y", "--out", self.path("n.cov"))):
            # Python ignores the signal of a file that grew too large, and so does its child.
            run = covary(*call, preexec_fn=limit, restore_signals=False)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("File too large", run.stderr)
            self.assertEqual(set(os.listdir(self.folder.name)), before)


if __name__ == "__main__":
    unittest.main()
