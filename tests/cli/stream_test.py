"""Training on rows that stay in a file."""
import gzip
import math
import os
import random
import resource
import signal
import struct
import subprocess
import unittest

from support import COVARY, CommandLine, covary


def npy(rows, kind="<f8", code="d"):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, len(rows), len(rows[0]))
    header = header.ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            b"".join(struct.pack(f"<{len(row)}{code}", *row) for row in rows))


class Stream(CommandLine):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        self.rows = []
        for _ in range(700):
            a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
            self.rows.append([a, b, math.sin(2 * a) + 0.5 * b + 0.1 * rng.gauss(0, 1)])
        self.train = self.csv("plane.csv", self.rows[:600])
        self.test = self.csv("plane_test.csv", self.rows[600:])
        os.mkdir(self.path("scratch"))
        os.environ["TMPDIR"] = self.path("scratch")
        self.addCleanup(os.environ.pop, "TMPDIR")

    def tearDown(self):
        self.assertEqual(os.listdir(self.path("scratch")), [], "nothing is left behind")

    def csv(self, name, rows, header="a,b,y"):
        cell = lambda v: v if isinstance(v, str) else "" if math.isnan(v) else repr(v)
        return self.write(name, header + "\n" + "".join(",".join(map(cell, row)) + "\n" for row in rows))

    def binary(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def fit(self, train, *more, target="y", model="vfe", iterations=8):
        return self.json_of("fit", train, "--target", target, "--model", model, "--inducing", "15", "--max-iter", str(iterations),
                            "--out", self.path("m.cov"), *more)

    def same(self, streamed, memory):
        for key in ("n", "d", "value", "upper_bound", "parameters", "scaling", "diagnostics"):
            self.assertEqual(streamed[key], memory[key], key)

    def test_the_same_numbers_as_from_memory(self):
        packed = self.binary("plane.csv.gz", gzip.compress(self.read("plane.csv").encode()))
        array = self.binary("plane.npy", npy(self.rows[:600]))
        memory = self.fit(self.train)
        self.assertNotIn("stream", memory)
        for train, target in ((self.train, "y"), (packed, "y"), (array, "2")):
            with self.subTest(train):
                streamed = self.fit(train, "--stream", target=target)
                self.same(streamed, memory)
                self.assertEqual(streamed["stream"]["bytes"], 600 * 3 * 8)
                self.assertEqual("temporary" in streamed["stream"]["from"], train != array)
        self.assertLess(self.json_of("evaluate", self.path("m.cov"), self.binary("t.npy", npy(self.rows[600:])))["rmse"], 0.2)

    def test_auto_is_sparse(self):
        fit = self.fit(self.train, "--stream", model="auto")
        self.assertEqual(fit["model"], "vfe")
        self.assertGreater(fit["cost"]["memory_bytes"], 0)

    def test_text_columns(self):
        # The last rows have the only text of one column and a value of the other that none has before.
        colours = ["the red of a tomato", "the blue of the sky"]
        rows = [[a, str(i % 3), colours[i % 2], y] for i, (a, _, y) in enumerate(self.rows * 28)]
        rows[-1][1], rows[-2][2] = "many", "green"
        train = self.csv("text.csv", rows, "a,size,colour,y")
        self.assertGreater(os.path.getsize(train), 1 << 20, "more than a block")
        streamed = self.fit(train, "--stream", iterations=0)
        self.same(streamed, self.fit(train, iterations=0))
        self.assertEqual(streamed["d"], 8)
        self.json_of("evaluate", self.path("m.cov"), train)

    def test_missing_values_keep_their_meaning(self):
        rows = [list(row) for row in self.rows[:600]]
        rows[10][2] = rows[20][2] = math.nan
        for name, train, target in (("csv", self.csv("gaps.csv", rows), "y"), ("npy", self.binary("gaps.npy", npy(rows)), "2")):
            for policy in ("model", "drop"):
                with self.subTest(name, policy=policy):
                    more = ("--missing", policy)
                    streamed = self.fit(train, "--stream", *more, target=target)
                    self.same(streamed, self.fit(train, *more, target=target))
                    self.assertEqual(streamed["n"], 598)
            self.refused("fit", train, "--target", target, "--stream", "--missing", "error",
                         says=["line 12 has no value in column 'y'" if name == "csv" else "row 10", "--missing drop"])
        rows[30][0] = math.nan
        train = self.binary("gaps.npy", npy(rows))
        self.refused("fit", train, "--target", "2", "--stream", says=["row 30", "an input"])
        self.assertEqual(self.fit(train, "--stream", "--missing", "drop", target="2")["n"], 597)

    def test_two_outputs_with_gaps_of_their_own(self):
        rows = [[a, b, y, 2 * y - b] for a, b, y in self.rows[:600]]
        rows[7][2] = rows[8][3] = math.nan
        train = self.csv("two.csv", rows, "a,b,y,z")
        self.same(self.fit(train, "--stream", "--target", "z"), self.fit(train, "--target", "z"))

    def test_a_run_resumes(self):
        state = self.path("state.ckpt")
        first = self.fit(self.train, "--stream", "--checkpoint", state)
        again = self.fit(self.train, "--stream", "--checkpoint", state, "--resume")
        self.assertEqual(again["n"], first["n"])
        self.refused("fit", self.csv("other.csv", self.rows[:500]), "--target", "y", "--model", "vfe", "--inducing", "15",
                     "--max-iter", "8", "--stream", "--checkpoint", state, "--resume", "--quiet", says=["checkpoint of another fit"])

    def test_values_that_are_not_finite_are_named(self):
        rows = [list(row) for row in self.rows[:600]]
        rows[123][1] = math.inf
        train = self.binary("bad.npy", npy(rows))
        self.refused("fit", train, "--target", "2", "--stream", "--quiet", says=["row 123", "not finite"])

    def test_refusals(self):
        fit = ("fit", self.train, "--target", "y", "--stream")
        for more, words in ((("--model", "exact"), "exact"), (("--model", "pitc"), "pitc"), (("--folds", "3"), "--folds"),
                            (("--noise", "b"), "--noise")):
            with self.subTest(more):
                self.refused(*fit, *more, says=["--stream", words])
        single = self.binary("single.npy", npy(self.rows, "<f4", "f"))
        self.refused("fit", single, "--target", "2", "--stream", status=1, says=["doubles", "dtype=float"])
        self.refused("fit", self.binary("a.idx", b"\0"), "--target", "2", "--stream", says=["as a whole"])
        os.environ["TMPDIR"] = self.path("nowhere")
        self.refused(*fit, status=1, says=["TMPDIR"])

    def test_an_interruption_leaves_nothing(self):
        run = subprocess.Popen([COVARY, "fit", self.train, "--target", "y", "--stream", "--verbose"], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
        with run.stderr:
            for line in run.stderr:
                if line.startswith("streaming"):
                    run.send_signal(signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGKILL)

    def test_a_table_beyond_memory_is_streamed_by_itself(self):
        # Most of the file is a hole: 300 MB that take no room on disk, of which one column is used.
        rows, columns, limit = 20000, 1900, 1 << 30
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
        path = self.binary("wide.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n")
        with open(path, "r+b") as f:
            for i in range(0, rows, 100):
                f.seek(128 + 8 * columns * i)
                f.write(struct.pack("<2d", math.sin(i), i))
            f.truncate(128 + 8 * rows * columns)
        run = covary("fit", path, "--target", "0", "--inputs", "1", "--inducing", "5", "--max-iter", "0", "--threads", "1",
                     "--json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("streaming its rows, as with --stream", run.stderr)
        self.assertEqual(self.object_in(run.stdout)["stream"]["bytes"], 8 * rows * columns)


if __name__ == "__main__":
    unittest.main()
