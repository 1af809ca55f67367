"""Model files at the command line: without outputs, damaged, foreign, newer."""

import hashlib
import json
import os
import struct
import unittest

from support import CommandLine, covary


class ModelFile(CommandLine):
    def bytes_of(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def test_without_outputs_predicts_the_same_bits(self):
        with_outputs = self.fitted("--kernel", "se + linear", "--mean", "constant")
        without = self.fitted("--kernel", "se + linear", "--mean", "constant", "--without-outputs", out="w.cov")
        for name, has in (("m.cov", True), ("w.cov", False)):
            self.assertEqual(b'"Y":{"data_offsets"' in self.bytes_of(name), has)
        options = [self.path("grid.csv"), "--components", "--gradients"]
        self.assertEqual(covary("predict", with_outputs, *options).stdout, covary("predict", without, *options).stdout)
        for verb in ("evaluate", "sample"):
            data = self.path("test.csv" if verb == "evaluate" else "grid.csv")
            self.assertEqual(covary(verb, with_outputs, data).stdout, covary(verb, without, data).stdout)
        a, b = self.json_of("show", with_outputs), self.json_of("show", without)
        self.assertEqual(a | {"seconds": 0}, b | {"seconds": 0})

    def test_without_outputs_what_needs_them_is_refused(self):
        model = self.fitted("--without-outputs")
        words = ["saved without its training outputs"]
        self.refused("update", model, self.path("test.csv"), "--out", self.path("u.cov"), says=words)
        self.refused("report", model, "--out", self.path("r.html"), says=words)
        self.assertFalse(os.path.exists(self.path("u.cov")) or os.path.exists(self.path("r.html")))
        self.refused("fit", self.path("train.csv"), "--target", "y", "--without-outputs", says=["--out FILE"])

    def test_an_updated_model_is_the_same_after_reading(self):
        model = self.fitted()
        self.json_of("update", model, self.path("test.csv"), "--out", self.path("u.cov"))
        once = covary("predict", self.path("u.cov"), self.path("grid.csv")).stdout
        self.json_of("update", self.path("u.cov"), self.path("test.csv"), "--in-place")
        self.assertNotEqual(once, covary("predict", self.path("u.cov"), self.path("grid.csv")).stdout)
        self.assertEqual(self.json_of("show", self.path("u.cov"))["n"], 200 + 2 * 500)

    def test_damage_is_told(self):
        whole = self.bytes_of(os.path.basename(self.fitted()))
        flipped = bytearray(whole)
        flipped[-100] ^= 1
        for content, words in (
            (whole[:-1], "truncated"),
            (bytes(flipped), "checksum of its arrays"),
            (struct.pack("<Q", 2**62) + whole[8:], "not a Covary model file"),
            (b"", "only 0 bytes"),
            (b"x,y\n1,2\n", "not a Covary model file; if it holds data, give a model file before it"),
        ):
            file = self.write_bytes("bad.cov", content)
            self.refused("predict", file, self.path("grid.csv"), status=1, says=["bad.cov", words])

    def test_a_newer_file_is_told(self):
        whole = self.bytes_of(os.path.basename(self.fitted()))
        (n,) = struct.unpack("<Q", whole[:8])
        header = json.loads(whole[8:8 + n])
        text = header["__metadata__"]["covary"].replace('"format_version":1,', '"format_version":2,')
        digest = hashlib.sha256((text[:16] + text[80:]).encode()).hexdigest()
        header["__metadata__"]["covary"] = text[:16] + digest + text[80:]
        packed = json.dumps(header, ensure_ascii=False).encode()
        file = self.write_bytes("newer.cov", struct.pack("<Q", len(packed)) + packed + whole[8 + n:])
        self.refused("show", file, status=1, says=["newer Covary (format 2", "upgrade"])


if __name__ == "__main__":
    unittest.main()
