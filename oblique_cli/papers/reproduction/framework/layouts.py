"""Layouts of published tables, and a stored run printed in them: rows, columns, order and digits of the table.

A table without an entry in layouts.yaml has a row for each data set and method and a column for each metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published, PublishedTable
from oblique_cli.evaluation.sheets import MISSING, NOT_PRINTED, Sheet, TextGrid
from oblique_cli.evaluation.tables import Line, ResultTable, listed, method_of, method_titles, summarize
from oblique_cli.ground.nouns import Experiment, Row
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.strict_yaml import content
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.runs import Ours, Outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES
from oblique_cli.schemes import is_stratified

LEVELS = ("repetitions", published.CROSS_VALIDATION, "class", "repetition", "fold")  # of the tables that a run can fill
ALL_FOLDS = "all"  # value of `fold` of a mean and SD over folds, which are printed in two rows

# Attribute of a number -> its value: a field of `Published` or a qualifier.
Where = Mapping[str, str]


@dataclass(frozen=True)
class Column:
    """Column of a layout.

    cells   the numbers of a cell: those that fit the first entry, then those that fit the second in brackets
    shows   attribute that the cell shows instead of the numbers
    """

    title: str
    cells: tuple[Where, ...]
    shows: str = ""


@dataclass(frozen=True)
class Layout:
    """Layout of a table. heads : attribute that tells rows apart -> title of its column, "" for no column"""

    heads: Mapping[str, str]
    columns: tuple[Column, ...]


TITLES = {"accuracy_percent": "Avg. Acc.", "n_leaves": "Avg. Size"}


@cache
def layouts() -> Mapping[str, Layout]:
    """Return the layouts of layouts.yaml by the references of their tables."""
    by_table: dict[str, Layout] = {}
    for entry in content(Path(__file__).with_name("layouts.yaml")):
        columns = []
        for title, cells in entry["columns"].items():
            shows = next((where.pop("shows") for where in cells if "shows" in where), "")
            columns.append(Column(title, tuple(cells), shows))
        by_table |= dict.fromkeys(entry["tables"], Layout(entry["heads"], tuple(columns)))
    return by_table


def find(name: str) -> PublishedTable:
    """Return the table that a run can fill by its name, "5.2" or "wickramarachchi2015:5.2".

    raises ConfigError for a table that no run fills, for an unknown name, and for a name in several papers
    """
    known = [table for table in published.tables().values() if table.level in LEVELS]
    fits = [table for table in known if name.lower() in (table.reference.lower(), table.table.lower())]
    if len(fits) > 1:
        raise ConfigError(f"several papers have a table {name}: say {listed([table.reference for table in fits])}.")
    if not fits:
        every = {text for table in published.tables().values() for text in (table.table, table.reference)}
        why = "has no cell that a run fills" if name in every else "is not known"
        hint = close_matches(name, [text for table in known for text in (table.reference, table.table)])
        of_source: dict[str, list[str]] = {}
        for table in known:
            of_source.setdefault(table.source, []).append(table.table)
        names = "; ".join(f"{source}: {', '.join(tables)}" for source, tables in of_source.items())
        raise ConfigError(f"published table {name!r} {why}.{hint} Known: {names}.")
    return fits[0]


def layout_of(table: PublishedTable) -> Layout:
    """Return the layout of a table, from the metrics of its numbers if layouts.yaml has none."""
    if table.reference in layouts():
        return layouts()[table.reference]
    metrics = dict.fromkeys(number.metric for number in published.numbers(table.source, table.table))
    columns = (Column(TITLES.get(metric, metric.replace("_", " ")), ({"metric": metric},)) for metric in metrics)
    return Layout({"dataset": "Dataset", "method": "DT"}, tuple(columns))


def printed(name: str, experiment: Experiment, rows: Sequence[Row], table: ResultTable) -> Sheet:
    """Return a stored run in the layout of the published table `name`.

    table : the table of the run, whose notes follow
    raises ConfigError as in `find`, and if the run shares no method or no data set with the table
    """
    about = find(name)
    numbers = published.numbers(about.source, about.table)
    run, notes = _single_methods(experiment, rows)
    notes += _shared(about, numbers, run)
    study = next((study for study in STUDIES.values() if about.reference in study.tables), None)
    ours = study.of_run(about.reference, run) if study and study.of_run else runs.of_outcomes(run)
    grid, cells = _Printer(about, numbers, ours, run).grid()
    if any(NOT_PRINTED in text for row in grid.rows for text in row):
        notes.append(f"{NOT_PRINTED} no number is printed there.")
    digits = (
        "Cells have the decimals printed there, or the usual ones of their column where the printed ones round more."
    )
    return Sheet(
        title=f"{table.title}, in the layout of Table {about.table}",
        grids=(grid,),
        notes=(f"Layout: {about.citation}. Table {about.table}: {about.caption}. {digits}", *notes, *table.notes),
        records=tuple(dict(zip(grid.header, row, strict=True)) for row in grid.rows),
        facts={"layout": about.reference, "cells": cells},
    )


def _shared(about: PublishedTable, numbers: Sequence[Published], run: Outcome) -> list[str]:
    """Return a note on what the run has and the table has not; ConfigError if they share nothing."""
    names = runs.dataset_names(about.source)
    sets = {names.get(number.dataset, number.dataset): number.dataset for number in numbers}
    methods = {name for number in numbers for name in number.methods}
    run_sets = dict.fromkeys(spec.name for spec in run.experiment.datasets)
    run_methods = dict.fromkeys(method for _, method in run.lines())
    if not (sets.keys() & run_sets and methods & run_methods.keys()):
        theirs = listed([*dict.fromkeys(name for number in numbers for name in number.method.split(" and "))])
        raise ConfigError(
            f"run {run.experiment.name!r} shares no cell with Table {about.table}, which has {theirs} on "
            f"{cut_list([*sets])}; the run has {listed([*run_methods])} on {cut_list([*run_sets])}."
        )
    rest = [name for name in (*run_sets, *run_methods) if name not in sets and name not in methods]
    return [f"Not in Table {about.table}: {cut_list(rest)}."] if rest else []


def _single_methods(experiment: Experiment, rows: Sequence[Row]) -> tuple[Outcome, list[str]]:
    """Return the run with one algorithm per method, that named like it or else the first, and notes on the others."""
    titles, chosen = method_titles(), {}
    for spec in experiment.algorithms:
        title = method_of(spec, titles)
        if title not in chosen or spec.id == spec.name:
            chosen[title] = spec
    algorithms = tuple(spec for spec in experiment.algorithms if spec in chosen.values())
    ids = {spec.id for spec in algorithms}
    left_out = [spec.id for spec in experiment.algorithms if spec.id not in ids]
    experiment = replace(experiment, algorithms=algorithms, published=(), metrics=("depth",))
    rows = [row for row in rows if row.algorithm in ids]
    run = Outcome(experiment, tuple(rows), table=summarize(rows, experiment, titles=titles))
    return run, [f"{cut_list(left_out)}: left out, as another algorithm is of the same method."] if left_out else []


def _attribute(number: Published, key: str) -> str:
    return str(getattr(number, key)) if key in ("dataset", "method", "metric") else number.qualifiers.get(key, "")


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _rounded(value: float, printed_text: str, usual: int) -> str:
    """Return a value with the printed decimals, or the usual ones if the printed ones are fewer and change it."""
    decimals = _decimals(printed_text) if printed_text else usual
    text = f"{value:z.{decimals}f}"
    return text if decimals >= usual or float(text) == round(value, usual) else f"{value:z.{usual}f}"


@dataclass(frozen=True)
class _Printer:
    """Printer of a run in the layout of a table. ours : our number for a published one"""

    about: PublishedTable
    numbers: Sequence[Published]
    ours: Ours
    run: Outcome

    def grid(self) -> tuple[TextGrid, list[dict[str, Any]]]:
        """Return the grid, and its numbers at full precision, beside the published ones."""
        layout, rows, cells = layout_of(self.about), [], []
        numbers_of: dict[tuple[str, ...], list[Published]] = {}
        for number in self.numbers:
            numbers_of.setdefault(tuple(_attribute(number, head) for head in layout.heads), []).append(number)
        usual = {
            (column.title, i): self._usual(where) for column in layout.columns for i, where in enumerate(column.cells)
        }
        for key, mine in numbers_of.items():
            for parts, heads in self._rows(layout, key):
                texts = []
                for column in layout.columns:
                    groups = [[number for number in mine if _fits(number, where)] for where in column.cells]
                    if column.shows:
                        texts.append(_attribute(groups[0][0], column.shows) if groups[0] else "")
                        continue
                    each = [self._text(group, usual[column.title, i], parts) for i, group in enumerate(groups) if group]
                    missing = all(text == MISSING for text in each)
                    texts.append(MISSING if missing else each[0] + "".join(f" ({text})" for text in each[1:]))
                rows.append((*heads, *texts))
            cells += [self._record(number) for number in mine]
        heads = tuple(filter(None, layout.heads.values()))
        header = (*heads, *(column.title for column in layout.columns))
        return TextGrid(header, tuple(rows), len(heads)), cells

    def _rows(self, layout: Layout, key: tuple[str, ...]) -> Iterator[tuple[tuple[bool, bool], tuple[str, ...]]]:
        """Yield (mean, SD) that a row shows, and its heads; mean and SD over folds have a row each."""
        titles = layout.heads.values()
        heads = tuple(value for value, title in zip(key, titles, strict=True) if title)
        if key[-1] != ALL_FOLDS:
            yield (True, "fold" not in layout.heads), heads
            return
        yield (True, False), (*heads[:-1], "Mean")
        yield (False, True), (*heads[:-1], "SD")

    def _usual(self, where: Where) -> tuple[int, int | None]:
        """Return the most frequent decimals of the printed means and SDs that fit, None if no SD is printed. Means with
        an SD of 0 count if there are no others, as they are printed without zeros."""
        fits = [number for number in self.numbers if number.printed and _fits(number, where)]
        fits = [number for number in fits if number.sd != 0] or fits
        parts = [number.printed.split(" ± ") for number in fits]
        means, sds = (Counter(_decimals(part[i]) for part in parts if len(part) > i) for i in range(2))
        return means.most_common(1)[0][0] if means else 1, sds.most_common(1)[0][0] if sds else None

    def _value(self, number: Published) -> tuple[float | None, float | None]:
        dataset = self._names.get(number.dataset, number.dataset)
        line = next((self._lines[dataset, name] for name in number.methods if (dataset, name) in self._lines), None)
        if number.metric == "time_s":
            done = self.run.good_rows(dataset, line.algorithm) if line and line.repeats else []
            seconds = runs.by_repeat(done, lambda row: row.fit_seconds).values()
            return runs.mean_sd(map(fmean, seconds)) if seconds else (None, None)
        if any(number.qualifiers.get(key, of_run) != of_run for key, of_run in self._scheme.items()):
            return None, None
        mean, sd, _ = self.ours(number, dataset) or (None, None, "")
        return (None, None) if mean != mean else (mean, sd)

    @cached_property
    def _scheme(self) -> Mapping[str, str]:
        """Qualifiers of the columns that a run with its sampling and its choice of parameters fills."""
        cv = self.run.experiment.cv
        nested = cv.scheme == "nested"
        return {"sampling": "STRS" if is_stratified(cv) else "SRS", "cv": "nested" if nested else "two-stage"}

    def _text(self, group: Sequence[Published], usual: tuple[int, int | None], parts: tuple[bool, bool]) -> str:
        """Return one number, or several as "(1.0, 1.4)"; a dash if the run has none of them."""
        texts = []
        for number in group:
            mean, sd = self._value(number)
            printed_mean, _, printed_sd = number.printed.partition(" ± ")
            pair = []
            if mean is not None and parts[0]:
                pair.append(_rounded(mean, printed_mean, usual[0]))
            if sd is not None and parts[1] and usual[1] is not None:
                pair.append(_rounded(sd, printed_sd or printed_mean, usual[1]))
            mark = f" {NOT_PRINTED}" if pair and number.mean is None else ""
            texts.append(" ± ".join(pair) + mark or MISSING)
        if len(texts) == 1 or set(texts) == {MISSING}:
            return texts[0]
        return f"({', '.join(texts)})"

    def _record(self, number: Published) -> dict[str, Any]:
        mean, sd = self._value(number)
        return {
            "dataset": self._names.get(number.dataset, number.dataset),
            "method": number.method,
            "metric": number.metric,
            "which": runs.qualifier(number),
            "mean": mean,
            "sd": sd,
            "published_mean": number.mean,
            "published_sd": number.sd,
        }

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return runs.dataset_names(self.about.source)

    @cached_property
    def _lines(self) -> Mapping[tuple[str, str], Line]:
        return self.run.lines()


def _fits(number: Published, where: Where) -> bool:
    return all(_attribute(number, key) == value for key, value in where.items())
