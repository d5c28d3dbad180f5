"""`auto`: what is compared on which rows within a budget, what is dropped, what is chosen, and that no row tells on
itself."""

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.n_jobs import in_turn, threads
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting import budget as budgets
from oblique_cli.fitting import choosing, fitting
from oblique_cli.fitting.budget import (
    BRAKE,
    PLANNED,
    Budget,
    Cost,
    candidates,
    cost_of,
    costs,
    recommended,
    seen_columns,
)
from oblique_cli.fitting.choosing import Candidate, Choice, Plan, Size, choose, estimated, planned, rows_in_turn
from oblique_cli.fitting.estimating import Estimate, Validated, cross_validated, division, folds_of
from oblique_cli.fitting.goals import Answers, Goal
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

POLICY = DatasetSpec("t", missing="impute", encoding="onehot")
GOAL = Goal.usual("classification")


def table(n: int = 60, seed: int = 3, p: int = 3) -> Dataset:
    """Rows of two classes that a slanted plane divides, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X.sum(axis=1) + rng.normal(size=n) / 2 > 0).astype(np.int32)
    return Dataset("table", X, y, ("u", "v"), tuple("abcdefgh"[:p]))


def specs(*names: str) -> list[AlgorithmSpec]:
    return [AlgorithmSpec(name, name, {}, {}) for name in names]


def cases_of(*names: str, **grid: tuple[object, ...]):
    def cases(of: Dataset) -> dict[str, Case]:
        return {name: Case(of, POLICY, AlgorithmSpec(name, name, {}, grid), ALGORITHMS[name]) for name in names}

    return cases


FIVE = ("axis_parallel", "hhgdt", "fdt", "cline", "hhgdt_forest")


def scripted(monkeypatch, losses: dict[str, float], sizes: dict[str, Size] | None = None) -> list[tuple[str, int]]:
    """Comparisons that come out as said; returns who is compared on how many rows."""
    seen: list[tuple[str, int]] = []

    def compared(case, rows, folds, seed, goal, step):
        name = case.spec.id
        seen.append((name, case.dataset.n))
        loss, size = losses[name], (sizes or {}).get(name, Size(3, 2))
        estimate = Estimate(1 - loss, 0.02, loss, 0.02, folds, False, rows)
        answers = Answers(np.arange(2), np.array([0, 1]), np.array([0, 1]), None, 2)
        result = Candidate(name, estimate, size, rows=rows, is_tree="forest" not in name)
        return result, Validated(answers, [], folds, False)

    monkeypatch.setattr(choosing, "_compared", compared)
    return seen


def chosen_of(monkeypatch, values: dict[str, tuple[float, int, int] | tuple[float, int]]) -> str:
    """What `choose` takes of algorithms with these losses, leaves and coefficients."""
    names = dict(zip(("axis_parallel", "hhgdt", "fdt"), values, strict=False))
    scripted(
        monkeypatch,
        {name: values[alias][0] for name, alias in names.items()},
        {name: Size(values[alias][1], sum(values[alias][1:])) for name, alias in names.items()},
    )
    choice = choose(table(), cases_of(*names), 5, 1, GOAL, Budget(None), np.inf, tuple(names))
    return names[choice.chosen]


# ---- the rule --------------------------------------------------------------------------------------------------------


def test_the_smallest_tree_within_one_standard_error_is_chosen_by_terms_leaves_loss_and_order(monkeypatch):
    assert chosen_of(monkeypatch, {"best": (0.10, 20), "near": (0.115, 5), "far": (0.13, 2)}) == "near"
    assert chosen_of(monkeypatch, {"best": (0.10, 3), "near": (0.115, 5), "far": (0.13, 2)}) == "best"
    assert chosen_of(monkeypatch, {"dense": (0.10, 5, 24), "axis": (0.11, 5, 4), "small": (0.2, 2, 1)}) == "axis"
    assert chosen_of(monkeypatch, {"dense": (0.10, 4, 24), "axis": (0.11, 5, 4)}) == "axis"
    assert chosen_of(monkeypatch, {"models": (0.10, 1, 30), "axis": (0.11, 9, 8)}) == "axis"
    assert chosen_of(monkeypatch, {"axis": (0.11, 9, 8), "models": (0.12, 1, 16)}) == "models"
    assert chosen_of(monkeypatch, {"a": (0.11, 5), "b": (0.10, 5)}) == "b"
    assert chosen_of(monkeypatch, {"a": (0.10, 5), "b": (0.10, 5)}) == "a"


def test_a_tree_to_read_is_the_smallest_with_a_split_within_one_standard_error_or_else_the_best(monkeypatch):
    names = ("axis_parallel", "hhgdt", "fdt", "hhgdt_forest")

    def order(*losses_and_leaves: tuple[float, int]) -> list[str]:
        scripted(
            monkeypatch,
            {name: loss for name, (loss, _) in zip(names, losses_and_leaves, strict=True)},
            {name: Size(leaves, 3 * leaves) for name, (_, leaves) in zip(names, losses_and_leaves, strict=True)},
        )
        choice = choose(table(), cases_of(*names), 5, 1, replace(GOAL, readable=True), Budget(None), np.inf, names)
        assert choice.chosen == choosing.ranked(choice.last, replace(GOAL, readable=True))[0].algorithm
        return [c.algorithm for c in choosing.ranked(choice.last, replace(GOAL, readable=True))]

    assert order((0.11, 1), (0.115, 4), (0.10, 6), (0.10, 90)) == ["hhgdt", "fdt"], "one leaf is no split"
    assert order((0.3, 2), (0.2, 9), (0.25, 3), (0.10, 90)) == ["hhgdt", "fdt", "axis_parallel"], "none is as good"
    assert order((0.3, 1), (0.2, 1), (0.25, 1), (0.10, 90)) == ["hhgdt_forest"]


def test_an_algorithm_that_fails_is_left_out_with_its_reason(monkeypatch):
    compared = choosing.cross_validated

    def fails(case, *rest, **more):
        if case.spec.id == "hhgdt":
            raise ConfigError("it does not settle.")
        return compared(case, *rest, **more)

    monkeypatch.setattr(choosing, "cross_validated", fails)
    choice = choose(table(), cases_of("hhgdt", "fdt"), 5, 1, GOAL, Budget(None), np.inf, ("hhgdt", "fdt"))
    assert choice.chosen == "fdt"
    assert choice.candidates[0] == Candidate("hhgdt", None, Size(), "ConfigError: it does not settle.", 60)
    with pytest.raises(ConfigError, match=r"none of hhgdt could be fitted \(ConfigError: it does not settle"):
        choose(table(), cases_of("hhgdt"), 5, 1, GOAL, Budget(None), np.inf, ("hhgdt",))


# ---- halving ---------------------------------------------------------------------------------------------------------


def test_what_the_budget_pays_for_is_compared_on_all_rows(monkeypatch):
    seen = scripted(monkeypatch, dict.fromkeys(FIVE, 0.1))
    choice = choose(table(2000), cases_of(*FIVE), 5, 1, GOAL, Budget(600.0), 200.0, FIVE)
    assert sorted(seen) == sorted((name, 2000) for name in FIVE)
    assert not any(c.dropped for c in choice.candidates)


def test_halves_are_dropped_on_few_rows_and_the_rest_goes_on_to_more(monkeypatch):
    losses = {"axis_parallel": 0.3, "hhgdt": 0.12, "fdt": 0.4, "cline": 0.35, "hhgdt_forest": 0.05}
    seen = scripted(monkeypatch, losses)
    cases = cases_of(*FIVE)(table(4000))
    everything = sum(5 * cost_of(case, 3200, 5) for case in cases.values())
    choice = choose(table(4000), cases_of(*FIVE), 5, 1, GOAL, Budget(60.0), 0.7 * everything, FIVE)
    rows = list(dict.fromkeys(rows for _, rows in seen))
    assert rows == sorted(rows) and len(rows) > 1 and rows[0] >= choosing.LEAST_ROWS
    in_round = [[name for name, n in seen if n == m] for m in rows]
    assert len(in_round[0]) == 5 and len(in_round[1]) == 3
    # Cheapest first; the best and the best tree go on.
    assert in_round[0] == sorted(FIVE, key=lambda name: cost_of(cases[name], 4000, 5))
    assert {"hhgdt", "hhgdt_forest"} <= set(in_round[1])
    assert choice.chosen == "hhgdt_forest" and choice.best_tree is not None and choice.best_tree.algorithm == "hhgdt"
    dropped = {c.algorithm: c.rows for c in choice.candidates if c.dropped}
    assert dropped["fdt"] == rows[0] and "hhgdt" not in dropped
    assert [row["dropped"] for row in choice.plain()] == [c.dropped for c in choice.candidates]


def test_a_chosen_tree_has_no_better_tree_beside_it(monkeypatch):
    scripted(monkeypatch, {"hhgdt": 0.12, "fdt": 0.3, "hhgdt_forest": 0.05})
    names = ("hhgdt", "fdt", "hhgdt_forest")
    choice = choose(table(2000), cases_of(*names), 5, 1, GOAL, Budget(600.0), 200.0, names)
    assert (choice.chosen, choice.best_tree.algorithm) == ("hhgdt_forest", "hhgdt")
    assert [replace(choice, chosen=name).best_tree.algorithm for name in names[:2]] == ["hhgdt", "fdt"]


def test_the_dearest_are_not_compared_where_the_least_rows_are_too_much_work(monkeypatch):
    names = ("axis_parallel", "fdt", "tao")
    seen = scripted(monkeypatch, dict.fromkeys(names, 0.1))
    cases = cases_of(*names)(table(3000))
    least = [5 * cost_of(cases[name], choosing.LEAST_ROWS * 0.8, 5) for name in names]
    choice = choose(table(3000), cases_of(*names), 5, 1, GOAL, Budget(60.0), 2.1 * sum(least[:2]), names)
    assert {name for name, _ in seen} == {"axis_parallel", "fdt"}
    assert choice.candidates[2].failure == choosing.NOT_PAID and choice.candidates[2].estimate is None


def test_no_more_work_is_counted_than_there_is(monkeypatch):
    for n, work in ((900, 0.8), (3000, 2.0), (40_000, 6.0)):
        seen = scripted(monkeypatch, {name: 0.1 + i / 50 for i, name in enumerate(FIVE)})
        cases = cases_of(*FIVE)(table(n))
        choose(table(n), cases_of(*FIVE), 5, 1, GOAL, Budget(60.0), work, FIVE)
        done = sum(
            (1 if rows >= choosing.HELD_OUT_FROM else 5) * cost_of(cases[name], 0.8 * rows, 5) for name, rows in seen
        )
        assert done <= work


def test_the_clock_leaves_out_what_has_not_begun_and_in_time_cuts_nothing():
    dataset, times = table(200), iter([0.0, *[1000.0] * 100])
    names = ("axis_parallel", "fdt", "hhgdt")
    budget = Budget(10.0, lambda: next(times))
    choice = choose(dataset, cases_of(*names), 3, 1, GOAL, budget, 5.0, names)
    compared = [c.algorithm for c in choice.candidates if c.estimate]
    assert len(compared) == 1 and choice.chosen == compared[0]
    assert {c.failure for c in choice.candidates if not c.estimate} == {choosing.CLOCK}
    assert budget.cut and budget.plain()["clock_cut"] == budget.cut

    dataset = table(150)
    ticking = Budget(10.0, iter([0.0, *[10.0 * BRAKE] * 100]).__next__)
    assert not ticking.is_over("fdt")
    quiet = [
        choose(dataset, cases_of("fdt", "hhgdt"), 3, 1, GOAL, b, 9.0, ("fdt", "hhgdt")) for b in (ticking, Budget(None))
    ]
    assert quiet[0] == quiet[1]


def test_rows_of_a_round_are_part_of_the_next_and_keep_the_classes():
    dataset = replace(table(1000), y=(np.arange(1000) % 50 == 0).astype(np.int32))
    few, more = rows_in_turn(dataset, 300, 7), rows_in_turn(dataset, 600, 7)
    assert set(few) < set(more) and len(set(few)) == 300 and (np.diff(few) > 0).all()
    assert dataset.y[few].sum() == 6 and dataset.y[more].sum() == 12
    assert rows_in_turn(dataset, 1000, 7).tolist() == list(range(1000))
    assert set(rows_in_turn(dataset, 300, 8)) != set(few)


# ---- plans -----------------------------------------------------------------------------------------------------------


def test_a_small_table_is_nested_and_a_large_one_held_out():
    names = [candidate["name"] for candidate in candidates("classification")]

    def plan(n: int, p: int, seconds: float) -> Plan:
        X = np.broadcast_to(0.0, (n, p))
        cases = cases_of(*names)(Dataset("t", X, np.zeros(n, np.int32), ("u", "v"), tuple(map(str, range(p)))))
        return planned(cases, n, 5, Budget(seconds))

    small, large = plan(150, 4, 60.0), plan(200_000, 12, 60.0)
    assert not small.held_out and sorted(small.entrants) == sorted(names)
    assert large.held_out and 0 < len(large.entrants) < len(names) and "tao" not in large.entrants
    assert plan(5000, 8, 1.0).held_out and not plan(5000, 8, 3600.0).held_out
    assert plan(2500, 8, 60.0).work < plan(2500, 8, 120.0).work
    unlimited = planned(cases_of(*names)(table(50)), 50, 5, Budget(None))
    assert unlimited.work == np.inf and not unlimited.held_out


def test_fewer_folds_are_tested_before_less_is_compared():
    names = [candidate["name"] for candidate in candidates("classification")]

    def cases(n: int) -> Mapping[str, Case]:
        X = np.broadcast_to(0.0, (n, 8))
        return cases_of(*names)(Dataset("t", X, np.zeros(n, np.int32), ("u", "v", "w"), tuple("abcdefgh")))

    plans = {n: planned(cases(n), n, 5, Budget(40.0)) for n in (150, 300, 600, 1200, 2500, 5000)}
    assert [plan.tested for plan in plans.values()] == [5, 5, 3, 3, 3, 3]
    # Four comparisons of 40 s, with the fits of what they choose, have the work of six of 60 s.
    for n, plan in plans.items():
        dearest = max(cost_of(case, n, 5) for name, case in cases(n).items() if name in plan.entrants)
        if plan.tested == 3:
            assert plan.work == pytest.approx((60 * PLANNED - 6 * dearest) / 6)
    # One algorithm has nothing to choose, and all its rows are predicted.
    alone = planned(cases_of("tao")(table(2500)), 2500, 5, Budget(40.0))
    assert alone.tested == 5


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_recommended_algorithm_is_compared_first_wherever_its_fits_are_paid_for(task):
    names, first = [candidate["name"] for candidate in candidates(task)], recommended(task)
    for n, p in ((93, 22), (392, 7), (1000, 10), (4000, 12)):
        y = np.zeros(n, np.int32) if task == "classification" else np.zeros(n)
        classes = ("u", "v") if task == "classification" else ()
        cases = cases_of(*names)(
            Dataset("t", np.broadcast_to(0.0, (n, p)), y, classes, tuple(map(str, range(p))), task)
        )
        plan = planned(cases, n, 5, Budget(40.0))
        assert plan.entrants[0] == first, (n, p)
        order = choosing.in_turn_of(cases, reversed(plan.entrants), n, 5)
        assert order == list(plan.entrants) and order[1:] == sorted(
            order[1:], key=lambda item: cost_of(cases[item], n, 5)
        )
    # Many rows of many columns leave the cheapest alone.
    X = np.broadcast_to(0.0, (10**6, 50))
    cases = cases_of(*names)(Dataset("t", X, np.zeros(10**6, y.dtype), classes, tuple(map(str, range(50))), task))
    assert first not in planned(cases, 10**6, 5, Budget(40.0)).entrants


def test_an_estimate_of_few_folds_says_so():
    result, _ = estimated(table(60), cases_of("axis_parallel"), replace(NESTED, tested=3), 5, 1, GOAL, Budget(None))
    estimate = result.estimate(GOAL)
    assert len(result.answers.y) == estimate.rows == 36
    assert estimate.by == "3 folds of nested 5-fold cross-validation"
    assert estimate.plain()["folds"] == 5 and estimate.plain()["folds_tested"] == 3


def test_a_cost_is_the_formula_of_its_file():
    cost = Cost(0.01, 0.1, 1.2, 1.5, 0.5)
    assert cost.of(1000, 10, 2) == pytest.approx(0.11)
    assert cost.of(4000, 20, 8) == pytest.approx(0.01 + 0.1 * 4**1.2 * 2**1.5 * 4**0.5)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_has_a_cost_that_grows_with_the_rows(task):
    for candidate in candidates(task):
        cost = costs(task)[candidate["name"]]
        assert 0 < cost.of(100, 5, 2) < cost.of(1000, 5, 2) < cost.of(10_000, 5, 2)


def test_an_algorithm_without_a_cost_counts_as_the_dearest_and_a_grid_as_its_values():
    dataset = table(800)
    dearest = max(cost_of(case, 800, 5) for case in cases_of(*costs("classification"))(dataset).values())
    assert cost_of(cases_of("oc1")(dataset)["oc1"], 800, 5) == dearest
    (once,) = cases_of("hhgdt")(dataset).values()
    (grid,) = cases_of("hhgdt", max_depth=(1, 2, 3))(dataset).values()
    assert cost_of(grid, 800, 5) == pytest.approx(cost_of(once, 800, 5) * (1 + 5 * 3))


def test_a_tree_that_kept_rows_prune_is_grown_once():
    dataset = table(800)
    (once,) = cases_of("hhgdt")(dataset).values()
    retained = replace(once, spec=replace(once.spec, params={"pruning": "cost_complexity"}))
    assert cost_of(retained, 800, 5) == pytest.approx(cost_of(once, 800, 5) / budgets.GROWTHS)


def test_levels_count_as_the_columns_that_they_become():
    dataset = replace(table(10), qualitative=(1,), levels={1: ("r", "g", "b", "k")})
    assert seen_columns(dataset, "onehot") == 6 and seen_columns(dataset, "ordinal") == 3


# ---- the nested estimate ---------------------------------------------------------------------------------------------


NESTED = Plan(5, ("axis_parallel",), np.inf)


def test_the_nested_estimate_chooses_without_the_test_rows(monkeypatch):
    dataset = table(60)
    rows: list[np.ndarray] = []

    def chooses(within, cases, *rest):
        rows.append(within.X)
        return Choice((), "axis_parallel")

    monkeypatch.setattr(choosing, "choose", chooses)
    result, _ = estimated(dataset, cases_of("axis_parallel"), NESTED, 5, 1, GOAL, Budget(None))
    assert result.nested and result.folds == 5 and len(rows) == 5 and len(result.answers.y) == 60
    outer = folds_of(dataset, replace(division(dataset, 5, tuned=True), scheme="ordinary"), 1)
    for X, fold in zip(rows, outer, strict=True):
        assert np.array_equal(X, dataset.X[fold.train])
        assert not (X[:, None] == dataset.X[fold.test]).all(axis=2).any()


def test_halving_inside_the_estimate_sees_training_rows_alone(monkeypatch):
    dataset, trained = table(3000), []
    fit = fits.fit_on

    def spied(case, train, *rest):
        trained.append(case.dataset.X[train])
        return fit(case, train, *rest)

    monkeypatch.setattr(fits, "fit_on", spied)
    names = ("axis_parallel", "hhgdt", "fdt")
    everything = 5 * sum(cost_of(case, 2400 * 0.8, 5) for case in cases_of(*names)(dataset).values())
    plan = Plan(0, names, 0.5 * everything)
    result, choice = estimated(dataset, cases_of(*plan.entrants), plan, 5, 1, GOAL, Budget(60.0))
    tested = {row.tobytes() for row in dataset.X[result.answers.rows]}
    assert len(tested) == 600 and result.folds == 0 and len({c.rows for c in choice.candidates}) > 1
    assert not any(row.tobytes() in tested for X in trained for row in X)


def test_held_out_rows_are_tested_once_and_the_estimate_says_so(monkeypatch):
    monkeypatch.setattr(fitting, "planned", lambda local, *_: Plan(0, tuple(local), 1.0))
    outcome = fitting.fit(table(200), POLICY, specs("fdt", "axis_parallel"), budget=Budget(5.0))
    assert outcome.estimate.rows == 40 and outcome.estimate.by == "40 rows held out"
    plain = outcome.model.facts["estimate"]
    assert plain["by"] == "held-out rows" and plain["rows"] == 40 and plain["folds"] == 0


def test_the_nested_estimate_searches_the_grid_of_what_it_chose(monkeypatch):
    """Folds without tuning pairs made every value as good as any other, and the last one was taken."""
    dataset, seen = table(60), []

    def tune(case, pairs, seed):
        seen.append([(pair.train, pair.valid) for pair in pairs])
        return {"max_depth": 1}, []

    monkeypatch.setattr(choosing, "choose", lambda *_: Choice((), "axis_parallel"))
    monkeypatch.setattr(fits, "tune", tune)
    estimated(dataset, cases_of("axis_parallel", max_depth=(1, 2)), NESTED, 5, 1, GOAL, Budget(None))
    outer = folds_of(dataset, division(dataset, 5, tuned=True), 1)
    assert len(seen) == 5 and all(len(pairs) == 5 for pairs in seen)
    for pairs, fold in zip(seen, outer, strict=True):
        for train, valid in pairs:
            assert sorted([*train, *valid]) == fold.train.tolist()


def test_a_clock_that_runs_out_in_the_estimate_leaves_folds_out(monkeypatch):
    monkeypatch.setattr(choosing, "choose", lambda *_: Choice((), "axis_parallel"))
    budget = Budget(1.0, iter([0.0, 0.0, *[100.0] * 9]).__next__)
    result, _ = estimated(table(60), cases_of("axis_parallel"), NESTED, 5, 1, GOAL, budget)
    assert len(result.answers.y) == 24 and budget.cut == "fold 3 of the estimate"
    assert result.estimate(GOAL).by == "2 folds of nested 5-fold cross-validation"


def test_threads_change_nothing_of_a_cross_validation():
    dataset = table(120)
    (case,) = cases_of("logistic_tree")(dataset).values()
    alone = cross_validated(case, 5, 1, GOAL)
    with threads(3):
        together = cross_validated(case, 5, 1, GOAL)
    for name in ("rows", "y", "predicted", "shares"):
        np.testing.assert_array_equal(getattr(alone.answers, name), getattr(together.answers, name))


def test_of_errors_in_several_threads_the_first_in_turn_is_raised():
    def task(number: int, seconds: float) -> int:
        time.sleep(seconds)
        if number:
            raise ValueError(str(number))
        return number

    with threads(3), pytest.raises(ValueError, match=r"^1$"):
        list(in_turn(task, [(0, 0.0), (1, 0.05), (2, 0.0)]))


# ---- as a whole ------------------------------------------------------------------------------------------------------


def facts_of(outcome) -> dict:
    return {key: value for key, value in outcome.model.facts.items() if key != "versions"}


@pytest.mark.long
def test_two_fits_within_a_budget_are_the_same_at_any_load():
    """The clock of a busy machine: ten times as fast as the work, still before the brake."""
    clocks = (iter(np.linspace(0, 1, 9999)).__next__, iter(np.linspace(0, 8.9, 9999)).__next__)
    names = ("axis_parallel", "hhgdt", "fdt")
    first, two = (fitting.fit(table(300), POLICY, specs(*names), budget=Budget(6.0, clock)) for clock in clocks)
    assert facts_of(first) == facts_of(two) and first.estimate == two.estimate
    assert first.model.fitted.parameters == two.model.fitted.parameters
    X = table(50, seed=9).X
    assert first.model.predict_proba(X).tobytes() == two.model.predict_proba(X).tobytes()


def test_auto_on_oblique_classes_takes_an_oblique_tree():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, size=(150, 4))
    dataset = Dataset("slanted", X, (X.sum(axis=1) > 0).astype(np.int32), ("n", "y"), ("a", "b", "c", "d"))
    listed = specs("axis_parallel", "hhcart_a", "hhgdt", "fdt")
    fit = fitting.fit(dataset, POLICY, listed, folds=4)
    assert fit.choice is not None and fit.choice.chosen != "axis_parallel"
    assert fit.model.algorithm == fit.choice.chosen
    assert fit.estimate.nested and fit.estimate.score > 0.8
    rows = fit.model.facts["compared"]
    assert [row["algorithm"] for row in rows] == [s.name for s in listed]
    assert [row["chosen"] for row in rows].count(True) == 1 and {row["compared_on"] for row in rows} == {150}


def test_a_tree_is_kept_beside_a_forest(monkeypatch):
    losses = {"axis_parallel": 0.3, "hhgdt_forest": 0.1, "hhgdt": 0.2}
    scripted(monkeypatch, losses)
    dataset = table(120)
    monkeypatch.setattr(choosing.Goal, "decided", lambda self, answers: (answers, None))
    fit = fitting.fit(dataset, POLICY, specs(*losses), folds=3)
    assert fit.model.algorithm == "hhgdt_forest" and fit.tree is not None
    assert fit.tree.algorithm == "hhgdt" and fit.tree.facts["estimate"]["accuracy"] == pytest.approx(0.8)
    assert fit.path and fit.path[-1].leaves == 1
