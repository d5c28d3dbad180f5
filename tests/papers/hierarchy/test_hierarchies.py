"""Hierarchies against oracles at every step, the worked examples of the dissertation, and degenerate matrices."""

from types import SimpleNamespace

import hierarchy_oracles as oracles
import numpy as np
import pytest
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import average as scipy_average
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.papers.hierarchy import measures
from oblique_cli.papers.hierarchy.dissimilarities import from_square, number_of_objects, to_square
from oblique_cli.papers.hierarchy.hierarchies import (
    Hierarchy,
    Taxonomy,
    avalanche,
    divisive,
    neighbor_joining,
    staxac,
    upgma,
)
from oblique_cli.papers.hierarchy.sequences import labels_by_poles, p_distances, random_sequences

# Figures 4.1 and 4.2: sums of 24 for s1; then 16, 8, 8, 12; then 4, 3, 5; H of 24, 38, 32. They fix all distances but
# d(s1,s4) and d(s1,s5), whose sum is 16; points on a line at these places have them all.
WORKED = np.abs(np.subtract.outer([0.0, 2.0, 6.0, 7.0, 9.0], [0.0, 2.0, 6.0, 7.0, 9.0]))


def members(tree: Hierarchy, node: int) -> frozenset[int]:
    return frozenset(tree.order[tree.starts[node] :][: tree.sizes[node]].tolist())


def example(seed: int, n: int, kind: str = "points", n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, size=n)
    codes[0] = n_classes - 1
    return oracles.random_matrix(rng, n, kind), codes


METHODS = {
    "avalanche": lambda d, y: avalanche(d),
    "staxac": lambda d, y: staxac(d, y)[0],
    "staxac, renewed": lambda d, y: staxac(d, y, "renewed")[0],
    "staxac, gabriel": lambda d, y: staxac(d, y, "gabriel")[0],
    "divisive": divisive,
    "neighbor joining": lambda d, y: neighbor_joining(d),
    "upgma": lambda d, y: upgma(d),
}


# ---- AVALANCHE -------------------------------------------------------------------------------------------------------


def avalanche_moves(condensed):
    """The tree and every move in order: node, object, distance between both sides after it, whether it was more."""
    tree, moves, between = _core.avalanche(condensed, number_of_objects(condensed), True)
    columns = {"nodes": moves[:, 0], "objects": moves[:, 1], "accepted": moves[:, 2].astype(bool)}
    return Hierarchy(*tree), SimpleNamespace(between=between, **columns)


def test_the_worked_example_of_figure_4_2_has_its_sums_moves_and_sides():
    tree, moves = avalanche_moves(from_square(WORKED))
    first = moves.nodes == tree.n_nodes - 1
    assert list(zip(moves.objects[first], moves.between[first], moves.accepted[first], strict=True)) == [
        (0, 24.0, True),
        (1, 38.0, True),
        (2, 32.0, False),
    ]
    assert WORKED[1:, 1:].sum() == 44 and WORKED[2:, 2:].sum() == 12  # U(T_L) as printed: every pair twice
    assert {members(tree, node) for node in range(tree.n_nodes)} == {
        *(frozenset([i]) for i in range(5)),
        frozenset({0, 1}),
        frozenset({2, 3, 4}),
        frozenset({2, 3}),
        frozenset(range(5)),
    }


@few(1, kind=oracles.KINDS, seed=range(6))
def test_every_move_of_avalanche_has_the_objective_of_its_definition(kind, seed):
    D, _ = example(seed, 3 + 2 * seed, kind)
    expected = oracles.avalanche_splits(D)
    tree, moves = avalanche_moves(from_square(D))
    assert len(expected) == tree.n - 1
    for join, (a, b) in enumerate(tree.children.tolist(), tree.n):
        left, right, steps = expected[members(tree, join)]
        assert (members(tree, a), members(tree, b)) == (left, right)
        here = moves.nodes == join
        assert moves.objects[here].tolist() == [step[0] for step in steps]
        assert moves.accepted[here].tolist() == [step[2] for step in steps]
        np.testing.assert_allclose(moves.between[here], [step[1] for step in steps], rtol=1e-9)
        np.testing.assert_allclose(tree.heights[join - tree.n], float(oracles.average(D, left, right)), rtol=1e-9)


def test_sums_kept_from_node_to_node_stay_exact_over_sixty_binary_orders_of_magnitude():
    # Rounding errors of the sums at the root exceed every distance at the bottom.
    places = np.array([sign * 2.0**k for k in range(-30, 31, 3) for sign in (1.0, 1.25)])
    D = np.abs(np.subtract.outer(places, places))
    expected = oracles.avalanche_splits(D)
    tree = avalanche(from_square(D))
    for join, (a, b) in enumerate(tree.children.tolist(), tree.n):
        assert (members(tree, a), members(tree, b)) == expected[members(tree, join)][:2]


def test_equal_distances_peel_off_the_lowest_object_or_pair_by_the_objective_alone():
    # Four objects at distance 1: H is 3, then 4, then 3, so two go; then single objects.
    tree, moves = avalanche_moves(np.ones(6))
    assert moves.between[:3].tolist() == [3.0, 4.0, 3.0] and moves.objects[:3].tolist() == [0, 1, 2]
    assert members(tree, int(tree.children[-1, 1])) == {0, 1}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 16), st.integers(0, 2**32 - 1), st.sampled_from(sorted(set(METHODS) - {"neighbor joining"})))
def test_the_order_of_objects_does_not_matter_where_nothing_ties(n, seed, method):
    # (The last three clusters of neighbor joining always tie.)
    rng = np.random.default_rng(seed)
    D, codes = oracles.random_matrix(rng, n, "points"), rng.integers(0, 2, size=n)
    shuffle = rng.permutation(n)
    first = METHODS[method](from_square(D), codes)
    other = METHODS[method](from_square(D[np.ix_(shuffle, shuffle)]), codes[shuffle])
    assert {members(first, k) for k in range(first.n_nodes)} == {
        frozenset(shuffle[sorted(members(other, k))].tolist()) for k in range(other.n_nodes)
    }


# ---- STAXAC ----------------------------------------------------------------------------------------------------------


@few(graph=["nearest", "renewed"], kind=oracles.KINDS, seed=range(6))
def test_every_merge_of_staxac_is_the_one_that_leaves_the_purest_clustering(graph, kind, seed):
    D, codes = example(seed, 2 + 2 * seed, kind)
    merges, rounds = oracles.staxac_merges(D, codes, renew=graph == "renewed")
    tree, made = staxac(from_square(D), codes, graph)
    assert [frozenset(members(tree, c) for c in pair) for pair in tree.children.tolist()] == merges
    assert made == rounds


@pytest.mark.parametrize("seed", range(6))
def test_staxac_on_a_gabriel_graph_needs_one_graph_and_equals_the_oracle(seed):
    D, codes = example(seed, 5 + 2 * seed, "points")
    pairs = oracles.gabriel_pairs(D)
    edges = _core.gabriel_edges(from_square(D), len(D)).reshape(-1, 2)
    assert {tuple(edge) for edge in edges.tolist()} == pairs
    merges, _ = oracles.staxac_merges(D, codes, {frozenset((frozenset([i]), frozenset([j]))) for i, j in pairs})
    tree, made = staxac(from_square(D), codes, "gabriel")
    assert [frozenset(members(tree, c) for c in pair) for pair in tree.children.tolist()] == merges
    assert made == 1


@pytest.mark.parametrize("seed", range(6))
def test_every_division_takes_away_the_edge_that_leaves_the_purest_and_then_the_most_distant_sides(seed):
    distances, codes = example(seed, 15)
    tree = divisive(from_square(distances), codes)
    edges = minimum_spanning_tree(distances).toarray()

    def score(side: np.ndarray, both: np.ndarray) -> tuple[int, float]:
        other = np.setdiff1d(both, side)
        majorities = sum(int(np.bincount(codes[part]).max()) for part in (side, other))
        return majorities, round(float(distances[np.ix_(side, other)].sum()), 9)

    for join, pair in enumerate(tree.children):
        left, both = (np.array(sorted(members(tree, node))) for node in (pair[0], tree.n + join))
        possible = []
        for i, j in zip(*np.nonzero(edges[np.ix_(both, both)]), strict=True):
            rest = edges[np.ix_(both, both)]
            rest[i, j] = 0.0
            number, side = connected_components(rest, directed=False)
            assert number == 2
            possible.append(score(both[side == 0], both))
        assert score(left, both) == max(possible)
        assert tree.heights[join] == pytest.approx(max(possible)[1] / (len(left) * (len(both) - len(left))))


# ---- the rivals ------------------------------------------------------------------------------------------------------


@few(1, kind=oracles.KINDS, seed=range(5))
def test_neighbor_joining_forms_the_clusters_of_the_rule_in_exact_fractions(kind, seed):
    D, _ = example(seed, 2 + 3 * seed, kind)
    tree = neighbor_joining(from_square(D))
    assert [members(tree, k) for k in range(tree.n, tree.n_nodes)] == oracles.neighbor_joining_pairs(D)


@pytest.mark.parametrize("seed", range(4))
def test_neighbor_joining_finds_the_branches_of_an_additive_matrix(seed):
    rng = np.random.default_rng(seed)
    shape = upgma(pdist(rng.normal(size=(12, 2))))
    lengths = rng.uniform(0.5, 2.0, size=shape.n_nodes)
    D = patristic(shape, lengths)
    tree = neighbor_joining(from_square(D))
    assert (tree.lengths >= -1e-9).all()
    np.testing.assert_allclose(patristic(tree, tree.lengths), D, rtol=1e-9)


def patristic(tree: Hierarchy, lengths: np.ndarray) -> np.ndarray:
    """Distances along the branches."""
    out = np.zeros((tree.n, tree.n))
    for node in range(tree.n_nodes - 1):
        under = np.isin(np.arange(tree.n), list(members(tree, node)))
        out[np.ix_(under, ~under)] += lengths[node]
        out[np.ix_(~under, under)] += lengths[node]
    return out


def test_upgma_is_scipys_average_linkage():
    D, _ = example(1, 20)
    np.testing.assert_array_equal(upgma(from_square(D)).linkage()[:, 2], scipy_average(squareform(D))[:, 2])


# ---- trees -----------------------------------------------------------------------------------------------------------


@few(1, method=METHODS, n=[1, 2, 3, 17])
def test_a_tree_is_whole_and_its_linkage_is_valid_and_monotone(method, n):
    D, codes = example(n, n)
    tree = METHODS[method](from_square(D), codes)
    assert tree.n_nodes == 2 * n - 1 and tree.sizes[-1] == n and sorted(tree.order.tolist()) == list(range(n))
    assert sorted(tree.children.ravel().tolist()) == list(range(2 * n - 2))
    assert (tree.children < np.arange(n, 2 * n - 1)[:, None]).all()
    for node in range(tree.n_nodes):
        below = [node] if node < n else [k for c in tree.children[node - n] for k in members(tree, int(c))]
        assert sorted(below) == sorted(members(tree, node)) and len(below) == tree.sizes[node]
    if n > 1:
        Z = tree.linkage()
        assert is_valid_linkage(Z) and is_monotonic(Z)
        for k in range(1, n + 1):
            assert len(np.unique(tree.cut(k))) == k
            flat = fcluster(Z, k, "maxclust")
            if len(np.unique(flat)) == k:
                both = np.unique(np.column_stack([flat, tree.cut(k)]), axis=0)
                assert len(both) == k
    with pytest.raises(DataError, match=f"{n} objects can be cut into 1 to {n} clusters. Got {n + 1}"):
        tree.cut(n + 1)


@pytest.mark.parametrize("method", METHODS)
def test_equal_objects_and_a_matrix_of_zeros_give_a_whole_tree(method):
    for n in (2, 5, 9):
        codes = np.arange(n) % 2
        tree = METHODS[method](np.zeros(n * (n - 1) // 2), codes)
        assert tree.sizes[-1] == n and np.isfinite(tree.heights).all() and (tree.raised == 0).all()


@pytest.mark.parametrize("method", ["avalanche", "staxac", "staxac, gabriel"])
def test_single_precision_gives_the_tree_of_the_rounded_matrix(method):
    D, codes = example(5, 40, "integers")
    double = METHODS[method](from_square(D), codes)
    single = METHODS[method](from_square(D, "float32"), codes)
    np.testing.assert_array_equal(double.children, single.children)
    np.testing.assert_allclose(double.heights, single.heights, rtol=1e-6)


ONES, ZEROS, SQUARE = np.ones(3), np.zeros(3, dtype=np.int32), np.zeros((3, 3))


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("avalanche", (ONES, 4), r"n \(n - 1\) / 2"),
        ("staxac", (ONES, ZEROS[:2], 1), r"n \(n - 1\) / 2"),
        ("staxac", (ONES, ZEROS + 1, 1), "codes from 0"),
        ("staxac", (ONES, ZEROS, 1, np.array([0], dtype=np.int32)), "pairs"),
        ("staxac", (ONES, ZEROS, 1, np.array([0, 3], dtype=np.int32)), "two of the objects"),
        ("staxac", (ONES, ZEROS, 1, np.array([1, 1], dtype=np.int32)), "two different"),
        ("staxac", (ONES, ZEROS, 1, np.array([0, 1], dtype=np.int32), True), "not made anew"),
        ("neighbor_joining", (np.ones((2, 3)),), "as many columns as rows"),
        ("climb_representatives", (SQUARE, ZEROS, 1, 0.1, np.array([], dtype=np.int32)), "at least one"),
        ("climb_representatives", (SQUARE, ZEROS, 1, 0.1, np.array([3], dtype=np.int32)), "rising row numbers"),
        ("climb_representatives", (SQUARE, ZEROS, 1, 0.1, np.array([1, 0], dtype=np.int32)), "rising row numbers"),
    ],
)
def test_the_core_refuses_what_does_not_fit(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(_core, function)(*arguments)


# ---- EUREKA ----------------------------------------------------------------------------------------------------------


@few(1, method=METHODS, seed=range(6))
def test_clusters_thresholds_and_tree_size_are_those_of_the_pseudo_code(method, seed):
    D, codes = example(seed, 4 + 3 * seed)
    tree = METHODS[method](from_square(D), codes)
    taxonomy, root = Taxonomy.of(tree, codes), oracles.nodes_of(tree)
    thresholds = measures.purity_thresholds(taxonomy)
    assert set(thresholds.tolist()) == oracles.threshold_set(root, codes)
    for theta in (0.1, 0.5, 0.6, 0.75, 0.9, 1.0, *thresholds.tolist()):
        expected = oracles.extract_clustering(root, codes, theta)
        result = measures.extract_clusters(taxonomy, theta)
        assert {members(tree, k) for k in result} == {frozenset(c) for c in expected}
        assert (np.diff(tree.sizes[result]) <= 0).all()
        # Collapsed sub-trees are leaves: as many leaves as clusters, and one join less.
        assert measures.edited_size(taxonomy, theta) == 2 * len(expected) - 1
    pure = [len(c) for c in oracles.extract_clustering(root, codes, 1.0)]
    np.testing.assert_allclose(
        measures.classification_complexity(taxonomy),
        float(oracles.complexity(pure, len(set(codes.tolist())))),
        rtol=1e-12,
    )
    np.testing.assert_allclose(measures.mean_cluster_size(taxonomy), len(codes) / len(pure))
    depth = measures.purity_per_depth(taxonomy)
    assert depth.nodes.sum() == tree.n_nodes and depth.nodes[0] == 1 and depth.share.max() <= 1
    by_hand = {}
    for node in oracles.all_nodes(root):
        by_hand.setdefault(depth_of(root, node), []).append(node.purity(codes))
    np.testing.assert_allclose(depth.purity, [np.mean(by_hand[d]) for d in sorted(by_hand)])


def depth_of(root, wanted):
    open_ = [(root, 0)]
    while open_:
        node, depth = open_.pop()
        if node is wanted:
            return depth
        open_ += [(child, depth + 1) for child in (node.left, node.right) if child]
    raise AssertionError


def test_complexity_is_0_at_best_and_n_minus_c_over_2n_at_worst():
    # Figure 5.5 a and c, and one between: 4, 3, 2, 1 of two classes leaves 3 + 1 outside, over 10 * 3.
    assert measures.complexity_of_sizes(np.array([7, 5]), 2) == 0
    for n, c in ((10, 2), (9, 3)):
        np.testing.assert_allclose(measures.complexity_of_sizes(np.ones(n), c), (n - c) / (2 * n))
    np.testing.assert_allclose(measures.complexity_of_sizes(np.array([1, 4, 2, 3]), 2), (3 + 1 + 0) / 30)
    with pytest.raises(ValueError, match=r"3 classes need at least 3 pure clusters. Got 2"):
        measures.complexity_of_sizes(np.array([2, 2]), 3)


def test_the_iris_example_of_the_text_has_four_subclasses():
    # Section 5.4.2: pure clusters of 50, 44, 37 and 10 with sigma 10, the rest smaller: S and V unimodal, A bi-modal.
    sizes, labels = [50, 44, 37, 10, 3, 2, 1, 1, 1, 1], [0, 2, 1, 1, 1, 2, 1, 2, 2, 2]
    codes = np.repeat(labels, sizes)
    tree = chain_of_blocks(sizes)
    taxonomy = Taxonomy.of(tree, codes)
    result = measures.subclasses(taxonomy, 1.0, 10)
    assert [(s.label, s.size, s.purity) for s in result] == [(0, 50, 1), (2, 44, 1), (1, 37, 1), (1, 10, 1)]
    assert measures.modality(taxonomy, 1.0, 10).tolist() == [1, 2, 1]
    assert measures.modality(taxonomy, 1.0, 51).tolist() == [0, 0, 0]


def chain_of_blocks(sizes: list[int]) -> Hierarchy:
    """A tree that first joins the objects of each block, then block after block."""
    children, tops, first, n = [], [], 0, sum(sizes)
    for size in sizes:
        top = first
        for other in range(first + 1, first + size):
            children.append((top, other))
            top = n + len(children) - 1
        tops.append(top)
        first += size
    root = tops[0]
    for top in tops[1:]:
        children.append((root, top))
        root = n + len(children) - 1
    return Hierarchy(np.array(children, dtype=np.int64), np.ones(len(children)))


def test_family_changes_count_branches_between_majorities_and_ties_follow_the_parent():
    # ((0 1)(2 3)) with classes a b | a a: the tie below the root is of class a, as the root; only object 1 changes.
    tree = Hierarchy(np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 1.0, 2.0]))
    taxonomy = Taxonomy.of(tree, [0, 1, 0, 0])
    assert taxonomy.majority.tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert measures.family_changes(taxonomy) == 1
    # With b in front, the root is b, and the tie (0 1) follows it although a has the lower code.
    taxonomy = Taxonomy.of(tree, [0, 1, 1, 1])
    assert taxonomy.majority[[4, 6]].tolist() == [1, 1] and measures.family_changes(taxonomy) == 1
    with pytest.raises(DataError, match=r"4 objects need 4 labels. Got 3"):
        Taxonomy.of(tree, [0, 1, 0])


@pytest.mark.parametrize("method", METHODS)
def test_mean_distances_are_those_of_all_clusters_one_by_one(method):
    D, codes = example(9, 14)
    tree = METHODS[method](from_square(D), codes)
    N = tree.sizes.sum()
    within = apart = 0.0
    for node in range(tree.n_nodes):
        rows = sorted(members(tree, node))
        if len(rows) > 1:
            within += len(rows) / N * D[np.ix_(rows, rows)].sum() / (len(rows) * (len(rows) - 1))
            a, b = (sorted(members(tree, int(c))) for c in tree.children[node - tree.n])
            apart += len(rows) / N * D[np.ix_(a, b)].mean()
    np.testing.assert_allclose(measures.mean_distances(tree, from_square(D)), (within, apart), rtol=1e-9)
    assert measures.mean_distances(upgma(np.zeros(0)), np.zeros(0)) == (0.0, 0.0)


# ---- sequences -------------------------------------------------------------------------------------------------------


def test_p_distance_is_the_share_of_sites_that_differ_and_poles_give_the_labels():
    sequences = random_sequences(30, np.random.default_rng(0))
    assert sequences.shape == (30, 200) and set(np.unique(sequences)) == {0, 1, 2, 3}
    square = to_square(p_distances(sequences))
    np.testing.assert_allclose(square[3, 8], (sequences[3] != sequences[8]).mean())
    codes = labels_by_poles(from_square(square), np.random.default_rng(1))
    a, b = np.unravel_index(square.argmax(), square.shape)
    assert codes[a] == 0 and codes[b] == 1
    assert all((square[i, b] < square[i, a]) == codes[i] for i in range(30))
    noisy = labels_by_poles(from_square(square), np.random.default_rng(1), noise=0.5)
    assert 0 < (noisy != codes).sum() <= 15
