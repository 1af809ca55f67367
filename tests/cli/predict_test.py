"""predict by component, with gradients and in blocks; sample; update."""

import csv
import gzip
import math
import os
import resource
import statistics
import subprocess
import unittest

from support import COVARY, CommandLine, covary


class Predict(CommandLine):
    def test_components_add_up_and_are_named(self):
        model = self.fitted("--kernel", "se + periodic")
        p = self.json_of("predict", model, self.path("grid.csv"), "--components")
        self.assertEqual(p["components"], ["se", "periodic"])
        # Component means leave out the mean function and, with scaling, the outputs' mean.
        shift = self.json_of("show", model)["scaling"]["outputs"]["shift"][0]
        for whole, a, b in zip(p["mean"], p["mean_0"], p["mean_1"]):
            self.assertAlmostEqual(whole, shift + a + b, delta=1e-9)
        self.assertTrue(all(v >= 0 for v in p["variance_0"] + p["variance_1"]))
        run = covary("predict", model, self.path("grid.csv"), "--components")
        self.assertIn("component 1: periodic", run.stderr)

    def test_parameters_may_be_drawn(self):
        model = self.fitted()
        best = self.json_of("predict", model, self.path("grid.csv"))
        run = covary("predict", model, self.path("grid.csv"), "--parameter-draws", "12", "--seed", "3")
        self.assertRegex(run.stderr, r"12 draws of the parameters, \d+ evaluations, R-hat 1\.\d+")
        drawn = self.json_of("predict", model, self.path("grid.csv"), "--parameter-draws", "12", "--seed", "3")
        self.assertEqual(len(drawn["mean"]), len(best["mean"]))
        self.assertNotEqual(drawn["variance"], best["variance"])
        self.refused("predict", model, self.path("grid.csv"), "--parameter-draws", "3", "--gradients",
                     says=["--parameter-draws"])
        for count in ("0", "-2", "half"):
            self.refused("predict", model, self.path("grid.csv"), "--parameter-draws", count,
                         says=["--parameter-draws", f"'{count}' is not a whole number of at least 1"])

    def test_gradients_are_those_of_the_predictions(self):
        model = self.fitted()
        x, h = 1.3, 1e-5
        at = self.write("at.csv", f"x\n{x - h!r}\n{x!r}\n{x + h!r}\n")
        p = self.json_of("predict", model, at, "--gradients")
        for value, gradient in (("mean", "dmean_x"), ("variance_f", "dvariance_x")):
            slope = (p[value][2] - p[value][0]) / (2 * h)
            self.assertAlmostEqual(p[gradient][1], slope, delta=1e-5 * max(1, abs(slope)))

    def test_several_outputs_carry_their_names(self):
        data = self.write("two.csv", "x,a,b\n" + "".join(f"{i},{i % 3},{i % 4}\n" for i in range(12)))
        self.json_of("fit", data, "--target", "a,b", "--max-iter", "2", "--out", self.path("two.cov"))
        at = self.write("at.csv", "x\n1\n2\n")
        p = self.json_of("predict", self.path("two.cov"), at, "--components", "--gradients")
        for key in "mean_a upper_b mean_0_a variance_0_b dmean_x_a dvariance_x_b".split():
            self.assertEqual(len(p[key]), 2)
        s = self.json_of("sample", self.path("two.cov"), at, "-n", "2")
        self.assertEqual({k for k in s if k.startswith("draw_")}, {"draw_0_a", "draw_0_b", "draw_1_a", "draw_1_b"})

    def test_inputs_may_have_variances(self):
        model = self.fitted("--max-iter", "20")
        at = self.write("at.csv", "x,s\n1.0,0\n1.0,0.3\n2.0,0.1\n")
        p, plain = (self.json_of("predict", model, at, *more) for more in (("--input-variance", "s"), ()))
        self.assertAlmostEqual(p["mean"][0], plain["mean"][0], delta=1e-9)
        self.assertAlmostEqual(p["variance_f"][0], plain["variance_f"][0], delta=1e-6)
        self.assertGreater(p["variance"][1], 1.5 * plain["variance"][1])
        self.assertNotAlmostEqual(p["mean"][2], plain["mean"][2], delta=1e-4)
        self.refused("predict", model, at, "--input-variance", "x,s", says=["2 columns", "1 inputs (x)"])
        self.refused("predict", model, at, "--input-variance", "s", "--gradients", says=["--input-variance"])
        wrong = self.write("wrong.csv", "x,s\n1.0,-1\n")
        self.refused("predict", model, wrong, "--input-variance", "s", says=["variance -"])

    def test_blocks_give_what_one_row_at_a_time_gives(self):
        model = self.fitted("--max-iter", "3")
        xs = [0.001 * i for i in range(3000)]
        table = self.write("long.csv", "note,x\r\n" + "".join(f'"a\nb ""{i}""",{x!r}\r\n' for i, x in enumerate(xs)))
        covary("predict", model, table, "--out", self.path("p.csv"))
        with open(self.path("p.csv"), encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), 3000)
        for i in (0, 511, 512, 2999):
            one = self.json_of("predict", model, self.write("one.csv", f"x\n{xs[i]!r}\n"))
            self.assertAlmostEqual(float(rows[i]["mean"]), one["mean"][0], delta=1e-12)
            self.assertAlmostEqual(float(rows[i]["variance"]), one["variance"][0], delta=1e-12)
        with open(table, "rb") as f, gzip.open(self.path("long.csv.gz"), "wb") as g:
            g.write(f.read())
        covary("predict", model, self.path("long.csv.gz"), "--out", self.path("q.csv"))
        self.assertEqual(self.read("p.csv"), self.read("q.csv"))

    def test_memory_does_not_grow_with_the_rows(self):
        model = self.fitted("--max-iter", "0")

        def peak(rows):
            # Line by line: the peak of a child counts from its fork, so ours must stay small.
            with open(self.path("many.csv"), "w", encoding="utf-8") as f:
                f.write("x\n")
                f.writelines(f"{i % 1000 / 100}\n" for i in range(rows))
            child = subprocess.Popen([COVARY, "predict", model, f.name, "--out", self.path("p.csv")],
                                     stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            self.assertEqual(status, 0)
            return usage.ru_maxrss  # kB

        small, large = peak(300_000), peak(1_000_000)
        with open(self.path("p.csv"), encoding="utf-8") as f:
            self.assertEqual(sum(1 for _ in f), 1_000_001)
        # The file alone would be 5 MB more, its numbers 6, and the predictions 28.
        self.assertLess(large - small, 3000)

    def test_errors_in_later_blocks_leave_no_file(self):
        model = self.fitted("--max-iter", "0")
        rows = ["1.25"] * 400_000
        for bad, status in (("word", 2), ("1,2", 1)):
            table = self.write("bad.csv", "x\n" + "\n".join([*rows, bad]) + "\n")
            self.refused("predict", model, table, "--out", self.path("p.csv"), status=status, says=["line 400002"])
            self.assertFalse(os.path.exists(self.path("p.csv")))

    def test_text_columns_stay_text_when_a_table_has_numbers_there(self):
        rows = "".join(f"{i / 10},{['7', 'b'][i % 2]},{math.sin(i / 10) + i % 2}\n" for i in range(40))
        self.json_of("fit", self.write("mixed.csv", "t,kind,y\n" + rows), "--target", "y", "--out", self.path("m.cov"))
        p = self.json_of("predict", self.path("m.cov"), self.write("new.csv", "t,kind\n1.05,7\n"))
        self.assertAlmostEqual(p["mean"][0], math.sin(1.05), delta=0.1)


class Sample(CommandLine):
    def test_draws_have_the_posterior_moments(self):
        model = self.fitted()
        at = self.write("at.csv", "x\n1\n1.05\n3.7\n")
        p = self.json_of("predict", model, at)
        s = self.json_of("sample", model, at, "-n", "4000", "--seed", "5")
        self.assertEqual((s["n"], s["draws"], s["seed"]), (3, 4000, 5))
        draws = [s[f"draw_{i}"] for i in range(4000)]
        for row in range(3):
            values = [d[row] for d in draws]
            self.assertAlmostEqual(statistics.mean(values), p["mean"][row], delta=5 * (p["variance_f"][row] / 4000) ** 0.5)
            self.assertAlmostEqual(statistics.variance(values) / p["variance_f"][row], 1, delta=0.12)
        # joint: neighbours move together
        self.assertGreater(statistics.correlation([d[0] for d in draws], [d[1] for d in draws]), 0.9)

    def test_seed_file_and_wrong_numbers(self):
        model, grid = self.fitted(), self.path("grid.csv")
        covary("sample", model, grid, "-n", "3", "--seed", "1", "--out", self.path("a.csv"))
        covary("sample", model, grid, "-n", "3", "--seed", "1", "--out", self.path("b.csv"))
        covary("sample", model, grid, "-n", "3", "--seed", "2", "--out", self.path("c.csv"))
        self.assertEqual(self.read("a.csv"), self.read("b.csv"))
        self.assertNotEqual(self.read("a.csv"), self.read("c.csv"))
        self.assertEqual(self.read("a.csv").splitlines()[0], "draw_0,draw_1,draw_2")
        self.refused("sample", model, grid, "-n", "0", says=["at least 1"])
        self.refused("sample", model, grid, "--out", self.path("no/where.csv"), status=1)

    def test_more_rows_than_memory_are_refused(self):
        model = self.fitted()
        table = self.write("many.csv", "x\n" + "1\n" * 30000)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        run = covary("sample", model, table, "--json", preexec_fn=limit)
        self.assertEqual((run.returncode, self.object_in(run.stdout)["kind"]), (1, "memory"))


class Update(CommandLine):
    def test_further_rows_are_as_good_as_rows_from_the_start(self):
        lines = self.read("train.csv").splitlines(keepends=True)
        self.write("first.csv", "".join(lines[:151]))
        self.write("rest.csv", "".join(lines[:1] + lines[151:]))
        fixed = ("--no-scale", "--max-iter", "0", "--kernel", "se")
        whole = self.json_of("fit", self.path("train.csv"), "--target", "y", *fixed, "--set",
                             "likelihood.variance=0.08", "--set", "kernel.variance=1", "--set",
                             "kernel.lengthscales=0.6", "--out", self.path("whole.cov"))
        self.json_of("fit", self.path("first.csv"), "--target", "y", *fixed, "--set",
                     "likelihood.variance=0.08", "--set", "kernel.variance=1", "--set",
                     "kernel.lengthscales=0.6", "--out", self.path("first.cov"))
        updated = self.json_of("update", self.path("first.cov"), self.path("rest.csv"), "--out", self.path("u.cov"))
        self.assertEqual((updated["n"], updated["added"]), (200, 50))
        self.assertAlmostEqual(updated["value"], whole["value"], delta=1e-8)
        a, b = (self.json_of("predict", self.path(f), self.path("grid.csv")) for f in ("whole.cov", "u.cov"))
        for x, y in zip(a["mean"] + a["variance"], b["mean"] + b["variance"]):
            self.assertAlmostEqual(x, y, delta=1e-9)
        self.assertIn("50 rows were added", covary("show", self.path("u.cov")).stdout)
        # in place
        self.json_of("update", self.path("first.cov"), self.path("rest.csv"), "--in-place")
        self.assertEqual(self.json_of("show", self.path("first.cov"))["n"], 200)

    def test_wrong_calls(self):
        model, test = self.fitted("--max-iter", "0"), self.path("test.csv")
        self.refused("update", model, test, says=["--out", "--in-place"])
        self.refused("update", model, test, "--out", self.path("u.cov"), "--in-place")
        self.refused("update", model, self.path("grid.csv"), "--in-place", says=["'y'"])
        self.refused("update", model, test, "--noise", "x", "--in-place", says=["without noise"])
        empty = self.write("empty.csv", "x,y\n1,\n2,\n")
        self.refused("update", model, empty, "--in-place", says=["nothing to add"])



class Loss(CommandLine):
    def test_decisions_by_expected_loss(self):
        model, grid = self.fitted("--max-iter", "20"), self.path("grid.csv")
        plain = self.json_of("predict", model, grid)
        squared, absolute, high = (self.json_of("predict", model, grid, "--loss", loss)
                                   for loss in ("squared", "absolute", "quantile(0.975)"))
        self.assertEqual(squared["decision"], plain["mean"])
        self.assertEqual(squared["expected_loss"], plain["variance"])
        self.assertEqual(absolute["decision"], plain["mean"])
        for decided, upper in zip(high["decision"], plain["upper"]):
            self.assertAlmostEqual(decided, upper, delta=1e-9)
        self.refused("predict", model, grid, "--loss", "cubic", says=["'cubic'", "quantile(p)"])

    def test_decisions_for_counts(self):
        counts = self.write("counts.csv", "x,y,e\n" + "".join(f"{i / 10},{(7 * i) % 5},{1 + i % 2}\n" for i in range(40)))
        model = self.path("p.cov")
        self.json_of("fit", counts, "--target", "y", "--exposure", "e", "--likelihood", "poisson", "--max-iter", "3", "--out", model)
        predict = lambda *more: self.json_of("predict", model, counts, "--exposure", "e", *more)
        mean = predict()["mean"]
        median, half, low, high = (predict("--loss", loss) for loss in ("absolute", "quantile(0.5)", "quantile(0.1)", "quantile(0.9)"))
        self.assertEqual(median["decision"], half["decision"])
        for absolute, pinball in zip(median["expected_loss"], half["expected_loss"]):
            self.assertAlmostEqual(absolute, 2 * pinball, delta=1e-9)
        for row in zip(low["decision"], median["decision"], high["decision"], mean):
            self.assertTrue(all(v == int(v) for v in row[:3]), "a quantile of counts is a count")
            self.assertLessEqual(row[0], row[1])
            self.assertLess(row[1], row[2])
            self.assertLess(abs(row[1] - row[3]), 1)  # median and mean of a Poisson mixture

    def test_costs_of_classes(self):
        kinds = self.write("kinds.csv", "x,kind\n" + "".join(f"{i / 10},{'ab'[i % 3 == 0]}\n" for i in range(40)))
        model = self.path("c.cov")
        self.json_of("fit", kinds, "--target", "kind", "--max-iter", "2", "--out", model)
        costs = self.write("costs.csv", "class,a,b\na,0,1\nb,9,0\n")
        decided = self.json_of("predict", model, kinds, "--loss", costs)
        for label, p, loss in zip(decided["class"], decided["p_b"], decided["expected_loss"]):
            self.assertEqual(label, "b" if 9 * p > 1 - p else "a")
            self.assertAlmostEqual(loss, min(9 * p, 1 - p), delta=1e-12)
        self.assertIn("b", decided["class"])
        self.refused("predict", model, kinds, "--loss", "absolute", says=["--loss absolute is for numbers", "table of costs"])
        self.refused("predict", model, kinds, "--loss", costs, "--threshold", "0.3", says=["--loss", "--threshold"])
        self.refused("predict", model, kinds, "--loss", self.write("bad.csv", "class,a\na,0\nb,1\n"), says=["no column 'b'"])


if __name__ == "__main__":
    unittest.main()
