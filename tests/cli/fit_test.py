"""fit: starts from another model, cost, progress, interruption, folds; compare."""

import math
import os
import pty
import random
import resource
import signal
import subprocess
import unittest

from support import COVARY, CommandLine, covary


def without_times(fit):
    return {k: v for k, v in fit.items() if k not in ("seconds", "file")}


class Fit(CommandLine):
    def test_from_another_model(self):
        model = self.fitted("--kernel", "se")
        start = self.json_of("show", model)["parameters"]
        args = ("fit", self.path("train.csv"), "--target", "y", "--max-iter", "0", "--from", model)
        same = self.json_of(*args, "--kernel", "se")
        self.assertEqual(same["parameters"], start)
        self.assertEqual(same["from"]["not_found"], [])
        other = self.json_of(*args, "--kernel", "se + periodic")
        self.assertEqual(other["from"]["taken"], ["likelihood.variance"])
        self.assertEqual(other["parameters"]["likelihood.variance"], start["likelihood.variance"])
        self.assertIn("not in it: kernel.0.variance", covary(*args, "--kernel", "se + periodic").stderr)
        # --set goes before what the other model says
        mine = self.json_of(*args, "--kernel", "se", "--set", "kernel.variance=3")
        self.assertEqual(mine["parameters"]["kernel.variance"], 3)

    def test_cost_is_told_and_what_cannot_fit_is_refused(self):
        fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--standard-errors", "no")
        self.assertEqual(fit["cost"], {"memory_bytes": 8 * 200**2, "flops_per_evaluation": 200**3})
        big = self.write("big.csv", "x,y\n" + "".join(f"{i},{i % 7}\n" for i in range(20000)))
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9, 2 * 10**9))
        run = covary("fit", big, "--target", "y", "--model", "exact", "--json", preexec_fn=limit)
        self.assertEqual(run.returncode, 1)
        answer = self.object_in(run.stdout)
        self.assertEqual(answer["kind"], "memory")
        self.assertIn("needs 3.2 GB of memory and 2.0 GB are available; use a sparse model (--model vfe) or fewer rows: about 15000 fit", answer["error"])

    def test_verbose_is_a_line_for_every_iteration_and_quiet_is_none(self):
        args = ("fit", self.path("train.csv"), "--target", "y", "--restarts", "1")
        run = covary(*args, "--verbose", "--json")
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), self.object_in(run.stdout)["iterations"])
        self.assertIn("objective", lines[0])
        self.assertEqual(covary(*args).stderr, "")

    def test_a_bar_on_a_terminal(self):
        ours, theirs = pty.openpty()
        run = subprocess.Popen([COVARY, "fit", self.path("train.csv"), "--target", "y", "--json"],
                               stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the terminal is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        fit = self.object_in(run.communicate(timeout=60)[0])
        for words in (b"\r", b"objective", b"gradient", b"start 1/3", b" s"):
            self.assertIn(words, shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), "the bar is removed at the end")
        self.assertTrue(fit["converged"])

    def test_folds_score_the_fit(self):
        fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--folds", "4", "--restarts", "1")
        scores = fit["cross_validation"]
        self.assertEqual((scores["folds"], scores["observations"]), (4, 200))
        self.assertTrue(0.25 < scores["rmse"] < 0.35)
        self.assertTrue(0 < scores["nlpd_standard_error"] < 0.1)
        for folds in ("1", "201", "nope"):
            self.refused("fit", self.path("train.csv"), "--target", "y", "--folds", folds)

    def test_folds_by_a_column(self):
        rows = "".join(f"{i / 10},{i % 3},{'abc'[i % 3]}\n" for i in range(30))
        data = self.write("labelled.csv", "x,y,fold\n" + rows)
        fit = self.json_of("fit", data, "--target", "y", "--folds", "fold", "--max-iter", "5")
        self.assertEqual((fit["d"], fit["cross_validation"]["folds"]), (1, 3))

    def test_folds_of_inputs_that_are_uncertain(self):
        """Held-out rows are scored at Gaussian inputs: N(x, Σx), and N(0, 1) of scaled units where x is missing."""
        rng = random.Random(4)
        rows = []
        for i in range(40):
            x = rng.gauss(1, 2)
            rows.append((x, math.sin(x) + 0.1 * rng.gauss(0, 1), "ab"[i % 2]))
        def score(model, train, test, variance):
            """Of a model of some rows: of (x, y, variance of x)."""
            made = self.write("some.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y, _ in train))
            fit = self.json_of("fit", made, "--target", "y", *model, "--out", self.path("some.cov"))
            at = self.write("at.csv", "x,v\n" + "".join(f"{x},{v}\n" for (x, _, _), v in zip(test, variance(fit, test))))
            p = self.json_of("predict", self.path("some.cov"), at, "--input-variance", "v")
            return [0.5 * ((y - m) ** 2 / v + math.log(2 * math.pi * v)) for (_, y, _), m, v in zip(test, p["mean"], p["variance"])]
        def check(model, rows, folds):
            table = self.write("folds.csv", "x,y,fold\n" + "".join(f"{x},{y},{k}\n" for x, y, k in rows))
            scores = self.json_of("fit", table, "--target", "y", "--folds", "fold", *model)["cross_validation"]
            self.assertEqual(scores["observations"], len(rows))
            self.assertAlmostEqual(scores["nlpd"], sum(folds) / len(folds), places=7)
        parts = [[row for row in rows if row[2] == k] for k in "ab"]
        pairs = (parts, parts[::-1])
        noisy = ("--model", "noisy_inputs", "--inducing", "8", "--max-iter", "10", "--input-noise")
        check((*noisy, "0.2"), rows, sum((score((*noisy, "0.2"), a, b, lambda fit, test: [0.2] * len(test)) for a, b in pairs), []))
        trained = lambda fit, test: [fit["diagnostics"]["input_variance_0"]] * len(test)
        check((*noisy, "train"), rows, sum((score((*noisy, "train"), a, b, trained) for a, b in pairs), []))

        learn = ("--model", "vfe", "--missing", "learn", "--inducing", "8", "--max-iter", "10")
        holed = [("" if i in (3, 8) else x, y, k) for i, (x, y, k) in enumerate(rows)]
        parts = [[row for row in holed if row[2] == k] for k in "ab"]
        folds = []
        for a, b in (parts, parts[::-1]):
            known = [x for x, _, _ in a if x != ""]
            mean = sum(known) / len(known)
            spread = sum((x - mean) ** 2 for x in known) / len(known)
            folds += score(learn, a, [(mean if x == "" else x, y, k) for x, y, k in b],
                           lambda *_, test=b: [spread if x == "" else 0 for x, _, _ in test])
        check(learn, holed, folds)
        table = self.path("folds.csv")
        ranked = self.json_of("compare", table, "--target", "y", "--folds", "fold", "--kernel", "se", *learn)["models"]
        self.assertEqual({m["model"] for m in ranked}, {"vfe", "5 nearest neighbours", "mean"})
        self.assertIn("missing", next(m["note"] for m in ranked if "neighbours" in m["model"]))


class Stopped(CommandLine):
    example = "friedman"
    kernel = "se(ard) + matern32(ard)"

    def command(self, *more, iterations=25):
        return ("fit", self.path("train.csv"), "--target", "y", "--kernel", self.kernel, "--restarts", "2",
                "--max-iter", str(iterations), "--standard-errors", "no", *more)

    def stopped_at(self, line, how, *more):
        """Runs until the line of its log has come, then sends the signal."""
        run = subprocess.Popen([COVARY, *self.command("--verbose", "--json", *more)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        while line > 0:
            text = run.stderr.readline()
            self.assertTrue(text, "it ended before it could be stopped")
            line -= text.startswith("start ") and "iteration" in text
        run.send_signal(how)
        out, err = run.communicate(timeout=60)
        return run.returncode, out, err

    def test_killed_at_random_and_resumed_it_ends_with_the_same_bits(self):
        whole = without_times(self.json_of(*self.command("--out", self.path("whole.cov"))))
        choose = random.Random(7)
        checkpoint = ("--checkpoint", self.path("state.ckpt"))
        for _ in range(3):
            more = checkpoint
            for _ in range(choose.randint(1, 3)):  # killed several times
                status, _, _ = self.stopped_at(choose.randint(2, 12), signal.SIGKILL, *more)
                self.assertEqual(status, -signal.SIGKILL)
                more = (*checkpoint, "--resume")
            resumed = self.json_of(*self.command(*more, "--out", self.path("resumed.cov")))
            self.assertEqual(without_times(resumed), whole)
            a, b = (self.json_of("predict", self.path(f), self.path("test.csv")) for f in ("whole.cov", "resumed.cov"))
            a.pop("file"), b.pop("file")
            self.assertEqual(a, b)
            os.remove(self.path("state.ckpt"))

    def test_interrupted_it_keeps_what_it_has_and_says_how_to_go_on(self):
        whole = without_times(self.json_of(*self.command()))
        out = ("--out", self.path("part.cov"), "--checkpoint", self.path("state.ckpt"))
        status, text, log = self.stopped_at(6, signal.SIGINT, *out)
        self.assertEqual(status, 1, log)
        part = self.object_in(text)
        self.assertTrue(part["interrupted"])
        self.assertFalse(part["converged"])
        self.assertLess(part["value"], whole["value"])
        self.assertIn("--resume", log)
        self.assertEqual(self.json_of("show", self.path("part.cov"))["parameters"], part["parameters"])
        self.assertEqual(without_times(self.json_of(*self.command(*out, "--resume"))), whole)
        # without a checkpoint, the model is where to go on from
        status, text, log = self.stopped_at(3, signal.SIGTERM, "--out", self.path("part.cov"))
        self.assertEqual(status, 1)
        self.assertIn("--from", log)

    def test_checkpoints_of_something_else_are_refused(self):
        state = self.path("state.ckpt")
        self.json_of(*self.command("--checkpoint", state, iterations=3))
        self.refused(*self.command("--resume"), says=["--checkpoint"])
        self.refused(*self.command("--seed", "1", "--checkpoint", state, "--resume"), says=["another fit"])
        self.refused(*self.command("--checkpoint", state, "--out", state), says=["same file"])
        self.refused("show", state, status=1, says=["checkpoint"])
        model = self.path("m.cov")
        self.json_of(*self.command("--out", model, iterations=0))
        self.refused(*self.command("--checkpoint", model, "--resume"), status=1, says=["is not a checkpoint"])
        run = covary(*self.command("--checkpoint", self.path("new.ckpt"), "--resume", iterations=2))
        self.assertEqual(run.returncode, 0)
        self.assertIn("no checkpoint in", run.stderr)


class Compare(CommandLine):
    def test_a_clear_case_and_the_sum_of_probabilities(self):
        result = self.json_of("compare", self.path("train.csv"), "--target", "y", "--kernel", "linear",
                              "--kernel", "se", "--restarts", "1")
        best, worst = (m for m in result["models"] if m["kernel"])
        self.assertEqual((best["kernel"], worst["kernel"]), ("se", "linear"))
        self.assertEqual(result["best_by_nlpd"], "se")
        self.assertEqual(result["best_by_evidence"], "se")
        self.assertAlmostEqual(best["probability"] + worst["probability"], 1, delta=1e-12)
        self.assertGreater(worst["nlpd_difference"], 2 * worst["nlpd_difference_standard_error"])
        fit = self.json_of("fit", self.path("train.csv"), "--target", "y", "--kernel", "se", "--restarts", "1",
                           "--folds", "5")
        self.assertEqual(best["value"], fit["value"])
        self.assertEqual(best["nlpd"], fit["cross_validation"]["nlpd"])

    def test_what_is_to_be_beaten(self):
        result = self.json_of("compare", self.path("train.csv"), "--target", "y", "--kernel", "se", "--restarts", "1",
                              "--folds", "3")
        self.assertEqual([m["model"] for m in result["models"]], ["exact", "5 nearest neighbours", "mean"])
        mean = result["models"][-1]
        self.assertEqual((mean["kernel"], mean["value"], mean["probability"]), (None, None, 0))
        y = [float(line.split(",")[-1]) for line in self.read("train.csv").split()[1:]]
        level = sum(y) / len(y)
        spread = (sum((v - level) ** 2 for v in y) / len(y)) ** 0.5
        self.assertAlmostEqual(mean["rmse"] / spread, 1, delta=0.05)
        constant = self.write("constant.csv", "x,y\n" + "".join("%d,3\n" % i for i in range(12)))
        self.json_of("compare", constant, "--target", "y", "--kernel", "se", "--restarts", "1", "--folds", "3")

    def test_what_cannot_be_told_apart_is_undecided(self):
        args = ("compare", self.path("train.csv"), "--target", "y", "--kernel", "se", "--kernel", "se(ard)",
                "--restarts", "1", "--folds", "3")
        result = self.json_of(*args)
        self.assertIsNone(result["best_by_nlpd"])
        self.assertIsNone(result["best_by_evidence"])
        self.assertEqual(set(result["undecided_by_nlpd"]), {"se", "se(ard)"})
        self.assertIn("undecided between", covary(*args).stdout)

    def test_wrong_calls(self):
        train = self.path("train.csv")
        self.refused("compare", train, "--target", "y", says=["--kernel"])
        self.refused("compare", train, "--target", "y", "--kernel", "sse", says=["did you mean"])


class MissingInputs(CommandLine):
    def test_missing_inputs_are_learned(self):
        rng = random.Random(4)
        rows = []
        for i in range(60):
            u, v = rng.gauss(0, 1), rng.gauss(0, 1)
            a, b = math.sin(u) + 0.3 * v + 0.01 * rng.gauss(0, 1), u + math.tanh(v) + 0.01 * rng.gauss(0, 1)
            rows.append((u, "" if i >= 20 else v, a, b))
        text = lambda rows: "u,v,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        table = self.write("holed.csv", text(rows))
        fit = ("fit", table, "--target", "a,b", "--max-iter", "100")
        self.refused(*fit, says=["line 22 has no value in column 'v'", "--missing learn"])
        learned = self.json_of(*fit, "--missing", "learn", "--inducing", "20", "--out", self.path("l.cov"))
        self.assertEqual((learned["model"], learned["n"], learned["diagnostics"]["missing_inputs"]), ("vfe", 60, 40))
        scores = self.json_of("evaluate", self.path("l.cov"), self.write("whole.csv", text(rows[:20])))
        self.assertLess(scores["rmse"], 0.2)
        self.refused(*fit, "--missing", "learn", "--model", "fitc", says=["--missing learn"])
        again = self.json_of(*fit[:-1], "0", "--missing", "learn", "--from", self.path("l.cov"), "--inducing", "20")
        self.assertAlmostEqual(again["value"], learned["value"], places=6)
        self.assertIn("latent.mean", again["from"]["taken"])


if __name__ == "__main__":
    unittest.main()
