"""Latent-variable models at the command line."""
import csv
import io
import json
import math
import os
import random
import signal
import subprocess
import unittest

from support import COVARY, CommandLine, covary


class Curve(CommandLine):
    """Rows on a curve in four columns, with labels and times."""

    def setUp(self):
        super().setUp()
        rng = random.Random(2)
        self.rows = []
        for i in range(50):
            t = -1.5 + 3 * i / 49
            cells = [t, math.sin(2 * t), t * t, math.tanh(2 * t)]
            self.rows.append((i * 0.1, "early" if t < 0 else "late", *(c + 0.02 * rng.gauss(0, 1) for c in cells)))
        self.table = self.write("curve.csv", self.text(self.rows))

    @staticmethod
    def text(rows):
        return "time,half,a,b,c,d\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)

    def fit(self, *more, out="m.cov"):
        return self.json_of("fit", self.table, "--model", "gplvm", "--latent", "3", "--inducing", "12", "--label", "half",
                            "--target", "a,b,c,d", "--out", self.path(out), *more)

    def test_fit_says_which_dimensions_are_in_use(self):
        fit = self.fit("--max-iter", "1000")
        self.assertEqual((fit["model"], fit["n"], fit["d"], fit["latent"]), ("gplvm", 50, 4, 3))
        self.assertEqual((len(fit["relevance"]), max(fit["relevance"])), (3, 1.0))
        self.assertEqual(sum(w > 0.01 for w in fit["relevance"]), 1)
        self.assertLessEqual(fit["neighbour_errors"], 2)
        shown = self.json_of("show", self.path("m.cov"))
        for key in ("value", "relevance", "active", "neighbour_errors", "parameters"):
            self.assertEqual(shown[key], fit[key])
        self.assertIn("in use", covary("show", self.path("m.cov")).stdout)

    def test_all_numbers_but_the_label_are_outputs_unless_told(self):
        fit = self.json_of("fit", self.table, "--model", "gplvm", "--latent", "2", "--label", "half", "--max-iter", "3")
        self.assertEqual(fit["outputs"], ["time", "a", "b", "c", "d"])
        for model in ("gplvm", "ppca", "map_gplvm"):
            more = () if model == "ppca" else ("--max-iter", "3")
            run = covary("fit", self.table, "--model", model, "--latent", "2", *more)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("ignoring text columns: half", run.stderr)

    def test_minibatches(self):
        fit = self.fit("--batch", "16", "--epochs", "100", "--seed", "1")
        self.assertEqual((fit["model"], fit["likelihood"], fit["iterations"]), ("gplvm", "gaussian", 400))
        evaluated = self.fit("--max-iter", "0", "--seed", "1")
        self.assertGreater(fit["value"], evaluated["value"])
        self.assertIn("minibatches of 16 of 50 rows", fit["route"])
        self.refused("fit", self.table, "--model", "gplvm", "--batch", "16", "--dynamics", "time", "--target", "a,b",
                     says=["--dynamics", "gplvm by minibatches"])

    def test_other_likelihoods(self):
        labels = self.write("labels.csv", self.text([row[:2] + tuple(int(c > 0.5) for c in row[2:]) for row in self.rows]))
        fit = self.json_of("fit", labels, "--model", "gplvm", "--latent", "2", "--inducing", "8", "--target", "a,b,c,d",
                           "--likelihood", "bernoulli", "--epochs", "60", "--out", self.path("labels.cov"))
        self.assertEqual(fit["likelihood"], "bernoulli(logit)")
        shown = self.json_of("show", self.path("labels.cov"))
        for key in ("value", "relevance", "likelihood", "parameters"):
            self.assertEqual(shown[key], fit[key])
        run = covary("predict", self.path("labels.cov"), labels)
        self.assertEqual(run.returncode, 0, run.stderr)
        for row in csv.DictReader(io.StringIO(run.stdout)):
            for name in "abcd":
                self.assertTrue(0 <= float(row["mean_" + name]) <= 1)
        self.assertLess(self.json_of("evaluate", self.path("labels.cov"), labels)["reconstruction_rmse"], 0.4)
        self.refused("explore", self.path("labels.cov"), "--out", self.path("walk.html"), says=["bernoulli"])
        self.refused("fit", self.table, "--model", "gplvm", "--likelihood", "poisson", "--target", "a,b", says=["poisson"])

    def test_killed_and_resumed_it_ends_with_the_same_bits(self):
        command = ["fit", self.table, "--model", "gplvm", "--latent", "2", "--inducing", "8", "--target", "a,b,c,d",
                   "--max-iter", "60", "--restarts", "2", "--json"]
        whole = self.json_of(*command[:-1])
        state = ("--checkpoint", self.path("state.ckpt"))
        for lines, more in ((20, state), (30, (*state, "--resume"))):
            run = subprocess.Popen([COVARY, *command, "--verbose", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
            while lines > 0:
                text = run.stderr.readline()
                self.assertTrue(text, "it ended before it could be stopped")
                lines -= text.startswith("start ") and "iteration" in text
            run.send_signal(signal.SIGKILL)
            run.communicate(timeout=60)
        resumed = self.json_of(*command[:-1], *state, "--resume")
        for key in ("value", "parameters", "relevance", "iterations"):
            self.assertEqual(resumed[key], whole[key])
        command[command.index("--latent") + 1] = "3"
        run = covary(*command, *state, "--resume")
        self.assertIn("another fit", run.stdout + run.stderr)

    def test_every_trained_model_is_resumed_with_the_same_bits(self):
        def table(name, header, rows):
            return self.write(name, header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))

        labelled = table("labelled.csv", "a,b,c,d,kind",
                         [(*row[2:], "ab"[i % 2]) for i, row in enumerate(self.rows)])
        holed = table("holed.csv", "a,b,c",
                      [("" if i % 5 == 1 else row[2], *row[3:5]) for i, row in enumerate(self.rows)])
        for call, lines in (
                ((self.table, "--model", "map_gplvm", "--latent", "2", "--target", "a,b,c,d", "--restarts", "2",
                  "--max-iter", "30"), 12),
                ((self.table, "--model", "gplvm", "--latent", "2", "--inducing", "6", "--target", "a,b,c,d",
                  "--batch", "16", "--steps", "120"), 30),
                ((labelled, "--model", "class_density", "--target", "kind", "--latent", "2", "--inducing", "6",
                  "--restarts", "1", "--max-iter", "30"), 40),
                ((holed, "--target", "c", "--missing", "learn", "--inducing", "6", "--max-iter", "30"), 10)):
            with self.subTest(call=call[1:3]):
                whole = self.json_of("fit", *call)
                state = ("--checkpoint", self.path("each.ckpt"))
                run = subprocess.Popen([COVARY, "fit", *call, "--verbose", *state], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
                left = lines
                while left > 0:
                    text = run.stderr.readline()
                    self.assertTrue(text, "it ended before it could be stopped")
                    left -= text.startswith(("start ", "step ")) and "objective" in text
                run.send_signal(signal.SIGKILL)
                run.communicate(timeout=60)
                again = covary("fit", *call, *state, "--resume", "--json")
                self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
                self.assertIn("resumed at", again.stderr)
                resumed = json.loads(again.stdout)
                for density in (*resumed.get("densities", ()), *whole.get("densities", ())):
                    density.pop("seconds")
                for key in ("value", "parameters", "densities"):
                    self.assertEqual(resumed.get(key), whole.get(key))
                os.remove(self.path("each.ckpt"))

    def test_missing_cells_are_filled_in(self):
        self.fit("--max-iter", "400")
        whole = self.rows[33]
        some = self.write("some.csv", self.text([whole[:2] + ("", whole[3], "", whole[5])]))
        run = covary("predict", self.path("m.cov"), some)
        self.assertEqual(run.returncode, 0, run.stderr)
        row = next(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual(list(row)[:6], ["x0", "x1", "x2", "variance_x0", "variance_x1", "variance_x2"])
        for name, truth in (("a", whole[2]), ("c", whole[4])):
            away = abs(float(row["mean_" + name]) - truth)
            self.assertLess(away, 4 * math.sqrt(float(row["variance_" + name])) + 0.1)
        scores = self.json_of("evaluate", self.path("m.cov"), self.table)
        self.assertLess(scores["reconstruction_rmse"], 0.1)
        self.assertGreaterEqual(scores["log_density"], scores["bound"])
        self.json_of("report", self.path("m.cov"), "--out", self.path("m.html"))
        page = self.read("m.html")
        for words in ("The rows in the latent space", "Relevance of the dimensions", "early", "inducing inputs"):
            self.assertIn(words, page)

    def test_what_is_given_holds_with_dynamics(self):
        over = ("--dynamics", "time", "--restarts", "1", "--max-iter", "60")
        first = self.fit(*over, "--bounds", "kernel.lengthscales=0.1,5", "--tie", "kernel.variance=40*likelihood.variance",
                         out="d.cov")["parameters"]
        self.assertAlmostEqual(first["kernel.variance"], 40 * first["likelihood.variance"])
        self.assertTrue(all(0.1 <= length <= 5 for length in first["kernel.lengthscales"]))
        fit = self.fit(*over, out="d.cov")
        again = self.fit("--dynamics", "time", "--restarts", "1", "--max-iter", "1", "--fixed-point", "0", "--from", self.path("d.cov"))
        self.assertGreater(again["value"], fit["value"] - 1e-6 * abs(fit["value"]))
        held = self.fit(*over, "--set", "likelihood.variance=0.5", "--fix", "likelihood.variance")
        near = self.fit("--dynamics", "time", "--restarts", "1", "--max-iter", "1", "--set", "likelihood.variance=0.5")
        self.assertEqual(held["parameters"]["likelihood.variance"], 0.5)
        self.assertLess(abs(math.log(near["parameters"]["likelihood.variance"] / 0.5)), 1)

    def test_dynamics_forecast_at_times_without_outputs(self):
        fit = self.fit("--dynamics", "time", "--max-iter", "100", "--fixed-point", "3", out="d.cov")
        self.assertEqual(fit["dynamics"], "se + white")
        times = self.write("times.csv", "time\n5.0\n5.1\n")
        run = covary("predict", self.path("d.cov"), times)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("forecast", run.stderr)
        self.assertEqual(len(list(csv.DictReader(io.StringIO(run.stdout)))), 2)
        self.json_of("report", self.path("d.cov"), "--out", self.path("d.html"))
        self.assertIn("over time", self.read("d.html"))

    def test_rows_with_times_are_one_sequence(self):
        self.fit("--dynamics", "time", "--max-iter", "200", out="d.cov")
        gap = range(10, 13)  # nothing is seen there but the time
        rows = [(*row[:2], *("" for _ in row[2:])) if i in gap else row for i, row in enumerate(self.rows[10:35])]
        run = covary("predict", self.path("d.cov"), self.write("walk.csv", self.text(rows)))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("one new sequence", run.stderr)
        filled = list(csv.DictReader(io.StringIO(run.stdout)))
        for i in gap:
            for name, truth in zip("abcd", self.rows[10 + i][2:]):
                self.assertLess(abs(float(filled[i]["mean_" + name]) - truth), 0.2)
        whole = self.json_of("evaluate", self.path("d.cov"), self.write("whole.csv", self.text(self.rows[10:35])))
        self.assertTrue(whole["sequence"])
        self.assertNotIn("log_density", whole)
        self.assertLess(whole["reconstruction_rmse"], 0.2)
        # Without times each row is by itself, and nothing is known of an empty one.
        alone = "a,b,c,d\n" + "".join(",".join(map(str, row[2:])) + "\n" for row in rows)
        run = covary("predict", self.path("d.cov"), self.write("alone.csv", alone))
        self.assertEqual(run.returncode, 0, run.stderr)
        apart = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertGreater(float(apart[gap[1]]["variance_a"]), 4 * float(filled[gap[1]]["variance_a"]))
        by_rows = self.json_of("evaluate", self.path("d.cov"), self.write("rows.csv", "a,b,c,d\n" + "".join(
            ",".join(map(str, row[2:])) + "\n" for row in self.rows[10:35])))
        self.assertIn("log_density", by_rows)
        self.assertGreater(whole["bound"], by_rows["bound"])

    def test_views_have_a_relevance_each(self):
        fit = self.json_of("fit", self.table, "--model", "mrd", "--latent", "2", "--target", "a,b,c,d", "--view", "one=a,b",
                           "--view", "two=c,d", "--max-iter", "30", "--out", self.path("v.cov"))
        self.assertEqual((fit["model"], [v["name"] for v in fit["views"]]), ("mrd", ["one", "two"]))
        self.assertEqual(max(s["value"] for s in fit["starts"]), fit["value"])
        self.assertIn("views.one.likelihood.variance", fit["parameters"])
        self.json_of("report", self.path("v.cov"), "--out", self.path("v.html"))
        self.assertIn("Relevance for the view one", self.read("v.html"))

    def test_all_dimensions_start_from_a_view(self):
        command = ("fit", self.table, "--model", "mrd", "--latent", "2", "--target", "a,b,c,d", "--view", "one=a,b", "--view",
                   "two=c,d", "--max-iter", "0", "--restarts", "1")
        fits = [self.json_of(*command, *more) for more in ((), ("--start-view", "one"), ("--start-view", "two"))]
        self.assertEqual(len({fit["value"] for fit in fits}), 3)
        self.refused(*command, "--start-view", "three", says=["no view 'three'"])
        for model in ("map_gplvm", "ppca"):
            self.refused("fit", self.table, "--model", model, "--target", "a,b,c,d", "--start-view", "one",
                         says=["--start-view", "gplvm or mrd"])

    def test_an_empty_view_has_correspondences(self):
        self.json_of("fit", self.table, "--model", "mrd", "--latent", "2", "--target", "a,b,c,d", "--view", "one=a,b",
                     "--view", "two=c,d", "--inducing", "12", "--max-iter", "100", "--out", self.path("v.cov"))
        half = self.write("half.csv", self.text([(*row[:4], "", "") for row in self.rows[::10]]))
        found = self.json_of("predict", self.path("v.cov"), half, "--correspond", "2")
        self.assertEqual(found["row"], [i // 2 for i in range(10)])
        self.assertEqual(found["neighbour"], [1, 2] * 5)
        for i, training in enumerate(found["training_row"]):
            self.assertLess(abs(training - 10 * (i // 2)), 5)
            self.assertLess(abs(found["mean_c"][i] - self.rows[10 * (i // 2)][4]), 0.3)
        self.refused("predict", self.path("v.cov"), self.table, "--correspond", "2", says=["shows 2 of 2 views"])
        self.fit("--max-iter", "3")
        self.refused("predict", self.path("m.cov"), half, "--correspond", "2", says=["between views"])

    def test_principal_components_in_closed_form(self):
        fit = self.json_of("fit", self.table, "--model", "ppca", "--latent", "2", "--target", "a,b,c,d", "--label", "half",
                           "--out", self.path("p.cov"))
        self.assertEqual((fit["model"], fit["n"], fit["d"], fit["latent"]), ("ppca", 50, 4, 2))
        self.assertTrue(0.8 < sum(fit["explained"]) < 1)
        self.assertLessEqual(fit["neighbour_errors"], 2)
        self.assertEqual(self.json_of("show", self.path("p.cov"))["value"], fit["value"])
        self.assertIn("noise variance", covary("show", self.path("p.cov")).stdout)
        scores = self.json_of("evaluate", self.path("p.cov"), self.table)
        self.assertAlmostEqual(50 * scores["log_density"], fit["value"], 6)
        whole = self.rows[33]
        some = self.write("some.csv", self.text([whole[:2] + ("", whole[3], whole[4], whole[5])]))
        row = self.json_of("predict", self.path("p.cov"), some)
        self.assertLess(abs(row["mean_a"][0] - whole[2]), 4 * math.sqrt(row["variance_a"][0]))
        self.json_of("report", self.path("p.cov"), "--out", self.path("p.html"))
        self.assertIn("Share of the variance", self.read("p.html"))
        self.refused("fit", self.table, "--model", "ppca", "--latent", "4", "--target", "a,b,c,d",
                     says=["no direction for the noise"])
        self.refused("fit", self.table, "--model", "ppca", "--dynamics", "time", says=["--model gplvm, mrd or map_gplvm"])
        self.refused("sample", self.path("p.cov"), self.table, says=["sample is not available for ppca"])

    def test_draws_of_the_latent_inputs(self):
        few = self.write("few.csv", self.text(self.rows[::6]))
        self.json_of("fit", few, "--model", "gplvm", "--latent", "1", "--target", "a,b,c,d", "--max-iter", "30",
                     "--restarts", "1", "--out", self.path("f.cov"))
        for sampler in ("slice", "retrospective"):
            drawn = self.json_of("sample", self.path("f.cov"), few, "--posterior", sampler, "-n", "4", "--burn-in", "3",
                                 "--thin", "2")
            self.assertEqual((drawn["posterior"], drawn["draws"], len(drawn["draw_3_x0"])), (sampler, 4, 9))
            self.assertTrue(0 < drawn["acceptance"] <= 1)
        self.refused("sample", self.path("f.cov"), self.table, "--posterior", "slice", says=["trained on 9 rows"])
        self.refused("sample", self.path("f.cov"), few, "--posterior", "gibbs", says=["--posterior"])

    def test_points_in_place_of_distributions(self):
        def fit(*more, out):
            return self.json_of("fit", self.table, "--model", "map_gplvm", "--latent", "2", "--target", "a,b,c,d",
                                "--label", "half", "--max-iter", "60", "--out", self.path(out), *more)
        plain = fit(out="p.cov")
        self.assertEqual((plain["model"], plain["n"], plain["d"], plain["latent"]), ("map_gplvm", 50, 4, 2))
        self.assertEqual((len(plain["spread"]), plain["back_constraint"]), (2, None))
        self.assertLessEqual(plain["neighbour_errors"], 2)
        self.assertEqual(plain["parameters"]["kernel.lengthscales"], [1.0, 1.0])
        self.assertEqual(self.json_of("show", self.path("p.cov"))["value"], plain["value"])
        self.assertIn("log p(Y | X)", covary("show", self.path("p.cov")).stdout)
        scores = self.json_of("evaluate", self.path("p.cov"), self.table)
        self.assertLess(scores["reconstruction_rmse"], 0.1)
        whole = self.rows[33]
        some = self.write("some.csv", self.text([whole[:2] + ("", whole[3], whole[4], whole[5])]))
        row = self.json_of("predict", self.path("p.cov"), some)
        self.assertLess(abs(row["mean_a"][0] - whole[2]), 0.3)
        walk = self.write("walk.csv", "x0,x1\n0,0\n0.5,0\n")
        self.assertEqual(len(self.json_of("predict", self.path("p.cov"), walk)["mean_a"]), 2)
        self.assertEqual(covary("sample", self.path("p.cov"), walk, "-n", "3").returncode, 0)

        self.assertEqual(fit("--back-constraint", "kernel", out="b.cov")["back_constraint"], "kernel")
        self.assertEqual(fit("--discriminative", "1000", out="a.cov")["neighbour_errors"], 0)
        over = fit("--dynamics", "time", "--view", "one=a,b", "--view", "two=c,d", out="d.cov")
        self.assertEqual((over["dynamics"], [v["name"] for v in over["views"]]), ("se + white", ["one", "two"]))
        times = self.write("times.csv", "time\n5.0\n5.1\n")
        ahead = self.json_of("predict", self.path("d.cov"), times)
        self.assertLess(ahead["variance_x0"][0], ahead["variance_x0"][1])
        self.json_of("report", self.path("d.cov"), "--data", self.table, "--out", self.path("d.html"))
        page = self.read("d.html")
        for words in ("Spread of the dimensions", "over time", "Rows given back"):
            self.assertIn(words, page)
        self.refused("explore", self.path("p.cov"), "--out", self.path("x.html"), says=["gplvm or mrd"])
        self.refused("fit", self.table, "--model", "map_gplvm", "--discriminative", "1", says=["--label"])
        self.refused("fit", self.table, "--model", "gplvm", "--discriminative", "1", says=["--model map_gplvm"])
        free = self.fit("--max-iter", "40", "--restarts", "1")
        bound = self.fit("--max-iter", "40", "--restarts", "1", "--back-constraint", "kernel")
        self.assertEqual(len(bound["parameters"]["latent.weights"]), len(free["parameters"]["latent.mean"]))
        self.refused("fit", self.table, "--model", "gplvm", "--fixed-point", "-3", says=["--fixed-point"])
        self.refused("fit", self.table, "--model", "gplvm", "--label", "half", "--back-constraint", "kernel", "--dynamics", "time",
                     says=["standard normal prior"])

    def test_bad_calls_say_what_to_do(self):
        for words, arguments in (("two views", ["--model", "mrd"]),
                                 ("--sequences needs --dynamics", ["--model", "gplvm", "--sequences", "half"]),
                                 ("is not an output", ["--model", "gplvm", "--target", "a,b", "--view", "v=c"]),
                                 ("gplvm does not read it", ["--model", "gplvm", "--folds", "3"])):
            run = covary("fit", self.table, *arguments)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(words, run.stderr)
        self.fit("--max-iter", "2")
        for verb, says in (("sample", "x0 to x2"), ("update", "update is not available for")):
            run = covary(verb, self.path("m.cov"), self.table, "--out", self.path("x"))
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)
        covary("fit", self.path("train.csv"), "--target", "y", "--max-iter", "1", "--out", self.path("r.cov"))
        self.refused("explore", self.path("r.cov"), "--out", self.path("r.html"), says=["gplvm or mrd"])
        self.refused("explore", self.path("m.cov"), "--draw", "image(3x3)", "--out", self.path("r.html"), says=["4 of them"])

    def test_a_walk_along_a_dimension(self):
        self.fit("--max-iter", "100")
        walk = self.write("walk.csv", "x0,x1,x2\n" + "".join(f"{0.2 * i - 1},0,0\n" for i in range(11)))
        run = covary("predict", self.path("m.cov"), walk)
        self.assertEqual(run.returncode, 0, run.stderr)
        decoded = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual([float(row["x0"]) for row in decoded], [float(f"{0.2 * i - 1}") for i in range(11)])
        run = covary("sample", self.path("m.cov"), walk, "-n", "200", "--seed", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        draws = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual(len(draws[0]), 200 * 4)
        for row, drawn in zip(decoded, draws):
            values = [float(drawn[f"draw_{s}_b"]) for s in range(200)]
            sd = math.sqrt(float(row["variance_b"]))  # with the noise, so at least that of the draws
            self.assertLess(abs(sum(values) / 200 - float(row["mean_b"])), 0.4 * sd)


if __name__ == "__main__":
    unittest.main()
