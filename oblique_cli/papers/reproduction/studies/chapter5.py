"""Chapter 5 of the thesis: GDT, HHGDT and HHCRV, Tables 5.2 to 5.9."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from statistics import fmean, stdev

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import (
    Number,
    Outcome,
    cells,
    dataset_names,
    lines_of,
    of_lines,
    outcome,
    total,
)
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

THESIS = "wickramarachchi2015"
SINGLE_REPETITIONS = "5.4"
SINGLE_FOLDS = ("5.5", "5.6", "5.7", "5.8")

MEASURES: dict[str, Callable[[Row], float]] = {
    "accuracy_percent": lambda row: 100 * row.n_correct / row.n_test,
    "n_leaves": lambda row: float(row.n_leaves),
    "epsilon": lambda row: float(row.chosen["epsilon"]),
}


@STUDIES.register("chapter5")
class Chapter5(Study):
    """Tables 5.2 to 5.9. The single repetitions and folds of Tables 5.4 to 5.8 are the first two of Tables 5.2 and 5.3,
    whose partitions are the same."""

    name = "chapter5"
    title = "GDT against HHGDT, two-stage and nested, and HHCRV against OC1 (thesis, chapter 5)"
    tables = tuple(f"{THESIS}:5.{table}" for table in range(2, 10))

    def run(self, request: StudyRequest) -> StudyResult:
        """Run Tables 5.2, 5.3 and 5.9, and read the others from their folds."""
        two_stage = outcome(request, "reproduce/chapter5_two_stage")
        shuttle = outcome(request, "reproduce/chapter5_shuttle")
        nested = outcome(request, "reproduce/chapter5_nested")
        hhcrv = outcome(request, "reproduce/chapter5_hhcrv")
        oc1 = outcome(request, "reproduce/chapter3", algorithms=("oc1", "oc1_lc"))
        all_cells = [
            *cells(request, f"{THESIS}:5.2", of_lines(lines_of([two_stage, shuttle])), {}),
            *cells(request, f"{THESIS}:5.3", of_lines(lines_of([nested])), {}),
            *cells(request, f"{THESIS}:{SINGLE_REPETITIONS}", _of_repetitions(two_stage), {}),
        ]
        for table in SINGLE_FOLDS:
            single = cells(request, f"{THESIS}:{table}", _of_folds({"nested": nested, "two-stage": two_stage}), {})
            all_cells += _with_spread_of_folds(table, single)
        all_cells += cells(request, f"{THESIS}:5.9", of_lines(lines_of([hhcrv, oc1])), {})
        cost, code = total([two_stage, shuttle, nested, hhcrv, oc1])
        spread = fold_table({"nested": nested, "two-stage": two_stage})
        return StudyResult(tuple(all_cells), (spread,) if spread.rows else (), cost, code)


def fold_table(runs: Mapping[str, Outcome | None]) -> ExtraTable:
    """Return between which values all folds of GDT lie, on the sets of which single folds are printed."""
    names = dataset_names(THESIS)
    sets = sorted({names[number.dataset] for table in SINGLE_FOLDS for number in numbers(THESIS, table)})
    rows = []
    for dataset in sets:
        for scheme, run in runs.items():
            mine = [] if run is None else [r for r in run.rows if (r.dataset, r.algorithm) == (dataset, "gdt")]
            for metric, measure in MEASURES.items():
                values = [measure(row) for row in mine if row.status == "ok"]
                if values:
                    ends = (f"{min(values):.3g}", f"{max(values):.3g}")
                    rows.append((dataset, scheme, metric, str(len(values)), *ends))
    header = ("data set", "cv", "metric", "folds", "least", "largest")
    return ExtraTable("folds", "Single folds of GDT", header, tuple(rows), left=3)


def _folds(run: Outcome | None, dataset: str, repeat: int) -> list[Row]:
    """Return the rows of GDT in one repetition, in the order of the folds; [] unless all are good."""
    if run is None:
        return []
    rows = [row for row in run.rows if (row.dataset, row.algorithm, row.repeat) == (dataset, "gdt", repeat)]
    return rows if all(row.status == "ok" for row in rows) else []


class _of_repetitions:
    """Finds the mean over the folds of one repetition; its SD is the one over all our repetitions."""

    def __init__(self, run: Outcome | None) -> None:
        self._run = run

    def __call__(self, number: Published, dataset: str) -> Number | None:
        if self._run is None:
            return None
        measure = MEASURES[number.metric]
        folds = [_folds(self._run, dataset, repeat) for repeat in range(self._run.experiment.cv.repeats)]
        means = {repeat: fmean(measure(row) for row in rows) for repeat, rows in enumerate(folds) if rows}
        wanted = int(number.qualifiers["repetition"]) - 1
        if wanted not in means:
            return None
        spread = stdev(means.values()) if len(means) > 1 else None
        return means[wanted], spread, "one repetition; our SD is over all of ours"


class _of_folds:
    """Finds one fold, or the mean and SD over the ten folds, of a repetition under one of the two schemes."""

    def __init__(self, runs: dict[str, Outcome | None]) -> None:
        self._runs = runs

    def __call__(self, number: Published, dataset: str) -> Number | None:
        which = number.qualifiers
        rows = _folds(self._runs[which["cv"]], dataset, int(which["repetition"]) - 1)
        if not rows:
            return None
        values = [MEASURES[number.metric](row) for row in rows]
        spread = stdev(values) if len(values) > 1 else None
        if which["fold"] == "all":
            return fmean(values), spread, ""
        index = int(which["fold"]) - 1
        if index >= len(values):
            return None
        return values[index], spread, "one fold of partitions of our own; both SDs are over the ten folds"


def _with_spread_of_folds(table: str, cells: Iterable[Cell]) -> list[Cell]:
    """Give cells of a single fold the SD over the ten folds that the table prints below them."""
    spread = {(n.metric, n.qualifiers["cv"]): n.sd for n in numbers(THESIS, table) if n.qualifiers["fold"] == "all"}
    out = []
    for cell in cells:
        which = dict(part.split("=") for part in cell.qualifier.split("; "))
        missing = cell.published_sd is None and which["fold"] != "all"
        out.append(replace(cell, published_sd=spread[cell.metric, which["cv"]]) if missing else cell)
    return out
