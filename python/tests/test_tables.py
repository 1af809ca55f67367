"""Tables as they come: categories, datetimes, missing values, text, Arrow streams."""

import ctypes
import struct

import numpy as np
import pandas as pd
import pytest

import covary as cv


@pytest.fixture
def frame():
    days = pd.date_range("2021-01-03", periods=40, freq="D")
    t = np.arange(40)
    kind = pd.Categorical(np.where(t % 2, "b", "a"))
    return pd.DataFrame({"day": days, "kind": kind, "x": t / 10.0, "y": np.sin(t / 5) + t % 2})


def test_categories_and_datetimes(frame):
    fit = cv.fit(frame, target="y", max_iter=20)
    assert fit.input_names == ["day", "kind=a", "kind=b", "x"]
    table = fit.predict_table(frame)
    text = frame.assign(day=frame["day"].dt.strftime("%d.%m.%Y"), kind=frame["kind"].astype(str))
    np.testing.assert_array_equal(fit.predict_table(text)["mean"], table["mean"])
    zoned = frame.assign(day=frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    np.testing.assert_array_equal(fit.predict_table(zoned)["mean"], table["mean"])
    mixed = fit.predict_table(frame.sample(frac=1, random_state=0))["mean"].sort_index()
    np.testing.assert_allclose(mixed, table["mean"], rtol=1e-10)


def test_files_and_tables_agree(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    a, b = (cv.fit(data, target="y", max_iter=5) for data in (frame, tmp_path / "t.csv"))
    assert a.value == b.value and a.input_names == b.input_names


def test_missing_values_of_all_kinds(frame):
    frame.loc[3, "y"] = np.nan
    fit = cv.fit(frame, target="y", max_iter=5)
    assert fit.evaluate(frame)["n"] == 40
    for column, value in (("day", pd.NaT), ("kind", None), ("x", np.nan)):
        holed = frame.copy()
        holed.loc[5, column] = value
        with pytest.raises(cv.InputError, match=f"row 5 has no value in column '{column}'"):
            fit.predict_table(holed)
        assert len(fit.predict_table(holed, missing="drop")) == 39
        assert len(fit.predict_table(holed, missing="learn")) == 40
    nullable = frame.assign(x=pd.array([None, *range(1, 40)], dtype="Int64"))
    with pytest.raises(cv.InputError, match="row 0 has no value in column 'x'"):
        cv.fit(nullable, target="y", max_iter=5)


def test_text_as_people_write_it():
    rows = pd.DataFrame({"price": [f"{i},5 €" for i in range(20)], "y": np.arange(20.0)})
    fit = cv.fit(rows, target="y", max_iter=5)
    assert fit.input_names == ["price"]
    unclear = pd.DataFrame({"day": [f"{i}/{i + 1}/2021" for i in range(1, 11)], "y": np.arange(10.0)})
    with pytest.raises(cv.InputError, match="--dates dmy or --dates mdy"):
        cv.fit(unclear, target="y")
    assert cv.fit(unclear, target="y", dates="dmy", max_iter=2).input_names == ["day"]
    codes = pd.DataFrame({"code": ["7", "8"] * 10, "y": np.arange(20.0)})
    assert cv.fit(codes, target="y", max_iter=2).input_names == ["code=7", "code=8"]


def test_dates_are_inputs_of_classes_and_text_is_refused(frame):
    fit = cv.Regression(frame[["day", "x"]], frame["y"]).fit(max_iter=5)
    assert len(fit.predict_mean(frame)) == 40
    with pytest.raises(cv.InputError, match="column 'kind' holds text"):
        cv.Regression(frame[["day", "kind"]], frame["y"])


# A producer of Arrow streams in ctypes: what polars and others do, without them.


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


P = ctypes.POINTER
Release = lambda of: ctypes.CFUNCTYPE(None, P(of))
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", P(P(Schema))),
                   ("dictionary", P(Schema)), ("release", Release(Schema)), ("private_data", ctypes.c_void_p)]
Array._fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
    ("buffers", P(ctypes.c_void_p)), ("children", P(P(Array))), ("dictionary", P(Array)), ("release", Release(Array)),
    ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, P(Stream))),
                   ("release", Release(Stream)), ("private_data", ctypes.c_void_p)]


def texts(words):
    data = [w.encode() for w in words]
    return struct.pack(f"{len(data) + 1}i", *np.cumsum([0, *map(len, data)])), b"".join(data)


def views(words):
    """Strings of at most twelve bytes in place, longer ones in a buffer of their own."""
    long, out = b"", b""
    for word in (w.encode() for w in words):
        if len(word) <= 12:
            out += struct.pack("i12s", len(word), word)
        else:
            out += struct.pack("i4sii", len(word), word[:4], 0, len(long))
            long += word
    return out, long


class ArrowTable:
    """Columns as (name, format, valid or None, buffers[, (format, buffers) of a dictionary]), given in two batches."""

    def __init__(self, rows, columns):
        self.rows, self.columns, self.kept, self.given, self.released = rows, columns, [], 0, 0

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def array_of(self, length, offset, buffers, children=(), dictionary=None):
        pointers = (ctypes.c_void_p * max(1, len(buffers)))()
        for i, data in enumerate(buffers):
            if data is not None:
                pointers[i] = ctypes.cast(self.keep(ctypes.create_string_buffer(bytes(data), max(1, len(data)))), ctypes.c_void_p)
        nodes = (P(Array) * max(1, len(children)))(*map(ctypes.pointer, children))
        self.keep((pointers, nodes, children))
        out = Array(length, 0, offset, len(buffers), len(children), pointers, nodes, None, self.done(Array), None)
        if dictionary is not None:
            out.dictionary = ctypes.pointer(self.keep(dictionary))
        return out

    def done(self, of):
        def release(at):
            self.released += 1
            at.contents.release = Release(of)(0)
        return self.keep(Release(of)(release))

    def schema_of(self, name, form, children=(), dictionary=None):
        nodes = (P(Schema) * max(1, len(children)))(*map(ctypes.pointer, children))
        self.keep((nodes, children))
        out = Schema(form.encode(), name.encode(), None, 2, len(children), nodes, None, self.done(Schema), None)
        if dictionary:
            out.dictionary = ctypes.pointer(self.keep(self.schema_of("", dictionary)))
        return out

    def __arrow_c_stream__(self, requested_schema=None):
        self.given = 0

        def get_schema(_, out):
            columns = [self.schema_of(c[0], c[1], (), c[4][0] if len(c) > 4 else None) for c in self.columns]
            out[0] = self.schema_of("", "+s", columns)
            return 0

        def get_next(_, out):
            half = self.rows // 2
            first, n = ((0, half), (half, self.rows - half), (0, None))[self.given]
            self.given += 1
            if n is None:
                out[0] = Array()
                return 0
            children = []
            for _, _, valid, buffers, *of in self.columns:
                bits = None if valid is None else np.packbits(np.asarray(valid, bool), bitorder="little").tobytes()
                words = self.array_of(9, 0, [None, *of[0][1]]) if of else None
                children.append(self.array_of(n, first, [bits, *buffers], (), words))
            out[0] = self.array_of(n, 0, [None], children)
            return 0

        stream = self.keep(Stream(Stream._fields_[0][1](get_schema), Stream._fields_[1][1](get_next),
                                  Stream._fields_[2][1](lambda _: None), self.done(Stream), None))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(stream), self.keep(ctypes.c_char_p(b"arrow_array_stream")), None)


def arrow(n, valid=None):
    t = np.arange(n)
    words = ["red", "a long name of a colour", "blue"]
    return ArrowTable(n, [
        ("day", "tdD", None, [(18630 + t).astype("i4").tobytes()]),
        ("when", "tsu:UTC", None, [((18630 + t) * 86_400_000_000).astype("i8").tobytes()]),
        ("count", "l", valid, [t.astype("i8").tobytes()]),
        ("small", "f", None, [(t / 8).astype("f4").tobytes()]),
        ("flag", "b", None, [np.packbits(t % 2 == 0, bitorder="little").tobytes()]),
        ("word", "vu", None, list(views([words[i % 3] for i in t]))),
        ("text", "u", None, list(texts([words[i % 2] for i in t]))),
        ("level", "C", None, [(t % 3).astype("u1").tobytes()], ("u", list(texts(words)))),
        ("y", "g", None, [np.sin(t / 5).tobytes()])])


def test_arrow_streams_without_pyarrow():
    n = 30
    table = arrow(n)
    t = np.arange(n)
    words = np.array(["red", "a long name of a colour", "blue"])
    days = pd.Timestamp(0) + pd.to_timedelta(18630 + t, unit="D")
    frame = pd.DataFrame({"day": days, "when": days.tz_localize("UTC"), "count": t, "small": t / 8, "flag": t % 2 == 0,
                          "word": words[t % 3], "text": words[t % 2], "level": words[t % 3], "y": np.sin(t / 5)})
    a, b = (cv.fit(data, target="y", max_iter=5) for data in (table, frame))
    assert a.input_names == b.input_names and a.value == b.value
    np.testing.assert_array_equal(a.predict_table(table)["mean"], b.predict_table(frame)["mean"])
    assert table.released > 0


def test_nulls_of_arrow_are_missing():
    fit = cv.fit(arrow(30), target="y", max_iter=2)
    with pytest.raises(cv.InputError, match="row 17 has no value in column 'count'"):
        fit.predict_table(arrow(30, [i != 17 for i in range(30)]))


def test_arrow_types_that_are_no_columns_are_named():
    with pytest.raises(cv.InputError, match="column 'd' has the Arrow type 'd:9,2'; cast it"):
        cv.fit(ArrowTable(2, [("d", "d:9,2", None, [bytes(32)])]), target="d")
