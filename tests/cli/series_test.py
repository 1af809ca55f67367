"""Autoregression at the command line."""

import csv
import io
import math
import random
import unittest

from support import CommandLine, covary


class Series(CommandLine):
    """Two noisy waves."""

    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.rows = [(i, 10 + math.sin(0.3 * i) + 0.02 * rng.gauss(0, 1), 5 * math.cos(0.3 * i) + 0.1 * rng.gauss(0, 1))
                     for i in range(120)]
        self.table = self.write("series.csv", self.text(self.rows[:90]))

    @staticmethod
    def text(rows):
        return "t,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)

    def fit(self, *more, out="m.cov"):
        return self.json_of("fit", self.table, "--lags", "3", "--max-iter", "60", "--out", self.path(out), *more)

    def test_steps_go_on_from_the_end_of_the_series(self):
        fit = self.fit("--target", "a")
        self.assertEqual((fit["model"], fit["n"], fit["d"], fit["inputs"]), ("exact", 87, 3, ["a[t-3]", "a[t-2]", "a[t-1]"]))
        p = self.json_of("predict", self.path("m.cov"), self.table, "--steps", "30")
        self.assertEqual(p["step"], list(range(1, 31)))
        for mean, row in zip(p["mean"][:8], self.rows[90:]):
            self.assertLess(abs(mean - row[1]), 0.3)
        plain = self.json_of("predict", self.path("m.cov"), self.table, "--steps", "30", "--propagation", "plug-in")
        self.assertGreater(p["variance"][-1], plain["variance"][-1])
        self.assertAlmostEqual(p["mean"][0], plain["mean"][0], delta=1e-9)
        later = self.write("later.csv", self.text(self.rows[:95]))
        ahead = self.json_of("predict", self.path("m.cov"), later, "--steps", "1")
        self.assertLess(abs(ahead["mean"][0] - self.rows[95][1]), 0.1)
        self.assertLess(self.json_of("evaluate", self.path("m.cov"), later)["rmse"], 0.05)
        self.assertEqual(self.json_of("evaluate", self.path("m.cov"), later)["n"], 92)

    def test_several_series_by_inducing_inputs(self):
        fit = self.fit("--target", "a,b", "--model", "vfe", "--inducing", "15", "--jitter", "1e-5", out="s.cov")
        self.assertEqual((fit["model"], fit["d"], fit["outputs"]), ("vfe", 6, ["a", "b"]))
        for how in ("moments", "augmented", "draws"):
            run = covary("predict", self.path("s.cov"), self.table, "--steps", "5", "--propagation", how)
            self.assertEqual(run.returncode, 0, run.stderr)
            rows = list(csv.DictReader(io.StringIO(run.stdout)))
            self.assertEqual((len(rows), list(rows[0])[:4]), (5, ["step", "mean_a", "variance_a", "sd_a"]))
            self.assertLess(abs(float(rows[4]["mean_a"]) - self.rows[94][1]), 0.3)

    def test_missing_values_leave_windows_out(self):
        holed = [(t, "" if t == 40 else a, b) for t, a, b in self.rows[:90]]
        self.table = self.write("holed.csv", self.text(holed))
        run = covary("fit", self.table, "--lags", "3", "--max-iter", "3", "--target", "a", "--json")
        self.assertIn("4 of 87 windows", run.stderr)
        self.assertEqual(self.object_in(run.stdout)["n"], 83)

    def test_each_draw_has_parameters_of_its_own(self):
        self.fit("--target", "a")
        steps = ("predict", self.path("m.cov"), self.table, "--steps", "3", "--propagation", "draws", "--draws", "20")
        drawn = self.json_of(*steps, "--parameter-draws", "8", "--seed", "1")
        self.assertEqual(drawn, self.json_of(*steps, "--parameter-draws", "8", "--seed", "1"))
        self.assertNotEqual(drawn["mean"], self.json_of(*steps, "--seed", "1")["mean"])
        self.assertTrue(all(v > 0 for v in drawn["variance"]))

    def test_bad_calls_say_what_to_do(self):
        fit = ("fit", self.table, "--target", "a", "--lags", "3")
        self.refused(*fit, "--inputs", "b", says=["takes the inputs from the targets"])
        self.refused(*fit, "--likelihood", "poisson", says=["--lags is for --model exact"])
        self.refused("fit", self.table, "--target", "a", "--lags", "90", says=["fewer lags"])
        self.fit("--target", "a")
        model = self.path("m.cov")
        self.refused("predict", model, self.table, "--steps", "2", "--gradients", says=["--steps"])
        self.refused("predict", model, self.table, "--steps", "2", "--propagation", "augmented", says=["sparse"])
        self.refused("predict", model, self.table, "--steps", "2", "--parameter-draws", "3", says=["--propagation draws"])
        self.refused("predict", self.fitted("--max-iter", "0", out="o.cov"), self.path("train.csv"), "--steps", "2",
                     says=["fit --lags"])


if __name__ == "__main__":
    unittest.main()
