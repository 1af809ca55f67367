import os
import pathlib
import signal
import subprocess

# A shell's background job ignores Ctrl-C, and so would the programs that test it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before SciPy is imported: it runs scikit-learn's check of foreign arrays too.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]


def wave(n=40, dims=2, seed=0):
    """Noisy values of a smooth function of the first two of `dims` inputs."""
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (n, dims))
    f = np.sin(2 * X[:, 0]) + (0.5 * X[:, 1] if dims > 1 else 0)
    return X, f + 0.1 * random.standard_normal(n)


@pytest.fixture
def data():
    return wave()


@pytest.fixture(scope="session")
def fitted():
    import covary

    return covary.Regression(*wave(), kernel="se(ard) + linear", output_names=["y"]).fit(seed=1)


@pytest.fixture(scope="session")
def command_line():
    path = os.environ.get("COVARY", ROOT / "build/release/bin/covary")
    if not os.access(path, os.X_OK):
        pytest.skip("no command line: make build makes it, or COVARY names it")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
