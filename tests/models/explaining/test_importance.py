"""Importances of columns: exact where they are cheap, by what there is elsewhere, and said to be what they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli import HHCARTClassifier, make
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.models import Model
from oblique_cli.models.explaining import importance
from oblique_cli.models.explaining.importance import IMPURITY, PERMUTATION, SHAPLEY, Importances, importances_of, sample
from oblique_cli.models.explaining.shapley import shapley_values


def rows_of(n=300, p=4, seed=0):
    """Rows of which the first two columns decide, the second less."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + 0.4 * X[:, 1] > 0).astype(np.int32)


def test_they_are_the_mean_sizes_of_exact_shapley_values():
    X, y = rows_of()
    model = Model.of(HHCARTClassifier(max_terms=2, random_state=0).fit(X, y))
    importances = importances_of(model, X)
    rows, others = sample(model, X, importance.ROWS), sample(model, X, importance.BACKGROUND)
    assert (len(rows), len(others)) == (100, 50) == (importances.rows, importances.background)
    values = shapley_values(model, X[rows], X[others]).values
    by_hand = {f"x{j + 1}": np.mean([abs(values[i, j, k]) for i in range(100) for k in range(2)]) for j in range(4)}
    assert importances.by == SHAPLEY and importances.values == pytest.approx(by_hand, abs=1e-12)
    assert list(importances.values)[:2] == ["x1", "x2"] and sorted(importances.values.values())[::-1] == list(
        importances.values.values()
    )
    assert importances.description == "mean |Shapley value| of the probability, 100 rows against 50"


def test_they_are_of_what_the_model_gives_exactly():
    X, y = rows_of()
    scores = importances_of(Model.of(make("logistic_tree", random_state=0).fit(X, y)), X)
    assert (scores.by, scores.output) == (SHAPLEY, "score") and "log odds" in scores.description
    numbers = importances_of(Model.of(make("retis").fit(X, X[:, 2] + 0.1 * X[:, 3])), X)
    assert (numbers.by, numbers.output) == (SHAPLEY, "value") and next(iter(numbers.values)) == "x3"


def test_planes_of_many_columns_are_told_by_impurity_on_any_machine(monkeypatch):
    X, y = rows_of()
    model = Model.of(HHCARTClassifier(random_state=0).fit(X, y))
    monkeypatch.setattr(importance, "STEPS", 1000)
    importances = importances_of(model, X)
    assert importances.by == IMPURITY and (importances.rows, importances.background) == (0, 0)
    local = model.estimator.feature_importances_
    assert [importances.values[f"x{j + 1}"] for j in range(4)] == local.tolist()
    assert sum(importances.values.values()) == pytest.approx(1.0)


def test_a_model_too_large_to_take_apart_is_told_by_impurity(monkeypatch):
    X, y = rows_of()
    model = Model.of(make("axis_parallel", random_state=0).fit(X, y))
    monkeypatch.setattr(importance, "MOST_CELLS", 2 * model.estimator.n_nodes_)
    assert importances_of(model, X).by == SHAPLEY
    monkeypatch.setattr(importance, "MOST_CELLS", 2 * model.estimator.n_nodes_ - 1)
    assert importances_of(model, X).by == IMPURITY


def test_indicators_count_for_their_column(monkeypatch):
    monkeypatch.setattr(importance, "STEPS", 10)
    rng = np.random.default_rng(3)
    levels, number = rng.integers(0, 3, 200).astype(float), rng.normal(size=200)
    X = np.column_stack([levels, number])
    y = ((levels == 1) ^ (number > 1)).astype(np.int32)
    codes = (np.array([0.0, 1.0, 2.0]),)
    encoder = ColumnEncoder(2, np.array([1]), np.array([0.0]), np.array([0]), levels=codes, usual=np.array([0.0]))
    tree = make("axis_parallel", random_state=0).fit(encoder.transform(X), y)
    importances = importances_of(Model.of(tree, encoder=encoder, feature_names=("level", "number")), X)
    seen = tree.feature_importances_  # the number, then an indicator for each level
    assert importances.by == IMPURITY
    assert importances.values == pytest.approx({"level": seen[1:].sum(), "number": seen[0]})


def test_what_is_no_tree_is_told_by_exchanging_cells():
    X, y = rows_of()
    model = Model.of(make("knn").fit(X, y))
    importances = importances_of(model, X, y)
    assert (
        importances.by == PERMUTATION
        and next(iter(importances.values)) == "x1"
        and "exchanged" in importances.description
    )
    assert importances_of(model, X) is None  # without answers nobody knows what is lost
    constant = X.copy()
    constant[:, 3] = 1.0
    assert importances_of(Model.of(make("knn").fit(constant, y)), constant, y).values["x4"] == 0.0


def test_rows_with_gaps_that_the_model_cannot_take_are_left_out():
    X, y = rows_of(60)
    model = Model.of(HHCARTClassifier(random_state=0).fit(X, y))
    gaps = X.copy()
    gaps[::2, 1] = np.nan
    assert sample(model, gaps, 100).tolist() == list(range(1, 60, 2))
    assert importances_of(model, gaps).rows == 30
    gaps[:, 0] = np.nan
    assert importances_of(model, gaps).by == IMPURITY


def test_the_sentence_names_the_largest():
    importances = Importances(IMPURITY, {f"x{j}": 1.0 / (j + 1) for j in range(8)})
    assert importances.sentence(2) == (
        "Importance (share of the fall of impurity by splits): x0 1, x1 0.5 and 6 smaller."
    )


PLAIN = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["by", "values", "rows", "x"]), inner),
    max_leaves=6,
)


@given(plain=PLAIN)
def test_facts_that_make_no_sense_are_none(plain):
    importances = Importances.from_plain(plain)
    assert importances is None or Importances.from_plain(importances.plain()) == importances
    result = Importances(SHAPLEY, {"a": 0.5}, "score", 9, 3)
    assert Importances.from_plain(result.plain()) == result
    assert Importances.from_plain({**result.plain(), "output": "weather"}) is None
    assert Importances.from_plain({**result.plain(), "values": {"a": float("nan")}}) is None
