"""What each model of `covary models` says that it can do works, and what it does not say is refused.

The options of `fit` are in options_test.py. A new model needs its line in model_lines.py, and nothing here; a new verb
how it is called and what it gives, a new option of a verb a value that tells."""

import os
import unittest
from typing import NamedTuple

from conformance import EveryModel, for_every_model, timeless
from model_lines import COLUMNS, LINES, merged, rows_of, text_of, without
from support import covary


class Try(NamedTuple):
    """An option with a value that tells, and what else is given to the verb with and without it."""
    given: str
    beside: str = ""
    fit: str = ""  # what training needs for the option to have a meaning
    refused: str = None  # training with which it has none, where `fit` may say so: the option is refused


LAGS = "--lags 2"
COUNTS = "--target count --likelihood poisson --exposure e"
VIEWS = "--view p=t,u --view q=y,z"
# The options by the verbs whose table says that some model reads them.
OPTIONS = {
    "predict": {
        "components": Try("--components"), "gradients": Try("--gradients"),
        "input-variance": Try("--input-variance s,e"),
        "steps": Try("--steps 3 --propagation plug-in", "", LAGS, ""),
        "propagation": Try("--propagation plug-in", "--steps 3", LAGS),
        "draws": Try("--draws 3", "--steps 3 --propagation draws", LAGS),
        "seed": Try("--seed 7", "--steps 3 --propagation draws", LAGS),
        "parameter-draws": Try("--parameter-draws 2"), "loss": Try("--loss LOSS"),
        "exposure": Try("--exposure e", "", COUNTS, ""), "threshold": Try("--threshold 0.99", "", "", COUNTS),
        "correspond": Try("--correspond 2", "", VIEWS, "")},
    "evaluate": {"exposure": Try("--exposure e", "", COUNTS, ""), "threshold": Try("--threshold 0.99", "", "", COUNTS)},
    "sample": {
        "draws": Try("--draws 2"), "seed": Try("--seed 7", "--draws 2"),
        "posterior": Try("--posterior SAMPLER", "--draws 2"),
        "burn-in": Try("--burn-in 3", "--posterior SAMPLER --draws 2"),
        "thin": Try("--thin 3", "--posterior SAMPLER --draws 2 --burn-in 1"),
        "exposure": Try("--exposure e", "--posterior elliptical --draws 2", COUNTS, "")},
    "update": {"noise": Try("--noise s", "", "--noise s")},
    "report": {"data": Try("--data rows.csv"), "title": Try("--title Another", "--data rows.csv"),
               "exposure": Try("--exposure e", "--data rows.csv", COUNTS, "")},
    "explore": {"draw": Try("--draw curve"), "title": Try("--title Another")},
}
# Those of `compress`, which every model that it takes reads.
COMPRESS = {"loss": Try("--loss WIDE", "--features points --loss NATS"), "features": Try("--features basis(2)"),
            "most": Try("--most 1", "--features points --loss NATS"),
            "max-iter": Try("--max-iter 0", "--features basis(2) --loss WIDE"),
            "seed": Try("--seed 7", "--features frequency --loss WIDE")}
PAGES = ("report", "explore")


class Verbs(EveryModel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.verbs = sorted({verb for m in cls.models.values() for verb in m["options"]} - {"fit"})
        rows = rows_of(24)
        tables = {"costs.csv": "class,a,b\na,0,9\nb,1,0\n",
                  "one_view.csv": text_of([[row[0], row[1], "", ""] for row in rows], ["t", "u", "y", "z"]),
                  # points of a latent space beside inputs and outputs
                  "points.csv": text_of([[*row, row[0], row[1]] for row in rows], [*COLUMNS, "x0", "x1"]),
                  "new.csv": text_of([[row[0] + 0.05, *row[1:]] for row in rows[3:9]])}
        for name, text in tables.items():
            with open(os.path.join(cls.home, name), "w", encoding="utf-8") as f:
                f.write(text)

    def arguments(self, verb, label, fit=()):
        """A call of a verb on the model of a line, without options."""
        if verb == "compare":
            call = without(self.call_of(label, fit), ("--view", "--latent"))
            return [*call, "--kernel", "se", "--folds", "2"]
        file = self.file_of(label, *fit)
        beside = {"predict": ["rows.csv"], "evaluate": ["rows.csv"], "sample": ["points.csv"], "show": [],
                  "update": ["new.csv", "--out", "made.cov"], "compress": ["--out", "made.cov", "--loss", "1"],
                  "report": ["--out", "page.html"], "explore": ["--out", "page.html"]}
        return [file, *beside[verb]]

    def outcome(self, verb, *args):
        """Status, object and page of a call."""
        run = covary(verb, *args, "--json", cwd=self.home)
        page = None
        if verb in PAGES and run.returncode == 0:
            page = self.read("page.html")
        return run.returncode, timeless(self.object_in(run.stdout)), page

    @staticmethod
    def fits_of(entry):
        """What is given to training beside the line: some models of any likelihood can do more with Gaussian noise."""
        return ((), ("--target", "y", "--likelihood", "gaussian")) if entry["targets"] == "any likelihood" else ((),)

    # What a verb that works gives.
    def check_predict(self, label, fit, given):
        self.assertEqual(given["n"], 24)

    check_sample = check_evaluate = check_predict

    def check_update(self, label, fit, given):
        self.assertEqual((given["added"], given["n"]), (6, fit["n"] + 6))
        self.assertNotEqual(self.predicted("made.cov"), self.predicted(fit["file"]))
        self.assert_finite(self.predicted("made.cov"))

    def check_compress(self, label, fit, given):
        self.assertLess(given["numbers"], given["numbers_before"])
        self.assert_finite(self.predicted("made.cov"))

    def check_compare(self, label, fit, given):
        self.assertIn(fit["model"], [m["model"] for m in given["models"]])
        for m in given["models"]:
            self.assert_finite(m["nlpd"])

    def check_report(self, label, fit, given):
        page = self.read("page.html")
        self.assertEqual(given["bytes"], len(page.encode()))
        self.assertTrue(page.lower().startswith("<!doctype html>") and page.rstrip().endswith("</html>"))
        self.assertNotIn(">nan<", page.lower())

    check_explore = check_report

    def check_show(self, label, fit, given):
        self.assertEqual((given["model"], given["value"]), (fit["model"], fit["value"]))

    @for_every_model
    def test_a_verb_works_or_is_refused(self, label, entry, fit):
        for verb in self.verbs:
            with self.subTest(f"{label}: {verb}"):
                works = False
                for extra in self.fits_of(entry):
                    status, made = self.fit(label, *extra)
                    self.assertEqual(status, 0, made)
                    args = self.arguments(verb, label, extra) + (["--data", "rows.csv"] if verb == "report" else [])
                    status, given, _ = self.outcome(verb, *args)
                    if verb in entry["options"] and status == 0:
                        getattr(self, "check_" + verb)(label, made, given)
                        works = True
                    else:
                        self.assertEqual((status, given.get("kind")), (2, "unsupported"), f"{extra} {given}")
                self.assertEqual(works, verb in entry["options"], given)

    def words(self, text, entry, fit=()):
        """Arguments: losses are of numbers, or of classes by a table; samplers of functions or of inputs. One variable is within WIDE, but not within NATS."""
        numbers = entry["targets"].startswith("numbers")
        values = {"LOSS": "quantile(0.9)" if numbers else "costs.csv",
                  "SAMPLER": "elliptical" if "exposure" in entry["options"].get("sample", ()) else "slice"}
        if "WIDE" in text or "NATS" in text:
            one = self.run_json("compress", self.file_of(entry["label"], *fit), "--out", "one.cov", "--features", "points",
                                "--most", "1", "--loss", "1e9")
            values |= {"WIDE": repr(1.1 * one["loss"]), "NATS": repr(0.9 * one["loss"])}
        return [values.get(word, word) for word in text.split()]

    def refuses(self, verb, label, entry, tried):
        """An option that the model does not read, with what else would go with it."""
        given = merged(self.words(tried.beside, entry), self.words(tried.given, entry))
        for extra in self.fits_of(entry):
            args = without(self.arguments(verb, label, extra), [w for w in given if w.startswith("--")])
            error = self.refusal(verb, *args, *given, says=["does not read it"])
            named = error.split()[0].removeprefix("--")  # of several that it does not read, the first
            self.assertIn(f"--{named}", given)
            for other in self.models.values():
                if named in other["options"].get(verb, ()):
                    self.assertIn(other["written"], error)

    def tells(self, verb, label, entry, tried):
        """An option that the model reads."""
        numbers = self.fits_of(entry)[-1] if "--noise" in tried.fit else ()
        for extra in (tuple(tried.fit.split()) + numbers,) if tried.fit else self.fits_of(entry):
            status, fit = self.fit(label, *extra)
            self.assertEqual(status, 0, fit)
            args = self.arguments(verb, label, extra)
            if "--correspond" in tried.given:
                args[1] = "one_view.csv"
            if verb == "compress" and "--loss" in f"{tried.beside} {tried.given}":
                args = without(args, ("--loss",))
            plain, given = (merged(args, self.words(w, entry, extra)) for w in (tried.beside, f"{tried.beside} {tried.given}"))
            without_it, outcome = self.outcome(verb, *plain), self.outcome(verb, *given)
            if 0 in (without_it[0], outcome[0]) and without_it != outcome:
                return
        self.fail(f"it has no effect: {outcome[:2]}")

    @for_every_model
    def test_an_option_of_a_verb_has_an_effect_or_is_refused(self, label, entry, fit):
        for verb in self.verbs:
            options = {name for m in self.models.values() for name in m["options"].get(verb, ())}
            self.assertEqual(options, set(OPTIONS.get(verb, ())), f"every option of {verb} is tried")
            if verb not in entry["options"]:
                continue
            for option, tried in OPTIONS.get(verb, {}).items():
                with self.subTest(f"{label}: {verb} --{option}"):
                    if option not in entry["options"][verb]:
                        self.refuses(verb, label, entry, tried)
                        continue
                    self.tells(verb, label, entry, tried)
            for option, tried in COMPRESS.items() if verb == "compress" else ():
                with self.subTest(f"{label}: {verb} --{option}"):
                    self.tells(verb, label, entry, tried)

    @for_every_model
    def test_an_option_without_meaning_for_a_fit_is_refused(self, label, entry, fit):
        for verb in OPTIONS:
            for option, tried in OPTIONS[verb].items():
                if tried.refused is None or option not in entry["options"].get(verb, ()):
                    continue
                if tried.refused and "likelihood" not in entry["options"]["fit"]:
                    continue  # it is of classes alone
                if tried.fit and tried.fit.split()[0] == "--view" and "--view" in LINES[label]:
                    continue  # it has views always
                with self.subTest(f"{label}: {verb} --{option}"):
                    extra = tuple(tried.refused.split())
                    self.assertEqual(self.fit(label, *extra)[0], 0)
                    beside = "--exposure e" if "exposure" in tried.refused else ""
                    args = merged(self.arguments(verb, label, extra), f"{beside} {tried.beside} {tried.given}".split())
                    self.refusal(verb, *args)


# The abilities that are an option or a verb, which are tried as such.
TRIED = {"restarts", "checkpoint", "start from", "stream", "folds", "inducing features", "views", "dynamics", "components",
         "gradients", "uncertain inputs", "parameter draws", "sample", "update", "compress", "compare", "explore"}


class Abilities(EveryModel):
    def another_form_can(self, entry, ability):
        """Whether a form of the same name can, which the likelihood, the target or --missing learn then chooses."""
        return "outputs" not in ability and any(ability in m["capabilities"] for m in self.models.values()
                                                if m["name"] == entry["name"])

    def works_or_is_refused(self, label, entry, ability, *more):
        """The fit, if the table says that the model can."""
        with self.subTest(f"{label}: {ability}"):
            if ability in entry["capabilities"]:
                status, fit = self.fit(label, *more)
                self.assertEqual(status, 0, fit)
                self.assert_finite(self.predicted(self.file_of(label, *more)))
                return fit
            if not self.another_form_can(entry, ability):
                self.refusal("fit", *self.call_of(label, more))
        return None

    def test_every_ability_is_tried(self):
        named = {c for m in self.models.values() for c in m["capabilities"]}
        self.assertEqual(named, TRIED | {"several outputs", "missing outputs", "missing inputs", "likelihoods", "classes"})

    @for_every_model
    def test_outputs(self, label, entry, fit):
        columns = "y,z" if entry["targets"].startswith(("numbers", "any")) else "t,u,y,z"
        columns = "class,three" if entry["targets"] == "classes" else columns
        likelihood = ("--likelihood", "gaussian") if entry["targets"] == "any likelihood" else ()
        two = self.works_or_is_refused(label, entry, "several outputs", "--target", columns, *likelihood)
        if two:
            self.assertEqual(two["outputs"], columns.split(","))
            missing = [list(row) for row in rows_of(24)]
            missing[3][2] = missing[7][3] = ""
            if "missing inputs" in entry["capabilities"]:
                missing[5][0] = ""
            table = self.made_of("missing.csv", text_of(missing))
            fit = self.works_or_is_refused(label, entry, "missing outputs", table, "--target", columns, *likelihood)
            self.assertTrue(fit is None or fit["n"] == 24)

    @for_every_model
    def test_inputs(self, label, entry, fit):
        rows = [list(row) for row in rows_of(24)]
        rows[5][0] = ""
        table = self.made_of("missing_input.csv", text_of(rows))
        learn = ("--missing", "learn") if "missing" in entry["options"]["fit"] else ()
        if entry["targets"].startswith("none"):
            return  # it has no inputs
        self.works_or_is_refused(label, entry, "missing inputs", table, *learn)

    @for_every_model
    def test_targets(self, label, entry, fit):
        several = "several outputs" in entry["capabilities"]
        counts = self.works_or_is_refused(label, entry, "likelihoods", "--target", "e,w,count" if several else "count",
                                          "--likelihood", "poisson")
        self.assertTrue(counts is None or counts["likelihood"] == "poisson")
        call = ("--target", "class") if "inputs" in entry["options"]["fit"] else ("--target", "t,u,class")
        classes = self.works_or_is_refused(label, entry, "classes", *call,
                                           *(("--likelihood", "auto") if "likelihood" in entry["options"]["fit"] else ()))
        self.assertTrue(classes is None or classes["classes"] == ["a", "b"])


if __name__ == "__main__":
    unittest.main()
