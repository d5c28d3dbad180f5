"""Chapter 6 of the thesis: bottom-up trees, Tables 6.1 to 6.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean, stdev

from oblique_cli.estimators.oblique.bottom_up import GROUP_COSTS
from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework.choice_of_reading import of_claims, side_of, table_of
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import (
    METRICS,
    Number,
    Outcome,
    cells,
    lines_of,
    of_lines,
    outcome,
    total,
)
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

THESIS = "wickramarachchi2015"
# Readings of what a row costs the support vector machine at a node; the configuration has the last one.
WORDS, READING = GROUP_COSTS
# Of Table 6.1: where one splitter is significantly better "(1-SD rule)" than the other; elsewhere neither is. Of Table
# 6.2: "SVM performs significantly better than HHBUT on five example sets", "for the other seven" HHBUT is at least as
# good, and "relative performances" are those under BIC.
SVM_BETTER = ("boston_housing_binary", "pima", "wine", "statlog_heart", "seeds")
HHBUT_BETTER = ("breast_cancer_wisconsin", "haberman")


@STUDIES.register("chapter6")
class Chapter6(Study):
    """Tables 6.1 to 6.4. The last two put the trees of Table 6.1 beside those of Table 3.1, as the thesis does.

    The quick profile leaves out Table 6.2, which takes ten times as long as Table 6.1.
    """

    name = "chapter6"
    title = "Bottom-up trees with SVM and HHBUT splits against top-down trees (thesis, chapter 6)"
    tables = tuple(f"{THESIS}:6.{table}" for table in range(1, 5))

    def run(self, request: StudyRequest) -> StudyResult:
        """Run Tables 6.1 and 6.2, and the sets of Table 3.1 that stand in Tables 6.3 and 6.4."""
        full = request.profile == "full"
        by_bic = outcome(request, "reproduce/chapter6_bic")
        by_cv = outcome(request, "reproduce/chapter6_cv") if full else None
        # By the words, rows of both groups cost the same.
        words = {
            name: outcome(request, f"reproduce/{name}", f"algorithms.1.group_costs={WORDS}", algorithms=("butif_svm",))
            for name in ("chapter6_bic", "chapter6_cv")
            if full
        }
        sets = [spec.name for spec in by_bic.experiment.datasets] if by_bic else []
        top_down = outcome(request, "reproduce/chapter3", datasets=sets)
        cells_by: dict[str, tuple[Cell, ...]] = {}
        for reading, bic, cv in (
            (WORDS, words.get("chapter6_bic"), words.get("chapter6_cv")),
            (READING, None, None),
        ):
            both = of_lines(lines_of([by_bic, top_down, bic]))
            cells_by[reading] = (
                *cells(request, self.tables[0], _of_clusters(by_bic, bic), {}),
                *cells(request, self.tables[1], _of_clusters(by_cv, cv), {}),
                *cells(request, self.tables[2], both, {}),
                *cells(request, self.tables[3], both, {}),
            )
        taken = READING
        if full and not request.only:
            taken = of_claims({reading: list(claims(mine).values()) for reading, mine in cells_by.items()})
        cost, code = total([by_bic, by_cv, top_down, *words.values()])
        return StudyResult(cells_by[taken], (by_costs(cells_by, taken),) if full else (), cost, code)


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
    """Return every claim and every accuracy of SVM by both readings, and how many claims each meets."""
    holds = {reading: claims(mine) for reading, mine in cells.items()}
    caption = f"Support vector machines of chapter 6 by what a row costs; {taken} is taken"
    return table_of("by_costs", caption, cells, holds, lambda c: (c.method, c.metric) == ("SVM", "accuracy_percent"))


class _of_clusters:
    """Finds accuracy, leaves, and the number of clusters of a class averaged over the training sets."""

    def __init__(self, run: Outcome | None, later: Outcome | None = None) -> None:
        """Of two runs with lines of the same method, take accuracy and leaves of the later one."""
        self._run = run
        self._of_lines = of_lines(lines_of([run, later]))

    def __call__(self, number: Published, dataset: str) -> Number | None:
        if number.metric in METRICS or self._run is None:
            return self._of_lines(number, dataset)
        rows = [row for row in self._run.rows if row.dataset == dataset and row.status == "ok" and row.clusters]
        if not rows:
            return None
        algorithm = rows[0].algorithm  # both have the same clusters
        name = list(rows[0].clusters)[int(number.qualifiers["class_index"]) - 1]
        repeats: dict[int, list[int]] = {}
        for row in rows:
            if row.algorithm == algorithm:
                repeats.setdefault(row.repeat, []).append(row.clusters[name])
        means = [fmean(counts) for counts in repeats.values()]
        return fmean(means), stdev(means) if len(means) > 1 else None, "no SD is printed"
