"""The generated parts of the page on what verdicts are worth."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import isnan
from pathlib import Path

from oblique_cli.papers.reproduction.framework.markdown import table_lines
from oblique_cli.papers.reproduction.framework.power import BY_RATIO, LEVEL, Bias, Share, TableVerdict, is_fold
from oblique_cli.papers.reproduction.framework.study_report import shown

CAUSES = Path(__file__).with_name("causes.csv")


@cache
def causes() -> dict[tuple[str, str, str], str]:
    """Return the measured causes of bias, by table, measure and method ("": of all). Not to be changed."""
    with open(CAUSES, encoding="utf-8", newline="") as handle:
        return {(row["table"], row["metric"], row["method"]): row["cause"] for row in csv.DictReader(handle)}


def power_block(found: Sequence[TableVerdict]) -> str:
    """Return the verdicts by table and measure, in a sentence and a table."""
    header = ("table", "measure", "agree", "folds", "wrong one agrees", "mean difference", "t", "ranks", "verdict")
    rows = [_row(verdict) for verdict in found]
    biased = sum(verdict.is_biased for verdict in found)
    sentence = (
        f"Of {len(found)} measures in {len({v.table for v in found})} tables {biased} are biased, "
        f"{sum(v.is_weak for v in found)} are weak, and of {sum('not measured' in v.verdict for v in found)} the power "
        "is not measured: there is no second method to confuse with."
    )
    return "\n".join([sentence, "", *table_lines(header, rows)]) + "\n"


def bias_block(found: Iterable[TableVerdict]) -> str:
    """Return every bias beyond chance, and in its table every method with p below LEVEL, with the measured cause."""
    rows = [
        (
            _name(verdict.table),
            verdict.metric,
            bias.method or "all",
            _mean(verdict, bias),
            f"{bias.t:.1f}",
            causes().get((verdict.table, verdict.metric, bias.method), ""),
        )
        for verdict in found
        for bias in verdict.biases
        if verdict.is_biased and bias.p < LEVEL
    ]
    return "\n".join(table_lines(("table", "measure", "method", "mean difference", "t", "cause"), rows)) + "\n"


def wide_block(found: Iterable[TableVerdict]) -> str:
    """Return the cells that agree only because their SD is large, those of single folds as a count."""
    wide = [cell for verdict in found for cell in verdict.wide]
    rows = [
        (_name(c.table), c.dataset, c.method, c.metric, shown(c.ours, c.ours_sd), shown(c.published, c.published_sd))
        for c in wide
        if not is_fold(c)
    ]
    header = ("table", "data set", "method", "measure", "ours", "published")
    folds = Counter(_name(cell.table) for cell in wide if is_fold(cell))
    counted = ", ".join(f"{count} in {table}" for table, count in folds.items())
    sentence = f"{len(wide)} cells, {sum(folds.values())} of them of single folds ({counted}). The others:"
    return "\n".join([sentence, "", *table_lines(header, rows)]) + "\n"


def _row(verdict: TableVerdict) -> tuple[str, ...]:
    whole = next((bias for bias in verdict.biases if not bias.method), None)
    wrong = verdict.other_methods if verdict.other_methods.of else verdict.other_folds
    return (
        _name(verdict.table),
        verdict.metric.removesuffix("_percent").removeprefix("n_").replace("_", " "),
        _of(verdict.cells),
        _of(verdict.folds),
        f"{100 * wrong.share:.0f} %" if wrong.of else "",
        _mean(verdict, whole) if whole else "",
        f"{whole.t:.1f}" if whole else "",
        "/".join(_correlation(value) for value in (verdict.rank_of_methods, verdict.rank_of_sets)),
        verdict.verdict.replace("power not measured", "?"),
    )


def _mean(verdict: TableVerdict, bias: Bias) -> str:
    if verdict.metric in BY_RATIO:
        return f"{bias.mean:+.0f} %"
    return f"{bias.mean:+.2f}" if abs(bias.mean) >= 0.1 else f"{bias.mean:+.2g}"


def _of(share: Share) -> str:
    return f"{share.agree}/{share.of}" if share.of else ""


def _correlation(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _name(table: str) -> str:
    """Return a table's name with its author, such as "Amalaman 2.7"."""
    source, _, name = table.partition(":")
    return f"{source.rstrip('0123456789').capitalize()} {name}"
