"""Chapter 6 of the thesis: bottom-up trees, Tables 6.1 to 6.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from oblique_cli.estimators.oblique.bottom_up import GROUP_COSTS
from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework.choice_of_reading import of_claims, side_of, table_of
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import (
    METRICS,
    Number,
    Ours,
    Outcome,
    by_repeat,
    cells,
    mean_sd,
    of_outcomes,
    outcome,
    result_of,
)
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, StudyRequest, StudyResult, study

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
    runs = [outcome(request, f"reproduce/{name}") for name in names]
    # According to the words, rows of both groups have equal penalties.
    cost_of_words = f"algorithms.1.group_costs={WORDS}"
    words = [outcome(request, f"reproduce/{n}", cost_of_words, algorithms=("butif_svm",)) for n in names if full]
    sets = [spec.name for spec in runs[0].experiment.datasets]
    top_down = outcome(request, "reproduce/chapter3", datasets=sets)

    def all_cells(later: list[Outcome]) -> tuple[Cell, ...]:
        """Return the cells of the four tables; of two runs with lines of one method, those of the later one."""
        by_bic, by_cv = (_of_clusters([*runs[i : i + 1], *later[i : i + 1]]) for i in range(2))
        beside = of_outcomes(runs[0], top_down, *later[:1])
        finders = (by_bic, by_cv, beside, beside)
        return tuple(cell for table, ours in zip(TABLES, finders, strict=True) for cell in cells(request, table, ours))

    cells_by = {WORDS: all_cells(words), READING: all_cells([])}
    taken = READING
    if request.is_whole:
        taken = of_claims({reading: list(claims(mine).values()) for reading, mine in cells_by.items()})
    tables = [by_costs(cells_by, taken)] if full else []
    return result_of([*runs, top_down, *words], cells_by[taken], tables)


def claims(cells: Iterable[Cell]) -> dict[str, bool | None]:
    """Return the claims of section 6.6 on SVM against HHBUT, set by set, and whether these accuracies meet them."""
    numbers = {
        (c.table, c.dataset, c.method): (c.ours, c.ours_sd or 0.0)
        for c in cells
        if c.metric == "accuracy_percent" and c.ours is not None
    }
    out: dict[str, bool | None] = {}
    for table in (f"{THESIS}:6.1", f"{THESIS}:6.2"):
        for dataset in dict.fromkeys(dataset for of, dataset, _ in numbers if of == table):
            ours, theirs = (numbers.get((table, dataset, method)) for method in ("SVM", "HHBUT"))
            side = None if ours is None or theirs is None else side_of(ours, theirs)
            sides: tuple[int, ...]
            if dataset in SVM_BETTER:
                words, sides = "SVM is significantly better", (1,)
            elif table.endswith("6.2"):
                words, sides = "HHBUT is at least as good", (0, -1)
            elif dataset in HHBUT_BETTER:
                words, sides = "HHBUT is significantly better", (-1,)
            else:
                words, sides = "neither is significantly better", (0,)
            out[f"{table.partition(':')[2]}, {dataset}: {words}"] = None if side is None else side in sides
    return out


def by_costs(cells: Mapping[str, tuple[Cell, ...]], taken: str) -> ExtraTable:
    """Return every claim and every accuracy of SVM by both readings, and the number of claims that each meets."""
    holds = {reading: claims(mine) for reading, mine in cells.items()}
    caption = f"Support vector machines of chapter 6 by what a row costs; {taken} is taken"
    return table_of("by_costs", caption, cells, holds, lambda c: (c.method, c.metric) == ("SVM", "accuracy_percent"))


def _of_clusters(runs: list[Outcome]) -> Ours:
    """Return a function for accuracy and leaves of the last run, and clusters per class, a mean over training sets."""
    of_lines = of_outcomes(*runs)

    def ours(number: Published, dataset: str) -> Number | None:
        if number.metric in METRICS:
            return of_lines(number, dataset)
        all_rows = runs[0].rows if runs else ()
        rows = [row for row in all_rows if row.dataset == dataset and row.status == "ok" and row.clusters]
        if not rows:
            return None
        name = list(rows[0].clusters)[int(number.qualifiers["class_index"]) - 1]
        mine = [row for row in rows if row.algorithm == rows[0].algorithm]  # both have the same clusters
        return *mean_sd(map(fmean, by_repeat(mine, lambda row: row.clusters[name]).values())), "no SD is printed"

    return ours
