"""Chapter 3 of Amalaman's dissertation: PATHFINDER and its reject option, Tables 3.6 and 3.7."""

from __future__ import annotations

from collections.abc import Mapping

from oblique_cli.evaluation.published import Published
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework.fold_scores import Score, fold_score, rows_by_method
from oblique_cli.papers.reproduction.framework.runs import Number, cells, outcome, total
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

SOURCE = "amalaman2015"
METHODS = {"pathfinder": "PATHFINDER", "axis_parallel": "Simple CART"}

# Table 3.4: cells along an axis.
GRID_SIZES: Mapping[str, int] = {
    "patches_4": 20,
    "patches_6": 20,
    "sine_2d": 12,
    "circles_2d": 18,
    "bupa": 28,
    "boston_housing_3class": 20,
    "breast_cancer_wisconsin": 10,
    "pima_532": 24,
    "vehicle": 16,
    "image_segmentation": 16,
    "iris": 16,
}


def _published_accuracy(row: Row) -> float:
    """Accuracy in percent as section 3.4.3 has it: a rejected row counts as right."""
    return float(row.measures.get("published_accuracy_percent", 100 * row.n_correct / row.n_test))


SCORES: Mapping[str, Score] = {
    "accuracy_percent": _published_accuracy,
    "reject_percent": lambda row: row.measures.get("reject_percent", 0.0),
    "n_leaves": lambda row: row.n_leaves,
}


@STUDIES.register("pathfinder")
class Pathfinder(Study):
    """Tables 3.6 and 3.7; our axis-parallel tree stands for Weka's Simple CART, whose settings are not given."""

    name = "pathfinder"
    title = "PATHFINDER with its reject option (Amalaman 2015, chapter 3)"
    tables = (f"{SOURCE}:3.6", f"{SOURCE}:3.7")

    def run(self, request: StudyRequest) -> StudyResult:
        """Run every data set with its grid size of Table 3.4."""
        outcomes = [
            outcome(request, "reproduce/pathfinder", f"algorithms.0.grid_size={size}", datasets=[dataset])
            for dataset, size in GRID_SIZES.items()
        ]
        rows = rows_by_method(outcomes, METHODS)

        def ours(number: Published, dataset: str) -> Number | None:
            found = fold_score(rows.get((dataset, number.method), ()), SCORES[number.metric])
            return found.number() if found else None

        not_run = {"best of 22 (Cline paper)": "the best of 22 programmes in another paper"}
        cost, code = total(outcomes)
        return StudyResult(
            tuple(cell for table in self.tables for cell in cells(request, table, ours, not_run)),
            (rejections(rows),),
            cost,
            code,
        )


def rejections(rows: Mapping[tuple[str, str], list[Row]]) -> ExtraTable:
    """Return what the reject option costs and gains: accuracy as printed, among accepted rows, and of all rows."""
    lines = []
    for (dataset, method), found in rows.items():
        if method != "PATHFINDER":
            continue
        scores = [
            fold_score(found, SCORES["reject_percent"]),
            fold_score(found, _published_accuracy),
            fold_score(found, lambda row: row.measures["accepted_accuracy_percent"]),
            fold_score(found, lambda row: 100 * row.n_correct / row.n_test),
            fold_score(found, SCORES["n_leaves"]),
        ]
        lines.append((dataset, *(f"{score.mean:.1f}" if score else "" for score in scores)))
    header = ("data set", "rejected %", "accuracy as printed %", "accuracy of accepted %", "of all rows %", "leaves")
    caption = "Rejected rows count as right in the dissertation; beside that, accepted rows alone and all rows by class"
    return ExtraTable("rejections", caption, header, tuple(lines))
