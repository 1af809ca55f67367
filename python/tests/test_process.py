"""Threads, forks, signals, and the company of NumPy's BLAS."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import wave

import covary as cv


def run(program, limit=120):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=limit)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_covary_leaves_the_blas_of_numpy_alone():
    out = run("""
        import numpy as np
        from threadpoolctl import threadpool_info, threadpool_limits
        with threadpool_limits(limits=2):
            A = np.random.default_rng(0).standard_normal((300, 300))
            product = A @ A
            before = [(i["filepath"], i["num_threads"]) for i in threadpool_info()]
            import covary
            fit = covary.Regression(A[:60, :2], A[:60, 2]).fit()
            after = [(i["filepath"], i["num_threads"]) for i in threadpool_info()]
            assert before and before == after, (before, after)  # nor is another BLAS to be seen
            assert np.array_equal(product, A @ A)
        print("same")
    """)
    assert out == "same"


def test_the_extension_needs_no_library_of_its_own():
    listed = subprocess.run(["ldd", cv._core.__file__], capture_output=True, text=True, check=True).stdout
    folder = os.path.dirname(os.path.dirname(cv._core.__file__))  # auditwheel puts some into covary.libs
    outside = "\n".join(line for line in listed.splitlines() if folder not in line)
    for name in ("openblas", "gfortran", "libfmt", "lapack", "not found"):
        assert name not in outside, listed
    symbols = subprocess.run(["nm", "-D", "--defined-only", cv._core.__file__], capture_output=True, text=True,
                             check=True).stdout.split("\n")
    names = [line.split()[-1] for line in symbols if line]
    assert [n for n in names if "PyInit" in n] == ["PyInit__core"]
    assert not [n for n in names if n.startswith(("cblas_", "openblas_", "dgemm", "dpotrf", "_gfortran"))]


def predictions_in_child(fit, X, queue):
    queue.put(fit.predict_f(X)[0])
    queue.put(cv.Regression(*wave(400, 3)).fit(restarts=1).value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_predicts_and_fits():
    X, y = wave(400, 3)
    cv.set_threads(2)
    fit = cv.Regression(X, y).fit(restarts=1)  # the threads are there now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=predictions_in_child, args=(fit, X, queue), daemon=True)
    child.start()
    try:
        np.testing.assert_array_equal(queue.get(timeout=60), fit.predict_f(X)[0])
        assert queue.get(timeout=60) == fit.value
        child.join(timeout=60)
        assert child.exitcode == 0
    finally:
        child.kill()
        cv.set_threads(0)


@pytest.mark.parametrize("call", ["fit", "predict_y", "predict_mean", "sample", "leave_one_out", "save", "sparse fit",
                                  "elbo", "upper_bound", "split"])
def test_other_threads_run_during_a_call(call, tmp_path):
    """Threads are never made to give way here, so another one runs only if the call lets go of the lock."""
    X, y = wave(300)
    model = cv.Regression(X, y)
    fit = model.fit(max_iter=0)
    sparse = cv.SparseRegression(X, y, inducing=10)
    sparse_fit = sparse.fit(max_iter=0)
    calls = {
        "fit": lambda: model.fit(max_iter=2, restarts=1),
        "predict_y": lambda: fit.predict_y(X),
        "predict_mean": lambda: fit.predict_mean(X),
        "sample": lambda: fit.sample(X),
        "leave_one_out": lambda: fit.leave_one_out(),
        "save": lambda: fit.save(tmp_path / "model.cov"),
        "sparse fit": lambda: sparse.fit(max_iter=0),
        "elbo": lambda: sparse.elbo(),
        "upper_bound": lambda: sparse.upper_bound(),
        "split": lambda: sparse_fit.split(X),
    }
    calls[call]()  # what it imports at first would let others run
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0)  # gives way

    before = sys.getswitchinterval()
    other = threading.Thread(target=tick)
    try:
        sys.setswitchinterval(1000.0)
        other.start()
        seen = ticks[0]
        for _ in range(200):
            fit.parameters.table()  # keeps the lock
        assert ticks[0] == seen
        for _ in range(200):  # the other may not be awake at once
            calls[call]()
            if ticks[0] != seen:
                break
        assert ticks[0] != seen
    finally:
        done.set()
        sys.setswitchinterval(before)
        other.join()


def test_many_threads_share_one_fit(fitted):
    X, _ = wave(200, seed=8)
    expected = fitted.predict_y(X)[1]
    results = [None] * 8

    def work(i):
        results[i] = fitted.predict_y(X)[1]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for r in results:
        np.testing.assert_array_equal(r, expected)


def test_ctrl_c_ends_a_fit():
    out = run("""
        import os, signal
        import numpy as np, covary
        random = np.random.default_rng(0)
        X = random.uniform(-2, 2, (300, 4))
        model = covary.Regression(X, np.sin(X).sum(1) + 0.1 * random.standard_normal(300))
        before = model.parameters.table()
        def interrupt(iteration, value, norm):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            model.fit(callback=interrupt, restarts=50)
        except KeyboardInterrupt:
            print("interrupted", model.parameters.table() == before)
    """)
    assert out == "interrupted True"


def test_ctrl_c_ends_a_sparse_fit():
    out = run("""
        import os, signal
        import numpy as np, covary
        random = np.random.default_rng(0)
        X = random.uniform(-2, 2, (300, 4))
        model = covary.SparseRegression(X, np.sin(X).sum(1) + 0.1 * random.standard_normal(300))
        before, value = model.parameters.table(), model.elbo()
        def interrupt(iteration, value, norm):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            model.fit(callback=interrupt)
        except KeyboardInterrupt:
            print("interrupted", model.parameters.table() == before, model.elbo() == value)
    """)
    assert out == "interrupted True True"


@pytest.mark.parametrize("model, value", [
    ("Generalised(X, y)", "value"),
    ("Svgp(X, y, inducing=10)", "elbo"),
    ("Svgp(X, y, inducing=10, batch=50)", "elbo"),
])
def test_ctrl_c_ends_a_fit_of_any_likelihood(model, value):
    out = run(f"""
        import os, signal
        import numpy as np, covary
        X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
        y = np.where(np.sin(2 * X[:, 0]) > X[:, 1], "a", "b")
        model = covary.{model}
        before, value = model.parameters.table(), model.{value}()
        def interrupt(*_):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            model.fit(callback=interrupt)
        except KeyboardInterrupt:
            print("interrupted", model.parameters.table() == before, model.{value}() == value)
    """)
    assert out == "interrupted True True"


def test_ctrl_c_from_outside_ends_a_long_fit():
    program = textwrap.dedent("""
        import numpy as np, covary
        random = np.random.default_rng(0)
        X = random.uniform(-2, 2, (400, 4))
        model = covary.Regression(X, np.sin(X).sum(1) + 0.1 * random.standard_normal(400))
        said = []
        def say(iteration, value, norm):
            if not said:
                said.append(print("running", flush=True))
        try:
            model.fit(restarts=1_000_000, callback=say)
        except KeyboardInterrupt:
            fit = model.fit(max_iter=1, restarts=1)  # all is as before
            print("interrupted", fit.summary.iterations, flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        assert out == "interrupted 1\n" and child.returncode == 0
    finally:
        child.kill()


def test_ctrl_c_ends_a_long_prediction():
    program = textwrap.dedent("""
        import numpy as np, covary
        X = np.random.default_rng(0).uniform(-2, 2, (1000, 2))
        fit = covary.Regression(X, X[:, 0]).fit(max_iter=0, standard_errors="no")
        Z = np.tile(X, (5000, 1))  # minutes of work
        try:
            print("running", flush=True)
            fit.predict_y(Z)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        assert out == "interrupted\n" and child.returncode == 0
    finally:
        child.kill()


def test_import_needs_numpy_alone():
    out = run("""
        import sys
        import covary
        print([m for m in ("sklearn", "matplotlib", "pandas") if m in sys.modules])
    """)
    assert out == "[]"
