"""Chapter 3 of the thesis: HHCART against OC1 and QUEST, Tables 3.1 to 3.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import hypot
from statistics import fmean, stdev

from oblique_cli.evaluation.published import Published, numbers
from oblique_cli.evaluation.tables import Line
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework.runs import (
    Number,
    Outcome,
    cells,
    dataset_names,
    lines_of,
    of_lines,
    outcome,
    total,
)
from oblique_cli.papers.reproduction.framework.studies import STUDIES, Study, StudyRequest, StudyResult

THESIS = "wickramarachchi2015"
SAMPLINGS = ("SRS", "STRS")

# Class sizes of each data set, as Table 3.3 prints them, by class index.
ClassSizes = Mapping[int, int]


@STUDIES.register("chapter3")
class Chapter3(Study):
    """Tables 3.1 to 3.4. The columns SRS of Tables 3.2 and 3.3 are the folds of HHCART(A) in Table 3.1."""

    name = "chapter3"
    title = "HHCART against OC1 and QUEST, random and stratified folds (thesis, chapter 3)"
    tables = tuple(f"{THESIS}:{table}" for table in ("3.1", "3.2", "3.3", "3.4"))

    def run(self, request: StudyRequest) -> StudyResult:
        """Run Table 3.1, the stratified folds of Tables 3.2 and 3.3, and Table 3.4."""
        random = [outcome(request, "reproduce/chapter3"), outcome(request, "reproduce/chapter3_shuttle")]
        stratified = [
            outcome(request, "reproduce/chapter3_stratified"),
            outcome(request, "reproduce/chapter3_shuttle_stratified"),
        ]
        mixed = [outcome(request, "reproduce/chapter3_mixed"), outcome(request, "reproduce/chapter3_income")]
        sampled = dict(zip(SAMPLINGS, (random, stratified), strict=True))
        by_class = {name: _class_accuracies(outcomes) for name, outcomes in sampled.items()}
        all_cells = (
            *cells(request, self.tables[0], of_lines(lines_of(random)), {}),
            *cells(request, self.tables[1], _of_sampling({n: lines_of(o) for n, o in sampled.items()}), {}),
            *cells(request, self.tables[2], _of_classes(by_class), {}),
            *cells(request, self.tables[3], of_lines(lines_of(mixed)), {}),
        )
        cost, code = total([*random, *stratified, *mixed])
        return StudyResult(all_cells, cost=cost, exit_code=code)


class _of_sampling:
    """Finds accuracy and leaves in the lines of the sampling scheme that a number of Table 3.2 is of."""

    def __init__(self, lines: Mapping[str, Mapping[tuple[str, str], Line]]) -> None:
        self._ours = {sampling: of_lines(table_lines) for sampling, table_lines in lines.items()}

    def __call__(self, number: Published, dataset: str) -> Number | None:
        return self._ours[number.qualifiers["sampling"]](number, dataset)


class _of_classes:
    """Finds the accuracy of a class, or its gain by stratified folds, for a number of Table 3.3.

    accuracies : sampling scheme -> data set -> class -> (rows of the class, mean and SD over repetitions in percent)
    """

    def __init__(self, accuracies: Mapping[str, Mapping[str, Mapping[str, tuple[int, float, float | None]]]]) -> None:
        self._accuracies = accuracies
        names = dataset_names(THESIS)
        self._sizes: dict[str, dict[int, int]] = {}
        for number in numbers(THESIS, "3.3"):
            sizes = self._sizes.setdefault(names[number.dataset], {})
            sizes[int(number.qualifiers["class_index"])] = int(number.qualifiers["class_size"])

    def __call__(self, number: Published, dataset: str) -> Number | None:
        index = int(number.qualifiers["class_index"])
        accuracies = []
        for sampling in SAMPLINGS:
            classes = self._accuracies[sampling].get(dataset)
            if classes is None:
                return None
            name = class_at(index, self._sizes[dataset], {key: rows for key, (rows, _, _) in classes.items()})
            if name is None:
                return None, None, "not run: no class of ours has as many rows"
            accuracies.append(classes[name][1:])
        (random, random_sd), (stratified, stratified_sd) = accuracies
        note = "no SD is printed"
        if number.qualifiers["sampling"] == "SRS":
            return random, random_sd, note
        if number.qualifiers["sampling"] == "STRS":
            return stratified, stratified_sd, note
        return stratified - random, hypot(random_sd or 0.0, stratified_sd or 0.0), note


def class_at(index: int, printed: ClassSizes, ours: Mapping[str, int]) -> str | None:
    """Return our class for a printed class index: the class of as many rows, the i-th for the i-th if there are
    several.

    The thesis numbers classes in its own order (of Shuttle), and prints how many rows each has.
    """
    same = [key for key in sorted(printed) if printed[key] == printed[index]]
    fits = [name for name, rows in ours.items() if rows == printed[index]]
    return fits[same.index(index)] if len(same) == len(fits) else None


def _class_accuracies(outcomes: Iterable[Outcome | None]) -> dict[str, dict[str, tuple[int, float, float | None]]]:
    """Return data set -> class -> (rows, mean, SD) of HHCART(A), accuracies in percent pooled over a repetition."""
    accuracy_of: dict[str, dict[str, tuple[int, float, float | None]]] = {}
    for each in outcomes:
        if each is None:
            continue
        for spec in each.experiment.datasets:
            rows = [row for row in each.rows if (row.dataset, row.algorithm) == (spec.name, "hhcart_a")]
            if rows and all(row.status == "ok" for row in rows):
                accuracy_of[spec.name] = _by_class(rows)
    return accuracy_of


def _by_class(rows: Iterable[Row]) -> dict[str, tuple[int, float, float | None]]:
    counts: dict[str, dict[int, tuple[int, int]]] = {}
    for row in rows:
        for name, (correct, n) in row.per_class.items():
            before = counts.setdefault(name, {}).get(row.repeat, (0, 0))
            counts[name][row.repeat] = (before[0] + correct, before[1] + n)
    accuracy_of = {}
    for name, by_repeat in counts.items():
        accuracies = [float(Fraction(100 * correct, n)) for correct, n in by_repeat.values() if n]
        if accuracies:
            n_rows = next(iter(by_repeat.values()))[1]
            accuracy_of[name] = (n_rows, fmean(accuracies), stdev(accuracies) if len(accuracies) > 1 else None)
    return accuracy_of
