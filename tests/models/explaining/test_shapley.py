"""`shap_values`: equal to brute force over all coalitions, for every kind of tree and leaf, and to `shap` itself."""

import math
from functools import cache, reduce
from itertools import combinations, product
from operator import add

import export_support as support
import numpy as np
import pytest
from export_support import Policy

from oblique_cli import Model, make, shap_values
from oblique_cli.errors import ConfigError
from oblique_cli.models.explaining import shapley
from oblique_cli.models.explaining.shapley import mean_sizes
from oblique_cli.models.procedure import Procedure, procedure_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 5))
Y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.2).astype(int) + (X[:, 3] - X[:, 4] > 1.0)
TARGET = X @ [1.0, -2.0, 0.5, 0.0, 1.5] + np.abs(X[:, 1]) + np.where(X[:, 0] > X[:, 3], 2.0, 0.0)


def fitted(name: str, **parameters: object) -> tuple[Model, np.ndarray]:
    y = TARGET if "regression" in str(parameters.pop("task", "")) else Y
    return Model.of(make(name, **parameters, random_state=1).fit(X, y), algorithm=name), X


def of_case(case: support.Case) -> tuple[Model, np.ndarray]:
    return case.model, support.rows(case, n=30, gaps=0.05, seed=11)


NUMBERS = {"task": "regression"}
CASES = {
    "axis-parallel": lambda: fitted("axis_parallel"),
    "dense planes": lambda: fitted("hhcart_a"),
    "one leaf": lambda: fitted("hhcart_a", max_depth=0),
    "bagged forest": lambda: fitted("hhgdt_forest", n_estimators=3),
    "rotated forest": lambda: fitted("rof", n_estimators=3),
    "majority of trees": lambda: fitted("raf", n_estimators=5),
    "linear leaves": lambda: fitted("logistic_tree", max_depth=3),
    "forest of linear leaves": lambda: fitted("logistic_forest", n_estimators=2),
    "boosting": lambda: fitted("oblique_boosting", n_estimators=3, max_depth=2),
    "numbers": lambda: fitted("hhcart_regression", max_depth=4, **NUMBERS),
    "numbers, axis-parallel": lambda: fitted("cart_regression", max_depth=4, **NUMBERS),
    "numbers, linear leaves": lambda: fitted("m5_style", **NUMBERS),
    "numbers, products in leaves": lambda: fitted(
        "linear_tree", products=True, hinges=True, doubling_price=0.0, max_leaf_nodes=2, **NUMBERS
    ),
    "indicators, filled": lambda: of_case(support.mixed("hhcart_a", Policy("impute"), max_depth=3, awkward=False)),
    "sides of gaps": lambda: of_case(
        support.mixed("hhcart_a", Policy("keep", "crimcoord"), missing="learn", max_depth=3, awkward=False)
    ),
    "logistic leaves, gaps": lambda: of_case(
        support.mixed(
            "hhcart_a", Policy("keep"), missing="learn", max_depth=2, leaf_models="logistic", leaf_penalty=1.0
        )
    ),
    "logistic leaves, squares": lambda: of_case(support.leaf_models(9, n_features=4, levels=True, gaps=True)),
}


@cache
def case_of(name: str) -> tuple[Model, np.ndarray, np.ndarray]:
    """A model, three rows and two background rows, none of which lacks what the model needs."""
    model, rows = CASES[name]()
    needed = list(procedure_of(model).needed)
    rows = rows[~np.isnan(rows[:, needed]).any(axis=1)] if needed else rows
    return model, rows[:3], rows[3:5]


def scores_by_model(model: Model, procedure: Procedure, rows: np.ndarray) -> np.ndarray:
    """What is explained, from the model's own predictions; scores from the procedure. (n, K)"""
    if procedure.is_regression:
        return model.predict(rows)[:, None]
    if not procedure.has_scores:
        return model.predict_proba(rows)
    results = []
    fills = [math.nan if cell.fill is None else cell.fill for cell in procedure.cells]
    for row in np.where(np.isnan(rows), fills, rows):
        scores = []
        for tree in procedure.trees:
            node = 0
            while tree.left[node] >= 0:
                split = tree.split(node)
                numbers = [t.cell for t in split.terms if t.level == -1]
                if np.isnan(row[numbers]).any():
                    left = bool(split.missing_left)
                else:
                    products = [
                        [t.coef * (row[t.cell] if t.level == -1 else t.holds(row[t.cell])) for t in lane]
                        for lane in split.lanes
                    ]
                    # From the first term on, as the core adds: `sum` of Python 3.12 and later corrects its rounding.
                    lanes = [reduce(add, lane, 0.0) for lane in products]
                    total = lanes[0] if len(lanes) == 1 else (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
                    left = total <= split.threshold
                node = tree.left[node] if left else tree.right[node]
            local = np.array(tree.leaf(node).scores.of(row.tolist()))
            scores.append(local - local.mean())
        added = procedure.voting == "sum"
        base = np.subtract(procedure.base, np.mean(procedure.base)) if added else 0.0
        results.append(np.sum(scores, axis=0) + base if added else np.mean(scores, axis=0))
    return np.array(results)


@cache
def coalitions(name: str) -> tuple[np.ndarray, dict[tuple[int, ...], np.ndarray]]:
    """The value of every coalition of columns for each row: the mean over the background of the mixed rows."""
    model, rows, background = case_of(name)
    procedure, p = procedure_of(model), rows.shape[1]
    worth = {}
    for members in product((0, 1), repeat=p):
        mixed = np.where(np.array(members, bool), rows[:, None, :], background[None, :, :])
        values = scores_by_model(model, procedure, mixed.reshape(-1, p))
        worth[members] = values.reshape(len(rows), len(background), -1).mean(axis=1)
    return rows, worth


def brute_force(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values and interaction indices by their definitions, (n, p, K) and (n, p, p, K)."""
    rows, worth = coalitions(name)
    (n, p), K = rows.shape, worth[(0,) * rows.shape[1]].shape[1]
    values, pairs = np.zeros((n, p, K)), np.zeros((n, p, p, K))
    for members, item in worth.items():
        size = sum(members)
        without = [j for j in range(p) if not members[j]]
        for j in without:
            weight = math.factorial(size) * math.factorial(p - size - 1) / math.factorial(p)
            values[:, j] += weight * (worth[_with(members, j)] - item)
        for i, j in combinations(without, 2):
            weight = math.factorial(size) * math.factorial(p - size - 2) / math.factorial(p - 1)
            gain = worth[_with(members, i, j)] - worth[_with(members, i)] - worth[_with(members, j)] + item
            pairs[:, i, j] += weight * gain
            pairs[:, j, i] += weight * gain
    return values, pairs


def _with(members: tuple[int, ...], *more: int) -> tuple[int, ...]:
    return tuple(1 if j in more else member for j, member in enumerate(members))


def shaped(values: np.ndarray, name: str) -> np.ndarray:
    return values[..., None] if procedure_of(case_of(name)[0]).is_regression else values


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_all_coalitions(name):
    model, rows, background = case_of(name)
    attributions = shap_values(model, rows, background)
    expected, _ = brute_force(name)
    np.testing.assert_allclose(
        shaped(attributions.values, name), expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max())
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", CASES)
def test_interactions_are_those_of_all_coalitions(name):
    model, rows, background = case_of(name)
    result = shaped(shap_values(model, rows, background, interactions=True).values, name)
    values, pairs = brute_force(name)
    room = 1e-12 * (1 + np.abs(values).max())
    for i, j in combinations(range(rows.shape[1]), 2):
        np.testing.assert_allclose(result[:, i, j], pairs[:, i, j] / 2, rtol=0, atol=room)
        np.testing.assert_array_equal(result[:, i, j], result[:, j, i])
    np.testing.assert_allclose(result.sum(axis=2), values, rtol=0, atol=10 * room)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CASES)
def test_values_and_base_add_up_to_what_the_model_says(name):
    model, _, background = case_of(name)
    rows = CASES[name]()[1]
    procedure = procedure_of(model)
    if needed := list(procedure.needed):
        rows = rows[~np.isnan(rows[:, needed]).any(axis=1)]
    rows = rows[:40]
    attributions = shap_values(model, rows, background)
    total = shaped(attributions.values, name).sum(axis=1) + np.reshape(attributions.base_values, (len(rows), -1))
    np.testing.assert_allclose(total, scores_by_model(model, procedure, rows), rtol=0, atol=1e-10)


def test_any_number_of_threads_gives_the_same_bits():
    model, rows, background = fitted("hhcart_a")[0], X[:50], X[50:80]
    single, four = (shap_values(model, rows, background, n_jobs=n).values for n in (1, 4))
    np.testing.assert_array_equal(single, four)


def test_a_plane_of_equal_weights_shares_equally():
    """By hand: the sign of x1 + x2 decides, either feature alone turns it, and both have moved by as much."""
    along = np.linspace(-3.0, 3.0, 13)
    rows = np.array([[a, sign * 0.5 - a] for a in along for sign in (-1, 1)])
    model = make("hhcart_a", probabilities="counts").fit(rows, [0, 1] * 13)
    values = shap_values(model, [[2.0, 2.0]], [[-1.0, -1.0], [-1.0, -1.0]]).values
    np.testing.assert_allclose(values[0], [[-0.5, 0.5], [-0.5, 0.5]], rtol=0, atol=1e-15)


@pytest.mark.filterwarnings("ignore")
def test_axis_parallel_trees_have_the_values_of_shap():
    shap = pytest.importorskip("shap", reason="shap is not installed")
    from sklearn.tree import DecisionTreeRegressor

    rows, background = X[:60], X[60:90]
    local = shap_values(make("cart_regression", max_depth=6, random_state=0).fit(X, TARGET), rows, background)
    assert isinstance(local, shap.Explanation)
    same = DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, TARGET)
    theirs = shap.TreeExplainer(same, background, feature_perturbation="interventional")
    np.testing.assert_allclose(local.values, theirs.shap_values(rows), rtol=0, atol=1e-6)  # shap's are singles


def test_importance_is_the_mean_size_over_rows_and_classes():
    values = np.array([[[1.0, -3.0]], [[-1.0, 1.0]]])
    np.testing.assert_array_equal(mean_sizes(values), [1.5])
    np.testing.assert_array_equal(mean_sizes(np.array([[1.0, -2.0], [-3.0, 0.0]])), [2.0, 1.0])


def test_bad_input_is_refused_in_a_sentence(monkeypatch):
    model, rows, background = case_of("dense planes")

    def refused(because: str, *args: object, of: Model = model, **options: object) -> None:
        with pytest.raises(ConfigError, match=because) as caught:
            shap_values(of, *args, **options)
        assert str(caught.value).count(". ") <= 1

    refused("the background must have at least 2 rows.* Got 1;", rows, background[:1])
    refused(r"X must have 5 columns.* shape \(3, 4\)", rows[:, :4], background)
    refused("background must have 5 columns", rows, background[:, :3])
    refused("X must be numbers", [["a"] * 5], background)
    refused("Row 0 has an infinite 'x1'", [[np.inf] * 5], background)
    refused("row 0 of X has no 'x1', and the model takes no missing values", [[np.nan] * 5], background)
    refused("output of hhcart_a must be 'probability'. Got 'log odds'.", rows, background, output="log odds")
    linear, *of_linear = case_of("linear leaves")
    refused("take output='score'", *of_linear, of=linear, output="probability")
    monkeypatch.setattr(shapley, "MOST_STEPS", 10)
    refused("planes of up to 5 columns.* the 10 steps that a row may take; fit splits of fewer", rows, background)


def test_counted_coalitions_are_those_that_a_sum_leaves_undecided():
    """Never more than there are, and nearly all of them."""
    rng = np.random.default_rng(0)
    for p in (1, 2, 5, 9, 12):
        x, z = rng.normal(size=(2, p))
        threshold = rng.normal() * 0.3
        order = np.argsort(-np.abs(x - z))
        exact = 0
        for depth in range(p):
            for inside in product((False, True), repeat=depth):
                sums = np.where(inside, x[order[:depth]], z[order[:depth]]).sum()
                low = sums + np.minimum(x, z)[order[depth:]].sum()
                high = sums + np.maximum(x, z)[order[depth:]].sum()
                exact += low <= threshold < high
        bound = shapley._undecided(x, z, threshold)
        assert 0.7 * exact - 4 <= bound <= exact


def test_a_plane_of_too_many_columns_is_refused_before_any_work(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 56))
    y = (X.sum(axis=1) > 0).astype(int)
    tree = make("hhcart_d", max_depth=1).fit(X, y)
    monkeypatch.setattr(shapley, "_of_trees", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(ConfigError, match="planes of up to 56 columns"):
        shap_values(tree, X[:2], X[:50])
