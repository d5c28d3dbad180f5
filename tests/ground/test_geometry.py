"""Reflections, eigenvectors and clustering hyperplanes: the readable reference, the compiled code, the textbook."""

import csv

import numpy as np
import pytest
import scipy.linalg
from contracts import assert_same_tree, grow, real_set
from oracles import naive_householder

import oblique_cli._core as _core
from oblique_cli.evaluation import published
from oblique_cli.ground.geometry import (
    Standard,
    angle_bisectors,
    augmented_moment,
    canonical_basis,
    class_covariance,
    clustering_hyperplane,
    distinct_gap,
    householder,
    householder_vector,
    is_wide,
    normalize_plane,
    orient,
    parallel_to_an_axis,
    principal_axes,
)


def unit(v):
    v = np.asarray(v, dtype=float)
    return v / np.linalg.norm(v)


def rotation(rng, p):
    return np.linalg.qr(rng.normal(size=(p, p)))[0]


def same_plane(a, b, tolerance=1e-7):
    a, b = unit(a), unit(b)
    return min(np.abs(a - b).max(), np.abs(a + b).max()) < tolerance


def compiled_hyperplane(A, B, standard=None):
    standard = standard or Standard(np.zeros(len(A) - 1), np.ones(len(A) - 1))
    w, case = _core.clustering_hyperplane(
        np.ascontiguousarray(A), np.ascontiguousarray(B), standard.center, standard.scale
    )
    return np.asarray(w), case


SOLVERS = {"reference": clustering_hyperplane, "compiled": compiled_hyperplane}
AXES = {
    "reference": principal_axes,
    "compiled": lambda C, tolerance=1e-10, sign=-1.0: np.asarray(_core.principal_axes(C, tolerance, sign, False)),
}


# Householder (thesis 3.3)


def test_a_reflection_swaps_two_axes_along_e1_minus_d():
    np.testing.assert_allclose(householder(np.array([0.0, 1.0])), [[0.0, 1.0], [1.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(householder_vector(np.array([0.0, 1.0])), np.array([1.0, -1.0]) / np.sqrt(2.0))


@pytest.mark.parametrize("p", [1, 2, 3, 7, 30])
def test_a_reflection_is_symmetric_orthogonal_and_sends_d_to_the_first_axis(p):
    for seed in range(50):
        d = orient(unit(np.random.default_rng([p, seed]).normal(size=p)))
        H = householder(d)
        np.testing.assert_allclose(H, H.T, atol=1e-15)
        np.testing.assert_allclose(H.T @ H, np.eye(p), atol=1e-14)
        np.testing.assert_allclose(H @ d, np.eye(p)[0], atol=1e-14)
        np.testing.assert_allclose(H[:, 0], d, atol=1e-14)
        np.testing.assert_allclose(H, naive_householder(d), atol=1e-13, err_msg=f"seed {seed}")


# Signs, axes, bases


@pytest.mark.parametrize(
    ("v", "negative"),
    [
        ([0.6, 0.8], [-0.6, -0.8]),
        ([-0.6, 0.8], [-0.6, 0.8]),
        ([0.0, 1.0], [0.0, -1.0]),
        ([1e-12, 0.6, -0.8], [-1e-12, -0.6, 0.8]),  # a first component of rounding noise does not decide
    ],
)
def test_the_first_component_that_is_not_zero_is_made_negative_or_positive(v, negative):
    v = np.array(v)
    for start in (v, -v):
        np.testing.assert_array_equal(orient(start), negative)
        np.testing.assert_array_equal(orient(start, 1.0), -np.array(negative))


def test_parallel_to_an_axis_is_tested_on_every_axis_and_both_signs():
    for axis in np.eye(3):
        for sign in (1.0, -1.0):
            assert parallel_to_an_axis(sign * axis, 0.0)
            near = unit(sign * axis + 0.04 * np.roll(axis, 1))
            assert parallel_to_an_axis(near, 0.05) and not parallel_to_an_axis(near, 0.03)
    assert not parallel_to_an_axis(unit(np.ones(3)), 0.05)


def test_a_canonical_basis_depends_on_the_space_alone():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(2, 8))
        k = int(rng.integers(1, p + 1))
        columns = rotation(rng, p)[:, :k]
        basis = canonical_basis(columns)
        np.testing.assert_allclose(basis.T @ basis, np.eye(k), atol=1e-12)
        np.testing.assert_allclose(basis @ basis.T, columns @ columns.T, atol=1e-12)  # the same space
        again = canonical_basis(columns @ rotation(rng, k))
        np.testing.assert_allclose(again, basis, atol=1e-9, err_msg=f"seed {seed}")


# Principal axes


@pytest.mark.parametrize("solver", AXES)
def test_principal_axes_are_oriented_eigenvectors_by_falling_eigenvalue(solver):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(1, 7))
        values = np.sort(rng.uniform(0.5, 9.0, p))[::-1]
        V = rotation(rng, p)
        C = (V * values) @ V.T
        axes = AXES[solver](0.5 * (C + C.T))
        assert axes.shape == (p, p)
        for value, v, axis in zip(values, V.T, axes, strict=True):
            np.testing.assert_allclose(axis, orient(v), atol=1e-7, err_msg=f"seed {seed}")
            np.testing.assert_allclose(C @ axis, value * axis, atol=1e-9)
        np.testing.assert_allclose(AXES[solver](0.5 * (C + C.T), 1e-10, 1.0), -axes, atol=1e-12)


@pytest.mark.parametrize("solver", AXES)
def test_eigenvalues_of_zero_give_no_axis(solver):
    V = rotation(np.random.default_rng(3), 4)
    C = (V * [5.0, 2.0, 1e-13, 0.0]) @ V.T
    C = 0.5 * (C + C.T)
    assert AXES[solver](C).shape == (2, 4)
    assert AXES[solver](C, 0.5).shape == (1, 4)  # the tolerance is relative to the largest
    assert AXES[solver](np.zeros((3, 3))).shape == (0, 3)


@pytest.mark.parametrize("solver", AXES)
def test_axes_of_repeated_eigenvalues_do_not_depend_on_the_solvers_basis(solver):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        V = rotation(rng, 5)
        expected = None
        for _ in range(3):
            W = V.copy()
            W[:, 1:4] = V[:, 1:4] @ rotation(rng, 3)  # another basis of the same eigenspace
            C = (W * [7.0, 3.0, 3.0, 3.0, 1.0]) @ W.T
            axes = AXES[solver](0.5 * (C + C.T))
            expected = axes if expected is None else expected
            np.testing.assert_allclose(axes, expected, atol=1e-7, err_msg=f"seed {seed}")
        block = canonical_basis(V[:, 1:4])
        np.testing.assert_allclose(expected[1:4], [orient(v) for v in block.T], atol=1e-7)


# Class covariance (thesis eq. 3.2.1)


def test_the_class_covariance_is_the_samples_and_weight_two_is_a_doubled_row():
    X = real_set("wine").X[:40]
    np.testing.assert_allclose(class_covariance(X), np.cov(X, rowvar=False), rtol=1e-9, atol=1e-12)
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(12, 3)), rng.integers(1, 4, 12)
    doubled = np.repeat(X, w, axis=0)
    np.testing.assert_allclose(class_covariance(X, w.astype(float)), class_covariance(doubled), rtol=1e-12)


def test_rows_and_values_that_are_the_same_up_to_rounding_have_no_covariance():
    # Eigenvectors of such differences would be those of the linear algebra library.
    X = np.array([[0.1 + 0.2, 5.0], [0.3, 5.0], [0.3, 5.0]])
    assert X[0, 0] != X[1, 0]
    assert class_covariance(X) is None
    X[2, 1] = 6.0
    assert class_covariance(X)[0].tolist() == [0.0, 0.0]
    rows = np.vstack([X[[0, 1, 1]], [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]])
    y = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    native, reference = (grow("hhcart_a", rows, y, engine=engine) for engine in ("native", "reference"))
    assert_same_tree(native, reference, coef=1e-12, threshold=1e-12)
    assert class_covariance(np.array([[1.0, 2.0]])) is None
    assert class_covariance(np.full((9, 2), 0.1)) is None
    C = class_covariance(np.column_stack([np.full(9, 0.1), np.arange(9.0)]))
    assert C[0].tolist() == [0.0, 0.0] and C[1, 0] == 0.0  # exactly, not the rounding of a mean


# Clustering hyperplanes (Manwani & Sastry, section II; thesis 5.1)


def two_clouds(rng, n_a=40, n_b=30, p=3):
    A = rng.normal(size=(n_a, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    return A, rng.normal(size=(n_b, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)


def quotient(w, A, B):
    return (w @ B @ w) / (w @ A @ w)


@pytest.mark.parametrize("solver", SOLVERS)
def test_full_rank_solves_the_generalized_eigenproblem(solver):
    for seed in range(40):
        rows = two_clouds(np.random.default_rng(seed))
        G, H = map(augmented_moment, rows)
        standard = Standard.of(np.vstack(rows))
        values, vectors = scipy.linalg.eigh(H, G)
        for frame in (None, standard):
            moments = [augmented_moment(r, None, frame) for r in rows]
            w, case = SOLVERS[solver](*moments, frame)
            assert case == "full_rank"
            assert same_plane(w, vectors[:, -1]), f"seed {seed}"
            assert quotient(w, G, H) == pytest.approx(values[-1], rel=1e-9)
            v, _ = SOLVERS[solver](*moments[::-1], frame)  # the other plane minimizes the quotient
            assert same_plane(v, vectors[:, 0]), f"seed {seed}"


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_singular_moment_projects_the_other_on_its_null_space(solver):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, B = two_clouds(rng, n_a=2, n_b=30, p=4)
        G, H = augmented_moment(A), augmented_moment(B)
        N = scipy.linalg.null_space(np.column_stack([A, np.ones(2)]))
        assert N.shape == (5, 3)
        _, vectors = np.linalg.eigh(N.T @ H @ N)  # Q Q'HQ Q' of Manwani & Sastry, section II.B
        w, case = SOLVERS[solver](G, H)
        assert case == "null_space"
        assert same_plane(w, N @ vectors[:, -1]), f"seed {seed}"
        np.testing.assert_allclose(np.column_stack([A, np.ones(2)]) @ unit(w), 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_shared_null_spaces_solve_the_quotient_within_the_range(solver):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, B = two_clouds(rng)
        A, B = (np.column_stack([Z, Z[:, 0] - 2.0 * Z[:, 1]]) for Z in (A, B))  # a column that says nothing new
        G, H = augmented_moment(A), augmented_moment(B)
        R = scipy.linalg.orth(G, rcond=1e-10)
        assert R.shape == (5, 4)
        _, vectors = scipy.linalg.eigh(R.T @ H @ R, R.T @ G @ R)  # thesis eq. 5.1.9
        w, case = SOLVERS[solver](G, H)
        assert case == "range_space"
        assert same_plane(w, R @ vectors[:, -1]), f"seed {seed}"


@pytest.mark.parametrize("solver", SOLVERS)
def test_there_is_no_plane_for_a_moment_of_zero(solver):
    assert SOLVERS[solver](np.zeros((3, 3)), np.eye(3))[1] == "none"


@pytest.fixture(scope="module")
def table_5_1():
    with open(published.FOLDER / "hhgdt_table_5_1_sample.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row["X1"]), float(row["X2"])] for row in rows])
    y = np.array([int(row["Y"]) for row in rows])
    return X[y == 1], X[y == 2]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("standardized", [False, True])
def test_table_5_1_is_the_range_space_case_with_parallel_planes(table_5_1, solver, standardized):
    for rows in (table_5_1, [np.repeat(np.arange(a, a + 4.0)[:, None], 2, axis=1) for a in (1, 5)]):
        for Z in rows:
            null = scipy.linalg.null_space(np.column_stack([Z, np.ones(len(Z))]), rcond=1e-10)
            assert same_plane(null[:, 0], [0.7071, -0.7071, 0.0], 1e-4)
        standard = Standard.of(np.vstack(rows)) if standardized else None
        A, B = (augmented_moment(Z, None, standard) for Z in rows)
        planes = []
        for moments in ((A, B), (B, A)):
            w, case = SOLVERS[solver](*moments, standard)
            assert case == "range_space"
            planes.append(normalize_plane(w))
        assert planes[0][:2] == pytest.approx(planes[1][:2])
        np.testing.assert_allclose(planes[0][:2], -np.sqrt([0.5, 0.5]), atol=1e-9)
        bisectors = angle_bisectors(*planes)
        assert len(bisectors) == 1  # parallel: only the plane midway
        assert bisectors[0][2] == pytest.approx(0.5 * (planes[0][2] + planes[1][2]))
        sides = [Z @ bisectors[0][:2] + bisectors[0][2] for Z in rows]
        assert np.sign(np.concatenate(sides)).tolist() in ([s] * len(sides[0]) + [-s] * len(sides[1]) for s in (1, -1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_with_equal_covariances_the_bisector_is_fishers_discriminant(solver):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cloud = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
        shift = rng.normal(size=4)
        A, B = augmented_moment(cloud), augmented_moment(cloud + shift)
        planes = [normalize_plane(SOLVERS[solver](*m)[0]) for m in ((A, B), (B, A))]
        fisher = np.linalg.solve(np.cov(cloud, rowvar=False), shift)
        assert same_plane(planes[0][:4], fisher, 1e-6) and same_plane(planes[1][:4], fisher, 1e-6)
        for bisector in angle_bisectors(*planes):  # Manwani & Sastry, theorem 2
            length = np.linalg.norm(bisector[:4])
            assert same_plane(bisector[:4] / length, fisher, 1e-5), f"seed {seed}"


@pytest.mark.parametrize("solver", SOLVERS)
def test_with_equal_means_all_planes_pass_through_the_mean(solver):
    for seed in range(20):
        A, _ = two_clouds(np.random.default_rng(seed))
        # Wider than A along one axis, narrower along another: else a plane "at infinity", w = 0, has the best quotient.
        B = (A - A.mean(axis=0)) * [3.0, 1.0, 0.2] + A.mean(axis=0)
        moments = augmented_moment(A), augmented_moment(B)
        planes = [normalize_plane(SOLVERS[solver](*m)[0]) for m in (moments, moments[::-1])]
        for plane in planes + angle_bisectors(*planes):  # Manwani & Sastry, theorem 3
            assert abs(plane[:3] @ A.mean(axis=0) + plane[3]) < 1e-9, f"seed {seed}"


def test_bisectors_have_equal_angles_and_lie_midway_between_parallel_planes():
    rng = np.random.default_rng(6)
    for _ in range(20):
        a, b = (normalize_plane(rng.normal(size=4)) for _ in range(2))
        for plane in angle_bisectors(a, b):
            assert np.linalg.norm(plane[:3]) == pytest.approx(1.0)
            assert abs(plane[:3] @ a[:3]) == pytest.approx(abs(plane[:3] @ b[:3]))
            x = -plane[3] * plane[:3] + np.cross(plane[:3], rng.normal(size=3))  # a point on the bisector
            assert abs(x @ a[:3] + a[3]) == pytest.approx(abs(x @ b[:3] + b[3]))
    a, b = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 0.0, -6.0])  # x = 2 and x = 6
    for second in (b, -b):
        assert [p.tolist() for p in angle_bisectors(a, second)] == [[-1.0, 0.0, 4.0]]


def test_planes_moments_gaps_and_wide_rows_by_hand():
    np.testing.assert_allclose(normalize_plane(np.array([3.0, -4.0, 10.0])), [-0.6, 0.8, -2.0])
    assert normalize_plane(np.array([0.0, 0.0, 1.0])) is None
    X, w = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([1.0, 3.0])
    by_hand = (np.outer([1, 2, 1], [1, 2, 1]) + 3 * np.outer([3, 5, 1], [3, 5, 1])) / 4
    np.testing.assert_allclose(augmented_moment(X, w), by_hand)
    X = np.array([[0.0, 10.0], [4.0, 10.0]])
    assert distinct_gap(X, np.array([0.6, 0.8])) == pytest.approx(1e-9 * 0.6 * 4.0, rel=1e-3)
    assert [is_wide(n, p) for n, p in ((99, 101), (100, 101), (101, 101), (2, 100), (2, 101))] == [
        True, False, False, False, True,
    ]  # fmt: skip


def test_moments_in_standard_coordinates_describe_the_same_planes():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 3)) * [1e-3, 1.0, 1e4] + [5.0, 0.0, 1e5]
    standard = Standard.of(X)
    planes = rng.normal(size=(4, 2))
    np.testing.assert_allclose(standard.to_original(standard.to_standard(planes)), planes, rtol=1e-9)
    Z = (X - standard.center) / standard.scale
    assert (np.abs(Z) <= 0.5).all() and (np.ptp(Z, axis=0) > 0.5).all()
    np.testing.assert_allclose(
        X @ planes[:3] + planes[3], Z @ standard.to_standard(planes)[:3] + standard.to_standard(planes)[3], rtol=1e-8
    )


# Awkward nodes


@pytest.mark.parametrize("solver", SOLVERS)
def test_planes_of_awkward_nodes_are_finite(solver):
    rng = np.random.default_rng(8)
    base = rng.normal(size=(20, 5))
    pairs = {
        "one row": (base[:1], base[1:]),
        "more features than rows": (base[:2], base[2:4]),
        "constant column": tuple(np.column_stack([Z, np.full(10, 3.0)]) for Z in (base[:10], base[10:])),
        "duplicated column": tuple(np.column_stack([Z, Z[:, 0]]) for Z in (base[:10], base[10:])),
        "the same rows": (base[:10], base[:10]),
        "one row each": (base[:1], base[1:2]),
        "one column": (base[:9, :1], base[9:, :1]),
        "large offset": (base[:10] + 1e8, base[10:] + 1e8),
    }
    for name, rows in pairs.items():
        standard = Standard.of(np.vstack(rows))
        A, B = (augmented_moment(Z, None, standard) for Z in rows)
        for moments in ((A, B), (B, A)):
            w, case = SOLVERS[solver](*moments, standard)
            assert case in ("full_rank", "null_space", "range_space") and np.isfinite(w).all(), name
