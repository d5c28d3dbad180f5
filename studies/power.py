"""What a table's verdict is worth: bias that single cells hide, the order of methods and sets, and its power.

python -m studies.power [RESULTS]    write verdicts.csv, biases.csv and wide.csv of RESULTS/reproduction from the cells

Cells agree one by one within two joint standard deviations. Many that agree can still lie on one side of print, and a
rule that another method's printed number meets as well tells little. Both are measured here, for each measure of each
table. causes.csv has the measured causes of bias.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from math import expm1, isnan, log, nan
from pathlib import Path
from statistics import fmean

from oblique_cli.data.csv_text import csv_text
from oblique_cli.evaluation.significance_tests import corrected_resampled_t, holm, rank_correlation
from oblique_cli.papers.reproduction.framework.document import metric_name, studied, table_name
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell, is_wide
from oblique_cli.papers.reproduction.framework.study_report import shown

CAUSES = Path(__file__).with_name("causes.csv")

# Sizes and errors are compared by their ratio; what is in percent or a distance by its difference.
BY_RATIO = frozenset({"n_leaves", "n_nodes", "depth", "avg_clusters_per_class", "family_changes", "mse", "rmse"})
LEVEL = 0.05  # of the test for bias
FEWEST_SETS = 3  # for a test of bias or a rank correlation over sets
ENOUGH = 0.9  # share of cells that must agree
WEAK = 0.75  # share of other methods' cells that agree, from which on agreement is weak evidence


@dataclass(frozen=True)
class Bias:
    """Paired mean difference over data sets, of one method or (method "") of the mean over all methods of a table.

    mean    ours minus printed, in the table's unit, or ours over printed less 1 (the geometric mean) in percent
    p       two-sided, of Student's t; adjusted is Holm's over the methods of the table
    """

    method: str
    mean: float
    t: float
    p: float
    adjusted: float
    n_sets: int

    @property
    def beyond_chance(self) -> bool:
        """Whether the adjusted p is below LEVEL."""
        return self.adjusted < LEVEL


@dataclass(frozen=True)
class Share:
    """How many of some cells agree."""

    agree: int
    of: int

    @property
    def share(self) -> float:
        """Of 1; nan of none."""
        return self.agree / self.of if self.of else nan

    def __str__(self) -> str:
        return f"{self.agree} of {self.of}" if self.of else "-"


@dataclass(frozen=True)
class TableVerdict:
    """The verdict on one measure of one table.

    cells           whole cells: means over all folds
    folds           cells of a single fold, which are compared with a fold of other rows
    other_methods   our cells against the printed cell of each other method on the same set
    other_folds     our fold cells against the printed cell of each other fold
    rank_of_methods, rank_of_sets   Spearman's correlation of ours with print, methods within a set and sets within a
                    method, averaged; nan if there are too few
    wide            cells that agree only because their SD is large
    """

    table: str
    metric: str
    n_sets: int
    cells: Share
    folds: Share
    other_methods: Share
    other_folds: Share
    rank_of_methods: float
    rank_of_sets: float
    biases: tuple[Bias, ...]
    wide: tuple[Cell, ...]

    @property
    def is_biased(self) -> bool:
        """Whether ours differ from print on one side by more than chance, all methods together or one of them."""
        return any(bias.beyond_chance for bias in self.biases)

    @property
    def is_weak(self) -> bool:
        """Whether the printed cell of a wrong method (of a wrong fold, in a table of folds) would mostly agree too."""
        return self._wrong.share >= WEAK

    @property
    def verdict(self) -> str:
        """Words: whether it agrees, is biased, has methods in another order than print, and what its power is."""
        agree = (self.cells.agree + self.folds.agree) / (self.cells.of + self.folds.of)
        words = [AGREES if agree >= ENOUGH else DEVIATES]
        if self.is_biased:
            words.append("biased")
        if self.rank_of_methods <= 0:
            words.append("another order")
        if not self._wrong.of:
            words.append("power not measured")
        elif self.is_weak:
            words.append("weak")
        return ", ".join(words)

    @property
    def _wrong(self) -> Share:
        return self.other_methods if self.other_methods.of else self.other_folds


def table_verdicts(cells: Iterable[Cell]) -> tuple[TableVerdict, ...]:
    """Return the verdict on each measure of each table that has a cell to compare, in the order of the cells."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.verdict in (AGREES, DEVIATES):
            groups.setdefault((cell.table, cell.metric), []).append(cell)
    return tuple(_verdict(table, metric, members) for (table, metric), members in groups.items())


def is_fold(cell: Cell) -> bool:
    """Whether a cell is of a single fold."""
    return any(part.startswith("fold=") and part != "fold=all" for part in cell.qualifier.split("; "))


def _verdict(table: str, metric: str, cells: Sequence[Cell]) -> TableVerdict:
    folds = [cell for cell in cells if is_fold(cell)]
    whole = [cell for cell in cells if not is_fold(cell)]
    return TableVerdict(
        table,
        metric,
        len({cell.dataset for cell in cells}),
        _share((cell, cell) for cell in whole),
        _share((cell, cell) for cell in folds),
        _share(_pairs(whole, lambda cell: (cell.dataset, cell.qualifier), lambda cell: cell.method)),
        _share(_pairs(folds, lambda cell: (cell.method, _without_fold(cell)), lambda cell: cell.qualifier)),
        _rank_correlation(whole, within=lambda cell: (cell.dataset, cell.qualifier), fewest=2),
        _rank_correlation(whole, within=lambda cell: (cell.method, cell.qualifier), fewest=FEWEST_SETS),
        _biases(whole),
        tuple(cell for cell in cells if is_wide(cell)),
    )


def _share(pairs: Iterable[tuple[Cell, Cell]]) -> Share:
    """Return in how many pairs the first cell's number of ours agrees with the second cell's printed one."""
    agreements = [
        replace(ours, published=printed.published, published_sd=printed.published_sd).verdict == AGREES
        for ours, printed in pairs
    ]
    return Share(sum(agreements), len(agreements))


def _pairs(
    cells: Iterable[Cell], group: Callable[[Cell], object], kind: Callable[[Cell], str]
) -> Iterable[tuple[Cell, Cell]]:
    """Yield every two cells of one group that differ in kind."""
    for members in _grouped(cells, group):
        yield from ((first, second) for first in members for second in members if kind(first) != kind(second))


def _grouped(cells: Iterable[Cell], group: Callable[[Cell], object]) -> list[list[Cell]]:
    ordered = sorted(cells, key=lambda cell: str(group(cell)))
    return [list(members) for _, members in groupby(ordered, key=group)]


def _without_fold(cell: Cell) -> tuple[str, ...]:
    return tuple(part for part in cell.qualifier.split("; ") if not part.startswith("fold="))


def _rank_correlation(cells: Iterable[Cell], within: Callable[[Cell], object], fewest: int) -> float:
    """Return the mean of Spearman's correlation of ours with print within each group that has at least `fewest`."""
    correlations = []
    for members in _grouped(cells, within):
        ours, printed = [cell.ours or 0.0 for cell in members], [cell.published or 0.0 for cell in members]
        if len(members) >= fewest and len(set(ours)) > 1 and len(set(printed)) > 1:
            correlations.append(rank_correlation(ours, printed))
    return fmean(correlations) if correlations else nan


def _biases(cells: Sequence[Cell]) -> tuple[Bias, ...]:
    """Return the bias of the whole table, and of its methods if there are several."""
    methods = tuple(dict.fromkeys(cell.method for cell in cells))
    whole = _bias("", cells)
    biases = [_bias(method, [cell for cell in cells if cell.method == method]) for method in methods]
    each = [bias for bias in biases if bias is not None] if len(methods) > 1 else []
    adjusted = holm([bias.p for bias in each]) if each else []
    parts = tuple(
        Bias(bias.method, bias.mean, bias.t, bias.p, p, bias.n_sets) for bias, p in zip(each, adjusted, strict=True)
    )
    return (*(() if whole is None else (whole,)), *parts)


def _bias(method: str, cells: Iterable[Cell]) -> Bias | None:
    """Return the bias of some cells, those of one data set averaged; None without enough sets or without spread."""
    by_set: dict[str, list[float]] = {}
    by_ratio = False
    for cell in cells:
        by_ratio = cell.metric in BY_RATIO
        difference = _difference(cell)
        if difference is not None:
            by_set.setdefault(cell.dataset, []).append(difference)
    means = [fmean(values) for values in by_set.values()]
    if len(means) < FEWEST_SETS or min(means) == max(means):
        return None
    test = corrected_resampled_t(means, 0.0)  # of sets, which share no rows: an ordinary t test
    return Bias(method, 100 * expm1(test.mean) if by_ratio else test.mean, test.t, test.p, test.p, len(means))


def _difference(cell: Cell) -> float | None:
    if cell.ours is None or cell.published is None:
        return None
    if cell.metric not in BY_RATIO:
        return cell.ours - cell.published
    return log(cell.ours / cell.published) if cell.ours > 0 and cell.published > 0 else None


@cache
def causes() -> dict[tuple[str, str, str], str]:
    """Return the measured causes of bias, by table, measure and method ("": of all). Not to be changed."""
    with open(CAUSES, encoding="utf-8", newline="") as handle:
        return {(row["table"], row["metric"], row["method"]): row["cause"] for row in csv.DictReader(handle)}


def power_rows(verdicts: Iterable[TableVerdict]) -> list[tuple[str, ...]]:
    """Return the verdicts by table and measure, below a header."""
    header = ("table", "measure", "agree", "folds", "wrong one agrees", "mean difference", "t", "ranks", "verdict")
    return [header, *(_row(verdict) for verdict in verdicts)]


def bias_rows(verdicts: Iterable[TableVerdict]) -> list[tuple[str, ...]]:
    """Return every bias beyond chance, and in its table every method with p below LEVEL, with the measured cause."""
    rows = [
        (
            table_name(verdict.table),
            verdict.metric,
            bias.method or "all",
            _mean(verdict, bias),
            f"{bias.t:.1f}",
            causes().get((verdict.table, verdict.metric, bias.method), ""),
        )
        for verdict in verdicts
        for bias in verdict.biases
        if verdict.is_biased and bias.p < LEVEL
    ]
    return [("table", "measure", "method", "mean difference", "t", "cause"), *rows]


def wide_rows(verdicts: Iterable[TableVerdict]) -> list[tuple[str, ...]]:
    """Return the cells that agree only because their SD is large, below a header; `fold` is empty for means."""
    rows = [
        (
            table_name(cell.table),
            cell.dataset,
            cell.method,
            cell.metric,
            cell.qualifier if is_fold(cell) else "",
            shown(cell.ours, cell.ours_sd),
            shown(cell.published, cell.published_sd),
        )
        for verdict in verdicts
        for cell in verdict.wide
    ]
    return [("table", "data set", "method", "measure", "fold", "ours", "published"), *rows]


def _row(verdict: TableVerdict) -> tuple[str, ...]:
    whole = next((bias for bias in verdict.biases if not bias.method), None)
    wrong = verdict.other_methods if verdict.other_methods.of else verdict.other_folds
    return (
        table_name(verdict.table),
        metric_name(verdict.metric),
        _of(verdict.cells),
        _of(verdict.folds),
        f"{100 * wrong.share:.0f} %" if wrong.of else "",
        _mean(verdict, whole) if whole else "",
        f"{whole.t:.1f}" if whole else "",
        "/".join("-" if isnan(value) else f"{value:.2f}" for value in (verdict.rank_of_methods, verdict.rank_of_sets)),
        verdict.verdict.replace("power not measured", "?"),
    )


def _mean(verdict: TableVerdict, bias: Bias) -> str:
    if verdict.metric in BY_RATIO:
        return f"{bias.mean:+.0f} %"
    return f"{bias.mean:+.2f}" if abs(bias.mean) >= 0.1 else f"{bias.mean:+.2g}"


def _of(share: Share) -> str:
    return f"{share.agree}/{share.of}" if share.of else ""


def files(results: Path) -> dict[Path, str]:
    """Return the text of each file by its path."""
    verdicts = table_verdicts(cell for cells in studied(results).values() for cell in cells)
    tables = {"verdicts": power_rows(verdicts), "biases": bias_rows(verdicts), "wide": wide_rows(verdicts)}
    return {results / "reproduction" / f"{name}.csv": csv_text(rows) for name, rows in tables.items()}


if __name__ == "__main__":
    for path, text in files(Path((sys.argv[1:] or ["results"])[0])).items():
        path.write_text(text, encoding="utf-8")
        print(f"{path} written")
