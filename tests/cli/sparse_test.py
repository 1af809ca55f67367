"""The sparse models at the command line."""
import math
import random
import unittest

from support import CommandLine, covary


class Sparse(CommandLine):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        rows = []
        for _ in range(400):
            a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
            rows.append((a, b, math.sin(2 * a) + 0.5 * b + 0.1 * rng.gauss(0, 1)))
        text = lambda part: "a,b,y\n" + "".join("%r,%r,%r\n" % row for row in part)
        self.train = self.write("plane.csv", text(rows[:300]))
        self.test = self.write("plane_test.csv", text(rows[300:]))

    def exact(self):
        return self.json_of("fit", self.train, "--target", "y", "--standard-errors", "no")

    def test_every_approximation_fits_predicts_and_is_saved(self):
        for model in ("sparse", "vfe(tight)", "fitc", "pep(0.5)", "dtc", "sor", "pitc", "cglb"):
            with self.subTest(model):
                out = self.path("sparse.cov")
                fit = self.json_of("fit", self.train, "--target", "y", "--model", model, "--inducing", "20", "--max-iter",
                                   "30", "--out", out)
                self.assertEqual(fit["model"], "vfe" if model == "sparse" else model)
                self.assertEqual(fit["n"], 300)
                self.assertEqual(len(fit["parameters"]["features.Z"]), 40)
                shown = self.json_of("show", out)
                self.assertEqual(shown["value"], fit["value"])
                self.assertEqual(shown["diagnostics"], fit["diagnostics"])
                self.assertLess(self.json_of("evaluate", out, self.test)["rmse"], 0.2)

    def test_asking_for_inducing_inputs_is_asking_for_a_sparse_model(self):
        fit = ("fit", self.train, "--target", "y", "--max-iter", "2")
        self.assertEqual(self.json_of(*fit)["model"], "exact")
        self.assertEqual(self.json_of(*fit, "--inducing", "8")["model"], "vfe")
        self.refused(*fit, "--inducing", "8", "--model", "exact", says=["--inducing is for --model vfe", "exact does not read it"])

    def test_every_kind_of_inducing_variables(self):
        fit = ("fit", self.train, "--target", "y", "--model", "vfe", "--max-iter", "30")
        for kind, inducing, parameters in (("multiscale", 12, "features.widths"), ("frequency", 25, "features.frequencies"),
                                           ("timefrequency", 15, "features.phases"), ("basis(3)", 12, "features.weights"),
                                           ("eigen", 30, "features.sd"), ("stacked(eigen)", 30, "features.0.sd")):
            with self.subTest(kind):
                out = self.path("features.cov")
                made = self.json_of(*fit, "--features", kind, "--inducing", str(inducing), "--out", out)
                self.assertIn(parameters, made["parameters"])
                self.assertLess(made["value"], made["upper_bound"])
                self.assertLess(self.json_of("evaluate", out, self.test)["rmse"], 0.3)
                self.json_of("report", out, "--data", self.test, "--out", self.path("features.html"))
        self.refused(*fit, "--features", "eigen", "--kernel", "matern32", says=["eigen", "se"])
        self.refused(*fit, "--features", "egen", says=["did you mean 'eigen'"])
        self.refused(*fit, "--features", "basis(0)", says=["basis(8)"])
        self.refused("fit", self.train, "--target", "y", "--model", "exact", "--features", "eigen", says=["--model vfe"])

    def test_a_bracket_around_the_exact_evidence(self):
        exact = self.exact()
        set_to = [f"--set={path}={','.join(map(str, v)) if isinstance(v, list) else v}"
                  for path, v in exact["parameters"].items()]
        fit = self.json_of("fit", self.train, "--target", "y", "--model", "vfe", "--inducing", "15", "--max-iter", "0",
                           *set_to)
        self.assertLess(fit["value"], exact["value"])
        self.assertGreater(fit["upper_bound"], exact["value"])
        self.assertEqual(fit["iterations"], 0)

    def test_the_number_of_inducing_inputs_is_found(self):
        fit = self.json_of("fit", self.train, "--target", "y", "--model", "vfe", "--out", self.path("auto.cov"))
        exact = self.exact()
        self.assertIn("M = ", fit["reason"])
        self.assertLess(fit["upper_bound"] - fit["value"], 0.02 * 300)
        self.assertLess(abs(fit["value"] - exact["value"]), 0.02 * 300)

    def test_functions_of_models_of_their_own(self):
        fit = ("fit", self.train, "--target", "y", "--max-iter", "30")
        for kind, parameters in (("rff", "features.frequencies"), ("ssgp", "features.frequencies"),
                                 ("hilbert", "features.half_widths"), ("bumps", "features.Z")):
            with self.subTest(kind):
                out = self.path("functions.cov")
                made = self.json_of(*fit, "--features", kind, "--inducing", "40", "--out", out)
                self.assertEqual(made["model"], "sor")
                self.assertIn(parameters, made["parameters"])
                self.assertIsNone(made["upper_bound"])
                self.assertLess(self.json_of("evaluate", out, self.test)["rmse"], 0.5)
        self.refused(*fit, "--features", "rff", "--inducing", "40", "--model", "vfe", says=["use --model sor"])
        self.refused(*fit, "--features", "rff", says=["give --inducing"])

    def test_features_of_one_column(self):
        fit = ("fit", self.train, "--target", "y", "--inputs", "a", "--model", "vfe", "--max-iter", "20", "--inducing", "15")
        for kind, kernel in (("eigen", "matern12"), ("fourier(l2)", "matern12"), ("orthogonal", "matern52"), ("empirical", "se")):
            with self.subTest(kind):
                out = self.path("one.cov")
                made = self.json_of(*fit, "--features", kind, "--kernel", kernel, "--out", out)
                self.assertLess(made["value"], made["upper_bound"])
                self.json_of("evaluate", out, self.test)
        self.refused(*fit, "--features", "orthogonal", "--kernel", "periodic", says=["matern32", "periodic"])
        self.refused(*fit, "--features", "fourier(l3)", says=["fourier(l2)"])

    def test_the_number_of_eigenfunctions_is_planned(self):
        out = self.path("planned.cov")
        run = covary("fit", self.train, "--target", "y", "--model", "vfe", "--features", "eigen", "--inputs", "a", "--kernel", "se",
                     "--json", "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("plan: ", run.stderr)
        fit = self.object_in(run.stdout)
        self.assertIn("mean KL over data from the model", fit["reason"])
        d = fit["diagnostics"]
        self.assertLessEqual(d["expected_kl_high"], 0.01)
        self.assertLessEqual(d["planned_kl_low"], d["planned_kl_high"])
        self.json_of("report", out, "--data", self.test, "--out", self.path("planned.html"))
        with open(self.path("planned.html"), encoding="utf-8") as page:
            self.assertIn("planned_kl_high", page.read())

    def test_a_warm_start(self):
        fit = ("fit", self.train, "--target", "y", "--model", "vfe", "--inducing", "8", "--max-iter", "40")
        warm = self.json_of(*fit, "--warm-start", "fitc")
        self.assertEqual(warm["model"], "vfe")
        self.assertNotEqual(warm["value"], self.json_of(*fit)["value"])
        self.refused(*fit, "--warm-start", "fitcc", says=["did you mean"])
        self.refused("fit", self.train, "--target", "y", "--model", "vfe", "--warm-start", "fitc", says=["number of inducing"])

    def test_cglb_takes_no_further_rows_and_does_not_stream(self):
        out = self.path("cglb.cov")
        fit = ("fit", self.train, "--target", "y", "--model", "cglb", "--inducing", "10", "--max-iter", "5")
        self.json_of(*fit, "--out", out)
        self.refused("update", out, self.test, "--out", self.path("more.cov"), says=["update is not available for cglb"])
        self.refused(*fit, "--stream", says=["cglb does not read it"])

    def test_a_smaller_posterior(self):
        big, small = self.path("big.cov"), self.path("small.cov")
        self.json_of("fit", self.train, "--target", "y", "--model", "vfe", "--inducing", "30", "--max-iter", "30", "--out", big)
        made = self.json_of("compress", big, "--loss", "0.05", "--features", "points", "--features", "basis(2)", "--max-iter",
                            "40", "--out", small)
        self.assertLessEqual(made["loss"], 0.05)
        self.assertLess(made["numbers"], made["numbers_before"])
        self.assertEqual(made["n"], 300)
        one, two = (self.json_of("evaluate", file, self.test) for file in (big, small))
        self.assertLess(abs(one["nlpd"] - two["nlpd"]), 0.2)
        self.refused("compress", big, "--loss", "0", "--out", small, says=["positive"])
        self.refused("compress", big, "--features", "rff", "--out", small, says=["define their own model"])

    def test_no_signal_is_said(self):
        rng = random.Random(4)
        noise = self.write("noise.csv", "x,y\n" + "".join(f"{i},{rng.gauss(0, 1)!r}\n" for i in range(120)))
        fit = self.json_of("fit", noise, "--target", "y", "--model", "vfe", "--inducing", "10")
        self.assertTrue(any("no signal" in w for w in fit["warnings"]) or fit["value"] > fit["diagnostics"]["noise_only"])

    def test_given_inducing_inputs(self):
        z = self.write("z.csv", "a,b\n-1,0\n0,0\n1,1\n")
        fit = self.json_of("fit", self.train, "--target", "y", "--model", "vfe", "--inducing-file", z, "--no-scale",
                           "--fix", "features.Z", "--max-iter", "5")
        self.assertEqual(fit["parameters"]["features.Z"], [-1, 0, 0, 0, 1, 1])

    def test_further_rows(self):
        out = self.path("small.cov")
        self.json_of("fit", self.train, "--target", "y", "--model", "fitc", "--inducing", "10", "--max-iter", "20", "--out", out)
        more = self.json_of("update", out, self.test, "--out", self.path("more.cov"))
        self.assertEqual(more["n"], 400)

    def test_report_and_draws(self):
        out = self.path("r.cov")
        self.json_of("fit", self.train, "--target", "y", "--model", "vfe", "--inducing", "15", "--max-iter", "20", "--out", out)
        page = self.json_of("report", out, "--data", self.test, "--out", self.path("r.html"))
        self.assertGreater(page["bytes"], 10000)
        self.json_of("sample", out, self.test, "-n", "3")

    def test_models_side_by_side(self):
        answer = self.json_of("compare", self.train, "--target", "y", "--kernel", "se", "--model", "exact", "--model", "vfe",
                              "--inducing", "15", "--folds", "2", "--max-iter", "20")
        self.assertEqual(sorted(m["model"] for m in answer["models"] if m["kernel"]), ["exact", "vfe"])

    def test_inducing_inputs_by_gain(self):
        call = ("fit", self.train, "--target", "y", "--model", "vfe", "--inducing", "6", "--max-iter", "0", "--selection")
        values = {s: self.json_of(*call, s)["value"] for s in ("random", "bound_gain", "information_gain")}
        self.assertGreater(values["bound_gain"], values["random"])
        self.assertNotIn(values["information_gain"], (values["random"], values["bound_gain"]))

    def test_wrong_calls(self):
        z = self.write("z1.csv", "a\n1\n")
        for arguments, words in (
                (("--model", "vef"), "did you mean 'vfe'"),
                (("--model", "pep(2)"), "0 < α ≤ 1"),
                (("--model", "vfe", "--inducing", "0"), "at least 1"),
                (("--model", "vfe", "--inducing", "many"), "auto"),
                (("--model", "vfe", "--inducing-file", z), "'b'"),
                (("--model", "vfe", "--selection", "best"), "--selection"),
                (("--model", "fitc", "--selection", "bound_gain", "--inducing", "5"), "the approximation is fitc")):
            run = covary("fit", self.train, "--target", "y", "--json", *arguments)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(words, self.object_in(run.stdout)["error"])

    def test_more_inducing_inputs_than_rows(self):
        few = self.write("few.csv", "x,y\n0,0\n1,1\n2,0\n3,1\n")
        run = covary("fit", few, "--target", "y", "--model", "vfe", "--inducing", "10", "--max-iter", "5", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLessEqual(self.object_in(run.stdout)["diagnostics"]["inducing"], 4)


if __name__ == "__main__":
    unittest.main()
