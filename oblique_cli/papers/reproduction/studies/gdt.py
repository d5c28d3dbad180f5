"""The geometric decision tree paper (Manwani & Sastry 2012): Tables II and III."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, stdev

from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework.runs import Number, Outcome, cells, lines_of, of_lines, outcome, total
from oblique_cli.papers.reproduction.framework.studies import STUDIES, Study, StudyRequest, StudyResult

PAPER = "manwani2012"
MACHINES = ("gdt_svm_gaussian", "gdt_svm_linear", "gdt_gepsvm_linear", "gdt_gepsvm_gaussian")
# Our names of the methods that the paper calls otherwise.
OURS = {"CART-LC": "OC1-LC"}
NOT_RUN = {"time_s": "times of another language and machine are no target"}


@STUDIES.register("gdt")
class GeometricTree(Study):
    """Tables II and III. The synthetic sets and the rows of Magic are draws of our own."""

    name = "gdt"
    title = "GDT against OC1, CART-LC, SVM and GEPSVM (Manwani & Sastry 2012)"
    tables = (f"{PAPER}:II", f"{PAPER}:III")

    def run(self, request: StudyRequest) -> StudyResult:
        """Run the trees of Table II and the machines of Table III."""
        trees = outcome(request, "reproduce/gdt_trees")
        machines = [outcome(request, f"reproduce/{name}") for name in MACHINES]
        found = (
            *cells(request, self.tables[0], _of_trees(trees), NOT_RUN),
            *cells(request, self.tables[1], of_lines(lines_of([trees, *machines])), NOT_RUN),
        )
        cost, code = total([trees, *machines])
        return StudyResult(found, cost=cost, exit_code=code)


class _of_trees:
    """Finds accuracy, leaves, and the depth averaged over the trees of a repetition."""

    def __init__(self, run: Outcome | None) -> None:
        self._of_lines = of_lines(lines_of([run]))
        self._depths = _depths(run)

    def __call__(self, number: Published, dataset: str) -> Number | None:
        number = replace(number, method=OURS.get(number.method, number.method))
        if number.metric == "depth":
            return self._depths.get((dataset, number.method))
        return self._of_lines(number, dataset)


def _depths(run: Outcome | None) -> Mapping[tuple[str, str], Number]:
    """Return mean and SD over repetitions of the mean depth of a repetition's trees."""
    if run is None:
        return {}
    found: dict[tuple[str, str], Number] = {}
    for (dataset, title), line in run.lines().items():
        depths: dict[int, list[int]] = {}
        for row in run.rows:
            if (row.dataset, row.algorithm, row.status) == (dataset, line.algorithm, "ok"):
                depths.setdefault(row.repeat, []).append(row.depth)
        means = [fmean(each) for each in depths.values() if len(each) == run.experiment.cv.folds]
        if means:
            found[dataset, title] = (fmean(means), stdev(means) if len(means) > 1 else None, "")
    return found
