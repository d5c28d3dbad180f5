"""What holds for every algorithm: degenerate sets, layouts of memory, and what an answer may not depend on."""

import numpy as np
import pytest
from contracts import NATIVE_NAMES, REAL_SETS, STOCHASTIC, grow, real_set
from robustness_support import (
    DEGENERATE,
    DISCRETE,
    NAMES,
    NUMERIC,
    REGRESSION,
    SEED,
    SOAK,
    WEIGHTED,
    counted,
    degenerate,
    learned,
    many,
    rows,
)

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.tree.stopping import Stopping

TOP_DOWN = [name for name in NAMES if ALGORITHMS[name].family.growth == "top-down trees"]
CLASSIFIERS = [name for name in NAMES if name not in REGRESSION]
SEEDS = range(many(1, 20))


# scikit-learn wonders about targets of many classes.
@pytest.mark.sample(80)
@pytest.mark.covered(2)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("name", NAMES)
def test_a_degenerate_set_gives_labels_or_a_sentence(name, case):
    X, y = degenerate(name, case)
    model = learned(name, X, y)
    if not isinstance(model, str) and case == "one class":
        assert (model == 0).all()


# Layouts of memory


def layouts(X: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers, stored in other ways."""
    readonly = X.copy()
    readonly.flags.writeable = False
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    return {
        "Fortran order": np.asfortranarray(X),
        "read-only": readonly,
        "negative strides": X[::-1, ::-1].copy()[::-1, ::-1],
        "every other row and third column": wide[::2, ::3],
        "other byte order": X.astype(X.dtype.newbyteorder()),
        "lists": X.tolist(),  # type: ignore[dict-item]
    }


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", NAMES)
def test_the_layout_of_memory_decides_nothing(name):
    X, y = rows(name)
    before = X.copy()
    expected = learned(name, X, y)
    assert not isinstance(expected, str)
    for layout, stored in layouts(X).items():
        np.testing.assert_array_equal(learned(name, stored, y, X), expected, err_msg=layout)
    labels = np.zeros(2 * len(y), dtype=y.dtype)
    labels[::2] = y
    np.testing.assert_array_equal(learned(name, X, labels[::2]), expected)
    np.testing.assert_array_equal(X, before)


# What an answer may not depend on

DRAWING = ("forests", "boosted trees", "forests of numbers", "boosted trees of numbers")
# Rows are drawn by their numbers; a mixture starts from rows; of equally near rows the first is the nearer.
BY_ROW_NUMBER = {
    *(name for name in NAMES if ALGORITHMS[name].family.growth in (*DRAWING, "bottom-up trees")),
    *(name for name in NAMES if ALGORITHMS[name].family.growth == "nearest neighbors"),
    "c45_bagging",
    "c45_forest",
    "rft",
    "odt",
    "odt_lr",
    "aft",
}
# Sums in another order have other last digits, which scikit-learn's solvers and trees do not hide.
BY_ROUNDING = {"svm", "gepsvm", "cart_regression"}
# The rows of inner folds are drawn by their numbers, whatever they are, as results that are stored were.
BY_INNER_FOLDS = {"tao", "logistic_tree", "lmt"}
# Of equally good planes LIBSVM takes one by the order of the rows.
BY_SOLVER = {"svm"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in BY_ROW_NUMBER | BY_INNER_FOLDS])
def test_the_order_of_rows_decides_nothing(name, seed):
    X, y = rows(name, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    expected, result = learned(name, X, y), learned(name, X[order], y[order], X)
    if name in BY_ROUNDING or name in REGRESSION:
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(result, expected)


def differing(name: str, set_name: str, seed: int) -> int:
    """How many rows of a real set are predicted otherwise when they are learned in another order."""
    data = real_set(set_name)
    X, y = data.X, data.y
    if name in REGRESSION:
        y = X[:, 0] + np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(X))
    expected, result = learned(name, X, y), learned(name, X[order], y[order], X)
    assert not isinstance(expected, str) and not isinstance(result, str)
    if name in REGRESSION:
        return int((~np.isclose(result, expected, rtol=1e-6, atol=1e-9)).sum())
    return int((result != expected).sum())


@pytest.mark.sample(0)
@pytest.mark.covered(1)
@pytest.mark.parametrize("set_name", REAL_SETS if SOAK else ["iris", "wine"])
@pytest.mark.parametrize("name", [name for name in NUMERIC if name not in BY_ROW_NUMBER | BY_INNER_FOLDS | BY_SOLVER])
def test_the_order_of_real_rows_decides_nothing(name, set_name):
    with counted("orders of rows") as counts:
        counts["cases"] += 1
        assert differing(name, set_name, seed=int(SEED or 1)) == 0


@pytest.mark.parametrize(
    ("name", "set_name"), [("tao", "bupa"), ("logistic_tree", "bupa"), ("lmt", "bupa"), ("svm", "balance_scale")]
)
def test_the_exceptions_to_the_order_of_rows_are_ones(name, set_name):
    assert differing(name, set_name, seed=1) > 0


@pytest.mark.sample(25)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_names_of_classes_decide_nothing(name):
    X, y = rows(name, n_classes=3)
    expected = learned(name, X, y)
    assert not isinstance(expected, str)
    for names in (np.array(["ant", "bee", "cat"]), np.array([-7, 0, 900])):
        model = learned(name, X, names[y])
        np.testing.assert_array_equal(model, [names[k] if k in (0, 1, 2) else k for k in expected.tolist()])


def binary_fractions(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of multiples of 1/64, so that moving them by a power of 2 is exact."""
    X, y = rows(name, seed=seed)
    return np.round(X * 64) / 64, y


# The norm of a hyperplane with its offset depends on the origin where moments are singular (docs/core.md).
FROM_THE_ORIGIN = {"gdt", "hhgdt"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name in TOP_DOWN if name not in FROM_THE_ORIGIN and name not in STOCHASTIC])
def test_moving_all_rows_decides_nothing(name, seed):
    X, y = binary_fractions(name, seed)
    a, b = (grow(name, rows_, y) for rows_ in (X, X + np.array([2.0, -4.0, 8.0])))
    np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**13])
@pytest.mark.parametrize("name", [name for name in TOP_DOWN if name not in FROM_THE_ORIGIN])
def test_a_common_unit_decides_nothing(name, unit, seed):
    X, y = rows(name, seed=seed)
    a, b = (grow(name, rows_, y) for rows_ in (X, X * unit))
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(b.thresholds, a.thresholds * unit, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_features_decides_nothing_but_ties(seed):
    X, y = rows("axis_parallel", n=120, p=4, seed=seed)
    order = np.random.default_rng(seed).permutation(4)
    # In small nodes features tie, and the first one wins.
    a, b = (grow("axis_parallel", rows_, y, stopping=Stopping(max_depth=2)) for rows_ in (X, X[:, order]))
    np.testing.assert_array_equal(a.apply(X), b.apply(X[:, order]))


def test_every_algorithm_is_attacked():
    assert set(NAMES) == set(ALGORITHMS) and set(CLASSIFIERS) | REGRESSION == set(NAMES)
    assert DISCRETE and WEIGHTED and set(NATIVE_NAMES) <= set(TOP_DOWN)


@pytest.mark.parametrize("broken", ["NaN", "another label", "a traceback"])
def test_the_detector_can_fire(broken, monkeypatch):
    import robustness_support

    class Broken:
        def fit(self, X, y):
            if broken == "a traceback":
                raise RuntimeError("not ours")
            return self

        def predict(self, X):
            return np.full(len(X), 7)

        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    monkeypatch.setattr(robustness_support, "estimator", lambda name, **more: Broken())
    y = np.full(40, 7) if broken == "NaN" else np.arange(40) % 2
    with pytest.raises((AssertionError, RuntimeError)):
        learned("hhcart_a", np.ones((40, 3)), y)
