"""`probabilities` of classifiers: labels stay, shares follow the rule, the strength comes from rows not grown on."""

import numpy as np
import pytest
from contracts import real_set
from covering import few

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.oblique.top_down import INNER_FOLDS, ObliqueTreeClassifier
from oblique_cli.tree.probabilities import RULES, STRENGTHS, with_probabilities

SMOOTHING = [name for name in RULES if name != "counts"]
BUPA = real_set("bupa")


@few(
    rule=SMOOTHING,
    smoothing=[3.0, "cv"],
    options=[{}, {"pruning": "cv"}, {"pruning": "cost_complexity"}, {"proposer": "oc1"}],
)
def test_the_tree_and_its_labels_are_those_of_counts(rule, smoothing, options):
    options = {"proposer": "hhgdt", "max_depth": 4, "random_state": 2, **options}
    plain = ObliqueTreeClassifier(**options).fit(BUPA.X, BUPA.y)
    smooth = ObliqueTreeClassifier(**options, probabilities=rule, probability_strength=smoothing).fit(BUPA.X, BUPA.y)
    tree = smooth.tree_.to_dict()
    del tree["probabilities"]
    assert tree == plain.tree_.to_dict()
    np.testing.assert_array_equal(smooth.predict(BUPA.X), plain.predict(BUPA.X))
    assert smooth.probability_strength_ == smoothing or smooth.probability_strength_ in STRENGTHS
    expected = with_probabilities(plain.tree_, rule, smooth.probability_strength_).shares
    np.testing.assert_array_equal(smooth.predict_proba(BUPA.X), expected[smooth.apply(BUPA.X)])
    assert not hasattr(plain, "probability_strength_")


def test_a_strength_is_chosen_on_rows_that_the_trees_have_not_seen():
    seen = []

    class Spy(ObliqueTreeClassifier):
        def _pruned(self, growing, kept, proposer, draws):
            seen.append({tuple(row) for row in growing.X})
            return super()._pruned(growing, kept, proposer, draws)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Spy("hhgdt", probabilities="m_estimate", probability_strength="cv", random_state=0).fit(X, rng.integers(0, 2, 100))
    everything, *parts = seen
    assert len(parts) == INNER_FOLDS and [len(part) for part in parts] == [80] * 5
    left_out = [everything - part for part in parts]
    assert set.union(*left_out) == everything and sum(map(len, left_out)) == 100


@pytest.mark.parametrize("rule", SMOOTHING)
def test_noise_takes_strong_shrinkage_and_clear_classes_take_little(rule):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))

    def strength(y):
        model = make("axis_parallel", probabilities=rule, probability_strength="cv", random_state=0)
        return model.fit(X, y).probability_strength_

    assert strength(rng.integers(0, 2, 300)) >= 10.0
    assert strength((X[:, 0] > 0).astype(int)) <= 3.0


def test_the_unit_is_the_lightest_row():
    weights = np.random.default_rng(0).integers(1, 4, len(BUPA.y)).astype(float)
    options = {"probabilities": "shrinkage", "probability_strength": 5.0, "max_depth": 4}
    once = make("hhgdt", **options).fit(BUPA.X, BUPA.y, weights)
    scaled = make("hhgdt", **options).fit(BUPA.X, BUPA.y, weights / 1024)
    repeated = np.repeat(np.arange(len(weights)), weights.astype(int))
    drawn = make("hhgdt", **options).fit(BUPA.X[repeated], BUPA.y[repeated])
    np.testing.assert_allclose(scaled.predict_proba(BUPA.X), once.predict_proba(BUPA.X), rtol=1e-12)
    np.testing.assert_allclose(drawn.predict_proba(BUPA.X), once.predict_proba(BUPA.X), rtol=1e-9)


@pytest.mark.parametrize("strength", [4.0, "cv"])
def test_refined_trees_have_them_too(strength):
    X, y = BUPA.X[::2], BUPA.y[::2]
    options = {"probabilities": "shrinkage", "probability_strength": strength, "random_state": 0}
    for made, plain in (
        (make("tao", n_penalties=3, folds=2, **options), make("tao", n_penalties=3, folds=2, random_state=0)),
        (make("hhgdt", refine="tao", max_depth=2, **options), make("hhgdt", refine="tao", max_depth=2, random_state=0)),
    ):
        smooth, refined = made.fit(X, y).tree_, plain.fit(X, y).tree_
        expected = with_probabilities(refined, "shrinkage", made.probability_strength_)
        assert smooth.to_dict() == expected.to_dict()


@pytest.mark.parametrize("name", ["hhbut", "butif_svm"])
def test_bottom_up_trees_have_them_with_a_number(name):
    data = real_set("iris")
    plain = make(name, random_state=0).fit(data.X, data.y)
    for rule in SMOOTHING:
        smooth = make(name, random_state=0, probabilities=rule, probability_strength=3.0).fit(data.X, data.y)
        expected = with_probabilities(plain.tree_, rule, 3.0).shares
        np.testing.assert_array_equal(smooth.predict_proba(data.X), expected[plain.apply(data.X)])
        np.testing.assert_array_equal(smooth.predict(data.X), plain.predict(data.X))
    with pytest.raises(
        ConfigError, match=rf"probability_strength of {name} must be a number in \[0, inf\)\. Got 'cv'\."
    ):
        make(name, probability_strength="cv")
