"""Chapter 5 of the thesis: GDT, HHGDT and HHCRV, Tables 5.2 to 5.9."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from statistics import fmean

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.declarations import Declaration, Runs, declare, lines
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome, Score
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


def _folds(run: Outcome, dataset: str, repeat: int) -> list[Row]:
    """Return the rows of GDT in one repetition, in the order of the folds; [] unless all are good."""
    rows = [row for row in run.rows if (row.dataset, row.algorithm, row.repeat) == (dataset, "gdt", repeat)]
    return rows if all(row.status == "ok" for row in rows) else []


def _of_repetitions(done: Runs) -> Ours:
    """Return a function for the mean over the folds of one repetition; its SD is over all our repetitions."""
    (run,) = done.of("two-stage")

    def ours(number: Published, dataset: str) -> Number | None:
        folds = {repeat: _folds(run, dataset, repeat) for repeat in range(run.experiment.cv.repeats)}
        means = {repeat: fmean(map(MEASURES[number.metric], rows)) for repeat, rows in folds.items() if rows}
        wanted = int(number.qualifiers["repetition"]) - 1
        if wanted not in means:
            return None
        return means[wanted], runs.mean_sd(means.values())[1], "one repetition; our SD is over all of ours"

    return ours


def _of_folds(done: Runs) -> Ours:
    """Return a function for one fold, or mean and SD over the ten folds, of a repetition under one of two schemes."""

    def ours(number: Published, dataset: str) -> Number | None:
        which = number.qualifiers
        (run,) = done.of(which["cv"])
        values = [*map(MEASURES[number.metric], _folds(run, dataset, int(which["repetition"]) - 1))]
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


# Single repetitions and folds are of the first two repetitions of Tables 5.2 and 5.3, which share partitions.
declare(
    "chapter5",
    "GDT against HHGDT, two-stage and nested, and HHCRV against OC1 (thesis, chapter 5)",
    Declaration(
        {
            "two-stage": ("chapter5_two_stage",),
            "shuttle": ("chapter5_shuttle",),
            "nested": ("chapter5_nested",),
            "hhcrv": ("chapter5_hhcrv",),
        },
        {
            f"{THESIS}:5.2": lines("two-stage", "shuttle"),
            f"{THESIS}:5.3": lines("nested"),
            f"{THESIS}:5.4": _of_repetitions,
            **{f"{THESIS}:{table}": _of_folds for table in SINGLE_FOLDS},
            f"{THESIS}:5.9": lines("hhcrv"),
        },
        extras=fold_table,
    ),
)
