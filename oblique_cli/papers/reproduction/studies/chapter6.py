"""Chapter 6 of the thesis: bottom-up trees, Tables 6.1 to 6.4."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean

from oblique_cli.estimators.oblique.bottom_up import GROUP_COSTS
from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.choice_of_reading import ACCURACY, numbers_of, side
from oblique_cli.papers.reproduction.framework.declarations import FULL, Choice, Declaration, Part, Runs, declare, lines
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Number, Ours

THESIS = "wickramarachchi2015"
TABLES = tuple(f"{THESIS}:6.{table}" for table in range(1, 5))
# Readings of the penalty of a row in the support vector machine at a node: by the words, rows of both groups have
# equal penalties; the configuration has the last one.
READINGS = tuple(GROUP_COSTS)
WORDS = READINGS[0]
# Of Table 6.1: where one splitter is significantly better "(1-SD rule)" than the other; elsewhere neither is. Of Table
# 6.2: "SVM performs significantly better than HHBUT on five example sets", "for the other seven" HHBUT is at least as
# good, and "relative performances" are those under BIC.
SVM_BETTER = ("boston_housing_binary", "pima", "wine", "statlog_heart", "seeds")
HHBUT_BETTER = ("breast_cancer_wisconsin", "haberman")


def claims(cells: Sequence[Cell], _: Runs | None = None) -> dict[str, bool | None]:
    """Return the claims of section 6.6 on SVM against HHBUT, set by set, and whether these accuracies meet them."""
    out: dict[str, bool | None] = {}
    for table in ("6.1", "6.2"):
        numbers = numbers_of(c for c in cells if c.table == f"{THESIS}:{table}" and c.metric == ACCURACY)
        for dataset in dict.fromkeys(dataset for dataset, _, _ in numbers):
            sides: tuple[int, ...]
            if dataset in SVM_BETTER:
                words, sides = "SVM is significantly better", (1,)
            elif table == "6.2":
                words, sides = "HHBUT is at least as good", (0, -1)
            elif dataset in HHBUT_BETTER:
                words, sides = "HHBUT is significantly better", (-1,)
            else:
                words, sides = "neither is significantly better", (0,)
            svm = side(numbers, dataset, "SVM", "HHBUT")
            out[f"{table}, {dataset}: {words}"] = None if svm is None else svm in sides
    return out


def _clusters(group: str, done: Runs) -> Ours:
    """Return a function for accuracies, leaves, and clusters per class, a mean over training sets."""
    of_lines = lines(group)(done)
    # The methods of a table have the same clusters under every reading.
    all_rows = [row for run in done.of(group)[:1] for row in run.rows if row.status == "ok" and row.clusters]

    def ours(number: Published, dataset: str) -> Number | None:
        if number.metric in runs.METRICS:
            return of_lines(number, dataset)
        rows = [row for row in all_rows if row.dataset == dataset]
        if not rows:
            return None
        name = list(rows[0].clusters)[int(number.qualifiers["class_index"]) - 1]
        mine = [row for row in rows if row.algorithm == rows[0].algorithm]
        means = map(fmean, runs.by_repeat(mine, lambda row: row.clusters[name]).values())
        return *runs.mean_sd(means), "no SD is printed"

    return ours


CAPTION = "Support vector machines of chapter 6 by what a row costs; {} is taken"
CHOICE = Choice(READINGS, "by_costs", CAPTION, claims, lambda cell: (cell.method, cell.metric) == ("SVM", ACCURACY))
OF_WORDS = (f"algorithms.1.group_costs={WORDS}",)
BY_WORDS = partial(Part, changes=OF_WORDS, reading=WORDS, least=FULL, algorithms=("butif_svm",))
# Table 6.2 takes ten times as long as Table 6.1. Tables 6.3 and 6.4 compare the trees of Table 6.1 with those of Table
# 3.1, as the thesis does.
LAYOUTS = (partial(_clusters, "bic"), partial(_clusters, "cv"), *(lines("bic", "top_down"),) * 2)
declare(
    "chapter6",
    "Bottom-up trees with SVM and HHBUT splits against top-down trees (thesis, chapter 6)",
    Declaration(
        {
            "bic": ("chapter6_bic", BY_WORDS("chapter6_bic")),
            "cv": (Part("chapter6_cv", least=FULL), BY_WORDS("chapter6_cv")),
            "top_down": ("chapter6_top_down",),
        },
        dict(zip(TABLES, LAYOUTS, strict=True)),
        choice=CHOICE,
    ),
)
