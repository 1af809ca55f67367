"""Models of other likelihoods at the command line."""
import csv
import io
import math
import random
import unittest

from support import CommandLine, covary


class Classes(CommandLine):
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

    def test_every_method_fits_and_is_saved(self):
        values = {}
        for model in ("laplace", "ep", "ep(0.5)", "vgp", "svgp"):
            with self.subTest(model):
                fit = self.fit("--model", model, "--likelihood", "bernoulli(probit)", "--max-iter", "10")
                self.assertEqual(fit["model"], model)
                values[model] = fit["value"]
                self.assertEqual(self.json_of("show", self.path("c.cov"))["value"], fit["value"])
                self.assertGreater(self.json_of("evaluate", self.path("c.cov"), self.test)["accuracy"],
                                   self.attainable - 0.06)
        self.assertLess(abs(values["svgp"] - values["vgp"]), 1.0)

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
        self.refused("fit", self.train, "--target", "a", "--inputs", "b", "--likelihood", "poisson", says=["poisson"])
        self.refused("fit", self.train, "--target", "kind", "--likelihood", "bernouli", says=["bernoulli"])
        self.fit("--max-iter", "0")
        unseen = self.write("unseen.csv", "a,b,kind\n1,1,maybe\n")
        self.refused("evaluate", self.path("c.cov"), unseen, says=["maybe", "yes"])
        self.refused("sample", self.path("c.cov"), self.test, says=["bernoulli"])


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
        one = self.write("one.csv", "x,e\n1,1\n")
        four = self.write("four.csv", "x,e\n1,4\n")
        mean = lambda f: self.json_of("predict", self.path("p.cov"), f, "--exposure", "e")["mean"][0]
        self.assertAlmostEqual(mean(four) / mean(one), 4.0, places=9)
        self.assertLess(abs(math.log(mean(one)) - (1 + math.sin(2))), 0.5)
        self.assertLess(self.json_of("evaluate", self.path("p.cov"), table, "--exposure", "e")["nlpd"], 3.0)


if __name__ == "__main__":
    unittest.main()
