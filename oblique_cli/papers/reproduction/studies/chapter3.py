"""Chapter 3 of the thesis: HHCART against OC1 and QUEST, Tables 3.1 to 3.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import hypot

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.declarations import Declaration, Runs, declare, lines
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome

THESIS = "wickramarachchi2015"
TABLES = tuple(f"{THESIS}:3.{table}" for table in range(1, 5))
SAMPLINGS = ("SRS", "STRS")  # of the folds, at random and stratified

# Class sizes of each data set, as Table 3.3 prints them, by class index.
ClassSizes = Mapping[int, int]
# By class: its rows, and mean and SD of its accuracy over repetitions, in percent.
ClassAccuracies = Mapping[str, tuple[int, float, float | None]]


def _by_sampling(done: Runs) -> Ours:
    ours = {sampling: lines(sampling)(done) for sampling in SAMPLINGS}
    return lambda number, dataset: ours[number.qualifiers["sampling"]](number, dataset)


def _of_classes(done: Runs) -> Ours:
    """Return a function for the accuracy of a class, or its gain by stratified folds, in Table 3.3."""
    accuracies_by = {sampling: _class_accuracies(done.of(sampling)) for sampling in SAMPLINGS}
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
    rows_by = runs.rows_by_method(outcomes, {"hhcart_a": "HHCART(A)"})
    return {
        dataset: _by_class(rows)
        for (dataset, method), rows in rows_by.items()
        if method and all(row.status == "ok" for row in rows)
    }


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


PARTS = {
    "SRS": ("chapter3", "chapter3_shuttle"),
    "STRS": ("chapter3_stratified", "chapter3_shuttle_stratified"),
    "mixed": ("chapter3_mixed", "chapter3_income"),
}
LAYOUTS = (lines("SRS"), _by_sampling, _of_classes, lines("mixed"))
declare(
    "chapter3",
    "HHCART against OC1 and QUEST, random and stratified folds (thesis, chapter 3)",
    Declaration(PARTS, dict(zip(TABLES, LAYOUTS, strict=True))),
)
