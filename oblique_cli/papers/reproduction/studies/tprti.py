"""Chapter 2 of Amalaman's dissertation: TPRTI against RETIS, M5, GUIDE and SECRET, Tables 2.6 to 2.8."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import NamedTuple

import numpy as np

from oblique_cli.data import catalogue
from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.papers.reproduction.framework.fold_scores import FoldScore, fold_score, rows_by_method
from oblique_cli.papers.reproduction.framework.runs import Number, cells, dataset_names, outcome, total
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

SOURCE = "amalaman2015"
METHODS = {"tprti_a": "TPRTI-A", "tprti_b": "TPRTI-B", "retis": "RETIS", "m5_style": "M5", "cart_regression": "CART"}
COPIED = ("GUIDE", "SECRET")  # printed numbers of another paper, which the dissertation compares with as they are
MEASURES = {"mse": lambda row: row.measures["mse"], "n_leaves": lambda row: row.n_leaves}
OUTCOMES = ("wins", "ties", "losses")


class Parameters(NamedTuple):
    """A line of Table 2.5. RETIS stops as TPRTI-A does; 0.85 of Boston Housing is printed as 85."""

    subset_a: int
    cos_a: float
    subset_b: int
    cos_b: float
    node: int = 10
    improvement: int = 10

    def overrides(self) -> tuple[str, ...]:
        """The parameters as `--set` takes them, for the order of algorithms in configs/reproduce/tprti.yaml."""
        turning = {0: (self.subset_a, self.cos_a), 1: (self.subset_b, self.cos_b)}
        return (
            *(f"algorithms.{i}.subset_size={size}" for i, (size, _) in turning.items()),
            *(f"algorithms.{i}.cos_beta={cosine}" for i, (_, cosine) in turning.items()),
            *(f"algorithms.{i}.min_node_percent={self.node}" for i in range(3)),
            *(f"algorithms.{i}.min_improvement_percent={self.improvement}" for i in range(3)),
        )


TABLE_2_5: Mapping[str, Parameters] = {
    "three_pieces": Parameters(3, 0.8, 3, 0.8),
    "one_bend": Parameters(9, 0.8, 9, 0.8),
    "breiman_levels": Parameters(5, 0.8, 5, 0.8),
    "sine_product": Parameters(4, 0.8, 5, 0.8),
    "friedman": Parameters(3, 0.85, 3, 0.85),
    "abalone": Parameters(55, 0.8, 21, 0.8),
    "auto_mpg": Parameters(4, 0.85, 4, 0.85),
    "boston_housing": Parameters(14, 0.8, 14, 0.85, 12, 12),
    "auto_mpg_zscore": Parameters(4, 0.85, 4, 0.85),
    "stock": Parameters(4, 0.8, 13, 0.85),
    "tecator": Parameters(8, 0.8, 21, 0.7),
    "kin8nm": Parameters(250, 0.95, 250, 0.95, 3, 1),
}

# Data set and printed method -> "mse" and "n_leaves".
Scores = Mapping[tuple[str, str], Mapping[str, FoldScore]]


@STUDIES.register("tprti")
class TPRTI(Study):
    """Tables 2.6 to 2.8. M5 is our M5-style tree, GUIDE and SECRET stay the printed numbers, as in the dissertation."""

    name = "tprti"
    title = "TPRTI against RETIS, M5, GUIDE and SECRET (Amalaman 2015, chapter 2)"
    tables = tuple(f"{SOURCE}:2.{table}" for table in (6, 7, 8))

    def run(self, request: StudyRequest) -> StudyResult:
        """Run Table 2.7 data set by data set, and count Tables 2.6 and 2.8 from it once all twelve are there."""
        outcomes = [
            outcome(request, "reproduce/tprti", *parameters.overrides(), datasets=[dataset])
            for dataset, parameters in TABLE_2_5.items()
        ]
        scores: dict[tuple[str, str], dict[str, FoldScore]] = {}
        for key, rows in rows_by_method(outcomes, METHODS).items():
            found = {name: fold_score(rows, score) for name, score in MEASURES.items()}
            scores[key] = {name: value for name, value in found.items() if value is not None}
        not_run = {method: "printed numbers of another paper" for method in COPIED}

        units = {spec.name: units_of(spec, request) for run in outcomes if run for spec in run.experiment.datasets}

        def of_table_2_7(number: Published, dataset: str) -> Number | None:
            value = scores.get((dataset, number.method), {}).get(number.metric)
            if value is None or number.metric != "mse":
                return value.number() if value else None
            return _in_unit(value, unit_of(scores, dataset, units[dataset], number.method), units[dataset])

        whole = all(scores.get((d, m), {}).get("mse") for d in TABLE_2_5 for m in METHODS.values())
        chosen = {dataset: units[dataset][unit_of(scores, dataset, units[dataset])] for dataset in units}
        counts = duels(scores, chosen) if whole else {}
        best = best_combinations(scores) if whole else {}

        def of_table_2_6(number: Published, dataset: str) -> Number | None:
            count = counts.get((number.method, number.qualifiers["versus"]))
            return (count[OUTCOMES.index(number.metric)], None, "counted by the printed rule") if count else None

        def of_table_2_8(number: Published, dataset: str) -> Number | None:
            return (best[number.method], None, "counted from the means") if number.method in best else None

        found_cells = (
            *cells(request, self.tables[0], of_table_2_6, {}),
            *cells(request, self.tables[1], of_table_2_7, not_run),
            *cells(request, self.tables[2], of_table_2_8, {}),
        )
        cost, code = total(outcomes)
        return StudyResult(found_cells, (reference_rows(scores),), cost, code)


OWN = "its own units"


def units_of(policy: DatasetSpec, request: StudyRequest) -> dict[str, float]:
    """Return what an error may be printed in units of, by name: 1, the variance of the response, its squared range."""
    y = catalogue.load(policy, data_dir=request.data_dir, offline=request.offline).y
    return {OWN: 1.0, "the variance of the response": float(np.var(y)), "its squared range": float(np.ptp(y)) ** 2}


def unit_of(scores: Scores, dataset: str, units: Mapping[str, float], judged: str | None = None) -> str:
    """Return the unit in which the errors of a row of Table 2.7 are nearest to the printed ones, in logarithms.

    judged  a method whose error has no say, so that no cell chooses its own unit; None for the unit of the whole row

    Errors printed as 0 have no say either.
    """
    names = dataset_names(SOURCE)
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
    """Count data sets by the rule of section 2.4.3: of two errors mu1 < mu2 it is a tie if mu1 + c1 > mu2.

    ours, theirs : data set -> (mean, SD) of the error; those that both have are counted
    """
    counts = [0, 0, 0]
    for dataset in ours.keys() & theirs.keys():
        (a, sd_a), (b, sd_b) = ours[dataset], theirs[dataset]
        if a == b or (a + sd_a > b if a < b else b + sd_b > a):
            counts[1] += 1
        else:
            counts[0 if a < b else 2] += 1
    return counts


def duels(scores: Scores, units: Mapping[str, float]) -> dict[tuple[str, str], list[int]]:
    """Return (method, versus) -> wins, ties, losses of TPRTI-A and TPRTI-B over the data sets.

    units : data set -> what our errors are divided by, beside the printed ones of other methods
    """
    means: dict[str, dict[str, tuple[float, float]]] = {}
    for (dataset, method), found in scores.items():
        unit, mse = units[dataset], found["mse"]
        means.setdefault(method, {})[dataset] = (mse.mean / unit, (mse.over_folds or 0.0) / unit)
    names = dataset_names(SOURCE)
    for number in numbers(SOURCE, "2.7"):
        if number.method in COPIED and number.metric == "mse" and number.mean is not None:
            means.setdefault(number.method, {})[names[number.dataset]] = (number.mean, number.sd or 0.0)
    return {
        (one, other): wins_ties_losses(means[one], means[other])
        for one in ("TPRTI-A", "TPRTI-B")
        for other in means
        if one != other
    }


def best_combinations(scores: Scores) -> dict[str, int]:
    """Return method -> number of data sets on which it has both the least error and the fewest leaves (Table 2.8)."""
    methods = ("M5", "TPRTI-A", "TPRTI-B", "RETIS")
    counts = dict.fromkeys(methods, 0)
    for dataset in TABLE_2_5:
        for method in methods:
            values = {other: scores[dataset, other] for other in methods}
            counts[method] += all(
                values[method][name].mean <= min(v[name].mean for v in values.values()) for name in MEASURES
            )
    return counts


def reference_rows(scores: Scores) -> ExtraTable:
    """Return our numbers with both SDs, CART beside them: a tree of constants, which the dissertation does not have."""
    rows = []
    for (dataset, method), found in scores.items():
        if set(found) == set(MEASURES):
            mse, leaves = found["mse"], found["n_leaves"]
            sds = [f"{sd:.3g}" if sd is not None else "" for sd in (mse.over_folds, mse.over_repeats)]
            rows.append((dataset, method, f"{mse.mean:.4g}", *sds, f"{leaves.mean:.1f}"))
    header = ("data set", "method", "MSE", "SD over folds", "SD over repetitions", "leaves")
    caption = "Mean squared errors with both standard deviations, CART for reference"
    return ExtraTable("errors", caption, header, tuple(rows))
