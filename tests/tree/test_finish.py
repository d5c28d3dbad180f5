"""What becomes of a split once it is found: polishing never loses, a cost prefers axes, no split has too many terms."""

import numpy as np
import pandas as pd
import pytest
from contracts import CRITERION_NAMES, NATIVE_NAMES, PROPOSER_NAMES, REAL_SETS, assert_same_tree, grow, real_set
from hypothesis import given, settings
from hypothesis import strategies as st
from node_support import DEGENERATE, node_of
from oracles import gains

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.tree.splitting import PROPOSERS, Finish, best_split, impurity, widest_terms
from oblique_cli.tree.stopping import Stopping

SLOW = {"sadt", "oc1", "oc1_ap", "oc1_lc"}
NO_AXIS_GAINS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])  # of classes 0 0 1 1

# Polishing, and the cost of terms


def plain_and_polished(node, name):
    return [best_split(node, PROPOSERS[name](), finish=finish) for finish in (Finish(), Finish(polish=True))]


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_polishing_never_loses_and_its_gain_is_that_of_its_sides(criterion):
    better = 0
    for data in map(real_set, REAL_SETS):
        for weights in (None, np.random.default_rng(1).integers(1, 4, data.n).astype(float)):
            node = node_of(data.X, data.y, weights, criterion=criterion)
            for name in ("hhgdt", "gdt", "axis_parallel"):
                plain, polished = plain_and_polished(node, name)
                if plain is None:
                    assert polished is None
                    continue
                assert polished.gain >= plain.gain
                better += polished.gain > plain.gain
                left = data.X @ polished.coef <= polished.threshold
                sides = np.bincount(data.y[left], None if weights is None else weights[left], len(data.classes))
                expected = gains(sides.astype(float)[None], node.class_weights, criterion)[0]
                assert polished.gain == pytest.approx(expected, rel=1e-9)
                assert np.linalg.norm(polished.coef) == pytest.approx(1.0, abs=1e-12)
    assert better > 5 or "minority" in criterion


def test_polishing_draws_from_the_node_alone():
    data = real_set("glass")
    polished = {"finish": Finish(polish=True), "seed": 3}
    whole = grow("hhgdt", data.X, data.y, **polished)
    top = grow("hhgdt", data.X, data.y, stopping=Stopping(max_depth=2), **polished)
    upper = [tree.coef_[[0, tree.left[0], tree.right[0]]] for tree in (whole, top)]
    np.testing.assert_array_equal(*upper)
    order = np.random.default_rng(0).permutation(data.n)
    assert_same_tree(grow("hhgdt", data.X[order], data.y[order], **polished), whole)


def test_a_node_of_few_rows_a_feature_is_not_polished():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 6)), np.arange(12) % 2
    plain, polished = plain_and_polished(node_of(X, y), "hhgdt")
    np.testing.assert_array_equal(plain.coef, polished.coef)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_cost_is_weighed_against_the_best_axis_as_it_is_written(criterion):
    retained = replaced = 0
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y, criterion=criterion)
        oblique, axis = (best_split(node, PROPOSERS[name]()) for name in ("fdt", "axis_parallel"))
        if oblique is None or axis is None:
            continue
        more = np.count_nonzero(oblique.coef) - 1
        for cost in (0.01, 0.1, 0.5, 5.0):
            split = best_split(node, PROPOSERS["fdt"](), finish=Finish(split_cost=cost))
            needed = cost * more / data.p * impurity(node.class_weights, criterion)
            expected = oblique if oblique.gain - axis.gain > needed else axis
            np.testing.assert_array_equal(split.coef, expected.coef)
            assert split.gain == expected.gain
            retained, replaced = retained + (expected is oblique), replaced + (expected is axis)
    assert retained and replaced


def test_without_a_useful_axis_the_hyperplane_stays():
    node = node_of(NO_AXIS_GAINS, [0, 0, 1, 1])
    assert best_split(node, PROPOSERS["axis_parallel"]()) is None
    split = best_split(node, PROPOSERS["hhcart_a"](), finish=Finish(split_cost=100.0))
    assert np.count_nonzero(split.coef) == 2


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_impurity_is_the_gain_of_a_cut_into_pure_sides(criterion):
    for counts in ([3.0, 5.0], [1.0, 9.0], [2.5, 2.5]):
        pure = gains(np.array([[counts[0], 0.0]]), np.array(counts), criterion)[0]
        assert impurity(np.array(counts), criterion) == pytest.approx(pure)
    assert impurity(np.array([4.0, 0.0]), criterion) == 0.0


@pytest.mark.parametrize("label", DEGENERATE)
def test_degenerate_nodes_are_finished_too(label):
    X, y = DEGENERATE[label]
    for finish in (Finish(polish=True), Finish(split_cost=0.05), Finish(max_terms=1), Finish(True, 0.1, 2)):
        for name in ("fdt", "hhcart_a", "hhgdt"):
            split = best_split(node_of(X, y), PROPOSERS[name](), finish=finish)
            assert split is None or (np.isfinite(split.coef).all() and np.isfinite(split.threshold))
            for normal in grow(name, X, y, finish=finish).coef_:
                assert np.count_nonzero(normal) <= (finish.max_terms or X.shape[1])


def test_polishing_refuses_qualitative_columns_by_name():
    X = np.array([["a", 0.0], ["b", 1.0], ["a", 2.0], ["b", 5.0]], dtype=object)
    model = oblique_cli.FDTClassifier(polish=True, qualitative=[0])
    with pytest.raises(ConfigError, match=r"^polish of FDTClassifier takes quantitative features only\. Column 0 is"):
        model.fit(X, [0, 1, 0, 1])


# At most so many terms


def most_terms(tree) -> int:
    """The most non-zero coefficients of a split."""
    return int(np.count_nonzero(tree.coef_, axis=1).max())


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_no_split_of_any_heuristic_has_more_terms(name):
    data = real_set("glass")
    depth = 1 if name in SLOW else None
    for most in (1, 2, 4):
        tree = grow(name, data.X, data.y, finish=Finish(max_terms=most), seed=1, stopping=Stopping(max_depth=depth))
        assert tree.n_leaves > 1 and most_terms(tree) <= most
        assert tree.n_terms <= tree.n_leaves + most * (tree.n_leaves - 1)


@pytest.mark.parametrize("name", [name for name in NATIVE_NAMES if name not in SLOW])
def test_a_limit_of_all_features_changes_no_bit(name):
    data = real_set("wine")
    tree = grow(name, data.X, data.y, seed=1)
    assert_same_tree(grow(name, data.X, data.y, finish=Finish(max_terms=data.p), seed=1), tree)
    assert_same_tree(grow(name, data.X, data.y, finish=Finish(max_terms=None), seed=1), tree)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_one_term_is_the_best_axis_and_more_are_no_worse(criterion):
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y, criterion=criterion)
        axis = best_split(node, PROPOSERS["axis_parallel"]())
        whole = best_split(node, PROPOSERS["hhcart_a"]())
        if axis is None or whole is None or np.count_nonzero(whole.coef) < 2:
            continue
        first = best_split(node, PROPOSERS["hhcart_a"](), finish=Finish(max_terms=1))
        np.testing.assert_array_equal(first.coef, axis.coef)
        assert (first.threshold, first.gain) == (axis.threshold, axis.gain)
        for most in (2, 3):
            some = best_split(node, PROPOSERS["hhcart_a"](), finish=Finish(max_terms=most))
            assert some.gain >= axis.gain


def test_two_terms_that_matter_are_found_among_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = (X[:, 3] - 0.8 * X[:, 7] > 0.1).astype(int)
    for name in ("fdt", "hhgdt", "hhcart_a", "logistic_split"):
        tree = grow(name, X, y, finish=Finish(max_terms=2), stopping=Stopping(max_depth=1))
        assert set(np.flatnonzero(tree.coef_[0])) == {3, 7}
        assert (tree.labels[tree.apply(X)] == y).mean() > 0.9


@given(seed=st.integers(0, 10_000), count=st.integers(1, 6), weighted=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_widest_terms_are_those_of_a_sort(seed, count, weighted):
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(30, 6)) * 10.0 ** rng.integers(-3, 4, 6), rng.normal(size=6)
    weights = rng.uniform(1, 3, 30) if weighted else None
    spread = np.sqrt(np.cov(X.T, aweights=weights, ddof=0).diagonal())
    result = widest_terms(node_of(X, np.arange(30) % 2, weights), coef, count)
    assert result.tolist() == sorted(np.argsort(-np.abs(coef) * spread)[:count].tolist())


def test_of_equal_terms_the_first_stay():
    X = np.repeat(np.random.default_rng(2).normal(size=(20, 1)), 5, axis=1)
    node = node_of(X, np.arange(20) % 2)
    assert widest_terms(node, np.array([1.0, -1.0, 1.0, 0.0, 2.0]), 2).tolist() == [0, 4]
    assert widest_terms(node, np.ones(5), 3).tolist() == [0, 1, 2]


def test_without_a_split_of_few_terms_the_node_is_a_leaf():
    for engine in ("auto", "reference"):
        for finish, splits in ((Finish(), True), (Finish(max_terms=1), False)):
            tree = grow("hhcart_a", NO_AXIS_GAINS, np.array([0, 0, 1, 1]), engine=engine, finish=finish)
            assert (tree.n_leaves > 1) == splits


@pytest.mark.parametrize(
    "parameters",
    [
        {"pruning": "cv", "pruning_folds": 3},
        {"pruning": "reduced_error"},
        {"polish": True},
        {"refine": "tao"},
        {"max_leaf_nodes": 5, "probabilities": "laplace"},
    ],
    ids=repr,
)
def test_the_fitted_tree_keeps_the_limit(parameters):
    for name in ("glass", "statlog_heart"):
        data = real_set(name)
        params = {"proposer": "fdt", "max_terms": 2, "random_state": 0, **parameters}
        model = oblique_cli.ObliqueTreeClassifier(**params).fit(data.X, data.y)
        assert (model.n_leaves_ > 1 and 1 < most_terms(model.tree_) <= 2) or "refine" in parameters
        assert most_terms(model.tree_) <= 2


@pytest.mark.parametrize("refine", ["none", "tao"])
def test_levels_of_a_column_are_one_term_and_missing_values_none(refine):
    rng = np.random.default_rng(1)
    n = 240
    frame = pd.DataFrame({name: rng.normal(size=n) for name in "abc"})
    frame["level"] = rng.choice(list("uvwxyz"), n)
    frame["other"] = rng.choice(list("pqrs"), n)
    effect = frame["level"].map(dict(zip("uvwxyz", (-2, 1, 0, 2, -1, 1), strict=True)))
    y = (frame["a"] + effect + 0.5 * (frame["other"] == "p") > 0).astype(int)
    model = oblique_cli.FDTClassifier(max_terms=2, refine=refine, max_depth=4, random_state=0).fit(frame, y)
    tree = model.tree_
    assert most_terms(tree) == 2
    if refine == "none":
        assert set(np.flatnonzero(tree.coef_[0])) == {0, 3}
    assert np.count_nonzero(tree.coef_) == tree.n_terms - tree.n_leaves
    assert model.score(frame, y) > 0.85
    holes = frame.mask(rng.uniform(size=frame.shape) < 0.05)
    holes[["level", "other"]] = frame[["level", "other"]]
    learned = oblique_cli.FDTClassifier(max_terms=2, refine=refine, missing="learn", max_depth=3, random_state=0)
    assert most_terms(learned.fit(holes, y).tree_) <= 2
