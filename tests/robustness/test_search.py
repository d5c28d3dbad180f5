"""A random search: any algorithm on any shape of table is fitted, asked, saved and loaded, or refuses in one sentence.

A case has a number, which is its seed. Work without end, a traceback or a model that cannot be loaded is a finding.
"""

from collections.abc import Callable

import numpy as np
import pytest
from robustness_support import DISCRETE, NAMES, REGRESSION, SOAK, at_most, learned, many, same_when_loaded

MOST_CPU_SECONDS = 60
BLOCK = 8  # cases of one test

Rng = np.random.Generator


def change_some_columns(share: float, factor: float) -> Callable[[Rng, np.ndarray], None]:
    def change(rng: Rng, X: np.ndarray) -> None:
        X[:, rng.random(X.shape[1]) < share] *= factor

    return change


def equal_rows(rng: Rng, X: np.ndarray) -> None:
    X[:] = X[rng.integers(0, max(1, len(X) // 4), len(X))]


def nearly_all_zero(rng: Rng, X: np.ndarray) -> None:
    X[rng.random(X.shape) < 0.95] = 0.0


def constant_columns(rng: Rng, X: np.ndarray) -> None:
    X[:, rng.random(X.shape[1]) < 0.5] = rng.normal()


def ties(rng: Rng, X: np.ndarray) -> None:
    np.floor(X, out=X)


def far_from_zero(rng: Rng, X: np.ndarray) -> None:
    X += 10.0 ** rng.integers(3, 15)


def copied_columns(rng: Rng, X: np.ndarray) -> None:
    X[:] = X[:, rng.integers(0, max(1, X.shape[1] // 2), X.shape[1])]


CHANGES = (
    *(equal_rows, nearly_all_zero, constant_columns, ties, far_from_zero, copied_columns),
    *(change_some_columns(0.4, 5e-320), change_some_columns(0.4, 1e300)),
)


def case(number: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Return an algorithm with rows and targets."""
    rng = np.random.default_rng(number)
    name = NAMES[int(rng.integers(len(NAMES)))]
    n, p = int(rng.choice((4, 6, 9, 15, 40, 90))), int(rng.choice((1, 2, 3, 5, 12, 70, 130)))
    X = np.floor(3 * rng.uniform(size=(n, p))) if name in DISCRETE else rng.normal(size=(n, p))
    with np.errstate(over="ignore"):
        for change in [item for item in CHANGES if rng.random() < 0.2] or [CHANGES[int(rng.integers(len(CHANGES)))]]:
            change(rng, X)
    np.clip(X, -1e300, 1e300, out=X)
    if name in REGRESSION:
        return name, X, rng.normal(size=n) * 10.0 ** rng.choice((-300, 0, 0, 0, 0, 90))
    kinds = (
        rng.integers(0, 2, n),
        (np.arange(n) < 2).astype(int) + (np.arange(n) < 1),  # two rare classes
        rng.integers(0, 6, n),
        np.arange(n) % (n // 2 + 1),  # more classes than half the rows
    )
    return name, X, kinds[int(rng.integers(4))]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0 if SOAK else BLOCK, many(2 * BLOCK, 4000), BLOCK))
def test_a_fit_ends_with_predictions_that_its_file_repeats_or_with_a_sentence(tmp_path, first):
    made = 0
    for number in range(first, first + BLOCK):
        name, X, y = case(number)
        print(f"case {number}: {name}, {X.shape[0]} x {X.shape[1]}")
        with at_most(MOST_CPU_SECONDS):
            if not isinstance(learned(name, X, y), str):
                made += 1
                same_when_loaded(name, X, y, tmp_path)
    print(f"{made} of {BLOCK} models made")


def test_every_algorithm_is_tried():
    assert {case(number)[0] for number in range(4000)} == set(NAMES)
