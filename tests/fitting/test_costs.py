"""The costs by which `oblique fit` plans, beside the seconds that fits took (results/tables/costs.csv)."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from oblique_cli.estimators.default_pruning import BY_CV, BY_HOLDOUT
from oblique_cli.fitting.budget import TREE_SECONDS, affordable_tree, candidates, costs, growth_seconds, recommended
from oblique_cli.ground.nouns import AlgorithmSpec

STORED = Path(__file__).resolve().parents[2] / "results" / "tables" / "costs.csv"
with open(STORED, encoding="utf-8", newline="") as stream:
    FITS = list(csv.DictReader(stream))


def ratio(fit: dict[str, str]) -> float:
    """Planned seconds of a stored fit over those that it took."""
    cost = costs(fit["task"])[fit["algorithm"]]
    return cost.of(float(fit["rows"]), int(fit["columns"]), int(fit["classes"])) / max(float(fit["seconds"]), 1e-4)


def test_four_in_five_fits_cost_what_is_planned_within_a_factor_of_two_and_so_do_tables_as_a_whole():
    assert len({fit["table"] for fit in FITS}) >= 60
    within = [0.5 <= ratio(fit) <= 2 for fit in FITS]
    assert np.mean(within) >= 0.8
    planned, taken = defaultdict(float), defaultdict(float)
    for fit in FITS:
        taken[fit["table"]] += float(fit["seconds"])
        planned[fit["table"]] += ratio(fit) * max(float(fit["seconds"]), 1e-4)
    assert np.mean([0.5 <= planned[table] / taken[table] <= 2 for table in planned]) >= 0.85


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_was_measured_one_is_recommended_and_none_costs_hours_on_many_columns(task):
    names = [candidate["name"] for candidate in candidates(task)]
    assert recommended(task) in names
    assert set(names) == {fit["algorithm"] for fit in FITS if fit["task"] == task} == costs(task).keys()
    assert all(cost.of(500, 1000, 2) < 600 for cost in costs(task).values())


def test_default_fits_stay_within_what_is_planned_and_compare_what_is_recommended():
    with open(STORED.with_name("budgets.csv"), encoding="utf-8", newline="") as stream:
        fits = list(csv.DictReader(stream))
    assert len(fits) > 40
    within = [0.5 <= float(fit["planned"]) / float(fit["used"]) <= 2 for fit in fits]
    assert sum(within) >= 0.95 * len(fits)
    for fit in fits:
        assert float(fit["used"]) < 60 and not fit["cut"] and fit["recommended"] == "True", fit
        rivals = (float(fit["errors_to_forest"]), float(fit["errors_to_linear"]))
        assert min(rivals) <= 2, f"{fit['table']} is worse than both rivals by two standard errors"


@pytest.mark.parametrize(
    ("name", "params", "fits", "size", "substitute"),
    [
        ("hhcart_a", BY_HOLDOUT, 1, (200_000, 10, 2), "hhcart_a"),
        ("hhcart_a", BY_HOLDOUT, 2, (200_000, 10, 2), "hhcart_d"),
        ("hhcart_a", BY_HOLDOUT, 1, (1_000_000, 10, 2), "hhcart_d"),
        ("hhcart_a", BY_HOLDOUT, 1, (10_000_000, 10, 2), "axis_parallel"),
        ("hhcart_a", BY_CV, 1, (200, 10, 2), "hhcart_a"),
        ("hhcart_a", BY_CV, 1, (200, 2_000, 2), "hhcart_d"),
        ("axis_parallel", BY_HOLDOUT, 1, (10_000_000, 10, 2), "axis_parallel"),
        ("m5_style", {}, 1, (1_000_000, 10, 1), "m5_style"),
        ("tao", {}, 1, (1_000_000, 10, 2), "tao"),
    ],
)
def test_a_default_algorithm_is_the_first_whose_trees_are_affordable_else_the_cheapest(
    name, params, fits, size, substitute
):
    chosen, usual, seconds = affordable_tree(AlgorithmSpec(name, name, dict(params), {}), fits, *size)
    assert chosen == substitute and (seconds < usual) == (chosen != name)
    assert seconds <= TREE_SECONDS or chosen in ("axis_parallel", "m5_style")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_trees_of_large_tables_take_what_is_planned_within_a_factor_of_two(task):
    with open(STORED.with_name("growth_costs.csv"), encoding="utf-8", newline="") as stream:
        fits = [fit for fit in csv.DictReader(stream) if fit["task"] == task]
    assert {fit["algorithm"] for fit in fits} == costs(f"{task}_growth").keys()
    for fit in fits:
        planned = growth_seconds(task, float(fit["rows"]), int(fit["columns"]), int(fit["classes"]))[fit["algorithm"]]
        assert 0.5 <= planned / float(fit["seconds"]) <= 2, fit
