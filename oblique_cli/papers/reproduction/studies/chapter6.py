"""Chapter 6 of the thesis: bottom-up trees, Tables 6.1 to 6.4."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from oblique_cli.estimators.oblique.bottom_up import GROUP_COSTS
from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.choice_of_reading import ACCURACY, chosen, numbers_of, side
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest, StudyResult, study

THESIS = "wickramarachchi2015"
TABLES = tuple(f"{THESIS}:6.{table}" for table in range(1, 5))
# Readings of the penalty of a row in the support vector machine at a node; the configuration has the last one.
WORDS, READING = GROUP_COSTS
# Of Table 6.1: where one splitter is significantly better "(1-SD rule)" than the other; elsewhere neither is. Of Table
# 6.2: "SVM performs significantly better than HHBUT on five example sets", "for the other seven" HHBUT is at least as
# good, and "relative performances" are those under BIC.
SVM_BETTER = ("boston_housing_binary", "pima", "wine", "statlog_heart", "seeds")
HHBUT_BETTER = ("breast_cancer_wisconsin", "haberman")


@STUDIES.register("chapter6")
@study("Bottom-up trees with SVM and HHBUT splits against top-down trees (thesis, chapter 6)", *TABLES)
def chapter6(request: StudyRequest) -> StudyResult:
    """Run Tables 6.1 and 6.2, and the sets of Table 3.1 in Tables 6.3 and 6.4. The last two compare the trees of Table
    6.1 with those of Table 3.1, as the thesis does. The quick profile leaves out Table 6.2, which takes ten
    times as long as Table 6.1."""
    full = request.profile == "full"
    names = ("chapter6_bic", "chapter6_cv") if full else ("chapter6_bic",)
    trees = [runs.outcome(request, f"reproduce/{name}") for name in names]
    # According to the words, rows of both groups have equal penalties.
    cost_of_words = f"algorithms.1.group_costs={WORDS}"
    words = [
        runs.outcome(request, f"reproduce/{name}", cost_of_words, algorithms=("butif_svm",)) for name in names if full
    ]
    top_down = runs.outcome(
        request, "reproduce/chapter3", datasets=[spec.name for spec in trees[0].experiment.datasets]
    )

    def all_cells(later: list[Outcome]) -> list[Cell]:
        """Return the cells of the four tables; of two runs with lines of one method, those of the later one."""
        by_bic, by_cv = (_of_clusters([*trees[i : i + 1], *later[i : i + 1]]) for i in range(2))
        beside = runs.of_outcomes(trees[0], top_down, *later[:1])
        finders = (by_bic, by_cv, beside, beside)
        return [cell for table, ours in zip(TABLES, finders, strict=True) for cell in runs.cells(request, table, ours)]

    cells_by = {WORDS: all_cells(words), READING: all_cells([])}
    claims_by = {reading: claims(cells) for reading, cells in cells_by.items()}
    table = "by_costs", "Support vector machines of chapter 6 by what a row costs; {} is taken"
    cells, by_costs = chosen(
        request, READING, table, cells_by, claims_by, lambda cell: (cell.method, cell.metric) == ("SVM", ACCURACY)
    )
    return runs.result_of([*trees, top_down, *words], cells, [by_costs] if full else [])


def claims(cells: Iterable[Cell]) -> dict[str, bool | None]:
    """Return the claims of section 6.6 on SVM against HHBUT, set by set, and whether these accuracies meet them."""
    cells = list(cells)
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


def _of_clusters(trees: list[Outcome]) -> Ours:
    """Return a function for accuracy and leaves of the last run, and clusters per class, a mean over training sets."""
    of_lines = runs.of_outcomes(*trees)

    def ours(number: Published, dataset: str) -> Number | None:
        if number.metric in runs.METRICS:
            return of_lines(number, dataset)
        all_rows = trees[0].rows if trees else ()
        rows = [row for row in all_rows if row.dataset == dataset and row.status == "ok" and row.clusters]
        if not rows:
            return None
        name = list(rows[0].clusters)[int(number.qualifiers["class_index"]) - 1]
        mine = [row for row in rows if row.algorithm == rows[0].algorithm]  # both have the same clusters
        means = map(fmean, runs.by_repeat(mine, lambda row: row.clusters[name]).values())
        return *runs.mean_sd(means), "no SD is printed"

    return ours
