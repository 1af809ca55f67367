"""The table of models at the command line, and what --model is answered with."""

import re
import resource
import unittest

from model_lines import LINES, holed, merged, rows_of, text_of, write_tables
from support import CommandLine, covary


class Models(CommandLine):
    def test_the_table_in_short_in_full_and_as_json(self):
        table = self.json_of("models")["models"]
        names = [m["name"] for m in table]
        for name in "exact vfe fitc pep dtc sor pitc cglb laplace ep vgp svgp gplvm mrd map_gplvm ppca class_density".split():
            self.assertIn(name, names)
        text = covary("models").stdout
        for m in table:
            self.assertIn(m["label"], text)
            for key in ("use", "time", "memory"):
                self.assertIn(m[key], text)
            self.assertTrue(m["options"]["fit"], m["label"])
        one = covary("models", "svgp").stdout
        for words in ("--batch", "Rows of a minibatch", "options of predict", "--exposure", "checkpoint"):
            self.assertIn(words, one)
        self.assertNotIn("--lags", one)
        self.assertEqual([m["label"] for m in self.json_of("models", "fitc")["models"]],
                         ["fitc", "fitc (non-Gaussian)"])
        self.assertEqual([m["name"] for m in self.json_of("models", "sparse")["models"]], ["vfe", "vfe"])
        for label in ("fitc (non-Gaussian)", "vfe with --missing learn", "gplvm by minibatches"):
            self.assertEqual([m["label"] for m in self.json_of("models", label)["models"]], [label])
        self.refused("models", "vef", says=["'vef'", "did you mean"])

    def test_a_typo_is_answered_with_the_nearest_of_all_models(self):
        for typo, meant in (("exat", "exact"), ("laplac", "laplace"), ("gplvn", "gplvm"), ("map_gplm", "map_gplvm"),
                            ("class_densty", "class_density"), ("ppc", "ppca"), ("svpg", "svgp")):
            with self.subTest(typo):
                self.refused("fit", self.path("train.csv"), "--target", "y", "--model", typo,
                             says=[f"unknown model '{typo}'", f"did you mean '{meant}'"])
        for searched, here in (("gp", "exact"), ("kriging", "exact"), ("SGPR", "vfe"), ("svm", "laplace or svgp"), ("GPC", "laplace"),
                               ("Bayesian-GPLVM", "gplvm"), ("VGPDS", "gplvm with --dynamics"), ("NARX", "exact or vfe with --lags"),
                               ("Nyström", "sor")):
            with self.subTest(searched):
                self.refused("fit", self.path("train.csv"), "--target", "y", "--model", searched, says=[f"(use {here})"])
        self.refused("compare", self.path("train.csv"), "--target", "y", "--kernel", "se", "--model", "exat", says=["'exact'"])
        self.refused("compare", self.path("train.csv"), "--target", "y", "--kernel", "se", "--model", "gplvm",
                     says=["cannot be compared"])
        for power in ("pep", "pep(2)", "ep(0)", "pep(x)"):
            self.refused("fit", self.path("train.csv"), "--target", "y", "--model", power, says=["power"])

    def test_auto_goes_by_likelihood_and_wishes(self):
        train = self.path("train.csv")
        kinds = self.write("kinds.csv", "x,kind\n" + "".join(f"{i},{'ab'[i % 3 == 0]}\n" for i in range(30)))
        z = self.write("z.csv", "x\n1\n9\n20\n")
        for table, target, more, model in (
                (train, "y", (), "exact"), (train, "y", ("--inducing", "5"), "vfe"), (train, "y", ("--selection", "kmeans", "--inducing", "5"), "vfe"),
                (kinds, "kind", (), "laplace"), (kinds, "kind", ("--inducing", "5"), "svgp"),
                (kinds, "kind", ("--features", "multiscale", "--inducing", "5"), "svgp"),
                (kinds, "kind", ("--inducing-file", z), "svgp"), (kinds, "kind", ("--batch", "10", "--epochs", "2"), "svgp")):
            with self.subTest(more=more, target=target):
                fit = self.json_of("fit", table, "--target", target, *(() if "--batch" in more else ("--max-iter", "2")), *more)
                self.assertEqual(fit["model"], model)
                self.assertGreater(fit["cost"]["memory_bytes"], 0)
        # An option that no model which auto may be reads is refused before the data are read.
        self.refused("fit", "nowhere.csv", "--target", "y", "--view", "a=x", says=["--view is for --model gplvm", "mrd"])
        # One that only another model reads, once it is known which it is.
        weighted = self.write("weighted.csv", "x,y,w\n" + "".join(f"{i},{i % 4},1\n" for i in range(9)))
        self.refused("fit", weighted, "--target", "y", "--weights", "w", says=["--weights is for --model laplace", "exact"])

    def test_memory_that_is_not_there_is_refused(self):
        """Of every model; ppca, which needs some copies of its table and no more, gets a wide one of zeros."""
        write_tables(self.folder.name)
        n = 4500
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4500, 4500), }\n"
        with open(self.path("wide.npy"), "wb") as wide:
            wide.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
            wide.truncate(wide.tell() + 8 * n * n)
        rows = rows_of(20000)
        tables = {"rows.csv": self.write("many.csv", text_of(rows)), "holed.csv": self.write("many_holed.csv", text_of(holed(rows)))}
        for entry in self.json_of("models")["models"]:
            label = entry["label"]
            table, *call = LINES[label].split()
            few = self.json_of("fit", self.path(table), *call)["cost"]
            self.assertGreater(min(few.values()), 0, label)
            reads = entry["options"]["fit"]
            more = [word for option, value in (("inducing", "8000"), ("batch", "9000")) if option in reads and (option == "inducing" or "minibatches" in label)
                    for word in ("--" + option, value)]
            full, rows, room = tables[table], "(20000|19999)", 2.0
            if label == "ppca":
                full, call, rows, room = self.path("wide.npy"), ["--model", "ppca", "--latent", "2"], n, 0.6
            limit = int(room * 1e9)
            with self.subTest(label):
                run = covary("fit", full, *merged(call, more), "--json",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                answer = self.object_in(run.stdout)
                self.assertEqual((run.returncode, answer.get("kind")), (1, "memory"), run.stderr)
                self.assertRegex(answer["error"], f"^{re.escape(label)} with {rows} rows needs")
                self.assertIn(f"{room} GB are available; use ", answer["error"])
                self.assertRegex(answer["error"], r": about [1-9]\d* fit$")
                self.assertEqual("--inducing" in answer["error"], "inducing" in reads and label != "warped")

    def test_the_cost_knows_what_the_model_takes_by_itself(self):
        """As many latent dimensions as inputs; with dynamics Gram matrices over the times."""
        write_tables(self.folder.name)
        def cost(label, *more):
            table, *call = LINES[label].split()
            return self.json_of("fit", self.path(table), *merged(call, more))["cost"]
        for label, n in (("noisy_inputs", 24), ("vfe with --missing learn", 23)):
            self.assertEqual(cost(label)["flops_per_evaluation"], 4 * n * 6**2 * 2)
        self.assertEqual(cost("class_density")["flops_per_evaluation"], 4 * 12 * 6**2 * 2)
        plain, dynamic = cost("map_gplvm"), cost("map_gplvm", "--dynamics", "time", "--target", "t,u,y,z")
        self.assertEqual(dynamic["memory_bytes"] - plain["memory_bytes"], 24 * 24**2)

    def test_options_of_a_model_in_a_file(self):
        exact = self.fitted("--max-iter", "2")
        sparse = self.fitted("--max-iter", "2", "--inducing", "5", out="s.cov")
        kinds = self.write("kinds.csv", "x,kind\n" + "".join(f"{i},{'ab'[i % 3 == 0]}\n" for i in range(30)))
        self.json_of("fit", kinds, "--target", "kind", "--max-iter", "2", "--out", self.path("c.cov"))
        self.json_of("fit", kinds, "--target", "kind", "--max-iter", "2", "--model", "fitc", "--inducing", "5", "--out",
                     self.path("e.cov"))
        train = self.path("train.csv")
        for verb, model, option in (("predict", exact, ("--threshold", "0.4")), ("predict", exact, ("--exposure", "x")),
                                    ("predict", exact, ("--correspond", "2")), ("predict", sparse, ("--parameter-draws", "2")),
                                    ("predict", self.path("e.cov"), ("--input-variance", "x")), ("predict", self.path("c.cov"), ("--steps", "2")),
                                    ("evaluate", exact, ("--threshold", "0.4")), ("sample", exact, ("--posterior", "slice")),
                                    ("report", exact, ("--exposure", "x", "--data", train, "--out", self.path("r.html")))):
            with self.subTest(verb=verb, option=option):
                table = () if verb == "report" else (train,)
                self.refused(verb, model, *table, *option, says=[f"{option[0]} is for ", "does not read it"])
        self.refused("sample", exact, train, "--burn-in", "3", says=["--burn-in"])

    def test_times_that_cannot_be_meant(self):
        def table(times):
            return self.write("times.csv", "time,a,b\n" + "".join(f"{t},{i % 5},{i * i % 7}\n" for i, t in enumerate(times)))
        fit = ("--target", "a,b", "--dynamics", "time", "--latent", "1", "--max-iter", "2", "--restarts", "1")
        for model in ("gplvm", "map_gplvm"):
            def warnings(times, *more):
                run = covary("fit", table(times), "--model", model, *fit, *more)
                self.assertEqual(run.returncode, 0, run.stderr)
                return [line for line in run.stderr.splitlines() if "same time" in line or "time falls" in line]
            twice = [0, 1, 2, 2, 3, 4, 5, 6]
            self.assertEqual(warnings(range(8)), [])
            self.assertIn("rows 2 and 3 have the same time, 2", "".join(warnings(twice)))
            self.refused("fit", table(twice), "--model", model, *fit, "--dynamics-kernel", "se", says=["rows 2 and 3", "se + white"])
            self.refused("fit", table([1] * 8), "--model", model, *fit, says=["all 8 times are 1"])
            self.assertIn("falls from 3 to 0 at row 4", "".join(warnings([0, 1, 2, 3, 0.5 - 0.5, 1.5, 2.5, 3.5])))


if __name__ == "__main__":
    unittest.main()
