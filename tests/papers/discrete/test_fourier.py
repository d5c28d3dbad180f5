"""Fourier spectra of discrete trees: exact both ways, equal by every route, sparse, and refused where too large."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from covering import few
from fourier_oracles import evaluated, points_of, psi
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.papers.discrete import spectrum as fourier
from oblique_cli.papers.discrete.c45 import C45, Rows
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, DiscreteTreeBuilder, describe
from oblique_cli.papers.discrete.domain import Domain
from oblique_cli.papers.discrete.extraction import bytes_a_term, count_terms, node_means, spectrum_of
from oblique_cli.papers.discrete.spectrum import CoefficientMatrix, Spectrum, TooLarge
from oblique_cli.papers.discrete.tcfs import ClassShares, tree_from_spectrum

EVERYTHING = C45(pruning="none", min_samples_leaf=1)


def random_tree(seed, cardinalities=None, classes=2, rows=60):
    """A tree fitted to noise over a random domain, and its indicators: one output for two classes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, size=rng.integers(1, 6)) if cardinalities is None else cardinalities
    domain = Domain(sizes)
    X = np.stack([rng.integers(0, size, size=rows) for size in domain.cardinalities], axis=1)
    tree = EVERYTHING.grow(Rows.of(X, rng.integers(0, classes, size=rows), classes, domain))
    return tree, indicators(tree, classes)


def indicators(tree, classes=2):
    return (tree.labels == 1)[:, None].astype(float) if classes == 2 else np.eye(classes)[tree.labels]


def complete(depth, features, seed=0):
    """A complete binary tree of random features and labels."""
    rng = np.random.default_rng(seed)
    builder = DiscreteTreeBuilder(Domain([2] * features))
    stack = [(builder.add([0.0], 0), [])]
    while stack:
        node, path = stack.pop()
        if len(path) == depth:
            builder._labels[node] = int(rng.integers(2))
            continue
        feature = int(rng.choice(np.setdiff1d(np.arange(features), path)))
        children = [builder.add([0.0], 0), builder.add([0.0], 0)]
        builder.split(node, feature, children)
        stack += [(child, [*path, feature]) for child in children]
    return builder.finish()


def figure_2():
    """The Boolean tree of figures 1 and 2 of the paper: x1 = 0 is class 1; then x2, x3 with the averages printed.

    Features count from 0 here as in its partitions: 010 holds the middle one. Root average 5/8, F(x1 = 0) = 1,
    F(x1 = 1) = 1/4, F(x2 = 1) = 1 below it in one of two branches.
    """
    builder = DiscreteTreeBuilder(Domain([2, 2, 2]))
    root, zero, unit = (builder.add([0.0], label) for label in (0, 1, 0))
    builder.split(root, 1, [zero, unit])
    low, high = builder.add([0.0], 0), builder.add([0.0], 0)
    builder.split(unit, 2, [low, high])
    builder.split(high, 0, [builder.add([0.0], 0), builder.add([0.0], 1)])
    return builder.finish()


def exclusive_or(domain, first, second):
    """The tree of the exclusive-or of two features."""
    builder = DiscreteTreeBuilder(domain)
    root = builder.add([0.0], 0)
    for_values = [builder.add([0.0], 0) for _ in range(2)]
    builder.split(root, first, for_values)
    for v, child in enumerate(for_values):
        builder.split(child, second, [builder.add([0.0], v), builder.add([0.0], 1 - v)])
    return builder.finish()


# -- domain and basis --------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_keys_give_their_partitions_back_and_differ_where_they_do(cardinalities, seed):
    domain = Domain(cardinalities)
    partitions = np.random.default_rng(seed).integers(0, domain.lambdas, size=(20, len(cardinalities)))
    keys = domain.pack(partitions)
    spectrum = Spectrum(domain, keys, np.ones((20, 1)))
    np.testing.assert_array_equal(spectrum.partitions(), partitions)
    np.testing.assert_array_equal(spectrum.orders, (partitions > 0).sum(axis=1))
    assert len(np.unique(keys, axis=0)) == len(np.unique(partitions, axis=0))
    assert domain.used(keys) == np.flatnonzero(partitions.any(axis=0)).tolist()


def test_points_outside_a_domain_and_a_feature_twice_on_a_path_are_refused():
    with pytest.raises(ValueError, match="at least one value"):
        Domain([2, 0])
    with pytest.raises(ValueError, match="outside the domain"):
        Domain([2, 3]).check([[0, 3]])
    with pytest.raises(ValueError, match="feature 0 comes twice"):
        DiscreteTree(Domain([2]), [0, 0, -1, -1, -1], [1, 3, -1, -1, -1], np.zeros((5, 1)), np.zeros(5))


# -- spectra -----------------------------------------------------------------------------------------------------------


def test_the_example_of_the_paper():
    tree = figure_2()
    means = node_means(tree, indicators(tree))
    assert means[:3, 0].tolist() == [0.625, 1.0, 0.25]
    spectrum = spectrum_of(tree, indicators(tree), method="paths")
    results = {
        tuple(j): Fraction(w) for j, w in zip(spectrum.partitions().tolist(), spectrum.weights[:, 0], strict=True)
    }
    assert results[0, 0, 0] == Fraction(5, 8)
    assert results[0, 1, 0] == Fraction(1, 2) * 1 - Fraction(1, 2) * Fraction(1, 4)
    truth = {tuple(x): indicators(tree)[tree.apply(np.array([x]))[0], 0] for x in points_of(tree.domain).tolist()}

    def coefficient(j):
        return sum(Fraction(f) * (-1) ** sum(a * b for a, b in zip(j, x, strict=True)) for x, f in truth.items()) / 8

    assert results == {j: coefficient(j) for j in truth if coefficient(j) != 0}


@few(seed=range(10), method=["paths", "table"], classes=[2, 3])
def test_the_inverse_transform_is_the_tree_on_every_point_and_no_order_is_above_its_depth(seed, method, classes):
    tree, values = random_tree(seed, classes=classes)
    spectrum = spectrum_of(tree, values, method=method)
    assert spectrum.orders.max(initial=0) <= tree.depth
    points = points_of(tree.domain)
    np.testing.assert_allclose(evaluated(spectrum, points), values[tree.apply(points)], atol=1e-10)
    direct = psi(tree.domain, points, points).T @ values[tree.apply(points)] / len(points)
    np.testing.assert_allclose(spectrum.weights, direct[_rows_of(points, spectrum)], atol=1e-12)


def _rows_of(points, spectrum):
    place = {tuple(point): row for row, point in enumerate(points.tolist())}
    return [place[tuple(j)] for j in spectrum.partitions().tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_the_inverse_transform_is_the_tree_on_a_sample_of_a_large_domain(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(rng.integers(2, 6, size=180))
    X = rng.integers(0, domain.lambdas, size=(150, 180))
    tree = C45(min_samples_leaf=3, max_depth=6, pruning="none").grow(Rows.of(X, rng.integers(0, 2, 150), 2, domain))
    spectrum = spectrum_of(tree, indicators(tree))
    points = rng.integers(0, domain.lambdas, size=(500, 180))
    np.testing.assert_allclose(evaluated(spectrum, points), indicators(tree)[tree.apply(points)], atol=1e-9)


@few(1, max_order=[0, 1, 2, 3], method=["paths", "table"])
def test_a_limit_on_orders_leaves_the_rest_as_it_is(max_order, method):
    tree, values = random_tree(4, [2, 3, 2, 4, 2], rows=200)
    whole, part = spectrum_of(tree, values), spectrum_of(tree, values, max_order=max_order, method=method)
    retained = whole.orders <= max_order
    np.testing.assert_array_equal(part.keys, whole.keys[retained])
    np.testing.assert_allclose(part.weights, whole.weights[retained], atol=1e-14)


@pytest.mark.parametrize("max_order", [None, 0, 1, 2, 4])
def test_the_count_of_terms_is_what_an_enumeration_finds(max_order):
    tree, _ = random_tree(7, [2, 3, 2, 4, 2], rows=100)
    features, _ = tree.paths
    limit = tree.depth if max_order is None else max_order
    terms = 1
    for node in np.flatnonzero(~tree.is_leaf):
        above = [int(tree.domain.lambdas[k]) for k in features[node] if k >= 0]
        local = tree.domain.cardinalities[tree.feature[node]] - 1
        ways = np.array([1])
        for size in above:
            ways = np.convolve(ways, [1, size - 1])
        terms += local * int(ways[:limit].sum())
    assert count_terms(tree, max_order) == terms


def test_one_leaf_and_a_function_that_is_zero():
    domain = Domain([2, 3])
    leaf = EVERYTHING.grow(Rows.of(np.array([[0, 1]]), np.array([1]), 2, domain))
    spectrum = spectrum_of(leaf, indicators(leaf))
    assert len(spectrum) == 1 and spectrum.orders.tolist() == [0] and spectrum.mean.tolist() == [1.0]
    nothing = spectrum_of(leaf, np.zeros((1, 1)))
    assert len(nothing) == 0 and nothing.energy == 0.0
    assert evaluated(nothing, points_of(domain)).tolist() == [[0.0]] * 6
    assert tree_from_spectrum(nothing, ClassShares(2)).n_nodes == 1


# -- inner products and energy -----------------------------------------------------------------------------------------


@few(1, seed=range(6), classes=[2, 3])
def test_inner_products_are_equal_in_both_domains_and_from_boxes(seed, classes):
    sizes = np.random.default_rng(seed).integers(2, 6, size=4)
    results = [random_tree(100 * seed + i, sizes, classes) for i in range(4)]
    points = points_of(Domain(sizes))
    D = np.stack([values[tree.apply(points)] for tree, values in results], axis=2)
    direct = np.einsum("xki,xkj->ij", D, D) / len(points)
    spectra = [spectrum_of(tree, values) for tree, values in results]
    np.testing.assert_allclose(CoefficientMatrix(spectra).gram(), direct, atol=1e-10)
    np.testing.assert_allclose(
        fourier.gram_of_trees([t for t, _ in results], [v for _, v in results]), direct, atol=1e-10
    )
    for i, spectrum in enumerate(spectra):  # Parseval
        assert spectrum.energy == pytest.approx(direct[i, i], abs=1e-10)
        assert spectrum.energy_by_order.sum() == pytest.approx(spectrum.energy, abs=1e-12)


def test_both_routes_agree_where_no_table_could_be_made():
    rng = np.random.default_rng(5)
    domain = Domain([2] * 180)
    trees = []
    for _ in range(6):
        X = rng.integers(0, 2, size=(300, 180))
        trees.append(C45(pruning="none", max_depth=8).grow(Rows.of(X, rng.integers(0, 2, 300), 2, domain)))
    values = [indicators(tree) for tree in trees]
    spectra = [spectrum_of(tree, v) for tree, v in zip(trees, values, strict=True)]
    np.testing.assert_allclose(CoefficientMatrix(spectra).gram(), fourier.gram_of_trees(trees, values), atol=1e-12)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.99, 1.0])
def test_truncation_keeps_the_share_it_is_asked_for_and_no_more_than_it_must(share):
    tree, values = random_tree(3, [2, 4, 3, 5], rows=200)
    whole = spectrum_of(tree, values)
    part = whole.truncated(share)
    assert part.energy >= share * whole.energy - 1e-12
    smallest = part.energies.min()
    assert set(np.flatnonzero(whole.energies > smallest * (1 + 1e-6))) <= set(
        np.flatnonzero(np.isin(whole.keys[:, 0], part.keys[:, 0]))
    )
    if share < 1:
        assert part.energies[part.energies > smallest * (1 + 1e-6)].sum() < share * whole.energy
    # Conjugate pairs stay together, so the function is real: its values are what the coefficients say in full.
    points = points_of(tree.domain)
    basis = psi(tree.domain, part.partitions(), points).conj()
    assert np.abs((basis @ part.weights).imag).max() < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_combinations_of_spectra_are_those_of_functions(seed):
    (a, va), (b, vb) = (random_tree(seed + i, [3, 2, 4]) for i in (0, 50))
    points = points_of(a.domain)
    both = fourier.combination([spectrum_of(a, va), spectrum_of(b, vb)], [0.5, 2.0])
    expected = 0.5 * va[a.apply(points)] + 2.0 * vb[b.apply(points)]
    np.testing.assert_allclose(evaluated(both, points), expected, atol=1e-12)
    assert len(fourier.combination([spectrum_of(a, va), spectrum_of(a, va)], [1.0, -1.0])) == 0


@pytest.mark.parametrize(("features", "classes"), [(180, 2), (60, 26)])
def test_deep_trees_of_many_features_stay_sparse(features, classes):
    tree = complete(7, features)
    tree = DiscreteTree(tree.domain, tree.feature, tree.first_child, tree.values, np.arange(tree.n_nodes) % classes)
    outputs = indicators(tree, classes)
    terms = count_terms(tree)
    _ = tree.paths, tree.measures
    tracemalloc.start()
    spectrum = spectrum_of(tree, outputs, method="paths")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(spectrum) <= terms == (4**7 - 1) // 3 + 1
    assert peak <= bytes_a_term(tree.domain, outputs.shape[1]) * terms
    assert spectrum.energy == pytest.approx(fourier.gram_of_trees([tree], [outputs])[0, 0], abs=1e-12)


def test_what_is_too_large_is_refused_with_the_count_and_what_to_lower():
    tree = complete(6, 60)
    with pytest.raises(TooLarge) as error:
        spectrum_of(tree, indicators(tree), max_terms=1000, method="paths")
    assert str(error.value) == (
        "the spectrum of a tree of depth 6 and 64 leaves takes 1366 terms, more than the 1000 allowed; lower "
        "max_order or max_depth, or prune more (confidence)."
    )
    assert spectrum_of(tree, indicators(tree), max_terms=1000, max_order=2).orders.max() == 2
    with pytest.raises(TooLarge, match="passes 9 nodes; lower max_depth, energy or min_confidence"):
        tree_from_spectrum(spectrum_of(tree, indicators(tree)), ClassShares(2), max_nodes=9)
    inner = np.arange(1100)
    feature, first = np.full((2, 2201), -1)
    feature[np.append(0, 2 * inner[1:])], first[np.append(0, 2 * inner[1:])] = inner, 2 * inner + 1
    chain = DiscreteTree(Domain([2] * 1100), feature, first, np.zeros((2201, 1)), np.arange(2201) % 2)
    for max_order in (None, 20):
        with pytest.raises(TooLarge, match=r"takes 1000000000000000 terms or more, more than the 2462710 allowed"):
            spectrum_of(chain, indicators(chain), max_order=max_order)
    assert count_terms(chain, 1) == 1101
    wide = complete(8, 60)
    with pytest.raises(TooLarge, match=r"a table over the \d+ features of this tree has \d+ points"):
        spectrum_of(wide, indicators(wide), method="table")


# -- TCFS --------------------------------------------------------------------------------------------------------------


@few(seed=range(10), classes=[2, 3], decide=[False, True])
def test_the_tree_of_a_whole_spectrum_predicts_like_the_tree_it_came_from(seed, classes, decide):
    tree, values = random_tree(seed, classes=classes)
    back = tree_from_spectrum(spectrum_of(tree, values), ClassShares(classes), decide=decide)
    points = points_of(tree.domain)
    np.testing.assert_array_equal(back.labels[back.apply(points)], tree.labels[tree.apply(points)])
    if not decide:
        np.testing.assert_allclose(back.values[back.apply(points)], values[tree.apply(points)], atol=1e-9)
        again = spectrum_of(back, back.values)
        assert (fourier.combination([again, spectrum_of(tree, values)], [1.0, -1.0])).energy < 1e-18


def test_nodes_hold_the_averages_of_their_schemata():
    tree, values = random_tree(8, [3, 2, 4, 2], rows=150)
    spectrum = spectrum_of(tree, values).truncated(0.9)
    back = tree_from_spectrum(spectrum, ClassShares(2), max_depth=2)
    points = points_of(tree.domain)
    truth = evaluated(spectrum, points)
    features, held = back.paths
    for node in range(back.n_nodes):
        inside = np.ones(len(points), dtype=bool)
        for k, b in zip(features[node], held[node], strict=True):
            if k >= 0:
                inside &= points[:, k] == b
        np.testing.assert_allclose(back.values[node], truth[inside].mean(axis=0), atol=1e-12)


def test_the_feature_at_a_node_gains_most_by_a_count_over_all_points():
    for seed in range(8):
        tree, values = random_tree(seed, [2, 3, 2, 4], rows=100)
        if tree.n_nodes == 1:
            continue
        back = tree_from_spectrum(spectrum_of(tree, values), ClassShares(2), max_depth=1)
        points = points_of(tree.domain)
        f = values[tree.apply(points)][:, 0]

        def entropy(p):
            return 0.0 if p <= 0 or p >= 1 else -p * np.log2(p) - (1 - p) * np.log2(1 - p)

        gains = [
            entropy(f.mean()) - np.mean([entropy(f[points[:, k] == v].mean()) for v in range(size)])
            for k, size in enumerate(tree.domain.cardinalities)
        ]
        assert gains[back.feature[0]] == pytest.approx(max(gains), abs=1e-9)


def test_an_exclusive_or_has_no_gain_and_is_found_all_the_same():
    domain = Domain([2, 2, 3])
    points = points_of(domain)
    rows = np.repeat(points, 4, axis=0)
    tree = exclusive_or(domain, 0, 1)
    assert EVERYTHING.grow(Rows.of(rows, rows[:, 0] ^ rows[:, 1], 2, domain)).n_nodes == 1
    back = tree_from_spectrum(spectrum_of(tree, indicators(tree)), ClassShares(2))
    assert back.n_nodes == 7 and 2 not in back.feature
    np.testing.assert_array_equal(back.labels[back.apply(points)], points[:, 0] ^ points[:, 1])


def test_depth_and_confidence_stop_a_path():
    tree = complete(6, 8, seed=3)
    spectrum = spectrum_of(tree, indicators(tree))
    for depth in range(4):
        assert tree_from_spectrum(spectrum, ClassShares(2), max_depth=depth).depth == depth
    shares = ClassShares(2)
    back = tree_from_spectrum(spectrum, shares, min_confidence=0.8)
    confidence = shares(back.values).max(axis=1)
    assert (confidence[~back.is_leaf] < 0.8).all() and not back.is_leaf.all()
    assert (confidence[back.is_leaf] >= 0.8).any()


def test_shares_by_hand():
    assert ClassShares(2)(np.array([0.25])).tolist() == [0.75, 0.25]
    assert ClassShares(2)(np.array([[-0.5], [1.5]])).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert ClassShares(2, -1.0, 1.0)(np.array([0.0])).tolist() == [0.5, 0.5]
    # f^c = v for the true class: with factors 1 and -0.5 outputs reach from -0.5 to 1 and sum to 0.5.
    np.testing.assert_allclose(ClassShares(3, -0.5, 1.0)(np.array([1.0, -0.5, 0.0])), [0.75, 0.0, 0.25])
    assert ClassShares(3)(np.zeros(3)).tolist() == [1 / 3] * 3
    assert ClassShares(1)(np.zeros((4, 1))).tolist() == [[1.0]] * 4


# -- principal components ----------------------------------------------------------------------------------------------


def test_components_are_orthogonal_functions_and_their_variances_add_up():
    spectra = [spectrum_of(*random_tree(seed, [2, 3, 4, 2, 2], rows=80)) for seed in range(8)]
    matrix = CoefficientMatrix(spectra)
    gram = matrix.gram()
    result = fourier.principal_components(gram)
    functions = matrix.combine(result.factors)
    inner = CoefficientMatrix(functions).gram()
    np.testing.assert_allclose(inner, np.diag(result.variances), atol=1e-8)
    assert result.variances.sum() == pytest.approx(np.trace(gram), abs=1e-10)
    assert result.ratios.sum() == pytest.approx(1.0)
    assert (np.diff(result.variances) <= 1e-12).all()
    for share in (0.5, 0.9):
        k = result.enough(share)
        assert result.ratios[:k].sum() > share and (k == 1 or result.ratios[: k - 1].sum() <= share)


def test_components_do_not_depend_on_signs_or_on_equal_eigenvalues():
    gram = np.diag([2.0, 2.0, 1.0, 0.0])
    result = fourier.principal_components(gram)
    np.testing.assert_allclose(result.variances, [2.0, 2.0, 1.0])
    np.testing.assert_allclose(result.factors, np.eye(4)[:, :3], atol=1e-12)
    assert (fourier.principal_components(np.ones((5, 5))).factors > 0).all()
    assert fourier.principal_components(np.zeros((3, 3))).factors.shape == (3, 0)


# -- structure and summary ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_tree_without_needless_splits_has_the_same_labels(seed):
    tree, _ = random_tree(seed, rows=30)
    short = tree.merged()
    points = points_of(tree.domain)
    np.testing.assert_array_equal(short.labels[short.apply(points)], tree.labels[tree.apply(points)])
    assert short.n_nodes <= tree.n_nodes
    for node in np.flatnonzero(~short.is_leaf):
        below = short.children(int(node))
        assert not short.is_leaf[below].all() or len(set(short.labels[below].tolist())) > 1


def test_rules_in_words():
    tree = figure_2()
    text = describe(tree, ["a", "b", "c"], [["= 0", "= 1"]] * 3, ["no", "yes"])
    assert text == (
        "b = 0: yes  (0)\nb = 1:\n    c = 0: no  (0)\n    c = 1:\n        a = 0: no  (0)\n        a = 1: yes  (0)\n"
    )
    leaf = EVERYTHING.grow(Rows.of(np.array([[0, 0, 0]]), np.array([1]), 2, tree.domain))
    assert describe(leaf, ["a", "b", "c"], [["= 0", "= 1"]] * 3, ["no", "yes"]) == "yes  (0, 1)\n"
    assert tree.to_dict()["feature"] == [1, -1, 2, -1, 0, -1, -1]


def test_the_summary_names_what_acts_together():
    tree = exclusive_or(Domain([2, 3, 2]), 2, 0)
    spectrum = spectrum_of(tree, indicators(tree))
    mean, together = fourier.largest(spectrum, 5)
    assert (mean.features, mean.share) == ((), 0.5)
    assert (together.features, together.weights, together.share) == (((0, 1), (2, 1)), (-0.5 + 0j,), 0.5)
    (only,) = fourier.interactions(spectrum, 5)
    assert (only.features, only.n_coefficients, only.share) == ((0, 2), 1, 0.5)
