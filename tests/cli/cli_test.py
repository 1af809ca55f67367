"""The command line's contract: verbs, options, JSON, exit statuses, files."""

import json
import math
import os
import shutil
import subprocess
import unittest

from support import COVARY, CommandLine, covary


class Contract(CommandLine):
    # The five points of the slides (spec T8) through the shell.
    def test_t8_value_and_prediction(self):
        data = self.write("t8.csv", "x,y\n0,.3\n.5,.8\n1.2,.6\n2,-.4\n3.1,-1\n")
        at = self.write("at.csv", "x\n1.5\n")
        fit = self.json_of("fit", data, "--target", "y", "--kernel", "se", "--no-scale", "--max-iter", "0",
                           "--set", "kernel.variance=1", "--set", "kernel.lengthscales=0.8",
                           "--set", "likelihood.variance=0.04", "--out", self.path("m.cov"))
        self.assertAlmostEqual(fit["value"], -4.384338332209974, delta=1e-12)
        self.assertEqual(fit["parameters"]["kernel.lengthscales"], 0.8)
        p = self.json_of("predict", self.path("m.cov"), at)
        self.assertAlmostEqual(p["mean"][0], 0.25099915220009233, delta=1e-13)
        self.assertAlmostEqual(p["variance_f"][0], 0.0405125373652675, delta=1e-13)
        self.assertAlmostEqual(p["variance"][0], 0.0805125373652675, delta=1e-13)
        half = 1.959963984540054 * math.sqrt(p["variance"][0])
        self.assertAlmostEqual(p["upper"][0] - p["lower"][0], 2 * half, delta=1e-12)

    def test_fit_predict_evaluate_show(self):
        fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--out", self.path("m.cov"))
        for key in ("model n d objective value upper_bound iterations converged reason seconds jitter "
                    "parameters scaling log_prior").split():
            self.assertIn(key, fit)
        self.assertTrue(fit["converged"])
        self.assertEqual((fit["model"], fit["n"], fit["d"]), ("exact", 200, 1))
        scores = self.json_of("evaluate", self.path("m.cov"), self.path("test.csv"))
        for key in "rmse mae smse nlpd crps coverage95".split():
            self.assertIn(key, scores)
        self.assertLess(scores["smse"], 0.2)
        self.assertGreater(scores["coverage95"], 0.9)
        shown = self.json_of("show", self.path("m.cov"))
        self.assertEqual(shown["value"], fit["value"])
        self.assertEqual(shown["parameters"], fit["parameters"])
        run = covary("predict", self.path("m.cov"), self.path("grid.csv"), "--out", self.path("p.csv"))
        self.assertEqual(run.returncode, 0)
        with open(self.path("p.csv"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "mean,variance,sd,variance_f,lower,upper")
        self.assertEqual(len(lines), 302)
        self.assertIn("kernel.lengthscales", covary("show", self.path("m.cov")).stdout)

    def test_same_call_same_bits(self):
        args = ("fit", self.path("train.csv"), "--target", "y", "--kernel", "se + matern32", "--seed", "3")
        a, b, c = (self.json_of(*args, *more) for more in ((), (), ("--threads", "3")))
        for run in (a, b, c):
            run.pop("seconds")
        self.assertEqual(a, b)
        self.assertEqual(a["value"], c["value"])

    def test_settings_reach_the_parameters(self):
        fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--kernel", "se + periodic",
                           "--set", "kernel.0.lengthscales=0.7", "--fix", "kernel.0.lengthscales",
                           "--prior", "likelihood.variance=gamma(2,10)", "--bounds", "kernel.1.period=0.5,2",
                           "--tie", "kernel.1.variance=0.5*kernel.0.variance", "--mean", "constant",
                           "--max-iter", "30", "--restarts", "1")
        p = fit["parameters"]
        self.assertEqual(p["kernel.0.lengthscales"], 0.7)
        self.assertAlmostEqual(p["kernel.1.variance"], 0.5 * p["kernel.0.variance"], delta=1e-12)
        self.assertTrue(0.5 < p["kernel.1.period"] < 2)
        self.assertNotEqual(fit["log_prior"], 0)
        self.assertIn("mean.weights", p)

    def test_columns_headers_and_text(self):
        rows = "".join(f"{i / 10},{'ab'[i % 2]},{math.sin(i / 10) + i % 2}\n" for i in range(40))
        data = self.write("mixed.csv", "t,kind,y\n" + rows)
        run = covary("fit", data, "--target", "y", "--out", self.path("m.cov"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("one-hot", run.stderr)
        p = self.json_of("predict", self.path("m.cov"), self.write("new.csv", "kind,t\na,1.05\nb,1.05\n"))
        self.assertAlmostEqual(p["mean"][1] - p["mean"][0], 1.0, delta=0.1)
        unseen = covary("predict", self.path("m.cov"), self.write("new.csv", "kind,t\nc,1\n"))
        self.assertEqual(unseen.returncode, 2)
        # without a header, by number, and inputs alone at prediction
        plain = self.write("plain.csv", "".join(f"{math.sin(i)},{i}\n" for i in range(20)))
        self.json_of("fit", plain, "--target", "0", "--out", self.path("n.cov"))
        self.json_of("predict", self.path("n.cov"), self.write("x.csv", "3\n4\n"))

    def test_options_take_one_argument_and_may_be_repeated(self):
        before = self.json_of("fit", "--target", "y", self.path("train.csv"), "--max-iter", "0")
        after = self.json_of("fit", self.path("train.csv"), "--target", "y", "--max-iter", "0")
        self.assertEqual(before["value"], after["value"])
        data = self.write("two.csv", "x,y,z\n" + "".join(f"{i},{i % 3},{i % 4}\n" for i in range(12)))
        repeated = self.json_of("fit", "--target", "y", "--target", "z", data, "--max-iter", "0")
        self.assertEqual(repeated["outputs"], ["y", "z"])

    def test_noise_column_and_missing_outputs(self):
        text = "x,y,z,s\n" + "".join(f"{i},{i % 5},{'' if i % 3 else i},{0.1 * i}\n" for i in range(30))
        data = self.write("gaps.csv", text)
        fit = self.json_of("fit", data, "--target", "y,z", "--noise", "s", "--max-iter", "20")
        self.assertEqual((fit["n"], fit["d"]), (30, 1))
        dropped = self.json_of("fit", data, "--target", "y,z", "--noise", "s", "--missing", "drop", "--max-iter", "5")
        self.assertEqual(dropped["n"], 10)
        self.assertEqual(covary("fit", data, "--target", "y,z", "--missing", "error").returncode, 2)

    def test_wrong_calls_exit_two_and_failed_work_one(self):
        train = self.path("train.csv")
        wrong = [("fit",), ("fit", train), ("fit", train, "--target", "nope"), ("frobnicate",),
                 ("fit", train, "--target", "y", "--kernel", "see"),
                 ("fit", train, "--target", "y", "--kernel", "se + "),
                 ("fit", train, "--target", "y", "--set", "kernel.variance=-1"),
                 ("fit", train, "--target", "y", "--set", "kernel.varianc=1"),
                 ("fit", train, "--target", "y", "--set", "kernel.variance"),
                 ("fit", train, "--target", "y", "--prior", "kernel.variance=beta(1,1)"),
                 ("fit", train, "--target", "y", "--model", "magic"),
                 ("fit", train, "--target", "y", "--max-iter", "-1"),
                 ("fit", train, "--target", "y", "--jitter", "-1"),
                 ("fit", train, "--target", "y", "--unknown", "1"),
                 ("experiment", "run", "nope"), ("experiment", "run")]
        failed = [("fit", self.path("none.csv"), "--target", "y"), ("show", train),
                  ("fit", train, "--target", "y", "--out", self.path("no/where.cov")),
                  ("predict", self.path("none.cov"), train)]
        for calls, status in ((wrong, 2), (failed, 1)):
            for call in calls:
                with self.subTest(call=call):
                    run = covary(*call)
                    self.assertEqual(run.returncode, status, run.stderr)
                    self.assertEqual(run.stdout, "")
                    self.assertTrue(run.stderr.startswith("covary: "), run.stderr)
                    answer = self.json_of(*call, status=status)
                    self.assertEqual(set(answer), {"error", "kind"})

    def test_without_the_program_of_the_experiments_the_way_to_it_is_told(self):
        alone = self.path("covary")
        shutil.copy(COVARY, alone)
        empty = {**os.environ, "PATH": self.folder.name}
        run = subprocess.run([alone, "experiment", "list", "--json"], capture_output=True, text=True, env=empty, check=False)
        self.assertEqual(run.returncode, 1)
        answer = json.loads(run.stdout)
        self.assertEqual(answer["kind"], "file")
        self.assertIn("ninja covary_experiments", answer["error"])
        found = {**os.environ, "PATH": os.path.dirname(COVARY)}
        run = subprocess.run([alone, "experiment", "list"], capture_output=True, text=True, env=found, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, covary("experiment", "list").stdout))

    def test_experiments_without_repetitions_refuse_them(self):
        answer = self.json_of("experiment", "run", "factor-graph", "--repeats", "3", status=2)
        self.assertIn("--repeats", answer["error"])

    def test_long_experiments_go_on_from_what_they_found(self):
        file = self.path("found.json")
        run = ("experiment", "run", "mrd-toy", "--repeats", "1", "--checkpoint", file)
        whole = self.json_of(*run, "--resume")  # there is nothing to go on from yet
        with open(file, encoding="utf-8") as f:
            kept = json.load(f)
        self.assertEqual(list(kept["units"]), ["data set 0"])
        kept["units"]["data set 0"][0] = "3"  # what is kept is what is shown
        self.write("found.json", json.dumps(kept))
        again = self.json_of(*run, "--resume", status=1)
        self.assertEqual(again["rows"][0]["measured"], "3, 1, 1")
        self.assertEqual(again["rows"][0]["remark"], whole["rows"][0]["remark"])
        kept["units"]["data set 0"].pop()
        self.write("found.json", json.dumps(kept))
        self.assertIn("should have", self.json_of(*run, "--resume", status=1)["error"])
        other = self.json_of(*run, "--resume", "--seed", "5", status=2)
        self.assertIn("another run", other["error"])
        self.write("found.json", '{"units": 3')
        self.assertIn("not the checkpoint", self.json_of(*run, "--resume", status=1)["error"])
        refused = self.json_of("experiment", "run", "factor-graph", "--checkpoint", file, status=2)
        self.assertIn("--checkpoint", refused["error"])


if __name__ == "__main__":
    unittest.main()
