"""The same fit through C++ and the command line gives the same bits: same_bits_test.py COVARY SAME_BITS."""

import json
import os
import subprocess
import sys
import unittest

from support import CommandLine

SAME_BITS = os.path.abspath(sys.argv.pop(1))


def as_list(value):
    return value if isinstance(value, list) else [value]


class SameBits(CommandLine):
    def check(self, kernel, mean, seed):
        train, test = self.path("train.csv"), self.path("test.csv")
        direct = json.loads(subprocess.run([SAME_BITS, train, test, kernel, mean, str(seed), self.path("cpp.cov")],
                                           capture_output=True, text=True, check=True, timeout=120).stdout)
        shell = self.json_of("fit", train, "--target", "y", "--kernel", kernel, "--mean", mean, "--seed", str(seed),
                             "--restarts", "2", "--out", self.path("shell.cov"))
        # Exact comparisons of numbers that were printed in digits that read back to the same bits.
        self.assertEqual(shell["value"], direct["value"])
        self.assertEqual(shell["iterations"], direct["iterations"])
        self.assertEqual({k: as_list(v) for k, v in shell["parameters"].items()}, direct["parameters"])
        errors = [e for path in direct["parameters"] for e in as_list(shell["standard_errors"].get(path, []))]
        self.assertEqual(sorted(errors, key=str), sorted(direct["standard_errors"], key=str))
        for file in ("shell.cov", "cpp.cov"):
            predicted = self.json_of("predict", self.path(file), test)
            for column in ("mean", "variance", "variance_f"):
                self.assertEqual(predicted[column], direct[column], (file, column))

    def test_default(self):
        self.check("se(ard)", "zero", 0)

    def test_sum_with_mean_function(self):
        self.check("matern52 + periodic", "linear", 7)


class SameBitsOfTenInputs(CommandLine):
    example = "friedman"

    def test_many_inputs(self):
        self.write("short.csv", "".join(self.read("train.csv").splitlines(keepends=True)[:81]))
        os.replace(self.path("short.csv"), self.path("train.csv"))
        SameBits.check(self, "se(ard) + linear", "constant", 3)


if __name__ == "__main__":
    unittest.main()
