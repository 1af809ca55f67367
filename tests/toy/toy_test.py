"""A model that is a source and a line of the table: the command line, the file and the report know it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support import CommandLine, covary  # noqa: E402


class Toy(CommandLine):
    def fitted_toy(self):
        self.fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--model", "mean_only", "--out", self.path("m.cov"))
        return self.path("m.cov")

    def test_the_table_has_it(self):
        self.assertIn("mean_only", [m["name"] for m in self.json_of("models")["models"]])
        self.assertIn("something to beat", covary("models", "mean_only").stdout)
        self.refused("fit", self.path("train.csv"), "--target", "y", "--model", "mean_onyl", says=["did you mean 'mean_only'"])

    def test_it_is_fitted_kept_shown_and_scored(self):
        model = self.fitted_toy()
        for key in "model n d objective value upper_bound iterations converged reason seconds jitter parameters".split():
            self.assertIn(key, self.fit)
        shown = self.json_of("show", model)
        self.assertEqual(shown["value"], self.fit["value"])
        self.assertEqual(shown["model"], "mean_only")
        predicted = self.json_of("predict", model, self.path("train.csv"))
        self.assertEqual(set(predicted["mean"]), {shown["mean"]})
        scores = self.json_of("evaluate", model, self.path("train.csv"))
        self.assertAlmostEqual(scores["rmse"] ** 2, shown["variance"], places=12)

    def test_the_report_has_what_every_fit_has(self):
        page = self.path("r.html")
        self.json_of("report", self.fitted_toy(), "--data", self.path("train.csv"), "--out", page)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        for words in ("the mean of y", "log_likelihood", "rmse"):
            self.assertIn(words, html)

    def test_what_it_does_not_read_or_do_is_refused(self):
        train, model = self.path("train.csv"), self.fitted_toy()
        self.refused("fit", train, "--target", "y", "--model", "mean_only", "--kernel", "se", says=["--kernel is for --model", "mean_only"])
        self.refused("sample", model, train, says=["mean_only"])
        self.refused("update", model, train, "--out", self.path("u.cov"), says=["mean_only"])
        self.refused("compress", model, "--out", self.path("c.cov"), says=["mean_only"])
        self.refused("predict", model, train, "--components", says=["--components is for ", "mean_only"])


if __name__ == "__main__":
    unittest.main()
