"""Chapter 5 of the thesis: GDT, HHGDT and HHCRV, Tables 5.2 to 5.9."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from statistics import fmean

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.declarations import Declaration, Runs, declare, lines
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Score
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

THESIS = "wickramarachchi2015"
SINGLE_FOLDS = ("5.5", "5.6", "5.7", "5.8")
SCHEMES = ("two-stage", "nested")

MEASURES: dict[str, Score] = {
    "accuracy_percent": lambda row: 100 * row.n_correct / row.n_test,
    "n_leaves": lambda row: float(row.n_leaves),
    "epsilon": lambda row: float(row.chosen.get("epsilon", nan)),
}


def fold_table(done: Runs) -> Iterator[ExtraTable]:
    """Yield the range of all folds of GDT, for the sets with printed single folds."""
    names = runs.dataset_names(THESIS)
    rows = []
    for dataset in sorted({names[number.dataset] for table in SINGLE_FOLDS for number in numbers(THESIS, table)}):
        for scheme in sorted(SCHEMES):
            for metric, measure in MEASURES.items():
                values = [measure(row) for run in done.of(scheme) for row in run.good_rows(dataset, "gdt")]
                if values:
                    ends = (f"{min(values):.3g}", f"{max(values):.3g}")
                    rows.append((dataset, scheme, metric, str(len(values)), *ends))
    header = ("data set", "cv", "metric", "folds", "least", "largest")
    yield ExtraTable("folds", "Single folds of GDT", header, tuple(rows), left=3)


def _folds(done: Runs, number: Published, dataset: str) -> dict[int, list[float]]:
    """Return the values of GDT in the folds of each repetition without a failed fold, in the order of the folds."""
    (run,) = done.of(number.qualifiers.get("cv", "two-stage"))
    rows = [row for row in run.rows if (row.dataset, row.algorithm) == (dataset, "gdt")]
    failed = {row.repeat for row in rows if row.status != "ok"}
    return runs.by_repeat((row for row in rows if row.repeat not in failed), MEASURES[number.metric])


def _of_repetitions(done: Runs) -> Ours:
    """Return a function for the mean over the folds of one repetition; its SD is over all our repetitions."""

    def ours(number: Published, dataset: str) -> Number | None:
        means = {repeat: fmean(values) for repeat, values in _folds(done, number, dataset).items()}
        wanted = int(number.qualifiers["repetition"]) - 1
        if wanted not in means:
            return None
        return means[wanted], runs.mean_sd(means.values())[1], "one repetition; our SD is over all of ours"

    return ours


def _of_folds(done: Runs) -> Ours:
    """Return a function for one fold, or mean and SD over the ten folds, of a repetition under one of two schemes."""

    def ours(number: Published, dataset: str) -> Number | None:
        values = _folds(done, number, dataset).get(int(number.qualifiers["repetition"]) - 1)
        if not values:
            return None
        mean, spread = runs.mean_sd(values)
        fold = number.qualifiers["fold"]
        if fold == "all":
            return mean, spread, ""
        if int(fold) > len(values):
            return None
        return values[int(fold) - 1], spread, "one fold of partitions of our own; both SDs are over the ten folds"

    return ours


GROUPS = (*SCHEMES, "shuttle", "hhcrv")
# Single repetitions and folds are of the first two repetitions of Tables 5.2 and 5.3, which share partitions.
LAYOUTS = (lines("two-stage", "shuttle"), lines("nested"), _of_repetitions, *(_of_folds,) * 4, lines("hhcrv"))
declare(
    "chapter5",
    "GDT against HHGDT, two-stage and nested, and HHCRV against OC1 (thesis, chapter 5)",
    Declaration(
        {group: (f"chapter5_{group.replace('-', '_')}",) for group in GROUPS},
        {f"{THESIS}:5.{table}": layout for table, layout in enumerate(LAYOUTS, start=2)},
        extras=fold_table,
    ),
)
