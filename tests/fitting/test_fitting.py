"""`oblique fit` in Python: estimates that no row has a part in, auto's rule, models that say how they came about."""

import re
from dataclasses import replace

import numpy as np
import pytest

from oblique_cli import data, schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.default_pruning import FRACTION, MANY_ROWS, divides_rows, how_pruned, pruned_spec
from oblique_cli.evaluation.metrics import n_terms
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting import estimating, fitting, reporting
from oblique_cli.fitting.budget import Budget, candidates
from oblique_cli.fitting.choosing import Size, part
from oblique_cli.fitting.estimating import Estimate, Validated, cross_validated, division, folds_of
from oblique_cli.fitting.goals import Answers, Goal
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

POLICY = DatasetSpec("t", missing="impute", encoding="onehot")


def spec(name: str, grid: dict | None = None, **params: object) -> AlgorithmSpec:
    return AlgorithmSpec(name, name, params, grid or {})


def specs(*names: str) -> list[AlgorithmSpec]:
    return [spec(name) for name in names]


def noise(n: int = 60, classes: int = 2, task: str = "classification") -> Dataset:
    """Rows without any signal."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    if task == "regression":
        return Dataset("noise", X, rng.normal(size=n), (), ("a", "b", "c"), task)
    y = rng.integers(classes, size=n).astype(np.int32)
    return Dataset("noise", X, y, tuple("uvw"[:classes]), ("a", "b", "c"))


def case(dataset: Dataset, name: str, grid: dict | None = None, **params: object) -> Case:
    return Case(dataset, POLICY, spec(name, grid, **params), ALGORITHMS[name])


# ---- estimates -------------------------------------------------------------------------------------------------------


def answered(y, predicted, n_classes: int = 2, shares=None) -> Answers:
    """Predictions of rows 0, 1, ..."""
    return Answers(np.arange(len(y)), np.asarray(y), np.asarray(predicted), shares, n_classes)


def validated(values: Case, folds: int) -> Validated:
    return cross_validated(values, folds, 1, Goal.usual(values.dataset.task))


def score(values: Case, folds: int) -> float:
    return validated(values, folds).estimate(Goal.usual(values.dataset.task)).score


def test_an_estimate_has_its_binomial_error_or_that_of_a_mean_of_squares():
    result = Estimate.of(answered([0, 0, 1, 1], [0, 0, 1, 0]), Goal.usual("classification"), 2, nested=False)
    assert result.score == 0.75 and result.loss == 0.25
    assert result.error == result.loss_error == pytest.approx((0.75 * 0.25 / 4) ** 0.5)
    of = answered([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 3.0, 3.0], 0)
    result = Estimate.of(of, Goal.usual("regression"), 2, nested=False)
    assert result.loss == 5.0 and result.loss_error == pytest.approx(4 / 2)  # squares 1, 1, 9, 9 have a deviation of 4
    assert result.score == pytest.approx(5**0.5) and result.error == pytest.approx(2 / (2 * 5**0.5))


def test_no_row_has_a_part_in_its_own_prediction(monkeypatch):
    """1-nearest-neighbor predictions of labels without signal are right half of the time, not always."""
    dataset = noise(200)
    assert 0.35 < score(case(dataset, "knn"), 10) < 0.65
    seen = []
    fit = fits.fit_on

    def spied(values, train, *rest):
        seen.append(train)
        return fit(values, train, *rest)

    monkeypatch.setattr(fits, "fit_on", spied)
    validated(case(dataset, "knn"), 4)
    folds = folds_of(dataset, division(dataset, 4, False), 1)
    assert [set(train) for train in seen] == [set(range(200)) - set(fold.test) for fold in folds]


@pytest.mark.parametrize(("counts", "stratified"), [((30, 30), True), ((57, 3), False), ((50, 10), True)])
def test_folds_are_stratified_where_every_class_has_rows_enough(counts, stratified):
    dataset = replace(noise(60), y=np.repeat([0, 1], counts).astype(np.int32))
    cv = division(dataset, 10, tuned=False)
    assert cv.stratified == stratified and cv.folds == 10
    schemes.check(dataset, cv)
    nested = division(dataset, 8, tuned=True)
    schemes.check(dataset, nested)


def test_few_rows_make_fewer_folds_and_a_part_of_a_data_set_is_one():
    dataset = noise(7)
    assert division(dataset, 10, tuned=False).folds == 3
    assert 0 <= score(case(dataset, "axis_parallel"), 10) <= 1
    dataset = data.load("iris")
    some = part(dataset, np.arange(0, 150, 3))
    assert some.n == 50 and some.classes == dataset.classes and some.digest != dataset.digest


# ---- auto ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_is_an_algorithm_with_parameters_that_it_has(task):
    dataset = noise(task=task)
    for candidate in candidates(task):
        of_own = {key: value for key, value in candidate.items() if key not in ("name", "id")}
        made = pruned_spec(AlgorithmSpec(candidate["name"], candidate["id"], of_own))
        fitted = ALGORITHMS[candidate["name"]].make(random_state=0, **made.params).fit(dataset.X, dataset.y)
        size, trees = Size.of(fitted), len(getattr(fitted, "forest_", [0]))
        assert size.leaves >= 1 and size.n_terms >= 2 * size.leaves - trees


def test_two_candidates_of_one_algorithm_go_by_their_ids():
    dataset = data.load("bupa")
    specs = [AlgorithmSpec("hhgdt", "shallow", {"max_depth": 1}), AlgorithmSpec("hhgdt", "deep", {"pruning": "none"})]
    fit = fitting.fit(dataset, POLICY, specs, folds=3)
    assert [row["algorithm"] for row in fit.model.facts["compared"]] == ["shallow", "deep"]
    assert fit.choice is not None and fit.choice.chosen == "shallow" and fit.model.algorithm == "hhgdt"


def test_sizes_by_hand():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    tree = ALGORITHMS["hhgdt"].make(max_depth=2).fit(X, y)
    assert Size.of(tree) == Size(tree.n_leaves_, tree.n_leaves_ + 3 * (tree.n_leaves_ - 1))
    axis = ALGORITHMS["axis_parallel"].make(max_depth=2).fit(X, y)
    assert Size.of(axis) == Size(axis.n_leaves_, 2 * axis.n_leaves_ - 1)
    forest = ALGORITHMS["hhcart_forest"].make(n_estimators=3, random_state=0).fit(X, y)
    assert Size.of(forest).leaves == sum(forest.tree(k).n_leaves for k in range(3))
    retis = ALGORITHMS["retis"].make().fit(X, X @ [1.0, 2.0, 0.0] + np.abs(X[:, 2]))
    leaves = np.flatnonzero(retis.tree_.left < 0)
    in_leaves = np.count_nonzero(retis.tree_.equations.coef[leaves])
    assert Size.of(retis) == Size(len(leaves), 2 * len(leaves) - 1 + in_leaves)
    assert Size.of(ALGORITHMS["svm"].make().fit(X, y)).key > Size(10**9, 10**9).key


# ---- the model -------------------------------------------------------------------------------------------------------


def test_a_model_says_how_it_came_about():
    dataset = data.load("bupa")
    fit = fitting.fit(dataset, POLICY, [spec("hhgdt")], folds=5, seed=4)
    facts = fit.model.facts
    assert facts["rows"] == 345 and facts["seed"] == 4 and facts["class_counts"] == {"1": 145, "2": 200}
    assert facts["data_digest"] == f"sha256:{dataset.digest}"
    assert facts["estimate"] == {
        "accuracy": fit.estimate.score,
        "standard_error": fit.estimate.error,
        "folds": 5,
        "by": "cross-validation",
    }
    assert facts["units"]["center"] == pytest.approx(dataset.X.mean(axis=0).tolist())
    assert facts["units"]["spread"] == pytest.approx(dataset.X.std(axis=0).tolist())
    assert fit.model.parameters["pruning"] == "cv" and fit.model.parameters["standard_errors"] == 1.0
    assert {"numpy", "scikit-learn", "oblique-trees"} <= set(facts["versions"])


def test_tuning_chooses_from_the_usual_grid_and_leaves_pruning_alone():
    outcome = fitting.fit(data.load("bupa"), POLICY, [fitting.tuned_spec(spec("hhgdt"))], folds=4)
    assert outcome.chosen["epsilon"] in fitting.GRIDS[0]["epsilon"]
    assert outcome.estimate.nested and outcome.model.parameters["pruning"] == "none"
    assert outcome.model.parameters["epsilon"] == outcome.chosen["epsilon"]
    assert outcome.model.facts["chosen"] == outcome.chosen
    assert "max_misrate" not in fitting.tuned_spec(spec("fdt", max_misrate=0.1)).grid


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_algorithm_has_a_grid_or_a_sentence(name):
    try:
        tuned = fitting.tuned_spec(spec(name))
    except ConfigError as error:
        assert str(error).startswith(f"--tune has no parameters to try for {name}; give some, as in")
        return
    for candidate in tuned.candidates():
        ALGORITHMS[name].make(**candidate)


HOW = "pruned by cross-validation (smallest tree within {} SE of the best)"
KEPT = "pruned on {} % of the rows, kept from growth (smallest tree within {} SE of the best)"


def test_pruning_that_is_said_stays_and_many_rows_are_pruned_on_some_that_are_kept_from_growth():
    assert pruned_spec(spec("hhcart_a", pruning="none")).params == {"pruning": "none"}
    assert pruned_spec(spec("hhcart_a", standard_errors=0.5)).params["standard_errors"] == 0.5
    assert pruned_spec(spec("knn")).params == {}
    assert how_pruned(pruned_spec(spec("hhcart_a"))) == HOW.format("1")
    assert how_pruned(pruned_spec(spec("hhcart_a", standard_errors=0.5))) == HOW.format("0.5")
    assert how_pruned(spec("hhcart_a", pruning="none")) == how_pruned(spec("knn")) == ""

    assert pruned_spec(spec("hhcart_a"), MANY_ROWS - 1) == pruned_spec(spec("hhcart_a"))
    many = pruned_spec(spec("hhcart_a"), MANY_ROWS)
    assert many.params == {"pruning": "cost_complexity", "standard_errors": 1.0}
    assert how_pruned(many) == KEPT.format(10, 1) and divides_rows(many)
    of_own = pruned_spec(spec("hhcart_a", pruning_fraction=0.25, standard_errors=0.5), MANY_ROWS)
    assert how_pruned(of_own) == KEPT.format(25, 0.5)
    assert make("hhcart_a").pruning_fraction == FRACTION

    assert pruned_spec(spec("hhcart_a", pruning="none"), MANY_ROWS).params == {"pruning": "none"}
    assert pruned_spec(spec("knn"), MANY_ROWS).params == {}
    # Folds are of cross-validation alone, as a value and in a grid.
    assert pruned_spec(spec("hhcart_a", pruning_folds=5), MANY_ROWS).params["pruning"] == "cv"
    assert pruned_spec(spec("hhcart_a", {"pruning_folds": (5, 10)}), MANY_ROWS).params["pruning"] == "cv"


@pytest.mark.parametrize(("rows", "rule"), [(MANY_ROWS, "cost_complexity"), (MANY_ROWS - 1, "cv")])
def test_the_rows_of_the_table_decide_how_the_tree_of_a_fit_is_pruned(rows, rule):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(rows, 2)).round(1)
    y = ((X[:, 0] > 0) ^ (rng.random(rows) < 0.1)).astype(np.int32)
    dataset = Dataset("many", X, y, ("u", "v"), ("a", "b"))
    fit = fitting.fit(dataset, POLICY, [spec("axis_parallel", max_depth=3)], folds=2)
    assert fit.model.parameters["pruning"] == rule
    assert fit.model.facts["leaves"] == 2 and fit.estimate.score == pytest.approx(0.9, abs=0.02)


def holed() -> Dataset:
    """Two quantitative columns and a qualitative one, without holes."""
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.normal(size=60), rng.integers(3, size=60), rng.normal(size=60)])
    y = (X[:, 0] + X[:, 1] > 1).astype(np.int32)
    levels = {1: ("red", "green", "blue")}
    return Dataset("t", X, y, ("n", "y"), ("a", "color", "b"), qualitative=(1,), levels=levels)


def test_new_rows_may_lack_what_training_rows_have():
    dataset = holed()
    model = fitting.fit(dataset, POLICY, [spec("hhcart_a")], folds=3).model
    assert model.encoder is not None and model.encoder.filled == {0, 1, 2}
    row = dataset.X[:1].copy()
    row[0, 2] = np.median(dataset.X[:, 2])
    same = row.copy()
    same[0, 2] = np.nan
    assert model.predict_proba(same).tolist() == model.predict_proba(row).tolist()
    usual = float(np.argmax(np.bincount(dataset.X[:, 1].astype(int))))
    row[0, 1], same[0, 1] = usual, np.nan
    assert model.encoder.transform(same).tolist() == model.encoder.transform(row).tolist()


def test_a_tree_that_scores_levels_keeps_its_columns():
    policy = DatasetSpec("t", missing="impute", encoding="crimcoord")
    model = fitting.fit(holed(), policy, [spec("hhcart_a")], folds=3).model
    assert model.encoder is None and model.may_be_empty == {1}
    assert set(model.facts["units"]["of_levels"]) == {"1"}
    assert sum(model.facts["units"]["of_levels"]["1"]) == pytest.approx(1)
    assert model.facts["units"]["spread"][1] == 1.0


def test_rows_of_one_class_alone_in_a_training_set_are_no_bug():
    dataset = replace(noise(20), y=np.array([0] * 18 + [1] * 2, dtype=np.int32))
    assert 0 <= fitting.fit(dataset, POLICY, [spec("hhcart_a")], folds=5).estimate.score <= 1
    assert estimating.division(dataset, 5, tuned=False).stratified is False


def test_every_fold_is_a_step():
    done = []
    two = [spec("fdt"), spec("axis_parallel")]
    fitting.fit(noise(), POLICY, two, folds=3, budget=Budget(None, step=done.append))
    assert len(done) == fitting.steps(2, 3) == 28
    assert [label for label in done if " " not in label] == [*["fdt"] * 3, *["axis_parallel"] * 3] * 4
    done.clear()
    fitting.fit(noise(), POLICY, two[:1], folds=4, budget=Budget(None, step=done.append))
    assert done == [*["fdt"] * 4, "fdt on all rows"] and len(done) == fitting.steps(1, 4)


def test_terms_are_counted_alike_in_models_of_every_kind():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    two, three = (X[:, 0] + X[:, 1] > 0).astype(int), np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    how = {"max_depth": 1, "leaf_models": "logistic", "leaf_penalty": 1.0}
    for y in (two, three):
        plain = make("hhgdt", max_depth=1).fit(X, y).tree_
        tree = make("hhgdt", **how).fit(X, y).tree_
        planes = plain.n_leaves + np.count_nonzero(plain.coef_)
        coef = tree.leaf_models.coef[tree.is_leaf]
        read = coef[:, 1] - coef[:, 0] if y is two else coef
        assert plain.n_terms == planes and np.count_nonzero(read)
        assert tree.n_terms == planes + np.count_nonzero(read)
    numbers = make("hhcart_model_tree", random_state=0).fit(X, X @ [1.0, 2.0, 0.0])
    tree = numbers.tree_
    equations = np.count_nonzero(tree.equations.coef[tree.is_leaf])
    assert n_terms(numbers) == tree.n_leaves + np.count_nonzero(tree.coef_) + equations
    forest = make("hhgdt_forest", n_estimators=3, random_state=0).fit(X, two)
    assert n_terms(forest) == sum(grown.n_leaves + np.count_nonzero(grown.coef_) for grown in forest.trees())
    assert n_terms(make("c45", random_state=0).fit(X, two)) >= 2
    assert n_terms(make("svm").fit(X, two)) == 0


def noise_with_a_weak_split(n: int = 90) -> Dataset:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    return Dataset(
        "t", X, (rng.uniform(size=n) < 0.35 + 0.1 * (X[:, 0] > 0)).astype(np.int32), ("u", "v"), ("a", "b", "c")
    )


@pytest.mark.long
def test_a_model_to_read_has_a_split_where_the_smallest_has_none_and_its_price_is_printed():
    dataset, names = noise_with_a_weak_split(), ("axis_parallel", "hhgdt", "hhgdt_forest")
    plain = fitting.fit(dataset, POLICY, specs(*names))
    assert plain.model.facts["leaves"] == 1
    goal = replace(Goal.usual("classification"), readable=True)
    stump = spec("axis_parallel", max_depth=1, pruning="none")
    fit = fitting.fit(dataset, POLICY, [*specs(*names), replace(stump, id="one_split")], goal=goal)
    assert fit.model.facts["leaves"] > 1 and fit.case.spec.id == fit.choice.chosen
    printed = " ".join(reporting.remarks(fit, dataset))
    assert re.search(rf"--readable: {fit.choice.chosen} is the (smallest|best) tree with a split .* points of", printed)
    stumps = fitting.fit(dataset, POLICY, [*specs("fdt"), spec("hhgdt", max_depth=0)], goal=goal)
    assert stumps.model.facts["leaves"] == 1
    assert "--readable: no tree that was compared has a split." in reporting.remarks(stumps, dataset)


@pytest.mark.long
def test_the_comparison_has_the_size_of_every_model_that_is_written():
    dataset = noise_with_a_weak_split(200)
    fit = fitting.fit(dataset, POLICY, specs("hhgdt_forest", "axis_parallel"))
    written = {model.algorithm: model.facts for model in (fit.model, fit.tree) if model is not None}
    rows = {row["algorithm"]: row for row in fit.model.facts["compared"]}
    for name, facts in written.items():
        assert (rows[name]["leaves"], rows[name]["n_terms"]) == (facts["leaves"], facts["n_terms"])
    shown = "\n".join(reporting.comparison(fit.choice, fit.goal, fit.budget, dataset.n))
    facts = fit.model.facts
    assert re.search(rf"^{fit.model.algorithm} .* {facts['leaves']} +{facts['n_terms']} +chosen$", shown, re.M)
