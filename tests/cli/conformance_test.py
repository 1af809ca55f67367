"""What each model of `covary models` must keep: fits, predictions, files, resumed runs, threads, bad tables.

A new model needs its line in model_lines.py, and nothing here."""

import fcntl
import os
import resource
import signal
import struct
import subprocess
import termios
import time
import unittest

from conformance import CALLS, EveryModel, columns_of, for_every_model, for_every_way, numbers_in, timeless
from model_lines import COLUMNS, holed, rows_of, text_of
from support import COVARY, covary

KEYS = "model n d objective value upper_bound iterations converged stop reason seconds jitter parameters".split()


class Fits(EveryModel):
    @for_every_way
    def test_fit_says_what_the_design_names(self, label, entry, fit):
        self.assertEqual([key for key in KEYS if key not in fit], [], "keys that are not there")
        self.assertEqual(fit["model"], entry["written"].replace("α", "0.5"))
        used = 23 if CALLS[label].startswith("holed") else 22 if "--lags" in CALLS[label] else 24
        self.assertEqual(fit["n"], used)
        self.assertEqual(fit["d"], len(columns_of(fit)))
        self.assertTrue(fit["objective"] and fit["reason"])
        self.assertNotEqual(fit["stop"], "running")
        self.assertIsInstance(fit["converged"], bool)
        self.assertIsInstance(fit["iterations"], int)
        self.assert_finite({key: fit[key] for key in KEYS if key != "upper_bound"})
        self.assertGreaterEqual(fit["seconds"], 0.0)
        self.assertGreaterEqual(fit["jitter"], 0.0)
        if fit["upper_bound"] is not None:
            self.assertGreaterEqual(fit["upper_bound"], fit["value"])
        if "scale" in entry["options"]["fit"]:
            self.assertTrue(fit["scaling"])
        if "set" in entry["options"]["fit"]:
            self.assertGreater(len(fit["parameters"]), 0)

    @for_every_model
    def test_predict(self, label, entry, fit):
        file, needed = self.file_of(label), columns_of(fit)
        whole = self.predicted(file)
        self.assert_finite(whole)
        self.assertEqual(whole["n"], 24)
        self.assertEqual({len(v) for k, v in whole.items() if isinstance(v, list)}, {24})

        rows = rows_of(24)
        one = self.predicted(file, self.made_of("one.csv", text_of(rows[7:8])))
        self.assertEqual((one["n"], set(one)), (1, set(whole)))
        for name, values in one.items():
            if name != "n" and isinstance(values[0], float):
                self.assertAlmostEqual(values[0], whole[name][7], delta=1e-6 * max(1.0, abs(values[0])), msg=name)

        further = self.made_of("further.csv", text_of([["x", *reversed(row)] for row in rows],
                                                      ["more", *reversed(COLUMNS)]))
        self.assertEqual(self.predicted(file, further), whole)

        for missing in needed:
            at = COLUMNS.index(missing)
            table = self.made_of("without.csv", text_of([r[:at] + r[at + 1:] for r in rows], COLUMNS[:at] + COLUMNS[at + 1:]))
            self.refusal("predict", file, table, says=[f"'{missing}'"])

    @for_every_way
    def test_the_file_has_the_fit(self, label, entry, fit):
        file = self.file_of(label)
        shown = self.run_json("show", file)
        for key in ("scaling", *KEYS):
            self.assertEqual(shown.get(key), fit.get(key), key)
        self.assertIn(fit["model"], covary("show", file, cwd=self.home).stdout)
        os.rename(self.path(file), self.path("moved.cov"))
        try:
            self.assertEqual(self.run_json("show", "moved.cov"), shown)
        finally:
            os.rename(self.path("moved.cov"), self.path(file))

    def killed_at(self, call, place):
        """Training is killed where its log would pass this number of bytes: no file may be longer than the limit."""
        limit = 1 << 30
        with open(self.path("log"), "wb") as log:
            log.truncate(limit - place)
            log.seek(limit - place)
            def limits():
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            run = subprocess.run([COVARY, "fit", *call], stdout=subprocess.DEVNULL, stderr=log, cwd=self.home,
                                 preexec_fn=limits, timeout=60)
        os.remove(self.path("log"))
        self.assertEqual(run.returncode, -signal.SIGXFSZ)

    def many(self, label):
        """A table of several blocks of rows and tiles of matrices to train on, and what to predict."""
        rows = rows_of(140)
        table = self.made_of("many.csv", text_of(holed(rows) if CALLS[label].startswith("holed") else rows))
        return table, [self.made_of("given.csv", text_of(rows)), *(("--steps", "9") if "--lags" in CALLS[label] else ())]

    def interrupted(self, call, log):
        """Training is told to stop between its first iteration and its last: its log waits for somebody to read it."""
        begun = len(log[:log.index("\n", log.index(" objective "))].encode()) + 1
        log, written = os.pipe()
        page = fcntl.fcntl(written, fcntl.F_SETPIPE_SZ, 4096)
        os.write(written, b"\n" * (page - begun - 40))  # what is left ends within the second line of training, of more than 60 characters
        with open(self.path("answer"), "w+b") as answer, open(log, "rb") as log:
            run = subprocess.Popen([COVARY, "fit", *call, "--json"], stdout=answer, stderr=written, cwd=self.home,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            os.close(written)
            while struct.unpack("i", fcntl.ioctl(log, termios.FIONREAD, b"1234"))[0] < page - 80:
                self.assertIsNone(run.poll(), "it ended before it could be stopped")
                time.sleep(1e-3)
            run.send_signal(signal.SIGINT)
            said = log.read().decode()
            self.assertEqual(run.wait(60), 1, said)
            answer.seek(0)
            return self.object_in(answer.read().decode()), said

    @for_every_way
    def test_stopped_and_resumed_it_ends_with_the_same_bits(self, label, entry, fit):
        if "checkpoint" not in entry["capabilities"]:
            return
        table, given = self.many(label)
        longer = ("--max-iter", "12") if "--max-iter" in CALLS[label] else ()
        call = self.call_of(label, (table, *longer))
        uninterrupted = covary("fit", *call, "--verbose", "--out", "whole.cov", "--json", cwd=self.home)
        whole, log = timeless(self.object_in(uninterrupted.stdout)), uninterrupted.stderr
        predicted = self.predicted("whole.cov", *given)
        state = ("--checkpoint", "state.ckpt")
        for share in (None, 0.3, 0.6, 0.9):
            if share:
                self.killed_at([*call, "--verbose", *state], int(share * len(log)))
            else:  # by Ctrl-C, which leaves what there is
                part, said = self.interrupted([*call, "--verbose", *state, "--out", "part.cov"], log)
                self.assertEqual((part["interrupted"], part["converged"], part["stop"]), (True, False, "caller"))
                self.assertIn("--resume", said)
                self.assert_finite(self.predicted("part.cov", *given))
            self.assertTrue(os.path.exists(self.path("state.ckpt")))
            run = covary("fit", *call, *state, "--resume", "--json", "--out", "resumed.cov", cwd=self.home)
            self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
            self.assertIn("resumed at", run.stderr)
            self.assertEqual(timeless(self.object_in(run.stdout)), whole)
            self.assertEqual(self.predicted("resumed.cov", *given), predicted)
            os.remove(self.path("state.ckpt"))

    @for_every_model
    def test_from_its_file_it_starts_where_it_ended(self, label, entry, fit):
        if "start from" not in entry["capabilities"]:
            return
        jitter = ("--jitter", repr(fit["jitter"])) if fit["jitter"] else ()  # what training came to need
        again = self.run_json("fit", *self.call_of(label, ("--from", self.file_of(label), "--max-iter", "0", *jitter)))
        self.assertEqual(again["from"]["not_found"], [])
        self.assertAlmostEqual(again["value"], fit["value"], delta=1e-6 * max(1.0, abs(fit["value"])))

    @for_every_way
    def test_any_number_of_threads_gives_the_same_bits(self, label, entry, fit):
        table, given = self.many(label)
        results = []
        for threads in ("1", "2", "3"):
            fit = self.run_json("fit", *self.call_of(label, (table,)), "--threads", threads, "--out", "many.cov")
            results.append((timeless(fit), self.predicted("many.cov", *given, "--threads", threads)))
        self.assertEqual(results[1], results[0], "2 threads")
        self.assertEqual(results[2], results[0], "3 threads")


# Columns of inputs, outputs and classes, by their place in a row.
T, U, Y, Z, CLASS = (COLUMNS.index(name) for name in ("t", "u", "y", "z", "class"))


def changed(rows, value, *columns, at=None):
    """The rows with this value in these columns, of all of them or of one."""
    return [[value if j in columns and at in (None, i) else cell for j, cell in enumerate(row)]
            for i, row in enumerate(rows)]


# What is wrong with a table, made of one that is right. A bad cell is in row 4.
BAD = {
    "nothing at all": lambda rows: "",
    "no rows": lambda rows: text_of([]),
    "one row": lambda rows: text_of(rows[:1]),
    "two rows": lambda rows: text_of(rows[:2]),
    "columns of one word": lambda rows: text_of(changed(rows, "word", T, U, Y, Z)),
    "a column of many words": lambda rows: text_of([[row[T], f"word{i}", *row[Y:]] for i, row in enumerate(rows)]),
    "a word among the inputs": lambda rows: text_of(changed(rows, "oops", U, at=4)),
    "a word among the outputs": lambda rows: text_of(changed(rows, "oops", Y, at=4)),
    "nan among the inputs": lambda rows: text_of(changed(rows, "nan", U, at=4)),
    "inf among the inputs": lambda rows: text_of(changed(rows, "inf", U, at=4)),
    "-inf among the outputs": lambda rows: text_of(changed(rows, "-inf", Y, at=4)),
    "inf and -inf": lambda rows: text_of(changed(changed(rows, "inf", T, at=4), "-inf", T, at=6)),
    "a huge input": lambda rows: text_of(changed(rows, "1e300", U, at=4)),
    "a huge output": lambda rows: text_of(changed(rows, "1e300", Y, at=4)),
    "every row twice": lambda rows: text_of(rows + rows),
    "all rows alike": lambda rows: text_of(24 * rows[:1]),
    "a constant input": lambda rows: text_of(changed(rows, 0.5, T)),
    "constant inputs": lambda rows: text_of(changed(rows, 0.5, T, U)),
    "constant outputs": lambda rows: text_of(changed(rows, 0.5, Y, Z)),
    "one class": lambda rows: text_of(changed(rows, "a", CLASS)),
    "no outputs": lambda rows: text_of(changed(rows, "", Y, Z, CLASS)),
    "a row too short": lambda rows: text_of(rows[:4] + [rows[4][:2]] + rows[5:]),
}
# What a refusal of it names: the cell, or the column.
NAMED = {"a word among the inputs": "'u'", "a word among the outputs": "'y'", "nan among the inputs": "line 6",
         "inf among the inputs": "line 6", "-inf among the outputs": "line 6", "inf and -inf": "line 6"}


class BadTables(EveryModel):
    def told_or_finite(self, what, *args, nulls=()):
        """Whether a call works, and then without null; else it says what is wrong."""
        run = covary(*args, "--json", cwd=self.home)
        all_of_it = f"{' '.join(args)}: status {run.returncode}\n{run.stderr[:1000]}{run.stdout[:1000]}"
        self.assertIn(run.returncode, (0, 1, 2), all_of_it)
        shown = self.object_in(run.stdout)
        if run.returncode:
            self.assertEqual(set(shown), {"error", "kind"}, all_of_it)
            self.assertNotEqual(shown["kind"], "internal", all_of_it)
            self.assertNotIn("\n", shown["error"])
            self.assertIn(NAMED.get(what, ""), shown["error"], all_of_it)
            return False
        null = [k for k, v in shown.items() if k not in nulls and None in numbers_in(v)]
        self.assertEqual(null, [], f"null in {all_of_it}")
        return True

    @for_every_model
    def test_training(self, label, entry, fit):
        for what, text in BAD.items():
            with self.subTest(f"{label}: {what}"):
                rows = holed(rows_of(24)) if CALLS[label].startswith("holed") else rows_of(24)
                table = self.made_of("bad.csv", text(rows))
                made = self.told_or_finite(what, "fit", *self.call_of(label, (table,)), "--out", "bad.cov",
                                           nulls=("kernel", "upper_bound", "parameter_table", "standard_errors", "back_constraint"))
                if made:  # words are levels of an input, and others are unknown to it
                    known = self.made_of("known.csv", text(rows_of(24))) if "word" in what else "rows.csv"
                    self.told_or_finite(what, "predict", "bad.cov", known, nulls=("file",))

    @for_every_model
    def test_prediction(self, label, entry, fit):
        for what, text in BAD.items():
            with self.subTest(f"{label}: {what}"):
                table = self.made_of("bad.csv", text(rows_of(24)))
                works = self.told_or_finite(what, "predict", self.file_of(label), table, nulls=("file",))
                if what in ("one row", "every row twice", "all rows alike", "constant inputs", "constant outputs"):
                    self.assertTrue(works)

    @for_every_model
    def test_scores(self, label, entry, fit):
        for what, text in BAD.items():
            with self.subTest(f"{label}: {what}"):
                table = self.made_of("bad.csv", text(rows_of(24)))
                undefined = ("smse", "auc", *(("rmse", "nlpd") if "huge" in what else ()))
                works = self.told_or_finite(what, "evaluate", self.file_of(label), table, nulls=undefined)
                if what in ("one row", "every row twice", "all rows alike", "constant inputs", "constant outputs"):
                    self.assertTrue(works)


if __name__ == "__main__":
    unittest.main()
