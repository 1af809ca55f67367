"""Tables as they come: numbers and dates as people write them, columns by name, missing inputs, categories."""

import csv
import datetime
import math
import random
import unittest

from support import CommandLine, covary


class Tables(CommandLine):
    def table(self, name, header, rows, separator=";"):
        lines = (separator.join(map(str, row)) for row in [header, *rows])
        return self.write(name, "".join(line + "\n" for line in lines))

    def fit(self, table, *more, status=0, target="y", out="t.cov"):
        run = covary("fit", table, "--target", target, "--max-iter", "5", "--out", self.path(out), *more)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stderr

    def rows_of(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_marked_numbers_are_read_as_numbers(self):
        numbers = [(i * 100.5, math.sin(i / 5)) for i in range(40)]
        comma = lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,"))
        plain = self.table("plain.csv", "xy", numbers)
        marked = self.table("marked.csv", "xy", [(comma(x) + " €", comma(y)) for x, y in numbers])
        said = self.fit(marked)
        self.assertIn("column 'x' holds marked numbers: '1.005,00 €' is read as 1005", said)
        self.assertIn("column 'y' holds marked numbers", said)
        p = self.json_of("predict", self.path("t.cov"), marked)
        self.fit(self.table("rounded.csv", "xy", [(f"{x:.2f}", f"{y:.2f}") for x, y in numbers]), out="p.cov")
        q = self.json_of("predict", self.path("p.cov"), plain)
        self.assertEqual(p["mean"], q["mean"])

    def test_an_unclear_decimal_sign_asks(self):
        table = self.table("t.csv", "xy", [(f"{i},{100 + i}", i % 7) for i in range(1, 30)])
        said = self.fit(table, status=2)
        self.assertIn("'1,101'; choose it with --decimal point or --decimal comma", said)
        self.fit(table, "--decimal", "comma")
        shift = self.json_of("show", self.path("t.cov"))["scaling"]["inputs"]["shift"][0]
        self.assertTrue(15 < shift < 16, shift)
        # The model remembers it.
        p = self.json_of("predict", self.path("t.cov"), self.table("one.csv", "xz", [["3,250", 0]]))
        self.assertEqual(p["mean"], self.json_of("predict", self.path("t.cov"),
                                                 self.table("one.csv", "xz", [["3.25", 0]]))["mean"])

    def test_dates_of_several_kinds(self):
        days = [datetime.date(2021, 1, 3) + datetime.timedelta(days=i) for i in range(60)]
        values = [math.sin(i / 9) for i in range(60)]
        means = []
        for name, form in (("iso", "%Y-%m-%d"), ("dots", "%d.%m.%Y"), ("us", "%m/%d/%Y")):
            said = self.fit(self.table(name, "dy", [(d.strftime(form), v) for d, v in zip(days, values)]))
            self.assertIn("column 'd' holds dates", said)
            # A table of one ambiguous date is read as in training.
            at = self.table("at.csv", "d", [[datetime.date(2021, 2, 1).strftime(form)]])
            means.append(self.json_of("predict", self.path("t.cov"), at)["mean"])
        self.assertEqual(means, 3 * means[:1])
        early = self.table("early.csv", "dy", [(f"{i}/{i + 1}/2021", i) for i in range(1, 12)])
        self.assertIn("choose it with --dates dmy or --dates mdy", self.fit(early, status=2))
        self.assertIn("month before day", self.fit(early, "--dates", "mdy"))

    def test_dates_are_written_and_drawn_as_dates(self):
        days = [datetime.date(2021, 1, 3) + datetime.timedelta(days=9 * i) for i in range(40)]
        self.fit(self.table("t.csv", "dy", [(d, math.sin(i / 5)) for i, d in enumerate(days)]))
        at = self.table("at.csv", "dk", [("2021-02-01", "a"), ("2021-02-02 12:00", "b")])
        covary("predict", self.path("t.cov"), at, "--keep", "all", "--out", self.path("p.csv"))
        rows = self.rows_of("p.csv")
        self.assertEqual([(r["d"], r["k"]) for r in rows], [("2021-02-01", "a"), ("2021-02-02T12:00:00", "b")])
        covary("report", self.path("t.cov"), "--out", self.path("r.html"))
        self.assertIn(">2021-07<", self.read("r.html"))
        # A target of dates is predicted as one.
        self.fit(self.table("u.csv", "xd", list(enumerate(days))), target="d")
        p = self.json_of("predict", self.path("t.cov"), self.table("at.csv", "x", [[3.0]]))
        self.assertEqual(p["mean"][0][:7], "2021-01")
        self.assertLess(p["lower"][0], p["upper"][0])

    def test_identifiers_are_left_out_unless_they_are_named(self):
        table = self.table("t.csv", ["id", "x", "y"], [(f"row{i:03}", i, i % 5) for i in range(30)])
        self.assertIn("ignoring column 'id': text with a value of its own in most rows", self.fit(table))
        self.assertEqual(self.json_of("show", self.path("t.cov"))["inputs"], ["x"])
        self.fit(table, "--inputs", "id,x")
        self.assertEqual(len(self.json_of("show", self.path("t.cov"))["inputs"]), 31)

    def test_a_target_of_very_many_words_is_refused(self):
        table = self.table("t.csv", "xy", [(i, f"w{i % 60}") for i in range(120)])
        said = self.fit(table, status=2)
        self.assertIn("target 'y' is text of 60 different values", said)
        self.assertIn("--likelihood softmax", said)

    def test_columns_go_by_their_names(self):
        rng = random.Random(1)
        rows = [[rng.random() for _ in range(4)] for _ in range(30)]
        self.fit(self.table("t.csv", "abcy", rows))
        self.refused("predict", self.path("t.cov"), self.table("q.csv", "caq", [row[:3] for row in rows]),
                     says=["lacks the model's input 'b'; its columns are c, a, q"])
        run = covary("predict", self.path("t.cov"), self.table("more.csv", ["m", *"cabn"], [[9, *row] for row in rows]))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("ignoring columns that the model does not use: m, n", run.stderr)

    def test_missing_inputs_when_predicting(self):
        rng = random.Random(2)
        rows = [(a := rng.gauss(0, 1), b := rng.gauss(0, 1), math.sin(a) + b) for _ in range(60)]
        holed = [("" if i == 3 else a, b, y) for i, (a, b, y) in enumerate(rows)]
        table = self.table("t.csv", "aby", rows)
        holes = self.table("h.csv", "aby", holed)
        self.fit(table)
        model = self.path("t.cov")
        for verb in ("predict", "evaluate"):
            self.refused(verb, model, holes, says=["line 5 has no value in column 'a'", "--missing drop"])
        self.assertEqual(self.json_of("predict", model, holes, "--missing", "drop")["n"], 59)
        self.assertEqual(self.json_of("evaluate", model, holes, "--missing", "drop")["n"], 59)
        out = ("--out", self.path("r.html"))
        self.refused("report", model, "--data", holes, *out, says=["line 5"])
        self.assertEqual(self.json_of("report", model, "--data", holes, *out, "--missing", "drop")["held_out"], 59)
        known = self.json_of("predict", model, table)
        learned = self.json_of("predict", model, holes, "--missing", "learn")
        self.assertEqual(learned["n"], 60)
        self.assertGreater(learned["variance"][3], 3 * known["variance"][3])
        self.assertAlmostEqual(learned["mean"][4], known["mean"][4], delta=1e-8)
        # A model that has learned missing inputs does so by itself.
        self.fit(holes, "--missing", "learn", "--inducing", "15", out="l.cov")
        self.assertEqual(self.json_of("predict", self.path("l.cov"), holes)["n"], 60)
        self.assertEqual(self.json_of("evaluate", self.path("l.cov"), holes)["n"], 60)

    def test_missing_categories_are_named_by_their_column(self):
        rows = [("uvw"[i % 3], i, i % 3) for i in range(30)]
        self.fit(self.table("t.csv", "kxy", rows))
        self.refused("predict", self.path("t.cov"), self.table("h.csv", "kx", [("u", 1), ("", 2)]),
                     says=["line 3 has no value in column 'k'"])
        self.refused("predict", self.path("t.cov"), self.table("h.csv", "kx", [("u", 1), ("z", 2)]),
                     says=["column 'k' has the value 'z' in line 3; known are u, v, w"])

    def test_columns_are_kept(self):
        self.fit(self.table("t.csv", "kxy", [("uv"[i % 2], i, i % 3) for i in range(20)]))
        at = self.table("at.csv", ["id", "k", "x"], [("p, q", "u", 1.5), ("r", "v", 2)])
        covary("predict", self.path("t.cov"), at, "--keep", "id,x", "--out", self.path("p.csv"))
        rows = self.rows_of("p.csv")
        self.assertEqual(list(rows[0]), ["id", "x", "mean", "variance", "sd", "variance_f", "lower", "upper"])
        self.assertEqual([(r["id"], r["x"]) for r in rows], [("p, q", "1.5"), ("r", "2")])
        for r in rows:
            self.assertAlmostEqual(float(r["sd"]) ** 2, float(r["variance"]), delta=1e-12)
        self.assertEqual(self.json_of("predict", self.path("t.cov"), at, "--keep", "id")["id"], ["p, q", "r"])
        self.refused("predict", self.path("t.cov"), at, "--keep", "nothing", says=["no column 'nothing'"])

    def test_kernels_take_columns_by_name_and_categories(self):
        rng = random.Random(3)
        effect = {"u": 0.0, "v": 2.0, "w": -1.0}
        rows = [(k := rng.choice("uvw"), x := rng.uniform(0, 6), math.sin(x) + effect[k]) for _ in range(60)]
        table = self.table("t.csv", "kxy", rows)
        at = self.table("at.csv", "kx", [("v", 2), ("w", 2)])
        for kernel in ("se@x + overlap@k", "se@x + lowrank(1)@k", "se(dims=x) + overlap(variance=2)@'k'"):
            run = covary("fit", table, "--target", "y", "--kernel", kernel, "--out", self.path("t.cov"))
            self.assertEqual(run.returncode, 0, run.stderr)
            mean = self.json_of("predict", self.path("t.cov"), at)["mean"]
            self.assertAlmostEqual(mean[0] - mean[1], 3.0, delta=0.1)
        self.assertIn("names 'kk', which is not an input (k, x) (did you mean 'k'?)",
                      self.fit(table, "--kernel", "overlap@kk", status=2))

    def test_circular_inputs_come_round(self):
        rows = [(h / 2 % 24, math.sin(2 * math.pi * h / 48)) for h in range(60)]
        self.fit(self.table("t.csv", ["hour", "y"], rows), "--circular", "hour=24")
        p = self.json_of("predict", self.path("t.cov"), self.table("at.csv", ["hour"], [[0], [24], [48], [12]]))
        for v in p["mean"][1:3]:
            self.assertAlmostEqual(v, p["mean"][0], delta=1e-9)
        self.assertEqual(self.json_of("show", self.path("t.cov"))["inputs"], ["cos(hour)", "sin(hour)"])
        for wrong in ("hour=0", "hour=day", "nothing=24", "y=3"):
            self.fit(self.path("t.csv"), "--circular", wrong, status=2)

    def test_wide_tables_have_no_standard_errors_by_default(self):
        # Their Hessian would cost the square of the number of columns.
        wide = lambda columns: self.table("w.csv", ["y", *(f"a{i}" for i in range(columns))],
                                          [[r, *(r * i % 7 for i in range(columns))] for r in range(3)])
        few, many = (self.json_of("fit", wide(n), "--target", "y", "--max-iter", "1") for n in (50, 1500))
        self.assertTrue(few["standard_errors"])
        self.assertFalse(many["standard_errors"])


if __name__ == "__main__":
    unittest.main()
