"""What becomes of a split once it is found: polishing never loses, a cost prefers axes, and both engines agree."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, assert_same_tree, grow, real_set
from node_support import DEGENERATE, node_of
from oracles import gains

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.tree.splitting import PROPOSERS, Finish, best_split, impurity
from oblique_cli.tree.stopping import Stopping


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_polishing_never_loses_and_its_gain_is_that_of_its_sides(criterion):
    better = 0
    for data in map(real_set, REAL_SETS):
        for weights in (None, np.random.default_rng(1).integers(1, 4, data.n).astype(float)):
            node = node_of(data.X, data.y, weights, criterion=criterion)
            for name in ("hhgdt", "gdt", "axis_parallel"):
                plain, polished = (
                    best_split(node, PROPOSERS[name](), finish=f) for f in (Finish(), Finish(polish=True))
                )
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
    whole, top = (
        grow("hhgdt", data.X, data.y, finish=Finish(polish=True), seed=3, stopping=Stopping(max_depth=depth))
        for depth in (None, 2)
    )
    chosen = [whole.coef_[0], whole.coef_[whole.left[0]], whole.coef_[whole.right[0]]]
    for a, b in zip(chosen, [top.coef_[0], top.coef_[top.left[0]], top.coef_[top.right[0]]], strict=True):
        np.testing.assert_array_equal(a, b)
    order = np.random.default_rng(0).permutation(data.n)
    again = grow("hhgdt", data.X[order], data.y[order], finish=Finish(polish=True), seed=3)
    assert_same_tree(again, whole)


def test_a_node_of_few_rows_a_feature_is_not_polished():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 6)), np.arange(12) % 2
    plain, polished = (
        best_split(node_of(X, y), PROPOSERS["hhgdt"](), finish=f) for f in (Finish(), Finish(polish=True))
    )
    np.testing.assert_array_equal(plain.coef, polished.coef)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_cost_is_weighed_against_the_best_axis_as_it_is_written(criterion):
    kept = replaced = 0
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y, criterion=criterion)
        oblique, axis = (best_split(node, PROPOSERS[name]()) for name in ("fdt", "axis_parallel"))
        if oblique is None or axis is None:
            continue
        more = np.count_nonzero(oblique.coef) - 1
        for cost in (0.01, 0.1, 0.5, 5.0):
            found = best_split(node, PROPOSERS["fdt"](), finish=Finish(split_cost=cost))
            needed = cost * more / data.p * impurity(node.class_weights, criterion)
            expected = oblique if oblique.gain - axis.gain > needed else axis
            np.testing.assert_array_equal(found.coef, expected.coef)
            assert found.gain == expected.gain
            kept, replaced = kept + (expected is oblique), replaced + (expected is axis)
    assert kept and replaced


def test_without_a_useful_axis_the_hyperplane_stays():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])  # no axis gains anything
    node = node_of(X, [0, 0, 1, 1])
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
