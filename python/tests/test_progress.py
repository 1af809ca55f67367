"""The bar in a notebook, on a terminal and in a file."""

import io
import os
import pty
import subprocess
import sys
import textwrap

import nbclient
import nbformat
import pytest

from covary.progress import Bar, begin

FIT = textwrap.dedent("""
    import covary, numpy as np
    x = np.linspace(0, 6, 40).reshape(-1, 1)
    fit = covary.Regression(x, np.sin(x[:, 0])).fit(restarts=2, progress={})
""")


class Drawn:
    period = 0.1

    def __init__(self):
        self.seen = []

    def draw(self, fraction, text):
        self.seen.append((fraction, text))

    def close(self, fraction, text):
        self.seen.append((fraction, "closed"))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_bar_waits_and_does_not_draw_too_often(clock):
    drawn = Drawn()
    bar = Bar(drawn, starts=1, max_iter=1000, tolerance=1e-6, delay=0.5, clock=clock)
    for iteration in range(100):
        clock.now = 0.01 * iteration
        bar.show(0, iteration, -1.0, 1.0, 1.0)
    assert 3 <= len(drawn.seen) <= 6  # from 0.5 s to 1 s, every 0.1 s
    bar.close()
    assert drawn.seen[-1] == (1.0, "closed")


def test_a_short_fit_draws_nothing(clock):
    drawn = Drawn()
    bar = Bar(drawn, starts=1, max_iter=1000, tolerance=1e-6, delay=0.5, clock=clock)
    bar.show(0, 1, -1.0, 1.0, 1.0)
    bar.close()
    assert drawn.seen == []


def test_what_a_bar_says(clock):
    drawn = Drawn()
    bar = Bar(drawn, starts=2, max_iter=1000, tolerance=1e-6, clock=clock)
    bar.show(0, 1, -20.0, 50.0, 1.0)
    clock.now = 3.0
    bar.show(0, 2, -12.34567, 0.05, 1e-3)  # half-way to the tolerance in logarithms
    fraction, text = drawn.seen[-1]
    assert fraction == pytest.approx(0.25)
    assert text == "start 1/2  iteration 2  objective -12.3457  gradient 5.0e-02  3.0 s  about 9.0 s left"
    clock.now = 6.0
    bar.show(1, 500, -12.0, 0.05, 1.0)  # half of the iterations
    assert drawn.seen[-1][0] == pytest.approx(0.75)
    bar.close(finished=False)
    assert drawn.seen[-1] == (pytest.approx(0.75), "closed")


def test_a_bar_tells_what_it_is_told(clock):
    drawn = Drawn()
    bar = Bar(drawn, starts=1, max_iter=1000, tolerance=1e-6, delay=0.5, clock=clock)
    bar.say("too early")
    clock.now = 1.0
    bar.say("M = 48")
    bar.close()
    assert drawn.seen == [(0.0, "M = 48"), (1.0, "closed")]


def test_a_sparse_fit_tells_its_parts():
    program = FIT.format("True").replace("Regression(x,", "SparseRegression(x, inducing=5, Y=")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "an exact fit of 40 of 40 rows" in done.stderr, done.stderr


def test_nothing_is_drawn_where_nobody_watches(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert begin(None, 1, 10, 1e-6) is None and begin(False, 1, 10, 1e-6) is None
    assert begin(True, 1, 10, 1e-6) is not None


@pytest.mark.parametrize("wanted", ["True", "False", "None"])
def test_in_a_file(wanted):
    done = subprocess.run([sys.executable, "-c", FIT.format(wanted)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert bool(lines) == (wanted == "True")
    assert all("objective" in line and "gradient" in line for line in lines)


def test_on_a_terminal():
    ours, theirs = pty.openpty()
    program = subprocess.Popen([sys.executable, "-c", FIT.format("True")], stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # how Linux says that the other side has closed
        pass
    os.close(ours)
    assert program.wait(timeout=120) == 0
    assert b"\r\x1b[K[" in text and b"start 1/2  iteration" in text
    assert text.endswith(b"\r\x1b[K") and b"\n" not in text


def test_in_a_notebook():
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell(FIT.format("True") + "fit"),
        nbformat.v4.new_code_cell("fit.parameters"),
        nbformat.v4.new_code_cell("covary.GPRegressor(verbose=True).fit(x, x[:, 0]).fit_.parameters.kernel"),
    ])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    bar, table = notebook.cells[0].outputs
    assert '<progress value="1.000" max="1">' in bar["data"]["text/html"]  # drawn over till the end
    assert "objective" in bar["data"]["text/html"]
    assert "<table>" in table["data"]["text/html"] and "kernel.lengthscales" in table["data"]["text/html"]
    assert "<table>" in notebook.cells[1].outputs[0]["data"]["text/html"]
    assert "<progress" in notebook.cells[2].outputs[0]["data"]["text/html"]
    assert not [o for cell in notebook.cells for o in cell.outputs if o.get("name") == "stderr"]
