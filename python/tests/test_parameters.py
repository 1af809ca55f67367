import copy
import pickle

import numpy as np
import pytest

import covary as cv


@pytest.fixture
def model(data):
    return cv.Regression(*data, kernel="se(ard) + periodic", mean="linear")


def test_get_and_set_by_path_and_as_attributes(model):
    p = model.parameters
    p["kernel.0.lengthscales"] = [0.5, 2]
    np.testing.assert_array_equal(p["kernel.0.lengthscales"], [0.5, 2])
    np.testing.assert_array_equal(p.kernel[0].lengthscales, [0.5, 2])
    p["kernel.0.lengthscale"] = 1  # one number fills them, and the singular is understood
    np.testing.assert_array_equal(p["kernel.0.lengthscales"], [1, 1])
    p.kernel[1].period = 0.7
    assert p["kernel.1.period"] == 0.7
    assert dir(p.kernel[1]) == sorted(["variance", "lengthscales", "period"])
    assert dict(p.items())["kernel.1.period"] == 0.7
    assert "likelihood.variance" in p and "noise" not in p
    assert len(p) == len(list(p)) == len(p.keys())


def test_parameters_are_those_of_the_model(model):
    before = model.log_marginal_likelihood()
    model.parameters["likelihood.variance"] = 0.5
    assert model.log_marginal_likelihood() != before


def test_parameters_outlive_their_model(data):
    p = cv.Regression(*data).parameters
    assert p["kernel.variance"] > 0


def test_fix_tie_prior_and_bounds_hold_in_training(model):
    p = model.parameters
    p["kernel.0.variance"] = 0.8
    p.fix("kernel.0.variance")
    p.set_bounds("likelihood.variance", 0.2, 0.3)
    p.tie("kernel.1.variance", "kernel.0.variance", 0.25)
    p.set_prior("kernel.0.lengthscales", "gamma(2,1)")
    assert not p.is_trained("kernel.0.variance") and not p.is_trained("kernel.1.variance")
    fit = model.fit(restarts=1)
    q = fit.parameters
    assert q["kernel.0.variance"] == 0.8
    assert q["kernel.1.variance"] == pytest.approx(0.2)
    assert 0.2 < q["likelihood.variance"] < 0.3
    assert fit.log_prior != 0
    p.unfix("kernel.0")
    p.untie("kernel.1.variance")
    assert p.is_trained("kernel.0.variance") and p.is_trained("kernel.1.variance")


def test_tables(model):
    model.parameters.set_prior("likelihood.variance", "lognormal(0,1)")
    assert "likelihood.variance" in model.parameters.table()
    assert str(model.parameters) == repr(model.parameters) == model.parameters.table()
    html = model.parameters._repr_html_()
    assert html.startswith("<table>") and html.count("<tr>") == 1 + len(model.parameters)
    assert "lognormal(0,1)" in html


def test_copies_stand_alone(model):
    p = model.parameters
    p.tie("kernel.1.variance", "kernel.0.variance")
    p.set_bounds("likelihood.variance", 0.1, 0.9)
    for made in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert made.table() == p.table()
        made["likelihood.variance"] = 0.5
        assert p["likelihood.variance"] != 0.5


def test_mistakes(model):
    p = model.parameters
    with pytest.raises(cv.InputError, match="kernel.0.lengthscales"):
        p["kernel.0.lengthscals"]
    with pytest.raises(cv.InputError, match="2 entries, got 3"):
        p["kernel.0.lengthscales"] = [1, 2, 3]
    with pytest.raises(cv.InputError, match="positive, got -1"):
        p["likelihood.variance"] = -1
    with pytest.raises(cv.InputError, match="cannot be read"):
        p["likelihood.variance"] = "much"
    with pytest.raises(AttributeError, match="kernel.0.lengths"):
        p.kernel[0].lengths
    with pytest.raises(ValueError):
        p.set_prior("kernel", "beta(1,1)")
