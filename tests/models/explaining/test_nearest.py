"""The nearest point of a polyhedron."""

import numpy as np
import pytest

from oblique_cli.models.explaining.nearest import least_distance


def random_polyhedron(rng: np.random.Generator, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    G = rng.normal(size=(m, n))
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    return G, G @ rng.normal(size=n) * 3 - rng.exponential(size=m) * rng.choice([0.0, 1.0], m)


def test_by_hand():
    np.testing.assert_allclose(least_distance(np.array([[1.0, 0.0]]), np.array([2.0])), [2.0, 0.0])
    corner = least_distance(np.eye(2), np.array([3.0, 4.0]))
    np.testing.assert_allclose(corner, [3.0, 4.0])
    assert least_distance(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None
    np.testing.assert_array_equal(least_distance(np.eye(2), np.array([-1.0, 0.0])), [0.0, 0.0])


@pytest.mark.parametrize("seed", range(60))
def test_the_answer_fulfills_the_conditions_of_optimality(seed):
    # Karush, Kuhn and Tucker: u is a combination of active normals with weights that are not negative.
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 15)), int(rng.integers(1, 9))
    G, h = random_polyhedron(rng, m, n)
    scale = 10.0 ** rng.uniform(-8, 6)
    u = least_distance(G, h * scale)
    assert u is not None
    u = u / scale
    slack = G @ u - h
    assert slack.min() > -1e-9
    active = slack < 1e-8
    if not active.any():
        np.testing.assert_array_equal(u, 0.0)
        return
    from scipy.optimize import lsq_linear  # nnls of SciPy 1.14 does not converge for seed 20

    left = lsq_linear(G[active].T, u, bounds=(0.0, np.inf), method="bvls", tol=1e-15).fun
    assert np.linalg.norm(left) < 1e-8 * (1 + np.linalg.norm(u))


@pytest.mark.parametrize("seed", range(20))
def test_an_empty_polyhedron_is_noticed(seed):
    rng = np.random.default_rng(seed)
    G, h = random_polyhedron(rng, 6, 4)
    wanted = rng.exponential(size=6)
    # The last half-space lies on the other side of a combination of the others.
    normal = -(wanted @ G)
    size = np.linalg.norm(normal)
    G, h = np.vstack([G, normal / size]), np.append(h, (-(wanted @ h) + 1e-3) / size)
    assert least_distance(G, h) is None


def test_repeated_and_parallel_half_spaces_do_no_harm():
    G = np.array([[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 3)
    np.testing.assert_allclose(least_distance(G, np.array([1.0, 2.0, 2.0, 1.5, 2.0, 1.0, 1.0, -3.0])), [2.0, 1.0])
