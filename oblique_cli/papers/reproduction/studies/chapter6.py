"""Chapter 6 of the thesis: bottom-up trees, Tables 6.1 to 6.4."""

from __future__ import annotations

from statistics import fmean, stdev

from oblique_cli.evaluation.published import Published
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
from oblique_cli.papers.reproduction.framework.studies import STUDIES, Study, StudyRequest, StudyResult

THESIS = "wickramarachchi2015"


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
        by_bic = outcome(request, "reproduce/chapter6_bic")
        by_cv = outcome(request, "reproduce/chapter6_cv") if request.profile == "full" else None
        sets = [spec.name for spec in by_bic.experiment.datasets] if by_bic else []
        top_down = outcome(request, "reproduce/chapter3", datasets=sets)
        both = of_lines(lines_of([by_bic, top_down]))
        found = (
            *cells(request, self.tables[0], _of_clusters(by_bic), {}),
            *cells(request, self.tables[1], _of_clusters(by_cv), {}),
            *cells(request, self.tables[2], both, {}),
            *cells(request, self.tables[3], both, {}),
        )
        cost, code = total([by_bic, by_cv, top_down])
        return StudyResult(found, cost=cost, exit_code=code)


class _of_clusters:
    """Finds accuracy, leaves, and the number of clusters of a class averaged over the training sets."""

    def __init__(self, run: Outcome | None) -> None:
        self._run = run
        self._of_lines = of_lines(lines_of([run]))

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
        means = [fmean(found) for found in repeats.values()]
        return fmean(means), stdev(means) if len(means) > 1 else None, "no SD is printed"
