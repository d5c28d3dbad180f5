"""What every proposer promises, and what each one proposes at nodes worked out by hand."""

import pkgutil

import numpy as np
import pytest
from contracts import CRITERION_NAMES, HHCART_NAMES, PROPOSER_NAMES, QUICK, REAL_SETS, real_set
from covering import few
from node_support import DEGENERATE, node_of, proposals
from oracles import gains
from sklearn.base import clone

from oblique_cli import TAOClassifier, make, proposers
from oblique_cli.estimators.forest.bagged import proposers_of
from oblique_cli.ground.geometry import class_covariance, householder_vector, orient, principal_axes
from oblique_cli.proposers.gdt import better_bisector, bisectors
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer, best_split


def kinds(groups):
    return [group[0] for group in groups]


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_a_proposer_can_be_cloned_and_proposes_the_same_again(name):
    node = node_of(real_set("wine").X, real_set("wine").y)
    proposer = PROPOSERS[name]()
    first, *others = ([group.spec for group in p.propose(node)] for p in (proposer, proposer, clone(proposer)))
    for other in others:
        assert kinds(first) == kinds(other)
        for a, b in zip(first, other, strict=True):
            for x, y in zip(a[1:], b[1:], strict=True):
                np.testing.assert_array_equal(x, y)


# Every rule of those that have several.
VARIANTS = [(name, {}) for name in PROPOSER_NAMES] + [
    *(
        ("cline", {"rule": rule, "normal": normal})
        for rule in ("mean", "nearest_pair")
        for normal in ("discriminant", "pair")
    ),
    ("quest", {"split_point": "search"}),
    ("svm_split", {"cost": 1e6}),
    ("logistic_split", {"cost": 1e6}),
]


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_proposed_directions_are_finite_unit_vectors_that_leave_constant_features_alone(name, parameters):
    parameters = {**QUICK.get(name, {}), **parameters}
    real = {data_set: (real_set(data_set).X, real_set(data_set).y) for data_set in REAL_SETS}
    for label, (X, y) in (real | DEGENERATE).items():
        for weights in (None, np.linspace(1.0, 3.0, len(y))):
            planes = proposals(name, node_of(X, y, weights=weights), **parameters)
            assert planes or label == "a class without variance", label
            for kind, *arrays in planes:
                assert kind in ("axes", "reflection", "directions")
                vectors = np.atleast_2d(arrays[0]) if arrays else np.eye(X.shape[1])
                np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-12, err_msg=label)
                if name in ("fdt", "sadt", "svm_split", "logistic_split"):
                    assert not vectors[:, X.max(axis=0) == X.min(axis=0)].any(), label
                if len(arrays) > 1 and arrays[1] is not None:
                    assert np.isfinite(arrays[1]).all()


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_rows_that_are_the_same_make_a_leaf_and_so_do_means_where_they_are_all_that_counts(name, criterion):
    node = node_of(np.full((6, 2), 0.1), [0, 1] * 3, criterion=criterion)
    assert best_split(node, PROPOSERS[name](**QUICK.get(name, {}))) is None
    if name in ("fdt", "quest", "svm_split", "logistic_split"):
        assert proposals(name, node_of([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], criterion=criterion)) == []


@few(1, name=PROPOSER_NAMES, criterion=CRITERION_NAMES)
def test_the_score_of_the_best_split_is_what_its_sides_give(name, criterion):
    for data in map(real_set, REAL_SETS):
        weights = np.random.default_rng(1).integers(1, 4, data.n).astype(float)
        for w in (None, weights):
            node = node_of(data.X, data.y, w, criterion)
            split = best_split(node, PROPOSERS[name]())
            if split is None:
                assert name == "gdt" or "minority" in criterion
                continue
            left = data.X @ split.coef <= split.threshold
            sides = np.bincount(data.y[left], None if w is None else w[left], minlength=len(data.classes)).astype(float)
            assert split.gain == pytest.approx(gains(sides[None], node.class_weights, criterion)[0], rel=1e-9)
            assert np.linalg.norm(split.coef) == pytest.approx(1.0, abs=1e-12)


def test_every_module_of_the_package_is_registered_on_import():
    modules = {m.name for m in pkgutil.iter_modules(proposers.__path__) if not m.name.startswith("_")}
    assert {cls.__module__.rsplit(".", 1)[1] for cls in PROPOSERS.values()} == modules


def test_a_proposer_that_yields_nothing_makes_a_leaf():
    class Silent(Proposer):
        def propose(self, node):
            return iter(())

    assert best_split(node_of(np.eye(2), [0, 1]), Silent()) is None


def test_a_node_knows_its_classes():
    node = node_of([[0.0], [1.0], [2.0]], [0, 2, 2], weights=np.array([1.0, 2.0, 0.5]))
    assert node.class_weights.tolist() == [1.0, 0.0, 2.5]
    X, w = node.of_class(2)
    assert X.tolist() == [[1.0], [2.0]] and w.tolist() == [2.0, 0.5]
    assert node_of([[0.0], [1.0]], [0, 1]).of_class(1)[1] is None


def test_axis_parallel_proposes_the_axes_and_candidates_are_made_contiguous_whatever_they_come_as():
    assert kinds(proposals("axis_parallel", node_of(np.eye(3), [0, 1, 1]))) == ["axes"]
    D = Candidates.directions(np.eye(3)[:, ::-1].T, np.arange(6.0)[::2]).spec
    assert D[1].flags.c_contiguous and D[2].flags.c_contiguous
    assert Candidates.reflection(np.arange(6.0)[::2]).spec[1].flags.c_contiguous


def test_hhcart_a_reflects_every_eigenvector_by_class_and_falling_eigenvalue_and_d_the_first_of_each():
    data = real_set("iris")
    node = node_of(data.X, data.y)
    expected = [principal_axes(class_covariance(data.X[data.y == code])) for code in range(3)]
    for name, chosen in (("hhcart_a", expected), ("hhcart_d", [axes[:1] for axes in expected])):
        result = proposals(name, node, tau=0.0)
        vectors = np.vstack(chosen)
        assert kinds(result) == ["reflection"] * len(vectors)
        for (_, u), d in zip(result, vectors, strict=True):
            np.testing.assert_allclose(u, householder_vector(d), atol=1e-12)


def test_the_sign_option_turns_every_eigenvector_round():
    data = real_set("wine")
    node = node_of(data.X, data.y)
    for name in HHCART_NAMES:
        negative, positive = (proposals(name, node, tau=0.0, sign=sign) for sign in ("negative", "positive"))
        for (_, u), (_, v) in zip(negative, positive, strict=True):
            # u ~ e_1 - d and v ~ e_1 + d span the same plane and are at right angles.
            assert abs(u @ v) < 1e-9
            assert u[0] >= np.sqrt(0.5) - 1e-12 and v[0] <= np.sqrt(0.5) + 1e-12


def test_an_eigenvector_within_tau_of_an_axis_brings_the_original_space_once():
    # Two classes stretched along the axes: no reflection, and the axes only once.
    X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, -1.0]])
    node = node_of(np.vstack([X, X + 10.0]), [0] * 4 + [1] * 4)
    for name in HHCART_NAMES:
        assert kinds(proposals(name, node)) == ["axes"]
        assert kinds(proposals(name, node, tau=0.0)) == ["axes"]  # nothing to reflect on the axis itself
    tilt = np.array([[1.0, 0.02], [-0.02, 1.0]])
    tilted = node_of(np.vstack([X @ tilt, X + 10.0]), [0] * 4 + [1] * 4)
    assert kinds(proposals("hhcart_d", tilted, tau=0.05)) == ["axes"]
    assert kinds(proposals("hhcart_d", tilted, tau=0.001)) == ["reflection", "axes"]
    data = real_set("bupa")
    assert kinds(proposals("hhcart_a", node_of(data.X, data.y), tau=2.0)) == ["axes"]  # the axis-parallel tree


def test_classes_without_an_eigenvector_give_none_and_the_axes_remain_if_no_class_has_one():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 1.0], [5.0, 2.0]])
    for name in (*HHCART_NAMES, "hhcrv"):
        assert kinds(proposals(name, node_of(X, [0, 0, 1, 1]))) == ["reflection"]  # one from the second class
        assert kinds(proposals(name, node_of(X[[0, 1, 2]], [0, 0, 1]))) == ["axes"]


def test_the_eigenvalue_tolerance_drops_small_eigenvalues():
    X = np.array([[0.0, 0.0], [4.0, 4.0], [2.0, 2.1], [2.0, 1.9]])
    node = node_of(np.vstack([X, [[9.0, 9.0]]]), [0] * 4 + [1])
    assert len(proposals("hhcart_a", node)) == 2
    assert len(proposals("hhcart_a", node, eigenvalue_tolerance=0.01)) == 1


def test_gdt_proposes_one_plane_with_its_offset_and_hhgdt_the_reflection_of_its_normal():
    data = real_set("bupa")
    node = node_of(data.X, data.y)
    ((kind, D, t),) = proposals("gdt", node)
    assert kind == "directions" and D.shape == (1, 6) and t.shape == (1,)
    ((kind, u),) = proposals("hhgdt", node)
    np.testing.assert_allclose(u, householder_vector(orient(D[0])), atol=1e-9)
    ((kind, v),) = proposals("hhgdt", node, sign="positive")
    assert abs(u @ v) < 1e-9
    assert kinds(proposals("hhgdt", node, tau=2.0)) == ["axes"]


def test_the_better_bisector_is_the_one_of_greater_gain():
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y)
        planes = bisectors(node)
        scores = []
        for plane in planes:
            left = data.X @ plane[:-1] + plane[-1] <= 0
            sides = np.bincount(data.y[left], minlength=len(data.classes)).astype(float)
            scores.append(gains(sides[None], node.class_weights, "gini")[0] if 0 < left.sum() < data.n else 0.0)
        chosen = better_bisector(node, "all")
        np.testing.assert_array_equal(chosen, planes[int(np.argmax(scores))])


@pytest.mark.parametrize("name", ["gdt", "hhgdt"])
def test_bisectors_are_scored_by_super_classes_but_by_all_classes_in_other_methods(name):
    assert PROPOSERS[name]().bisector_classes == make(name).bisector_classes == "super"
    tao = TAOClassifier(name)
    (start,) = tao.fit(real_set("iris").X, real_set("iris").y)._starts(tao._bases())
    members = [start.proposer, *proposers_of(name), PROPOSERS["union"]().members()[1]]
    assert [member.bisector_classes for member in members] == ["all"] * 3
    (named,) = PROPOSERS["union"]([name]).members()
    assert named.bisector_classes == "super"


def test_bisectors_can_be_scored_over_the_two_super_classes():
    for data in map(real_set, ("glass", "wine", "balance_scale")):
        node = node_of(data.X, data.y)
        rest = data.y != np.argmax(np.bincount(data.y))
        scores = []
        for plane in bisectors(node):
            left = data.X @ plane[:-1] + plane[-1] <= 0
            sides = np.array([(left & ~rest).sum(), (left & rest).sum()], dtype=float)
            totals = np.bincount(rest).astype(float)
            scores.append(gains(sides[None], totals, "gini")[0] if 0 < left.sum() < data.n else 0.0)
        chosen = better_bisector(node, "super")
        np.testing.assert_array_equal(chosen, bisectors(node)[int(np.argmax(scores))])


def test_rows_on_the_bisector_itself_go_left_if_ties_are_tolerant():
    # The classes mirror each other in x + y = 2; two rows of each lie on that line.
    side = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    line = np.array([[2.0, 0.0], [0.5, 1.5]])
    X, y = np.vstack([side, line, 2.0 - side[:, ::-1], line]), np.repeat([0, 1], 5)
    for shift in (0.0, 1.0 / 3.0, 1e3 / 7.0):
        planes = [p for p in bisectors(node_of(X + shift, y)) if abs(p[0] - p[1]) < 1e-6]
        assert len(planes) == 1
        assert ((line + shift) @ planes[0][:2] + planes[0][2] < 0).all()


def test_the_majority_of_equal_classes_is_the_lowest_code():
    X = np.random.default_rng(2).normal(size=(20, 2))
    y = np.arange(20) % 2
    a, b = bisectors(node_of(X, y)), bisectors(node_of(X, 1 - y))
    for first, second in zip(a, b, strict=True):  # the same planes either way, in the same order
        np.testing.assert_allclose(first, second, atol=1e-9)
