"""Chapter 3 of the thesis: HHCART against OC1 and QUEST, Tables 3.1 to 3.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import hypot

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest, StudyResult, study

THESIS = "wickramarachchi2015"
TABLES = tuple(f"{THESIS}:{table}" for table in ("3.1", "3.2", "3.3", "3.4"))
# Configurations of each sampling scheme of the folds.
SAMPLINGS = {"SRS": ("chapter3", "chapter3_shuttle"), "STRS": ("chapter3_stratified", "chapter3_shuttle_stratified")}

# Class sizes of each data set, as Table 3.3 prints them, by class index.
ClassSizes = Mapping[int, int]
# By class: its rows, and mean and SD of its accuracy over repetitions, in percent.
ClassAccuracies = Mapping[str, tuple[int, float, float | None]]


@STUDIES.register("chapter3")
@study("HHCART against OC1 and QUEST, random and stratified folds (thesis, chapter 3)", *TABLES)
def chapter3(request: StudyRequest) -> StudyResult:
    """Run Tables 3.1 and 3.4, and the stratified folds of Tables 3.2 and 3.3. The columns SRS of Tables 3.2 and 3.3 are
    the folds of HHCART(A) in Table 3.1."""
    outcomes = {
        sampling: [runs.outcome(request, f"reproduce/{name}") for name in names]
        for sampling, names in SAMPLINGS.items()
    }
    mixed = [runs.outcome(request, f"reproduce/{name}") for name in ("chapter3_mixed", "chapter3_income")]
    of_sampling = {sampling: runs.of_outcomes(*each) for sampling, each in outcomes.items()}
    finders: tuple[Ours, ...] = (
        of_sampling["SRS"],
        lambda number, dataset: of_sampling[number.qualifiers["sampling"]](number, dataset),
        _of_classes({sampling: _class_accuracies(each) for sampling, each in outcomes.items()}),
        runs.of_outcomes(*mixed),
    )
    all_cells = [cell for table, ours in zip(TABLES, finders, strict=True) for cell in runs.cells(request, table, ours)]
    return runs.result_of([*outcomes["SRS"], *outcomes["STRS"], *mixed], all_cells)


def _of_classes(accuracies_by: Mapping[str, Mapping[str, ClassAccuracies]]) -> Ours:
    """Return a function for the accuracy of a class, or its gain by stratified folds, in Table 3.3."""
    names = runs.dataset_names(THESIS)
    printed: dict[str, dict[int, int]] = {}
    for number in numbers(THESIS, "3.3"):
        sizes = printed.setdefault(names[number.dataset], {})
        sizes[int(number.qualifiers["class_index"])] = int(number.qualifiers["class_size"])

    def ours(number: Published, dataset: str) -> Number | None:
        accuracies = {}
        for sampling in SAMPLINGS:
            classes = accuracies_by[sampling].get(dataset)
            if classes is None:
                return None
            rows_of = {key: rows for key, (rows, _, _) in classes.items()}
            name = class_at(int(number.qualifiers["class_index"]), printed[dataset], rows_of)
            if name is None:
                return None, None, "not run: no class of ours has as many rows"
            accuracies[sampling] = classes[name][1:]
        (random, random_sd), (stratified, stratified_sd) = accuracies.values()
        gain = stratified - random, hypot(random_sd or 0.0, stratified_sd or 0.0)
        return *accuracies.get(number.qualifiers["sampling"], gain), "no SD is printed"

    return ours


def class_at(index: int, printed: ClassSizes, ours: Mapping[str, int]) -> str | None:
    """Return our class for a printed class index: the class of equal size, the i-th for the i-th if there are
    several. The thesis has a different order of classes (of Shuttle), and prints the size of each."""
    same = [key for key in sorted(printed) if printed[key] == printed[index]]
    fits = [name for name, rows in ours.items() if rows == printed[index]]
    return fits[same.index(index)] if len(same) == len(fits) else None


def _class_accuracies(outcomes: Iterable[Outcome]) -> dict[str, ClassAccuracies]:
    accuracy_of: dict[str, ClassAccuracies] = {}
    for each in outcomes:
        for spec in each.experiment.datasets:
            rows = [row for row in each.rows if (row.dataset, row.algorithm) == (spec.name, "hhcart_a")]
            if rows and all(row.status == "ok" for row in rows):
                accuracy_of[spec.name] = _by_class(rows)
    return accuracy_of


def _by_class(rows: Iterable[Row]) -> ClassAccuracies:
    counts: dict[str, dict[int, tuple[int, int]]] = {}
    for row in rows:
        for name, (correct, n) in row.per_class.items():
            before = counts.setdefault(name, {}).get(row.repeat, (0, 0))
            counts[name][row.repeat] = (before[0] + correct, before[1] + n)
    accuracy_of = {}
    for name, by_repeat in counts.items():
        accuracies = [float(Fraction(100 * correct, n)) for correct, n in by_repeat.values() if n]
        if accuracies:
            accuracy_of[name] = (next(iter(by_repeat.values()))[1], *runs.mean_sd(accuracies))
    return accuracy_of
