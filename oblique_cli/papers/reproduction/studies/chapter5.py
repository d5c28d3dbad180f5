"""Chapter 5 of the thesis: GDT, HHGDT and HHCRV, Tables 5.2 to 5.9."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome, Score
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, StudyRequest, StudyResult, study

THESIS = "wickramarachchi2015"
SINGLE_FOLDS = ("5.5", "5.6", "5.7", "5.8")

MEASURES: dict[str, Score] = {
    "accuracy_percent": lambda row: 100 * row.n_correct / row.n_test,
    "n_leaves": lambda row: float(row.n_leaves),
    "epsilon": lambda row: float(row.chosen["epsilon"]),
}


@STUDIES.register("chapter5")
@study(
    "GDT against HHGDT, two-stage and nested, and HHCRV against OC1 (thesis, chapter 5)",
    *(f"{THESIS}:5.{table}" for table in range(2, 10)),
)
def chapter5(request: StudyRequest) -> StudyResult:
    """Run Tables 5.2, 5.3 and 5.9, and derive the others from their folds. The single repetitions and folds of Tables
    5.4 to 5.8 are the first two of Tables 5.2 and 5.3, whose partitions are the same."""
    two_stage, shuttle, nested, hhcrv = (
        runs.outcome(request, f"reproduce/chapter5_{name}") for name in ("two_stage", "shuttle", "nested", "hhcrv")
    )
    oc1 = runs.outcome(request, "reproduce/chapter3", algorithms=("oc1", "oc1_lc"))
    by_scheme = {"nested": nested, "two-stage": two_stage}
    all_cells = [
        *runs.cells(request, f"{THESIS}:5.2", runs.of_outcomes(two_stage, shuttle)),
        *runs.cells(request, f"{THESIS}:5.3", runs.of_outcomes(nested)),
        *runs.cells(request, f"{THESIS}:5.4", _of_repetitions(two_stage)),
    ]
    for table in SINGLE_FOLDS:
        all_cells += _with_spread_of_folds(table, runs.cells(request, f"{THESIS}:{table}", _of_folds(by_scheme)))
    all_cells += runs.cells(request, f"{THESIS}:5.9", runs.of_outcomes(hhcrv, oc1))
    return runs.result_of([two_stage, shuttle, nested, hhcrv, oc1], all_cells, [fold_table(by_scheme)])


def fold_table(by_scheme: Mapping[str, Outcome]) -> ExtraTable:
    """Return the range of all folds of GDT, for the sets with printed single folds."""
    names = runs.dataset_names(THESIS)
    sets = sorted({names[number.dataset] for table in SINGLE_FOLDS for number in numbers(THESIS, table)})
    rows = []
    for dataset in sets:
        for scheme, run in by_scheme.items():
            for metric, measure in MEASURES.items():
                values = [measure(row) for row in run.good_rows(dataset, "gdt")]
                if values:
                    ends = (f"{min(values):.3g}", f"{max(values):.3g}")
                    rows.append((dataset, scheme, metric, str(len(values)), *ends))
    header = ("data set", "cv", "metric", "folds", "least", "largest")
    return ExtraTable("folds", "Single folds of GDT", header, tuple(rows), left=3)


def _folds(run: Outcome, dataset: str, repeat: int) -> list[Row]:
    """Return the rows of GDT in one repetition, in the order of the folds; [] unless all are good."""
    rows = [row for row in run.rows if (row.dataset, row.algorithm, row.repeat) == (dataset, "gdt", repeat)]
    return rows if all(row.status == "ok" for row in rows) else []


def _of_repetitions(run: Outcome) -> Ours:
    """Return a function for the mean over the folds of one repetition; its SD is over all our repetitions."""

    def ours(number: Published, dataset: str) -> Number | None:
        folds = {repeat: _folds(run, dataset, repeat) for repeat in range(run.experiment.cv.repeats)}
        means = {repeat: fmean(map(MEASURES[number.metric], rows)) for repeat, rows in folds.items() if rows}
        wanted = int(number.qualifiers["repetition"]) - 1
        if wanted not in means:
            return None
        return means[wanted], runs.mean_sd(means.values())[1], "one repetition; our SD is over all of ours"

    return ours


def _of_folds(by_scheme: Mapping[str, Outcome]) -> Ours:
    """Return a function for one fold, or mean and SD over the ten folds, of a repetition under one of two schemes."""

    def ours(number: Published, dataset: str) -> Number | None:
        which = number.qualifiers
        rows = _folds(by_scheme[which["cv"]], dataset, int(which["repetition"]) - 1)
        values = list(map(MEASURES[number.metric], rows))
        if not values:
            return None
        mean, spread = runs.mean_sd(values)
        if which["fold"] == "all":
            return mean, spread, ""
        index = int(which["fold"]) - 1
        if index >= len(values):
            return None
        return values[index], spread, "one fold of partitions of our own; both SDs are over the ten folds"

    return ours


def _with_spread_of_folds(table: str, cells: Iterable[Cell]) -> list[Cell]:
    """Give cells of a single fold the SD over the ten folds that the table prints below them."""
    spread = {(n.metric, n.qualifiers["cv"]): n.sd for n in numbers(THESIS, table) if n.qualifiers["fold"] == "all"}
    out = []
    for cell in cells:
        which = cell.which
        missing = cell.published_sd is None and which["fold"] != "all"
        out.append(replace(cell, published_sd=spread[cell.metric, which["cv"]]) if missing else cell)
    return out
