import copy
import pickle

import pytest

import covary as cv


def test_algebra_reads_like_the_expression():
    k = cv.Kernel("se(ard)") + cv.Kernel("periodic") * cv.Kernel("linear")
    assert str(k) == "se(ard) + periodic * linear"
    assert k == cv.Kernel("se(ard) + periodic * linear")
    assert k != cv.Kernel("se(ard)")
    assert hash(k) == hash(cv.Kernel(str(k)))
    assert (k == "no kernel") is False


def test_numbers_and_expressions_on_either_side():
    assert str(2 * cv.Kernel("se")) == str(cv.Kernel("se") * 2) == "2 * se"
    assert str("white" + cv.Kernel("se")) == "white + se"
    assert str("linear" * cv.Kernel("se")) == "linear * se"
    assert str(0.5 * (cv.Kernel("se") + "white")) == "0.5 * (se + white)"


def test_columns():
    assert cv.Kernel("se") @ 1 == cv.Kernel("se@1")
    assert cv.Kernel("se") @ [0, 2] == cv.Kernel("se@0,2")


@pytest.mark.parametrize("kernel", [cv.Kernel("0.5 * se(ard)@0:2 + rq"), cv.Mean("poly(3)")])
def test_copies(kernel):
    for made in (copy.copy(kernel), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert made == kernel


def test_parameters_of_a_kernel():
    p = cv.Kernel("se(ard) + white").parameters(3)
    assert p.keys() == ["kernel.0.variance", "kernel.0.lengthscales", "kernel.1.variance"]
    assert p["kernel.0.lengthscales"].shape == (3,)


def test_mistakes_point_at_the_column():
    with pytest.raises(cv.ExpressionError, match="column 6.*'whit'.*white") as caught:
        cv.Kernel("se + whit")
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, cv.CovaryError)
    with pytest.raises(cv.InputError, match="positive number, got -1"):
        -1 * cv.Kernel("se")
    with pytest.raises(cv.ExpressionError):
        cv.Mean("cubic")
    with pytest.raises(TypeError):
        cv.Kernel("se") + 1
