"""Printed numbers that cannot hold beside others of the same text: arithmetic on what is printed, without any run.

rows          accuracies of one cross-validation are shares of its rows: figure 6.4 has shares of fewer rows than its
              Table 6.1 counts
same rows     HC-edit at beta 100 removes nothing, "the edited dataset is identical to the original dataset", and is
              k-NN: figure 6.4 prints two accuracies for one classifier
thresholds    a purity of S_theta is that of a node without a purer one above it, which is extracted: clusterings of two
              thresholds differ (algorithms 2 and 3), and two of iris are said to be the same
one run       Tables 3.1 and 3.2 of the thesis print one experiment twice, HHCART(A) on simple random folds; by the
              rule of verdicts they agree on all sets but one, whose numbers in 3.2 and 3.3 are of a run of another kind
words         "for all binary classification problems" GDT outperforms GEPSVM: Table III prints one number for both
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework.printed_cells import DEVIATES, Cell
from oblique_cli.papers.reproduction.framework.runs import dataset_names, qualifier
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from studies import script

FIGURE = ("amalaman2015", "6.4")
CHAPTER_5 = ("amalaman2015", "5")
MACHINES = ("manwani2012", "III")
THESIS = "wickramarachchi2015"
# Rows of the sets of figure 6.4, by Table 6.1.
SIZES = {"Bos": 506, "Bld": 345, "Vot": 232}
HEADER = ("rule", "table", "data set", "method", "metric", "which", "published", "beside it")


def decimals(number: Published) -> int:
    """Return with how many decimals the mean of a number is printed."""
    return len(number.printed.split(" ")[0].partition(".")[2])


def is_share(number: Published, rows: int) -> bool:
    """Return whether a printed percentage is a share of so many rows, to its last digit."""
    assert number.mean is not None
    nearest = 100.0 * round(number.mean * rows / 100.0) / rows
    return abs(nearest - number.mean) <= 0.5 * 10.0 ** -decimals(number) + 1e-9


def least_rows(numbers: Iterable[Published], largest: int) -> int | None:
    """Return the least number of rows, above half of `largest`, of which all printed percentages are shares."""
    each = list(numbers)
    return next((rows for rows in range(largest // 2, largest + 1) if all(is_share(n, rows) for n in each)), None)


def figure() -> tuple[Published, ...]:
    """Return the numbers of figure 6.4."""
    return tuple(number for number in published.numbers(*FIGURE) if number.mean is not None)


def shares() -> dict[str, tuple[int, int | None, int, int]]:
    """Return by data set its rows in Table 6.1; the least number of which all accuracies are shares; how many
    accuracies are shares of the rows in Table 6.1, and of how many."""
    share_of = {}
    for code, rows in SIZES.items():
        each = [n for n in figure() if n.dataset == code and n.metric == "accuracy_percent"]
        share_of[code] = (rows, least_rows(each, rows), sum(is_share(n, rows) for n in each), len(each))
    return share_of


def of_other_rows() -> Iterator[tuple[Published, str]]:
    """Every number of a set none of whose accuracies is a share of its rows, and all of which are of fewer."""
    for code, (rows, fewer, met, _) in shares().items():
        if fewer is not None and met == 0:
            yield from ((n, f"shares of {fewer} rows, not of {rows}") for n in figure() if n.dataset == code)


def removes_nothing(number: Published) -> bool:
    """Return whether an accuracy of HC-edit is printed for beta 100 alone or among others."""
    return number.method.startswith("HC-edit") and "(100)[0" in number.qualifiers.get("beta_and_compression", "")


def same_classifier() -> dict[tuple[str, str], list[Published]]:
    """Return the printed accuracies of k-NN, HC-edit at beta 100 included, by data set and k, where they differ."""
    groups: dict[tuple[str, str], list[Published]] = {}
    for number in figure():
        if number.metric == "accuracy_percent" and (number.method == "k-NN" or removes_nothing(number)):
            groups.setdefault((number.dataset, number.qualifiers["k"]), []).append(number)
    return {key: each for key, each in groups.items() if len({number.mean for number in each}) > 1}


def others_of(number: Published) -> Mapping[str, float]:
    """Return the other numbers that are printed for the classifier of a number of figure 6.4, by method."""
    each = same_classifier().get((number.dataset, number.qualifiers.get("k", "")), [])
    if not any(other == number for other in each):
        return {}
    return {other.method: other.mean for other in each if other.mean is not None and other.mean != number.mean}


def thresholds() -> Iterator[tuple[Published, str]]:
    """The purity thresholds of iris that give one clustering by the text, and their count."""
    printed = [n for n in published.numbers(*CHAPTER_5) if n.dataset == "Irs" and n.metric == "purity_threshold"]
    same = [n for n in printed if n.qualifiers.get("clustering") in ("3", "4")]
    values = " and ".join(f"{n.mean:g}" for n in same)
    yield from ((number, f"thresholds {values} are said to give one clustering, of pure clusters") for number in same)
    for number in published.numbers(*CHAPTER_5):
        if number.dataset == "Irs" and number.metric == "n_clusterings":
            yield number, f"{len(printed)} thresholds, of which {values} are said to give one clustering"


def not_outperformed() -> Iterator[tuple[Published, str]]:
    """GEPSVM on sets of two classes where GDT's printed accuracy is not above it."""
    accuracies = {
        (n.dataset, n.method): n for n in published.numbers(*MACHINES) if n.metric == "accuracy_percent" and n.mean
    }
    for (dataset, method), number in accuracies.items():
        tree = accuracies.get((dataset, "GDT"))
        if method == "GEPSVM" and tree is not None and tree.mean <= number.mean:  # type: ignore[operator]
            yield number, f"GDT {tree.printed}"


def of_another_run() -> Iterator[tuple[Published, str]]:
    """The numbers in Tables 3.2 and 3.3 of a set whose accuracy in 3.2 disagrees with that of Table 3.1."""
    mine = [n for n in published.numbers(THESIS, "3.2") if n.qualifiers.get("sampling") == "SRS"]
    for number in mine:
        first = next(n for n in published.numbers(THESIS, "3.1")
                     if (n.dataset, n.method, n.metric) == (number.dataset, "HHCART(A)", number.metric))  # fmt: skip
        cell = Cell("", "", "", "", number.mean, number.sd, first.mean, first.sd)
        if number.metric == "accuracy_percent" and cell.verdict == DEVIATES:
            yield number, f"{first.printed} in Table 3.1"
            for table in ("3.2", "3.3"):
                for other in published.numbers(THESIS, table):
                    if other.dataset == number.dataset and other != number and "accuracy" in other.metric:
                        yield other, f"of the run of {number.printed}, where Table 3.1 has {first.printed}"


def contradictions() -> Iterator[tuple[str, Published, str]]:
    """Return every printed number that cannot hold beside another one: rule, number, what stands beside it."""
    yield from (("rows", number, contradiction) for number, contradiction in of_other_rows())
    for each in same_classifier().values():
        for number in each:
            if others := others_of(number):
                yield "same rows", number, ", ".join(f"{method} {mean:.2f}" for method, mean in others.items())
    yield from (("thresholds", number, contradiction) for number, contradiction in thresholds())
    yield from (("one run", number, contradiction) for number, contradiction in of_another_run())
    yield from (("words", number, contradiction) for number, contradiction in not_outperformed())


@study("Printed numbers that contradict others of the same text", selects=())
def prints(request: StudyRequest) -> StudyResult:
    """Compare printed numbers with each other; nothing is fitted."""
    rows = tuple(
        (rule, f"{number.source}:{number.table}", dataset_names(number.source).get(number.dataset, number.dataset),
         number.method, number.metric, qualifier(number), number.printed, contradiction)
        for rule, number, contradiction in contradictions()
    )  # fmt: skip
    counted = tuple(
        (code, str(rows_), "" if least is None else str(least), str(met), str(of))
        for code, (rows_, least, met, of) in shares().items()
    )
    header = ("data set", "rows in Table 6.1", "least rows of which all are shares", "shares of the former", "of")
    beside = ExtraTable("contradictions", "Printed numbers that contradict others", HEADER, rows, left=6)
    shares_ = ExtraTable("shares", "Of how many rows the accuracies of figure 6.4 are shares", header, counted)
    return StudyResult((), (beside, shares_))


if __name__ == "__main__":
    script(prints)
