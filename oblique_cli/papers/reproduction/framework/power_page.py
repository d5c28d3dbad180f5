"""Verdicts on the measures of tables, their biases and their wide cells, as rows of CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache
from math import isnan
from pathlib import Path

from oblique_cli.papers.reproduction.framework.power import BY_RATIO, LEVEL, Bias, Share, TableVerdict, is_fold
from oblique_cli.papers.reproduction.framework.study_report import shown

CAUSES = Path(__file__).with_name("causes.csv")


@cache
def causes() -> dict[tuple[str, str, str], str]:
    """Return the measured causes of bias, by table, measure and method ("": of all). Not to be changed."""
    with open(CAUSES, encoding="utf-8", newline="") as handle:
        return {(row["table"], row["metric"], row["method"]): row["cause"] for row in csv.DictReader(handle)}


def power_sentence(verdicts: Sequence[TableVerdict]) -> str:
    """Return how many measures are biased or weak."""
    biased = sum(verdict.is_biased for verdict in verdicts)
    return (
        f"Of {len(verdicts)} measures in {len({v.table for v in verdicts})} tables {biased} are biased, "
        f"{sum(v.is_weak for v in verdicts)} are weak, and of {sum('not measured' in v.verdict for v in verdicts)} the "
        "power is not measured: there is no second method to confuse with.\n"
    )


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


def table_name(table: str) -> str:
    """Return a table's name with its author, such as "Amalaman 2.7"."""
    source, _, name = table.partition(":")
    return f"{source.rstrip('0123456789').capitalize()} {name}"


def metric_name(metric: str) -> str:
    """Return a metric in words, such as "class accuracy"."""
    return metric.removesuffix("_percent").removeprefix("n_").replace("_", " ")
