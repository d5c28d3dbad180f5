"""`verify`: proofs are held to sampled rows and to all cells of a grid, counterexamples to the model itself."""

import dataclasses
import itertools
import shutil
from typing import Any

import export_support as support
import numpy as np
import pytest
from export_support import Policy

from oblique_cli import Model, make, verify
from oblique_cli.errors import ConfigError
from oblique_cli.models.procedure import NUMBER, procedure_of
from oblique_cli.models.verifying.replay import IN_C, IN_PYTHON, Replay
from oblique_cli.models.verifying.verdict_text import plain_of, text_of
from oblique_cli.models.verifying.verification import (
    MONOTONE,
    NEVER_USES,
    NOT_THERE,
    PROVED,
    REFUTED,
    ROBUST,
    UNDECIDED,
)
from oblique_cli.tree.payloads import Equations, LeafModels

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 4))
NOISE = RNG.normal(size=200)
NUMBER_OF = 2.0 * X[:, 0] - X[:, 1] + np.where(X[:, 0] > X[:, 2], 1.0, 0.0) + 0.1 * NOISE
CLASS_OF = (NUMBER_OF > 0.3).astype(int)
NAMES = ("x1", "x2", "x3", "x4")


def fitted(name: str, **parameters: Any) -> Model:
    regression = parameters.pop("number", False)
    return Model.of(make(name, random_state=1, **parameters).fit(X, NUMBER_OF if regression else CLASS_OF))


MODELS = {
    "axis-parallel": lambda: fitted("axis_parallel", max_leaf_nodes=6),
    "planes": lambda: fitted("hhcart_a", max_leaf_nodes=5),
    "a stump": lambda: fitted("hhcart_a", max_depth=1),
    "one leaf": lambda: fitted("hhcart_a", max_depth=0),
    "numbers": lambda: fitted("hhcart_regression", max_depth=2, number=True),
    "numbers, axis-parallel": lambda: fitted("cart_regression", max_depth=3, number=True),
    "numbers, linear leaves": lambda: fitted("m5_style", number=True),
    "numbers, products in leaves": lambda: fitted(
        "linear_tree", number=True, products=True, hinges=True, doubling_price=0.0, max_leaf_nodes=2
    ),
    "linear leaves": lambda: fitted("logistic_tree", max_depth=2, squares=False),
    "squares in leaves": lambda: fitted("logistic_tree", max_depth=2),
    "votes": lambda: fitted("raf", n_estimators=3, max_depth=2),
    "mean of trees": lambda: fitted("hhgdt_forest", n_estimators=3, max_depth=2),
    "rotated": lambda: fitted("rof", n_estimators=2),
}


def violated(model: Model, kind: str, direction: int, rows: np.ndarray, changed: np.ndarray, of: int = 1) -> np.ndarray:
    """Which pairs of rows break a property, by what the model says."""
    replay = Replay(model, procedure_of(model))
    before, after = replay.predicted(rows), replay.predicted(changed)
    if kind == ROBUST:
        return before.codes != after.codes
    if kind == NEVER_USES:
        return (before.codes != after.codes) | (before.shares != after.shares).any(axis=1)
    place = 0 if model.task == "regression" else of
    falls = before.shares[:, place] > after.shares[:, place]
    if model.task != "regression":
        falls |= (before.codes == of) & (after.codes != of)
    return falls


def sampled(model: Model, column: int, kind: str, direction: int, n: int = 2000) -> bool:
    """Whether any of many random pairs breaks a property: rows about the training rows, and far ones."""
    rng = np.random.default_rng(column + 10)
    size = np.where(rng.random((n, 1)) < 0.7, 1.0, 5.0)
    rows = rng.normal(size=(n, X.shape[1])) * size
    changed = rows.copy()
    step = np.abs(rng.normal(size=n)) * np.where(rng.random(n) < 0.5, 0.05, 3.0)
    if kind == MONOTONE:
        changed[:, column] += direction * step
    else:
        changed[:, column] = rng.normal(size=n) * 3.0
    return bool(violated(model, kind, direction, rows, changed).any())


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
def test_no_sampled_row_breaks_what_is_proved_and_every_counterexample_does(name):
    model = MODELS[name]()
    verification = verify(
        model,
        monotone={"x1": 1, "x2": -1, "x3": 1},
        never_uses=["x2", "x4"],
        reference=X,
        **({} if model.task == "regression" else {"robust": 0.2, "rows": X[:25]}),
    )
    for verdict in verification.verdicts:
        shown = verdict.counterexample
        if verdict.kind == ROBUST:
            assert (shown is not None) == (verdict.outcome == REFUTED)
            if shown is not None:
                assert (np.abs(shown.changed - X[verdict.row]) <= 0.2 * X.std(axis=0) * (1 + 1e-12)).all()
                assert violated(model, ROBUST, 0, shown.row[None], shown.changed[None])[0]
            elif verdict.outcome == PROVED:
                box = np.random.default_rng(verdict.row).uniform(-0.2, 0.2, size=(500, 4)) * X.std(axis=0)
                near = X[verdict.row] + box
                assert not violated(model, ROBUST, 0, np.repeat(X[[verdict.row]], 500, axis=0), near).any()
            continue
        column = NAMES.index(verdict.column)
        if verdict.outcome == PROVED:
            assert not sampled(model, column, verdict.kind, verdict.direction)
        elif verdict.outcome == REFUTED:
            assert shown is not None
            moved = np.flatnonzero(shown.row != shown.changed).tolist()
            assert moved == [column]
            if verdict.kind == MONOTONE:
                assert verdict.direction * (shown.changed - shown.row)[column] > 0.0
            assert violated(model, verdict.kind, verdict.direction, shown.row[None], shown.changed[None])[0]
    if not procedure_of(model).is_forest and "squares" not in name and "products" not in name:
        assert all(verdict.outcome != UNDECIDED for verdict in verification.verdicts)


def cells_of(model: Model) -> np.ndarray:
    """A row in every cell of the grid that the thresholds of axis-parallel splits make, (n, p)."""
    procedure = procedure_of(model)
    cuts: list[set[float]] = [set() for _ in procedure.cells]
    for split in procedure.tree.splits:
        if split is not None:
            (term,) = split.terms
            assert term.level == NUMBER
            cuts[term.cell].add(split.threshold / term.coef)
    points = []
    for cut in cuts:
        ends = sorted(cut) or [0.0]
        middles = [(a + b) / 2.0 for a, b in itertools.pairwise(ends)]
        points.append([ends[0] - 1.0, *middles, ends[-1] + 1.0])
    return np.array(list(itertools.product(*points)))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("algorithm", ["axis_parallel", "cart_regression"])
def test_axis_parallel_trees_are_decided_as_all_cells_of_their_grid_say(seed, algorithm):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    number = rows[:, 0] + np.where(rows[:, 1] > 0.5, 1.0, 0.0) + (0.5 if seed % 2 else 0.02) * rng.normal(size=60)
    y = number if algorithm == "cart_regression" else (number > 0.2).astype(int)
    parameters = {"max_depth": 1 + seed % 3}
    model = Model.of(make(algorithm, random_state=seed, **parameters).fit(rows, y))
    verification = verify(model, monotone={"x1": 1, "x2": 1, "x3": -1}, never_uses=["x1", "x2", "x3"], reference=rows)
    grid = cells_of(model)
    first, second = (each.ravel() for each in np.indices((len(grid), len(grid))))
    for verdict in verification.verdicts:
        column = NAMES.index(verdict.column)
        others = [j for j in range(3) if j != column]
        same = (grid[first][:, others] == grid[second][:, others]).all(axis=1)
        if verdict.kind == MONOTONE:
            same &= verdict.direction * (grid[second, column] - grid[first, column]) > 0.0
        pairs = grid[first[same]], grid[second[same]]
        broken = violated(model, verdict.kind, verdict.direction, *pairs).any() if same.any() else False
        assert verdict.outcome == (REFUTED if broken else PROVED), verdict.column


def with_values(model: Model, values: list[float]) -> Model:
    """The same tree with other numbers in its leaves, from left to right."""
    tree = model.fitted.state["tree_"]
    intercept = tree.equations.intercept.copy()
    intercept[[node for node in range(len(tree.left)) if tree.left[node] < 0]] = values
    changed = tree.changed(payload=Equations(**{**vars(tree.equations), "intercept": intercept}))
    return dataclasses.replace(
        model, fitted=dataclasses.replace(model.fitted, state={**model.fitted.state, "tree_": changed})
    )


def test_a_column_of_planes_whose_sides_say_the_same_is_never_used():
    """Stronger than coefficients of 0: by hand, both leaves of a plane say 1."""
    model = fitted("hhcart_regression", max_depth=1, number=True)
    assert verify(model, never_uses=["x3"], reference=X).verdicts[0].outcome == REFUTED
    same = verify(with_values(model, [1.0, 1.0]), never_uses=["x3"], monotone=["x1", "x2:-"], reference=X)
    assert [verdict.outcome for verdict in same.verdicts] == [PROVED] * 3 and same.holds


def test_a_plane_is_monotone_in_the_directions_of_its_coefficients():
    model = fitted("hhcart_regression", max_depth=1, number=True)
    coef = model.fitted.state["tree_"].coef_[0]
    rising = verify(
        with_values(model, [0.0, 1.0]), monotone={n: int(np.sign(c)) for n, c in zip(NAMES, coef, strict=True)}
    )
    assert rising.holds
    falling = verify(
        with_values(model, [1.0, 0.0]), monotone={n: int(np.sign(c)) for n, c in zip(NAMES, coef, strict=True)}
    )
    assert [verdict.outcome for verdict in falling.verdicts] == [REFUTED] * 4


def test_rows_within_bounds_alone_are_asked_for():
    """By hand: a tree with one cut at c falls as x1 grows, and not where x1 stays on one side of it."""
    model = fitted("cart_regression", max_depth=1, number=True)
    cut = float(model.fitted.state["tree_"].threshold[0])
    assert verify(model, monotone={"x1": -1}).verdicts[0].outcome == REFUTED
    assert verify(model, monotone={"x1": -1}, within={"x1": (cut + 0.1, cut + 9.0)}).holds
    shown = verify(model, monotone={"x1": -1}, within={"x1": (cut - 0.1, cut + 0.1)}).verdicts[0].counterexample
    assert shown is not None and abs(shown.row[0] - cut) <= 0.1 and abs(shown.changed[0] - cut) <= 0.1


def test_the_box_of_a_row_is_in_standard_deviations_or_else_in_units():
    """By hand: a stump at c gives another class to a row at c - 1 from a reach of 1 on."""
    model = fitted("axis_parallel", max_depth=1)
    (split, *_) = procedure_of(model).tree.splits
    assert split is not None
    (term,) = split.terms
    row = np.zeros((1, 4))
    row[0, term.cell] = split.threshold / term.coef - 1.0
    assert verify(model, robust=0.999, rows=row).holds and not verify(model, robust=1.001, rows=row).holds
    spread = np.vstack([X, X]) * 3.0
    deviation = spread.std(axis=0)[term.cell]
    assert verify(model, robust=0.999 / deviation, rows=row, reference=spread).holds
    assert not verify(model, robust=1.001 / deviation, rows=row, reference=spread).holds


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "policy, parameters",
    [
        (Policy("impute"), {}),
        (Policy("keep", "crimcoord"), {"missing": "learn"}),
        (Policy("impute"), {"leaf_models": "logistic", "leaf_penalty": 1.0}),
    ],
    ids=["indicators", "sides of gaps", "logistic leaves"],
)
def test_levels_and_gaps(policy, parameters):
    """Columns of levels are tried with every level, and numbers that may be missing without them."""
    case = support.mixed("hhcart_a", policy, max_depth=2, awkward=False, n=300, **parameters)
    rows = support.rows(case, n=10, gaps=0.1, seed=3)
    needed = list(case.procedure.needed)
    rows = rows[~np.isnan(rows[:, needed]).any(axis=1)] if needed else rows
    names = [cell.name for cell in case.procedure.cells]
    verification = verify(case.model, never_uses=names, robust=0.05, rows=rows, reference=case.X)
    for verdict in verification.verdicts:
        shown = verdict.counterexample
        if shown is not None:
            assert violated(case.model, verdict.kind, 0, shown.row[None], shown.changed[None])[0]
            assert shown.replayed == (IN_C if shutil.which("cc") else IN_PYTHON)
        if verdict.kind == NEVER_USES and verdict.outcome == PROVED:
            j = names.index(verdict.column)
            changed = case.X.copy()
            changed[:, j] = np.random.default_rng(1).permutation(case.X[:, j])
            assert verdict.why == NOT_THERE or not violated(case.model, NEVER_USES, 0, case.X, changed).any()
    assert any(
        verdict.outcome == REFUTED for verdict in verification.verdicts if verdict.column in ("color", "ward", "smoker")
    )
    assert "a level" in text_of(verification) or "smoker" in text_of(verification)


@pytest.mark.parametrize(("second", "slope", "outcome"), [
    (1, 4.0, PROVED), (1, 2.0, REFUTED), (-1, 0.5, PROVED), (-1, -0.5, REFUTED), (-2, 1.5, PROVED), (-2, 0.5, REFUTED),
])  # fmt: skip
@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_the_slope_along_a_factor_of_a_product_or_a_hinge(second, slope, outcome, places):
    """By hand: slope * z1 + z1 z2 rises with z1 where slope + z2 > 0, and z2 is at least -3; slope * z1 +
    max(0, z1 - 1) where slope > 0, slope * z1 + max(0, 1 - z1) where slope > 1."""
    estimator = make("hhcart_a", max_depth=0, leaf_models="logistic", leaf_penalty=1.0).fit(X[:, :2], CLASS_OF)
    coef, zero = np.zeros((1, 2, 2)), np.zeros(2)
    coef[0, 1, places[0]] = slope
    pair = [0, 1] if second == 1 else [places[0], second]
    pairs = {"pairs": np.array([pair]), "pair_coef": np.array([[[0.0], [1.0]]]), "knots": np.ones(1)}
    estimator.tree_ = estimator.tree_.with_leaf_models(LeafModels(zero, zero + 1, coef, zero[None], **pairs))
    names = [f"x{place + 1}" for place in places]
    verdicts = verify(Model.of(estimator), monotone={names[0]: 1}, never_uses=[names[1]], of="1").verdicts
    assert [verdict.outcome for verdict in verdicts] == [outcome, REFUTED if second == 1 else PROVED]


def test_without_a_compiler_the_exported_python_is_asked(monkeypatch):
    monkeypatch.setattr("oblique_cli.models.verifying.replay.COMPILER", "no-such-compiler")
    for name in ("planes", "numbers", "linear leaves", "votes"):
        (verdict,) = verify(MODELS[name](), never_uses=["x1"], reference=X).verdicts
        assert verdict.outcome == REFUTED and verdict.counterexample is not None
        assert verdict.counterexample.replayed == IN_PYTHON


def test_an_export_that_answers_otherwise_leaves_a_property_undecided(monkeypatch):
    predicted = Replay.predicted
    monkeypatch.setattr(Replay, "exported", lambda self, rows: (predicted(self, rows[[0] * len(rows)]), "another"))
    (verdict,) = verify(MODELS["planes"](), never_uses=["x1"], reference=X).verdicts
    assert verdict.outcome == UNDECIDED and "otherwise" in verdict.why


def test_the_class_in_question_may_be_chosen():
    model = MODELS["a stump"]()
    coef = procedure_of(model).tree.split(0).terms[0].coef
    outcomes = {
        of: [verify(model, monotone={"x1": d}, of=of).verdicts[0].outcome for d in (1, -1)] for of in ("0", "1")
    }
    assert sorted(outcomes["0"]) == sorted(outcomes["1"]) == [PROVED, REFUTED] and coef != 0.0
    assert outcomes["0"] == outcomes["1"][::-1]


@pytest.mark.parametrize(
    "question, text",
    [
        ({"monotone": ["age"]}, "the model has no column 'age'. Its columns: x1, x2, x3, x4."),
        ({"monotone": {"x1": 2}}, "monotone must be 1 or -1 for each column. Got 2 for 'x1'."),
        ({"monotone": ["x1", "x1:-"]}, "monotone has column 'x1' in both directions."),
        ({"never_uses": ["x9"]}, "the model has no column 'x9'."),
        ({}, "there is nothing to verify"),
        ({"robust": 0.1}, "robust and rows go together"),
        ({"robust": -1.0, "rows": X}, "robust must be a number above 0. Got -1.0."),
        ({"robust": 0.1, "rows": X[:, :2]}, "rows must have 4 columns"),
        ({"never_uses": ["x1"], "of": "1"}, "of names the class whose share monotone is about"),
        ({"monotone": ["x1"], "of": "yes"}, "one of 0, 1. Got 'yes'."),
        ({"never_uses": ["x1"], "within": {"x1": (2.0, 1.0)}}, "within must have a least below the most."),
        ({"never_uses": ["x1"], "reference": X[:, :2]}, "reference must have 4 columns. Got 2."),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(question, text):
    with pytest.raises(ConfigError) as raised:
        verify(MODELS["planes"](), **question)
    assert text in str(raised.value) and "\n" not in str(raised.value)


def test_models_that_cannot_be_asked_say_why():
    iris = support.iris()
    with pytest.raises(ConfigError, match="has 3 classes"):
        verify(iris.model, monotone=["petal_length"])
    with pytest.raises(ConfigError, match="predicts numbers"):
        verify(MODELS["numbers"](), robust=0.1, rows=X)
    with pytest.raises(ConfigError, match="takes the numbers of a column for levels"):
        verify(
            support.mixed("c45", Policy("keep", "ordinal"), missing="impute", awkward=False).model, never_uses=["age"]
        )
    levels = support.mixed("hhcart_a", Policy("impute"), max_depth=1, awkward=False, regression=False)
    with pytest.raises(ConfigError, match=r"classes|levels"):
        verify(levels.model, monotone=["color"])


def test_three_classes_are_robust_or_not_and_use_a_column_or_not():
    iris = support.iris()
    verification = verify(iris.model, never_uses=["petal_length"], robust=0.05, rows=iris.X[::10], reference=iris.X)
    outcomes = [verdict.outcome for verdict in verification.verdicts]
    assert outcomes[0] == REFUTED and PROVED in outcomes[1:]


def test_words_and_plain_data_say_the_same():
    verification = verify(MODELS["planes"](), monotone=["x1"], never_uses=["x4"], robust=0.3, rows=X[:9], reference=X)
    text, plain = text_of(verification), plain_of(verification)
    assert text.splitlines()[0].startswith(
        ("PROVED  the share of class 1 never falls as x1 grows", "REFUTED  the share")
    )
    refuted = [
        statement
        for statement in plain["properties"]
        if statement["outcome"] == REFUTED and statement["property"] == ROBUST
    ]
    assert f"{len(refuted)} do not" in text and "of 9 do" in text
    assert plain["holds"] == verification.holds
