import json
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from conftest import wave
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import covary as cv


def may_fail(estimator):
    """Of a sparse model the check of weights holds to 1e-5 only, where its inducing inputs are given (below)."""
    sparse = isinstance(estimator, cv.SparseGPClassifier)
    reason = "q settles to 1e-6, and the choice of inducing inputs depends on the order of the rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason} if sparse else {}


# Few iterations and inducing inputs: the checks fit hundreds of times, and the integrals of softmax are dear.
@parametrize_with_checks([
    cv.GPClassifier(max_iter=5, restarts=1),
    cv.GPClassifier("matern52", method="ep", mean="constant", multi_class="one_vs_rest", max_iter=3, restarts=1),
    cv.SparseGPClassifier(inducing=5, max_iter=1),
    cv.SparseGPClassifier("matern52", inducing=10, multi_class="one_vs_rest", selection="kmeans", max_iter=3),
    cv.GPLVMClassifier(latent=2, inducing=10, max_iter=20, restarts=1),
], expected_failed_checks=may_fail)
def test_scikit_learn_says_yes(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def bands(n=60, classes=("high", "low", "middle"), seed=0):
    """Classes by the height of a smooth function: the first above, the second below."""
    X, f = wave(n, seed=seed)
    if len(classes) == 2:
        return X, np.where(f > 0, classes[0], classes[1])
    return X, np.select([f < -0.5, f < 0.5], [classes[1], classes[2]], classes[0])


@pytest.fixture(params=["exact", "sparse"])
def estimator(request):
    """One of either kind, quick to fit."""
    if request.param == "exact":
        return cv.GPClassifier(max_iter=10, random_state=0)
    return cv.SparseGPClassifier(inducing=10, max_iter=10, random_state=0)


@pytest.mark.parametrize("classes", [("b", "a"), (True, False), (12, -3), (2.0, 1.0), ("high", "low", "middle"),
                                     (30, 7, 12)])
def test_labels_of_any_kind(estimator, classes):
    X, y = bands(classes=classes)
    gp = estimator.set_params(max_iter=10 if len(classes) == 2 else 2).fit(X, y)
    np.testing.assert_array_equal(gp.classes_, np.unique(y))
    p = gp.predict_proba(X)
    assert p.shape == (60, len(classes))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    assert gp.predict(X).dtype == y.dtype and gp.score(X, y) > 0.75
    assert gp.fit_.likelihood == ("softmax(3)" if len(classes) == 3 else "bernoulli(logit)")
    assert gp.fit_.classes == [f"{label:g}" if isinstance(label, float) else str(label) for label in sorted(classes)]


@pytest.mark.parametrize("make", [lambda **o: cv.GPClassifier(random_state=0, **o),
                                  lambda **o: cv.GPClassifier(random_state=0, method="ep", **o),
                                  lambda **o: cv.SparseGPClassifier(random_state=0, inducing=15, **o)])
def test_one_against_the_rest(make):
    X, y = bands()
    gp = make(multi_class="one_vs_rest", max_iter=15).fit(X, y)
    assert gp.fit_.likelihood == "one_vs_rest(3, logit)" and gp.fit_.classes == ["high", "low", "middle"]
    assert gp.score(*bands(100, seed=4)) > 0.75
    start = gp.set_params(max_iter=0).fit(X, y).predict_proba(X)
    each = np.column_stack([make(max_iter=0).fit(X, y == label).predict_proba(X)[:, 1] for label in gp.classes_])
    np.testing.assert_allclose(start, each / each.sum(axis=1, keepdims=True), rtol=1e-5)
    assert gp.fit(*bands(classes=("b", "a"))).fit_.likelihood == "bernoulli(logit)"
    assert gp.set_params(likelihood="bernoulli(probit)").fit(X, y).fit_.likelihood == "one_vs_rest(3, probit)"
    with pytest.raises(ValueError, match="does not take softmax"):
        gp.set_params(likelihood="softmax").fit(X, y)


@pytest.mark.parametrize("options", [{}, {"method": "vgp"}, {"pca": 1}, {"multi_class": "one_vs_rest"}])
def test_a_weight_of_two_is_a_row_given_twice(options):
    X, y = bands(40)
    weight = np.arange(40) % 3
    gp = cv.GPClassifier("se", max_iter=5, random_state=0, **options)
    weighted = clone(gp).fit(X, y, sample_weight=weight)
    repeated = clone(gp).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)
    value = repeated.objective_value_
    assert weighted.objective_value_ == pytest.approx(value, rel=1e-9)
    half = clone(gp).fit(X, y, sample_weight=0.5 * np.ones(40))
    assert half.objective_value_ > gp.fit(X, y).objective_value_


@pytest.mark.parametrize("multi_class", ["joint", "one_vs_rest"])
def test_a_weight_of_two_is_a_row_given_twice_to_a_sparse_model(multi_class):
    X, y = bands(40)
    weight = np.arange(40) % 3
    gp = cv.SparseGPClassifier("se", inducing=X[:8], multi_class=multi_class, max_iter=2, random_state=0)
    weighted = clone(gp).fit(X, y, sample_weight=weight)
    repeated = clone(gp).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-5)


def test_weights_that_cannot_be(estimator):
    X, y = bands(classes=("up", "down"))
    with pytest.raises(ValueError, match="negative"):
        estimator.fit(X, y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="zero"):
        estimator.fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="one class only, 'up'"):
        estimator.fit(X, y, sample_weight=(y == "up").astype(float))
    with pytest.raises(cv.Unsupported, match="weight 0.5 is not whole"):
        cv.GPClassifier(method="ep").fit(X, y, sample_weight=np.full(60, 0.5))


def test_held_out_scores():
    X, y = bands(100, classes=("up", "down"))
    for gp in (cv.GPClassifier(random_state=0), cv.GPClassifier(method="ep", max_iter=10, random_state=0),
               cv.GPClassifier("se(ard)", "bernoulli(probit)", "vgp", max_iter=10, random_state=0),
               cv.SparseGPClassifier(inducing=20, max_iter=20, random_state=0)):
        assert gp.fit(X, y).score(*bands(200, classes=("up", "down"), seed=4)) > 0.9
    X, y = X[:50], y[:50]
    full = cv.GPClassifier(method="vgp", random_state=0).fit(X, y)
    sparse = cv.SparseGPClassifier(inducing=40, random_state=0).fit(X, y)
    assert sparse.objective_value_ == sparse.fit_.value
    assert full.objective_value_ == full.fit_.value == pytest.approx(sparse.objective_value_, abs=0.5)


def test_principal_components_are_those_of_scikit_learn(estimator, tmp_path):
    X, y = bands(classes=("up", "down"))
    X = np.column_stack([X, X @ [[1.0], [2.0]], 50 * X[:, :1] ** 2])
    inside = clone(estimator).set_params(pca=2).fit(X, y)
    outside = make_pipeline(StandardScaler(), PCA(2), clone(estimator).set_params(scale="none")).fit(X, y)
    np.testing.assert_allclose(inside.predict_proba(X), outside.predict_proba(X), rtol=1e-6, atol=1e-8)
    mean, components, share = inside.fit_.pca
    np.testing.assert_allclose(share, outside[1].explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(components.T), np.abs(outside[1].components_), atol=1e-9)
    np.testing.assert_allclose(mean, 0, atol=1e-9)
    assert inside.n_features_in_ == len(inside.fit_.input_names) == 4 and estimator.fit(X, y).fit_.pca is None
    inside.fit_.save(tmp_path / "m.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "m.cov").predict_proba(X), inside.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(inside)).predict_proba(X), inside.predict_proba(X))
    with pytest.raises(ValueError, match="5 components were asked for"):
        clone(inside).set_params(pca=5).fit(X, y)


def test_a_latent_space_is_that_of_the_gplvm(estimator, tmp_path):
    t = np.linspace(-1.5, 1.5, 40)
    X = np.column_stack([t, np.sin(2 * t), t**2]) + 0.01 * np.random.default_rng(0).standard_normal((40, 3))
    y = np.where(np.abs(t) < 0.8, "in", "out")
    inside = clone(estimator).set_params(gplvm=2).fit(X, y)
    assert inside.score(X, y) > 0.85 and inside.n_features_in_ == 3
    gplvm = inside.fit_.gplvm
    assert gplvm.mean.shape == (40, 2) and clone(estimator).fit(X, y).fit_.gplvm is None
    seen = clone(estimator).set_params(scale="none").fit(gplvm.scaled_mean[:, gplvm.active], y)
    assert seen.fit_.value == inside.fit_.value
    inside.fit_.save(tmp_path / "m.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "m.cov").predict_proba(X), inside.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(inside)).predict_proba(X), inside.predict_proba(X))
    pipeline = make_pipeline(StandardScaler(), cv.BayesianGPLVM(2, random_state=0, max_iter=100), clone(estimator))
    assert pipeline.fit(X, y).score(X, y) > 0.85
    with pytest.raises(ValueError, match="there are 3 input columns"):
        clone(inside).set_params(gplvm=4).fit(X, y)


def test_classes_by_their_densities(tmp_path):
    t = np.linspace(-1, 1, 30)
    X = np.vstack([np.column_stack([t, t, np.sin(3 * t)]), np.column_stack([t, -t, np.cos(3 * t)])])
    X += 0.03 * np.random.default_rng(0).standard_normal(X.shape)
    y = np.repeat([5.0, 2.0], 30)
    model = cv.GPLVMClassifier(latent=2, inducing=8, max_iter=50, random_state=0).fit(X, y)
    assert model.classes_.tolist() == [2, 5] and model.fit_.classes == ["2", "5"] and model.score(X, y) > 0.9
    joint = model.predict_joint_log_proba(X)
    density = model.fit_.densities[1].log_density(X)
    np.testing.assert_allclose(joint[:, 1], density + np.log(0.5), rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    model.fit_.save(tmp_path / "m.cov")
    np.testing.assert_array_equal(cv.load(tmp_path / "m.cov").predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="'shares' or 'uniform'"):
        clone(model).set_params(prior="even").fit(X, y)


def test_the_gplvm_of_a_model_is_trained_once():
    t = np.linspace(-1.5, 1.5, 30)
    X = np.column_stack([t, np.sin(2 * t), t**2]) + 0.01 * np.random.default_rng(0).standard_normal((30, 3))
    y = np.where(np.arange(30) % 3, np.nan, np.abs(t) < 0.8)
    for model in (cv.Generalised(X, y, gplvm=1), cv.Svgp(X, y, gplvm=1, inducing=5)):
        fit = model.fit(seed=7, max_iter=5)
        assert len(fit.gplvm.mean) == 30 and fit.rows == 10
        again = pickle.loads(pickle.dumps(model))
        assert again.fit(seed=7, max_iter=0).value == pytest.approx(model.fit(seed=7, max_iter=0).value, rel=1e-12)


def test_scikit_learn_tools(estimator):
    X, y = bands(classes=("up", "down"))
    assert make_pipeline(StandardScaler(), clone(estimator)).fit(X, y).score(X, y) > 0.85
    assert np.mean(cross_val_score(estimator, X, y, cv=3, scoring="neg_log_loss")) > np.log(0.5)
    search = GridSearchCV(estimator, {"kernel": ["constant", "se(ard)"]}, cv=3)
    assert search.fit(X, y).best_params_ == {"kernel": "se(ard)"}


def test_pickle_and_joblib(estimator):
    X, y = bands(classes=("up", "down"))
    gp = estimator.fit(X, y)
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.predict_proba(X), gp.predict_proba(X))
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(gp.predict)(x) for x in np.split(X, 3))
    np.testing.assert_array_equal(np.concatenate(parts), gp.predict(X))


def test_pandas_names_are_kept(estimator):
    X, y = bands(classes=("up", "down"))
    frame = pd.DataFrame(X, columns=["a", "b"])
    gp = estimator.fit(frame, pd.Series(y, name="way"))
    assert list(gp.feature_names_in_) == gp.fit_.input_names == ["a", "b"] and gp.fit_.output_name == "way"
    with pytest.raises(ValueError, match="feature names"):
        gp.predict(frame[["b", "a"]])


def test_random_state():
    X, y = bands(classes=("up", "down"))
    one, two = (cv.SparseGPClassifier(inducing=5, selection="random", max_iter=3,
                                      random_state=np.random.RandomState(1)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    other = clone(one).set_params(random_state=7).fit(X, y)
    assert not np.array_equal(other.fit_.Z, one.fit_.Z)


def test_minibatches():
    X, y = bands(300, classes=("up", "down"))
    gp = cv.SparseGPClassifier(inducing=20, batch=100, epochs=50, random_state=0).fit(X, y)
    assert gp.n_iter_ == 150 and gp.score(X, y) > 0.9
    few = clone(gp).set_params(max_iter=3).fit(X[:60], y[:60])  # fewer rows than a batch: all of them
    assert few.n_iter_ <= 3


def test_the_command_line_reads_a_classifier(tmp_path, command_line, estimator):
    X, y = bands(40)
    estimator.set_params(max_iter=2)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "way": y}).to_csv(tmp_path / "t.csv", index=False)
    text = pd.read_csv(tmp_path / "t.csv", dtype=str)
    frame = pd.DataFrame({name: text[name].map(float) for name in "ab"})
    gp = estimator.fit(frame, text["way"])
    gp.fit_.save(tmp_path / "m.cov")
    shell = json.loads(command_line("predict", tmp_path / "m.cov", tmp_path / "t.csv", "--json"))
    np.testing.assert_array_equal(np.column_stack([shell[f"p_{c}"] for c in gp.classes_]), gp.predict_proba(frame))
    assert shell["class"] == gp.predict(frame).tolist()
    assert cv.load(tmp_path / "m.cov").classes == list(gp.classes_)


def test_wrong_arguments_are_told_by_fit(estimator):
    X, y = bands()
    with pytest.raises(ValueError, match="one class only"):
        estimator.fit(X, np.full(60, "a"))
    holes = (y == "high").astype(float)
    holes[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, holes)
    with pytest.raises(ValueError, match="Unknown label type"):
        estimator.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="unknown multi_class 'each'"):
        clone(estimator).set_params(multi_class="each").fit(X, y)
    with pytest.raises(ValueError, match="3 classes and bernoulli takes two"):
        clone(estimator).set_params(likelihood="bernoulli").fit(X, y)
    with pytest.raises(NotFittedError):
        clone(estimator).predict(X)
    with pytest.raises(ValueError, match="'ep' does not take softmax"):
        cv.GPClassifier(method="ep").fit(X, y)
    with pytest.raises(ValueError, match="inducing must be at least 1"):
        cv.SparseGPClassifier(inducing=0).fit(X, y)


def test_features_of_the_sparse_classifier():
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = np.where(np.sin(2 * X[:, 0]) > 0, "up", "down")
    model = cv.Svgp(X, y, likelihood="bernoulli", kernel="se", inducing=12, features="eigen")
    assert "eigen" in repr(model) and "features.sd" in model.parameters
    fit = model.fit(max_iter=20)
    assert pickle.loads(pickle.dumps(model)).elbo() == pytest.approx(model.elbo(), rel=1e-12)
    with pytest.raises(ValueError, match="no inducing inputs"):
        fit.Z
    estimator = cv.SparseGPClassifier("se", inducing=12, inducing_features="eigen", max_iter=20, random_state=0)
    assert estimator.fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="sor"):
        cv.Svgp(X, y, kernel="se", inducing=12, features="hilbert")
