"""Models of other likelihoods at the command line."""
import csv
import io
import json
import math
import os
import random
import signal
import struct
import subprocess
import unittest

from support import COVARY, CommandLine, covary


class ClassTable(CommandLine):
    """Two classes in one column, three in another."""

    def setUp(self):
        super().setUp()
        rng = random.Random(4)
        rows = []
        for _ in range(240):
            a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
            score = 4 * math.sin(2 * a) + 2 * b
            rows.append((a, b, "yes" if rng.random() < 1 / (1 + math.exp(-score)) else "no",
                         3 if a * a + b * b < 1.5 else 7 if a > 0 else 12))
        # What the rule that knows the probabilities gets right: no method should be much below it.
        right = [(4 * math.sin(2 * a) + 2 * b > 0) == (kind == "yes") for a, b, kind, _ in rows[160:]]
        self.attainable = sum(right) / len(right)
        text = lambda part: "a,b,kind,number\n" + "".join("%r,%r,%s,%d\n" % row for row in part)
        self.train = self.write("classes.csv", text(rows[:160]))
        self.test = self.write("classes_test.csv", text(rows[160:]))

    def fit(self, *more, target="kind", out="c.cov"):
        return self.json_of("fit", self.train, "--target", target, "--inputs", "a,b", "--out", self.path(out), *more)


class Classes(ClassTable):
    def test_a_text_target_is_classified_and_the_program_says_so(self):
        run = covary("fit", self.train, "--target", "kind", "--inputs", "a,b", "--out", self.path("c.cov"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("classification with --likelihood bernoulli", run.stderr)
        shown = self.json_of("show", self.path("c.cov"))
        self.assertEqual((shown["model"], shown["likelihood"], shown["classes"], shown["n"]),
                         ("laplace", "bernoulli(logit)", ["no", "yes"], 160))
        rows = list(csv.DictReader(io.StringIO(covary("predict", self.path("c.cov"), self.test).stdout)))
        self.assertEqual(list(rows[0]), ["class", "p_no", "p_yes", "mean_f", "variance_f"])
        for row in rows:
            self.assertEqual(row["class"], "yes" if float(row["p_yes"]) >= 0.5 else "no")
        scores = self.json_of("evaluate", self.path("c.cov"), self.test)
        self.assertGreater(scores["accuracy"], self.attainable - 0.06)
        self.assertGreater(scores["auc"], 0.9)
        self.assertEqual(sum(map(sum, scores["confusion"])), 80)
        cautious = self.json_of("evaluate", self.path("c.cov"), self.test, "--threshold", "0.9")
        self.assertLess(cautious["confusion"][0][1], scores["confusion"][0][1])

    def test_a_weight_of_two_is_a_row_given_twice(self):
        lines = self.read("classes.csv").splitlines()[1:81]
        weighted = self.write("w.csv", "a,b,kind,number,w\n" + "".join(f"{line},{i % 3}\n" for i, line in enumerate(lines)))
        repeated = self.write("r.csv", "a,b,kind,number\n" +
                              "".join((line + "\n") * (i % 3) for i, line in enumerate(lines)))
        for model in ("laplace", "ep", "vgp", "svgp"):
            with self.subTest(model):
                more = ("--selection", "greedy_variance") if model == "svgp" else ("--restarts", "1")
                common = ("--target", "kind", "--inputs", "a,b", "--model", model, "--max-iter", "3", *more)
                a = self.json_of("fit", weighted, "--weights", "w", *common)
                b = self.json_of("fit", repeated, *common)
                self.assertAlmostEqual(a["value"], b["value"], 5)
        self.refused("fit", weighted, "--target", "number", "--inputs", "a,b", "--weights", "w",
                     says=["--weights is for --model laplace"])

    def test_one_class_against_the_rest(self):
        for model in ("laplace", "ep", "vgp", "svgp"):
            with self.subTest(model):
                fit = self.fit("--model", model, "--likelihood", "one_vs_rest", "--max-iter", "10", target="number")
                self.assertEqual((fit["likelihood"], fit["classes"]), ("one_vs_rest(3, logit)", ["3", "7", "12"]))
                self.assertIn("function.2.kernel.variance", fit["parameters"])
                self.assertEqual(self.json_of("show", self.path("c.cov"))["value"], fit["value"])
                rows = self.json_of("predict", self.path("c.cov"), self.test)
                for row in zip(rows["p_3"], rows["p_7"], rows["p_12"]):
                    self.assertAlmostEqual(sum(row), 1.0)
                self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"], 0.85)
        self.json_of("report", self.path("c.cov"), "--data", self.test, "--out", self.path("r.html"))
        probit = self.fit("--likelihood", "one_vs_rest(probit)", "--max-iter", "5", target="number")
        self.assertEqual((probit["model"], probit["likelihood"]), ("laplace", "one_vs_rest(3, probit)"))

    def test_principal_components_are_kept_in_the_model(self):
        for model in ("laplace", "svgp"):
            with self.subTest(model):
                fit = self.fit("--model", model, "--pca", "2", "--max-iter", "20")
                self.assertEqual((fit["d"], fit["pca"]["components"]), (2, 2))
                self.assertAlmostEqual(sum(fit["pca"]["explained"]), 1.0)
                self.assertEqual(self.json_of("show", self.path("c.cov"))["pca"], fit["pca"])
                self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"],
                                   self.attainable - 0.06)
                self.json_of("report", self.path("c.cov"), "--data", self.test, "--out", self.path("p.html"))
        self.assertIn("2 principal components with 100 % of the variance", self.read("p.html"))
        self.assertIn("2 principal components with 100 % of the variance", covary("show", self.path("c.cov")).stdout)
        self.assertEqual(len(self.fit("--pca", "1", "--max-iter", "5")["pca"]["explained"]), 1)
        for verb in ("fit", "compare"):
            self.refused(verb, self.train, "--target", "number", "--inputs", "a,b", "--pca", "1", "--kernel", "se",
                         says=["--pca is for --model laplace"])
        self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", "--likelihood", "bernoulli", "--pca", "3",
                     says=["3 components were asked for"])

    def test_a_latent_space_is_kept_in_the_model(self):
        table = self.write("curve.csv", "a,b,c,kind\n" + "".join(
            "%r,%r,%r,%s\n" % (t, math.sin(2 * t), t * t, "" if i % 3 else "in" if abs(t) < 0.8 else "out")
            for i, t in enumerate(-1.5 + 3 * k / 59 for k in range(60))))
        for model in ("laplace", "svgp"):
            with self.subTest(model):
                run = covary("fit", table, "--target", "kind", "--model", model, "--gplvm", "2", "--max-iter", "40",
                             "--out", self.path("g.cov"), "--json")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("40 of 60 rows have no target", run.stderr)
                fit = json.loads(run.stdout)
                self.assertEqual((fit["n"], fit["d"], fit["gplvm"]["n"], fit["gplvm"]["latent"]), (20, 3, 60, 2))
                shown = self.json_of("show", self.path("g.cov"))
                self.assertEqual(shown["gplvm"], fit["gplvm"])
                self.assertGreater(self.json_of("evaluate", self.path("g.cov"), table)["accuracy"], 0.85)
                used = len(fit["gplvm"]["active"])
                self.assertIn(f"{used} of 2 latent dimensions of their GP-LVM", covary("show", self.path("g.cov")).stdout)
        self.assertEqual(len(self.json_of("predict", self.path("g.cov"), table)["p_in"]), 60)
        self.json_of("sample", self.path("g.cov"), table, "-n", "2")
        self.json_of("report", self.path("g.cov"), "--data", table, "--out", self.path("g.html"))
        self.assertIn("latent dimensions of their GP-LVM", self.read("g.html"))
        dropped = self.json_of("fit", table, "--target", "kind", "--gplvm", "1", "--missing", "drop", "--max-iter", "3")
        self.assertEqual(dropped["gplvm"]["n"], 20)
        for arguments, words in ((["--gplvm", "4"], "there are 3 input columns"),
                                 (["--gplvm", "1", "--pca", "1"], "not both")):
            self.refused("fit", table, "--target", "kind", "--quiet", *arguments, says=[words])
        self.refused("fit", table, "--target", "a", "--inputs", "b,c", "--gplvm", "1", says=["--gplvm is for --model laplace"])

    def test_classes_by_their_densities(self):
        rng = random.Random(6)
        def row(i):
            t = rng.uniform(-1, 1)
            cells = (t, -t, math.cos(3 * t)) if i % 3 else (t, t, math.sin(3 * t))
            return ",".join(str(c + 0.03 * rng.gauss(0, 1)) for c in cells) + ",%d" % (7 if i % 3 else 3) + "\n"
        train = self.write("curves.csv", "a,b,c,digit\n" + "".join(map(row, range(90))))
        test = self.write("curves_test.csv", "a,b,c,digit\n" + "".join(map(row, range(60))))
        model = self.path("d.cov")
        fit = self.json_of("fit", train, "--target", "digit", "--model", "class_density", "--latent", "2", "--inducing",
                           "8", "--restarts", "1", "--max-iter", "60", "--out", model)
        self.assertEqual((fit["model"], fit["classes"], fit["n"], fit["d"]), ("class_density", ["3", "7"], 90, 3))
        self.assertEqual([(c["class"], c["n"]) for c in fit["densities"]], [("3", 30), ("7", 60)])
        self.assertAlmostEqual(fit["densities"][1]["prior"], 2 / 3)
        self.assertEqual(self.json_of("show", model)["value"], fit["value"])
        self.assertIn("in use", covary("show", model).stdout)
        self.assertGreater(self.json_of("evaluate", model, test)["accuracy"], 0.9)
        rows = list(csv.DictReader(io.StringIO(covary("predict", model, test).stdout)))
        self.assertEqual(list(rows[0]), ["class", "p_3", "p_7", "log_joint_3", "log_joint_7"])
        for r in rows:
            self.assertEqual(r["class"] == "7", float(r["log_joint_7"]) > float(r["log_joint_3"]))
        self.json_of("report", model, "--data", test, "--out", self.path("d.html"))
        self.assertIn("densities of the 2 classes of digit", self.read("d.html"))
        self.refused("sample", model, test, says=["sample is not available for class_density"])
        self.refused("update", model, test, "--out", self.path("u.cov"), says=["update is not available for class_density"])
        for arguments, words in ((["--folds", "3"], "class_density does not read it"),
                                 (["--likelihood", "poisson"], "class_density does not read it"),
                                 (["--fix", "kernel"], "class.0.latent.mean, class.0.latent.variance, class.0.kernel.variance")):
            self.refused("fit", train, "--target", "digit", "--model", "class_density", *arguments, says=[words])

    def test_every_method_fits_and_is_saved(self):
        values = {}
        for model in ("laplace", "ep", "ep(0.5)", "vgp", "svgp", "fitc", "pep(0.5)"):
            with self.subTest(model):
                more = ("--inducing", "40") if model in ("svgp", "fitc", "pep(0.5)") else ()
                fit = self.fit("--model", model, "--likelihood", "bernoulli(probit)", "--max-iter", "10", *more)
                self.assertEqual(fit["model"], model)
                values[model] = fit["value"]
                self.assertEqual(self.json_of("show", self.path("c.cov"))["value"], fit["value"])
                self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"],
                                   self.attainable - 0.06)
        self.assertLess(abs(values["svgp"] - values["vgp"]), 1.0)
        self.assertLess(abs(values["fitc"] - values["ep"]), 3.0)

    def test_inducing_inputs_may_be_informative_vectors_or_given(self):
        for model in ("fitc", "svgp"):
            fit = self.fit("--model", model, "--inducing", "9", "--selection", "informative_vectors", "--max-iter", "0")
            self.assertEqual(fit["diagnostics"]["inducing"], 9)
        given = self.write("z.csv", "a,b\n-1,0\n0,0\n1,1\n")
        fit = self.fit("--model", "pep(0.5)", "--inducing-file", given, "--max-iter", "2", "--fix", "features.Z")
        self.assertEqual(len(fit["parameters"]["features.Z"]), 6)
        self.assertEqual(fit["objective"], "log_evidence(pep(0.5))")

    def test_sparse_ep_takes_other_features(self):
        before = self.fit("--model", "fitc", "--inducing", "9", "--features", "basis(2)", "--max-iter", "0")
        self.assertEqual(len(before["parameters"]["features.weights"]), 18)
        fit = self.fit("--model", "fitc", "--inducing", "9", "--features", "basis(2)", "--max-iter", "5")
        self.assertGreater(fit["value"], before["value"])
        self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"], self.attainable - 0.1)

    def test_draws_of_the_exact_posterior_are_near_those_of_ep(self):
        self.fit("--model", "ep", "--max-iter", "0")
        model = self.path("c.cov")
        drawn = self.json_of("sample", model, self.train, "--posterior", "elliptical", "-n", "300", "--burn-in", "50", "--thin", "3")
        self.assertEqual((drawn["posterior"], drawn["draws"]), ("elliptical", 300))
        said = self.json_of("predict", model, self.train)
        for row in range(0, len(said["mean_f"]), 7):
            values = [drawn[f"draw_{s}"][row] for s in range(300)]
            self.assertLess(abs(sum(values) / 300 - said["mean_f"][row]), 1.5 * said["variance_f"][row] ** 0.5)
        self.refused("sample", model, self.train, "--posterior", "slice", says=["elliptical"])
        self.refused("sample", model, self.train, "--burn-in", "3", says=["--burn-in needs --posterior"])

    def test_whole_numbers_with_gaps_are_three_classes(self):
        fit = self.fit("--likelihood", "softmax", "--max-iter", "5", target="number")
        self.assertEqual(fit["classes"], ["3", "7", "12"])
        self.assertEqual(fit["likelihood"], "softmax(3)")
        self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"], 0.8)

    def test_empty_labels_are_missing(self):
        with open(self.train) as file:
            lines = file.read().splitlines()
        for i in range(1, 61, 3):
            a, b, _, number = lines[i].split(",")
            lines[i] = ",".join((a, b, "", number))
        gappy = self.write("gappy.csv", "\n".join(lines) + "\n")
        for model in ("laplace", "svgp"):
            fit = self.json_of("fit", gappy, "--target", "kind", "--inputs", "a,b", "--model", model, "--max-iter", "3",
                               "--out", self.path("g.cov"))
            self.assertEqual((fit["classes"], fit["n"]), (["no", "yes"], 140))

    def test_compare_has_what_is_to_be_beaten(self):
        out = self.json_of("compare", self.train, "--target", "kind", "--inputs", "a,b", "--kernel", "se", "--folds", "3")
        models = [m["model"] for m in out["models"]]
        self.assertEqual(models[0], "laplace")
        for name in ("logistic regression", "5 nearest neighbours", "majority"):
            self.assertIn(name, models)

    def test_folds_and_from(self):
        fit = self.fit("--folds", "3", "--max-iter", "5")
        self.assertGreater(fit["cross_validation"]["accuracy"], 0.8)
        again = self.fit("--from", self.path("c.cov"), "--max-iter", "0", out="d.cov")
        self.assertAlmostEqual(again["value"], fit["value"], places=6)

    def test_samples_are_of_the_latent_functions(self):
        few = self.write("few.csv", "a,b\n0,0\n0,0\n1.5,-1\n")
        for model in ("laplace", "ep", "svgp", "fitc"):
            with self.subTest(model):
                more = ("--inducing", "20") if model in ("svgp", "fitc") else ()
                self.fit("--model", model, "--max-iter", "0", *more)
                draws = self.json_of("sample", self.path("c.cov"), few, "-n", "400", "--seed", "3")
                p = self.json_of("predict", self.path("c.cov"), few)
                first = [draws["draw_%d" % s][0] for s in range(400)]
                mean = sum(first) / 400
                variance = sum((f - mean) ** 2 for f in first) / 399
                self.assertLess(abs(mean - p["mean_f"][0]), 4 * math.sqrt(p["variance_f"][0] / 400))
                self.assertLess(abs(variance / p["variance_f"][0] - 1), 0.3)
                for s in range(400):  # equal rows have equal values
                    self.assertAlmostEqual(draws["draw_%d" % s][0], draws["draw_%d" % s][1], places=3)
        self.fit("--likelihood", "softmax", "--max-iter", "0", target="number")
        rows = list(csv.DictReader(io.StringIO(covary("sample", self.path("c.cov"), few, "-n", "2").stdout)))
        self.assertEqual(list(rows[0]), ["draw_0_3", "draw_0_7", "draw_0_12", "draw_1_3", "draw_1_7", "draw_1_12"])

    def test_report(self):
        self.fit("--max-iter", "5")
        out = self.json_of("report", self.path("c.cov"), "--data", self.test, "--out", self.path("r.html"))
        self.assertEqual(out["held_out"], 80)
        self.assertIn("<svg", self.read("r.html"))
        self.refused("report", self.path("c.cov"), "--out", self.path("r.html"), says=["--data"])

    def test_bad_calls_say_what_to_do(self):
        one = self.write("one.csv", "a,k\n1,x\n2,x\n")
        self.refused("fit", one, "--target", "k", says=["class"])
        self.refused("fit", self.train, "--target", "number", "--inputs", "a,b", "--likelihood", "bernoulli",
                     says=["3 classes", "softmax"])
        self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", "--model", "vfe", "--quiet",
                     says=["laplace"])
        self.refused("fit", self.train, "--target", "number", "--inputs", "a,b", "--likelihood", "robust_max",
                     "--model", "laplace", says=["robust_max"])
        self.refused("fit", self.train, "--target", "number", "--inputs", "a,b", "--likelihood", "softmax",
                     "--model", "fitc", says=["softmax(3)", "fitc or pep", "svgp"])
        self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", "--model", "pep(2)", "--quiet", says=["2"])
        self.refused("fit", self.train, "--target", "a", "--inputs", "b", "--model", "vfe", "--selection",
                     "informative_vectors", says=["greedy_variance"])
        self.refused("fit", self.train, "--target", "a", "--inputs", "b", "--likelihood", "poisson", says=["poisson"])
        self.refused("fit", self.train, "--target", "kind", "--likelihood", "bernouli", says=["bernoulli"])
        self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", "--model", "svgp", "--covariance", "rows",
                     "--quiet", says=["rows", "diagonal"])
        self.fit("--max-iter", "0")
        unseen = self.write("unseen.csv", "a,b,kind\n1,1,maybe\n")
        self.refused("evaluate", self.path("c.cov"), unseen, says=["maybe", "yes"])


class Svgp(ClassTable):
    """Runs that are killed, and rows that stay in a file."""

    batches = ("--model", "svgp", "--inducing", "8", "--batch", "40", "--epochs", "40")

    def plain(self, fit):
        return {k: v for k, v in fit.items() if k not in ("seconds", "file", "stream")}

    def test_killed_and_resumed_it_ends_with_the_same_bits(self):
        state = self.path("state.ckpt")
        diagonals = ("--model", "svgp", "--kernel", "se@0 + se@1", "--features", "stacked(eigen)", "--covariance", "diagonal",
                     "--inducing", "12", "--batch", "40", "--epochs", "40")
        for options in (self.batches, diagonals, ("--model", "svgp", "--inducing", "8", "--max-iter", "12"),
                        ("--model", "laplace", "--max-iter", "12"), ("--model", "laplace", "--gplvm", "1", "--max-iter", "12"),
                        (*self.batches, "--gplvm", "1", "--max-iter", "12")):
            with self.subTest(options):
                whole = self.plain(self.fit(*options))
                run = subprocess.Popen([COVARY, "fit", self.train, "--target", "kind", "--inputs", "a,b", *options,
                                        "--checkpoint", state], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while run.poll() is None and not os.path.exists(state):
                    pass
                run.send_signal(signal.SIGKILL)
                run.wait()
                self.assertTrue(os.path.exists(state))
                again = covary("fit", self.train, "--target", "kind", "--inputs", "a,b", *options, "--checkpoint", state,
                               "--resume", "--out", self.path("d.cov"), "--json")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertIn("resumed at", again.stderr)
                self.assertEqual(self.plain(self.object_in(again.stdout)), whole)
                self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", *options, "--seed", "1", "--quiet",
                             "--checkpoint", state, "--resume", says=["another fit"])
                os.remove(state)

    def test_a_latent_space_is_a_stage_of_the_same_training(self):
        state = ("--checkpoint", self.path("k.ckpt"))
        for options in (("--model", "laplace"), ("--model", "svgp", "--inducing", "8", "--batch", "40", "--epochs", "5")):
            with self.subTest(options):
                options = (*options, "--gplvm", "1", "--max-iter", "12")
                whole = self.fit(*options)
                brief = self.fit(*options, *state, "--max-seconds", "0.01")
                self.assertFalse(brief["converged"])
                self.assertIn("the limit of 0.01 seconds was reached", brief["reason"])
                resumed = self.fit(*options, *state, "--resume")
                del resumed["evaluations"]  # a search along a line that was cut off begins again
                self.assertEqual(self.plain(resumed), {k: v for k, v in self.plain(whole).items() if k != "evaluations"})
                again = self.fit("--from", self.path("c.cov"), *options[:-1], "0", out="d.cov")
                self.assertEqual(again["gplvm"], whole["gplvm"])
                self.assertAlmostEqual(again["value"], whole["value"], places=5)
                self.refused("fit", self.train, "--target", "kind", "--inputs", "a,b", *options[:-1], "13",
                             *state, "--resume", "--quiet", says=["another fit"])
                os.remove(self.path("k.ckpt"))

    def test_interrupted_it_says_how_to_go_on(self):
        state = self.path("state.ckpt")
        run = subprocess.Popen([COVARY, "fit", self.train, "--target", "kind", "--inputs", "a,b", *self.batches[:-1], "100000",
                                "--checkpoint", state, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not os.path.exists(state):
            pass
        run.send_signal(signal.SIGTERM)
        out, log = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, log)
        self.assertTrue(self.object_in(out)["interrupted"])
        self.assertIn("--resume", log)

    def test_rows_that_stay_in_a_file(self):
        # Fewer rows than the sample, all of them in every step: the bits of a fit from memory.
        for target, options in (("kind", ()), ("number", ("--likelihood", "softmax")),
                                ("a", ("--likelihood", "student_t"))):
            with self.subTest(target):
                inputs = ("--inputs", "b") if target == "a" else ("--inputs", "a,b")
                call = ("fit", self.train, "--target", target, *inputs, "--model", "svgp", "--inducing", "8",
                        "--max-iter", "4", *options)
                streamed = self.json_of(*call, "--stream", "--out", self.path("s.cov"))
                memory = self.json_of(*call)
                self.assertIn("temporary", streamed["stream"]["from"])
                for key in ("n", "d", "likelihood", "parameters", "scaling"):
                    self.assertEqual(streamed[key], memory[key], key)
                self.assertAlmostEqual(streamed["value"], memory["value"], places=9)
        batches = self.fit(*self.batches, "--stream")
        self.assertEqual(batches["classes"], ["no", "yes"])
        self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"], self.attainable - 0.06)

    def test_numbers_of_classes_in_an_array(self):
        with open(self.train, encoding="utf-8") as f:
            rows = [[float(a), float(b), float(n)] for a, b, _, n in list(csv.reader(f))[1:]]
        header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 3), }" % len(rows)).ljust(117) + "\n"
        with open(self.path("classes.npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                    b"".join(struct.pack("<3d", *row) for row in rows))
        fit = self.json_of("fit", self.path("classes.npy"), "--target", "2", "--likelihood", "softmax", "--model", "svgp",
                           "--inducing", "8", "--max-iter", "4", "--stream")
        self.assertEqual((fit["classes"], fit["likelihood"], fit["n"]), (["3", "7", "12"], "softmax(3)", 160))

    def test_what_does_not_stream(self):
        call = ("fit", self.train, "--target", "kind", "--inputs", "a,b", "--stream")
        for more, words in ((("--model", "laplace"), "laplace"), (("--model", "svgp", "--weights", "number"), "--weights"),
                            (("--model", "svgp", "--folds", "3"), "--folds")):
            with self.subTest(more):
                self.refused(*call, *more, says=["--stream", words])


class Counts(CommandLine):
    def test_exposure_scales_the_mean(self):
        rng = random.Random(5)
        rows = []
        for _ in range(80):
            x, e = rng.uniform(0, 3), rng.choice((1.0, 4.0))
            rate, n, p = e * math.exp(1 + math.sin(2 * x)), 0, rng.random()
            term = total = math.exp(-rate)
            while p > total and n < 1000:
                n += 1
                term *= rate / n
                total += term
            rows.append((x, e, n))
        table = self.write("counts.csv", "x,e,n\n" + "".join("%r,%r,%d\n" % r for r in rows))
        fit = self.json_of("fit", table, "--target", "n", "--likelihood", "poisson", "--exposure", "e", "--mean", "constant",
                           "--out", self.path("p.cov"))
        self.assertEqual(fit["inputs"], ["x"])
        report = self.json_of("report", self.path("p.cov"), "--data", table, "--exposure", "e", "--out", self.path("r.html"))
        self.assertEqual(report["held_out"], 80)
        page = self.read("r.html")
        for words in ("Rootogram", "Probability integral transform", "Drawn for an exposure"):
            self.assertIn(words, page)
        self.refused("report", self.path("p.cov"), "--out", self.path("r.html"), says=["poisson", "--data"])
        one = self.write("one.csv", "x,e\n1,1\n")
        four = self.write("four.csv", "x,e\n1,4\n")
        mean = lambda f: self.json_of("predict", self.path("p.cov"), f, "--exposure", "e")["mean"][0]
        self.assertAlmostEqual(mean(four) / mean(one), 4.0, places=9)
        self.assertLess(abs(math.log(mean(one)) - (1 + math.sin(2))), 0.5)
        self.assertLess(self.json_of("evaluate", self.path("p.cov"), table, "--exposure", "e")["nlpd"], 3.0)


class Outputs(CommandLine):
    """Two outputs of one function and a third of its own, with empty cells."""

    def setUp(self):
        super().setUp()
        rng, lines = random.Random(6), []
        for i in range(70):
            x = rng.uniform(-2, 2)
            f, g = math.sin(2 * x), math.cos(x)
            cells = [2 * f + 5, -f, g]
            row = [x, 0.1, *(v + 0.05 * rng.gauss(0, 1) for v in cells)]
            lines.append(",".join("" if i % 9 == 4 and j == 2 + i % 3 else repr(v) for j, v in enumerate(row)))
        self.head = "x,s,a,b,c\n"
        self.train = self.write("train.csv", self.head + "\n".join(lines[:50]) + "\n")
        self.test = self.write("test.csv", self.head + "\n".join(lines[50:]) + "\n")
        self.call = ("fit", self.train, "--target", "a,b,c", "--inputs", "x", "--model", "svgp", "--inducing", "12",
                     "--max-iter", "40", "--out", self.path("o.cov"))

    def test_each_of_its_own_function_and_mixtures_of_two(self):
        for more, functions in (((), None), (("--functions", "2"), 2)):
            with self.subTest(more):
                fit = self.json_of(*self.call, *more)
                self.assertEqual((fit["outputs"], fit["n"], fit["model"]), (["a", "b", "c"], 50, "svgp"))
                weights = [p for p in fit["parameters"] if p.startswith("mixing")]
                self.assertEqual(bool(weights), functions is not None)
                if functions:
                    self.assertIn("mixtures of 2 functions", covary("show", self.path("o.cov")).stdout)
                given = self.json_of("predict", self.path("o.cov"), self.test)
                self.assertTrue({"mean_a", "variance_b", "mean_f_c"} <= set(given), list(given))
                scores = self.json_of("evaluate", self.path("o.cov"), self.test)
                self.assertEqual(set(scores["outputs"]), {"a", "b", "c"})
                self.assertLess(scores["smse"], 0.05)
                self.assertLess(scores["nlpd"], 0.0)
                draws = self.json_of("sample", self.path("o.cov"), self.test, "-n", "1")
                self.assertTrue({"draw_0_a", "draw_0_b", "draw_0_c"} <= set(draws))
        folds = self.json_of(*self.call, "--functions", "2", "--folds", "2")
        self.assertLess(folds["cross_validation"]["nlpd"], 0.0)

    def test_counts_by_files_and_minibatches(self):
        rows = ["%r,%d,%d" % (i / 20, i % 3, 2 + i % 2) for i in range(60)]
        table = self.write("counts.csv", "x,k,l\n" + "\n".join(rows) + "\n")
        call = ("fit", table, "--target", "k,l", "--likelihood", "poisson", "--inducing", "5", "--functions", "1")
        self.assertEqual(self.json_of(*call, "--max-iter", "3")["model"], "svgp")
        streamed = self.json_of(*call, "--stream", "--batch", "20", "--steps", "5", "--out", self.path("s.cov"))
        self.assertEqual((streamed["n"], streamed["outputs"]), (60, ["k", "l"]))
        self.assertGreater(min(self.json_of("predict", self.path("s.cov"), table)["mean_l"]), 0.0)
        self.assertEqual(self.json_of("fit", table, "--target", "k,l", "--likelihood", "poisson", "--max-iter", "1",
                                      "--inputs", "x")["model"], "svgp")  # by several outputs

    def test_what_is_refused(self):
        for more, words in ((("--model", "laplace"), "takes one"), (("--model", "vfe", "--functions", "2"), "svgp"),
                            (("--likelihood", "heteroscedastic", "--functions", "2"), "mixtures"),
                            (("--likelihood", "bernoulli"), "takes one")):
            with self.subTest(more):
                call = [w for w in self.call if not (w == "svgp" and "--model" in more)]
                if "--model" in more:
                    call.remove("--model")
                    call = [w for i, w in enumerate(call) if w != "--inducing" and call[i - 1] != "--inducing"]
                self.refused(*call, *more, says=[words])
        self.json_of(*self.call, "--functions", "2")
        for call in (("update", self.path("o.cov"), self.test, "--out", self.path("u.cov")),
                     ("report", self.path("o.cov"), "--data", self.test, "--out", self.path("r.html")),
                     ("predict", self.path("o.cov"), self.test, "--input-variance", "s")):
            with self.subTest(call[0]):
                self.refused(*call)

    def test_inputs_that_are_gaussian(self):
        self.json_of(*self.call, "--separate-kernels", "no")
        plain = self.json_of("predict", self.path("o.cov"), self.test)
        wide = self.json_of("predict", self.path("o.cov"), self.test, "--input-variance", "s")
        self.assertGreater(sum(wide["variance_a"]), 2 * sum(plain["variance_a"]))
        self.assertEqual(list(wide), list(plain))


if __name__ == "__main__":
    unittest.main()
