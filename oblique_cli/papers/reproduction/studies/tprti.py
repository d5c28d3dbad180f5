"""Chapter 2 of Amalaman's dissertation: TPRTI against RETIS, M5, GUIDE and SECRET, Tables 2.6 to 2.8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import log

import numpy as np

from oblique_cli.data import catalogue
from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.declarations import Declaration, Runs, declare
from oblique_cli.papers.reproduction.framework.runs import FoldScore, FoldScores, Number, Ours, Score
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

SOURCE = "amalaman2015"
TABLES = tuple(f"{SOURCE}:2.{table}" for table in (6, 7, 8))
METHODS = {"tprti_a": "TPRTI-A", "tprti_b": "TPRTI-B", "retis": "RETIS", "m5_style": "M5", "cart_regression": "CART"}
COPIED = ("GUIDE", "SECRET")  # printed numbers of another paper, which the dissertation uses for comparison
NOT_RUN = dict.fromkeys(COPIED, "printed numbers of another paper")
# RETIS has no printed number on kin8nm.
DATASETS = ("three_pieces", "one_bend", "breiman_levels", "sine_product", "friedman", "abalone", "auto_mpg",
            "boston_housing", "auto_mpg_zscore", "stock", "tecator", "kin8nm")  # fmt: skip
MEASURES: Mapping[str, Score] = {"mse": lambda row: row.measures["mse"], "n_leaves": lambda row: row.n_leaves}
OUTCOMES = ("wins", "ties", "losses")


def _scores(done: Runs) -> FoldScores:
    return runs.fold_scores(done.of("trees"), METHODS, MEASURES)


def _is_whole(scores: FoldScores) -> bool:
    return all((dataset, method) in scores for dataset in DATASETS for method in METHODS.values())


def _units(done: Runs) -> dict[str, Mapping[str, float]]:
    """Return `units_of` each data set; errors of a stored run keep their unit."""
    load = (done.request.data_dir, done.request.offline)
    specs = [spec for run in done.of("trees") for spec in run.experiment.datasets]
    return {spec.name: {OWN: 1.0} if done.is_stored else units_of(spec, *load) for spec in specs}


def _of_table_2_6(done: Runs) -> Ours:
    scores, counts = _scores(done), {}
    if _is_whole(scores):
        units = {name: each[unit_of(scores, name, each)] for name, each in _units(done).items()}
        counts = duels(scores, units)

    def ours(number: Published, dataset: str) -> Number | None:
        count = counts.get((number.method, number.qualifiers["versus"]))
        return (count[OUTCOMES.index(number.metric)], None, "counted by the printed rule") if count else None

    return ours


def _of_table_2_7(done: Runs) -> Ours:
    """Return a function for errors, in the unit of their row of Table 2.7, and leaves."""
    scores, units_by = _scores(done), _units(done)

    def ours(number: Published, dataset: str) -> Number | None:
        value = scores.get((dataset, number.method), {}).get(number.metric)
        if value is None or number.metric != "mse":
            return value.number() if value else None
        units = units_by[dataset]
        return _in_unit(value, unit_of(scores, dataset, units, number.method), units)

    return ours


def _of_table_2_8(done: Runs) -> Ours:
    scores = _scores(done)
    best = best_combinations(scores, DATASETS) if _is_whole(scores) else {}
    return lambda number, _: (best[number.method], None, "counted from the means") if number.method in best else None


OWN = "its own units"


@cache
def units_of(policy: DatasetSpec, data_dir: str | None, offline: bool) -> Mapping[str, float]:
    """Return the possible units of a printed error by name: 1, the variance of the response, its squared range."""
    y = catalogue.load(policy, data_dir, offline).y
    return {OWN: 1.0, "the variance of the response": float(np.var(y)), "its squared range": float(np.ptp(y)) ** 2}


def unit_of(scores: FoldScores, dataset: str, units: Mapping[str, float], judged: str | None = None) -> str:
    """Return the unit in which the errors of a row of Table 2.7 are nearest to the printed ones, in logarithms.

    judged  a method whose error is ignored, so that no cell chooses its own unit; None for the unit of the whole row

    Errors printed as 0 are ignored too.
    """
    names = runs.dataset_names(SOURCE)
    pairs = [
        (scores[dataset, number.method]["mse"].mean, number.mean)
        for number in numbers(SOURCE, "2.7")
        if names.get(number.dataset) == dataset
        and number.metric == "mse"
        and number.method != judged
        and number.mean
        and "mse" in scores.get((dataset, number.method), {})
    ]

    def away(name: str) -> float:
        return sum(abs(log(ours / units[name] / printed)) for ours, printed in pairs if ours > 0)

    return min(units, key=away)


def _in_unit(value: FoldScore, unit: str, units: Mapping[str, float]) -> Number:
    mean, sd, note = value.number()
    if unit == OWN or mean is None:
        return mean, sd, note
    return mean / units[unit], None if sd is None else sd / units[unit], f"{note}; in units of {unit}"


def wins_ties_losses(ours: Mapping[str, tuple[float, float]], theirs: Mapping[str, tuple[float, float]]) -> list[int]:
    """Count data sets by the rule of section 2.4.3: of two errors mu1 < mu2 it is a tie if mu1 + c1 > mu2."""
    counts = [0, 0, 0]
    for dataset in ours.keys() & theirs.keys():
        (a, sd_a), (b, sd_b) = ours[dataset], theirs[dataset]
        if a == b or (a + sd_a > b if a < b else b + sd_b > a):
            counts[1] += 1
        else:
            counts[0 if a < b else 2] += 1
    return counts


def duels(scores: FoldScores, units: Mapping[str, float]) -> dict[tuple[str, str], list[int]]:
    """Return (method, versus) -> wins, ties, losses of TPRTI-A and -B. units : data set -> divisor of our errors"""
    means: dict[str, dict[str, tuple[float, float]]] = {}
    for (dataset, method), score_of in scores.items():
        unit, mse = units[dataset], score_of["mse"]
        means.setdefault(method, {})[dataset] = (mse.mean / unit, (mse.over_folds or 0.0) / unit)
    names = runs.dataset_names(SOURCE)
    for number in numbers(SOURCE, "2.7"):
        if number.method in COPIED and number.metric == "mse" and number.mean is not None:
            means.setdefault(number.method, {})[names[number.dataset]] = (number.mean, number.sd or 0.0)
    return {
        (method, other): wins_ties_losses(means[method], means[other])
        for method in ("TPRTI-A", "TPRTI-B")
        for other in means
        if method != other
    }


def best_combinations(scores: FoldScores, datasets: Iterable[str]) -> dict[str, int]:
    """Return by method the number of data sets where its error and its leaves are both the least (Table 2.8)."""
    methods = ("M5", "TPRTI-A", "TPRTI-B", "RETIS")
    counts = dict.fromkeys(methods, 0)
    for dataset in datasets:
        for method in methods:
            values = {other: scores[dataset, other] for other in methods}
            counts[method] += all(
                values[method][name].mean <= min(v[name].mean for v in values.values()) for name in MEASURES
            )
    return counts


def tables(done: Runs) -> Iterator[ExtraTable]:
    """Yield our numbers with both SDs, with CART, constant trees absent from the dissertation."""
    rows = []
    for (dataset, method), score_of in _scores(done).items():
        mse, leaves = score_of["mse"], score_of["n_leaves"]
        sds = [f"{sd:.3g}" if sd is not None else "" for sd in (mse.over_folds, mse.over_repeats)]
        rows.append((dataset, method, f"{mse.mean:.4g}", *sds, f"{leaves.mean:.1f}"))
    header = ("data set", "method", "MSE", "SD over folds", "SD over repetitions", "leaves")
    caption = "Mean squared errors with both standard deviations, CART for reference"
    yield ExtraTable("errors", caption, header, tuple(rows))


# Tables 2.6 and 2.8 are counted once all data sets are complete. M5 is our M5-style tree.
LAYOUTS = (_of_table_2_6, _of_table_2_7, _of_table_2_8)
declare(
    "tprti",
    "TPRTI against RETIS, M5, GUIDE and SECRET (Amalaman 2015, chapter 2)",
    Declaration({"trees": ("tprti",)}, dict(zip(TABLES, LAYOUTS, strict=True)), NOT_RUN, extras=tables),
)
