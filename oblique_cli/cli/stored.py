"""Commands on stored runs: `table`, `folds`, `predictions`, `significance`, `rescore`, `diff` and `merge`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import database, note, open_results, read_run, rendered, write
from oblique_cli.errors import ConfigError
from oblique_cli.ground import extensions
from oblique_cli.ground.registry import close_matches

if TYPE_CHECKING:
    from oblique_cli.experiments.store import Store
    from oblique_cli.experiments.tidy import Table


@dataclass(frozen=True)
class Printed:
    """Folder of stored runs, and file and format of the printed table."""

    results: str = declare.RESULTS
    format_: str = declare.TABLE_FORM
    output: str | None = declare.OUTPUT

    def store(self, results: str | None = None) -> Store:
        """Open the results, or those of another folder; raise StoreError if there are none."""
        return open_results(results or self.results)


@dataclass(frozen=True)
class Tidy(Printed):
    """Folder, file and format of a table with one line per record; fields in the order of the help."""

    results: str = declare.RESULTS
    format_: str = declare.form(
        ("csv", "json", "parquet"), "csv", title="Form of the lines; parquet needs the extra parquet"
    )
    escape: bool = declare.ESCAPE
    output: str | None = declare.OUTPUT

    def write(self, table: Table) -> None:
        """Write a table: CSV and JSON to a file or standard output, Parquet to a file."""
        from oblique_cli.data import files
        from oblique_cli.experiments import tidy

        if self.escape and self.format_ == "csv":
            table = tidy.escaped_table(table)
        if self.output is None:
            if self.format_ == "parquet":
                raise click.UsageError("--format parquet needs --output FILE, because it is no text")
            for part in tidy.FORMATS[self.format_](table):
                click.echo(part, nl=False)
            return
        with files.written(Path(self.output)) as stream:
            if self.format_ == "parquet":
                tidy.write_parquet(table, stream)
            else:
                stream.writelines(part.encode(errors="replace") for part in tidy.FORMATS[self.format_](table))


def _level(largest: float) -> Any:
    limits = declare.NumberRange(0, largest, min_open=True, max_open=largest == 1)
    return declare.option("--alpha", "Level of the tests.", type=limits, default=0.05)


@declare.command()
def table(
    run: str = declare.run(),
    metrics: tuple[str, ...] = declare.metrics(),
    mark: bool = declare.flag("--mark", "Mark the best of every data set, and what is not significantly worse."),
    pivot: str | None = declare.metric(
        "--pivot",
        "A grid per metric, or of METRIC alone: data sets as rows, algorithms as columns, ranks and wins at the foot; "
        "the default form of latex.",
        is_flag=False,
        flag_value="",
    ),
    long: bool = declare.flag("--long", "One line per data set and algorithm, also in latex."),
    like: str | None = declare.option(
        "--like",
        "The layout of a published table, such as 5.2 or manwani2012:II: its rows, columns and digits.",
        metavar="TABLE",
    ),
    printed: Printed = declare.group(Printed),
) -> None:
    """Print the table of the stored run RUN (oblique status lists them).

    Nothing is run, and neither the configuration nor the data is needed. The table equals that of oblique run; in an
    unfinished run, marks show missing folds. Accuracy, balanced_accuracy, sizes and times are available for every run;
    other metrics only if the run or oblique rescore computed them.

    \b
    Example: oblique table bupa_hhgdt --format latex --output bupa.tex
             oblique table bupa_hhgdt --like 5.2
             oblique table smoke --pivot accuracy
             oblique table bupa_hhgdt --metric accuracy --metric nodes --metric fit
    """
    from oblique_cli.config.result_tables import table_of
    from oblique_cli.evaluation import pivot as pivots
    from oblique_cli.evaluation.paired import StoredRun, marked

    forms = {"--like": like is not None, "--pivot": pivot is not None, "--long": long}
    if sum(forms.values()) > 1:
        raise click.UsageError(f"{' and '.join(filter(forms.get, forms))} are forms of the table: give one of them")
    if like is not None and (metrics or mark):
        raise click.UsageError("--like has the columns of the published table: leave out --metric and --mark")
    with printed.store() as store:
        stored_run = read_run(store, run)
        rows, remarks = store.rows(run), store.remarks(run)
    experiment = stored_run.experiment
    if like is not None:
        plain = table_of(replace(experiment, published=()), rows, remarks=remarks)
        sheet = import_module(extensions.LAYOUTS).printed(like, experiment, rows, plain)
        write(rendered(sheet, printed.format_, printed.output), printed.output)
        return
    shown = table_of(experiment, rows, (*metrics, pivot) if pivot else metrics, remarks)
    if mark:
        shown = marked(shown, StoredRun(experiment, rows, stored_run.content["data"]))
    form = pivots.pivot(shown) if pivot is not None else pivots.in_form(shown, printed.format_, long)
    write(rendered(form, printed.format_, printed.output), printed.output)


@declare.command()
def folds(
    run: str = declare.run(),
    inner: bool = declare.flag("--inner", "The candidates that parameters were chosen from, one line each, instead."),
    printed: Tidy = declare.group(Tidy),
) -> None:
    """Print every stored fold of RUN, one line each, in full precision, for other programs.

    A line has correct and tested rows, sizes, times, the selected parameters, metrics, the message of a failed fold,
    and its environment (versions, linear algebra, processor). With --inner: the inner cross-validation score of every
    candidate, and which candidate was selected.

    \b
    Example: oblique folds bupa_hhgdt --output folds.csv
             oblique folds bupa_hhgdt --inner --format parquet --output choices.parquet
    """
    from oblique_cli.experiments import tidy

    with printed.store() as store:
        printed.write((tidy.choices if inner else tidy.folds)(store, read_run(store, run)))


@declare.command()
def predictions(
    run: str = declare.run(),
    datasets: tuple[str, ...] = declare.SHOWN_DATASETS,
    algorithms: tuple[str, ...] = declare.SHOWN_ALGORITHMS,
    printed: Tidy = declare.group(Tidy),
) -> None:
    """Print the predictions of every fold of RUN, one line per test row: true value, prediction, probabilities.

    Rows are numbered from 0 in the order of the data set. Probabilities are available if the run stored them (oblique
    run --keep-probabilities, or keep: probabilities in the configuration).

    \b
    Example: oblique predictions bupa_hhgdt --algorithm hhgdt
             oblique predictions bupa_hhgdt --format parquet --output bupa.parquet
    """
    from oblique_cli.experiments import tidy

    with printed.store() as store:
        stored_run = read_run(store, run)
        experiment = stored_run.experiment
        known = ("data set", [spec.name for spec in experiment.datasets], datasets)
        for noun, names, wanted in (known, ("algorithm", [spec.id for spec in experiment.algorithms], algorithms)):
            for name in wanted:
                if name not in names:
                    hint = close_matches(name, names) or f" It has {', '.join(names)}."
                    raise ConfigError(f"run {run!r} has no {noun} {name!r}.{hint}")
        lines = tidy.predictions(
            store,
            stored_run,
            lambda row: (not datasets or row.dataset in datasets) and (not algorithms or row.algorithm in algorithms),
        )
        printed.write(lines)


@declare.command()
def significance(
    runs: tuple[str, ...] = declare.run(nargs=-1, required=True, metavar="RUN..."),
    metrics: tuple[str, ...] = declare.metrics(),
    alpha: float = _level(0.5),
    rope: float = declare.option(
        "--rope",
        "Accuracies that differ by less are practically the same; of a metric without %, hundredths.",
        metavar="POINTS",
        type=declare.NumberRange(0, 100),
        default=1.0,
    ),
    rope_leaves: float = declare.option(
        "--rope-leaves",
        "Leaves, errors and times that differ by a smaller share are practically the same.",
        metavar="SHARE",
        type=declare.NumberRange(0, 10),
        default=0.1,
    ),
    printed: Printed = declare.group(Printed),
    diagram: str | None = declare.file(
        "--diagram", help="Write the critical-difference diagrams to FILE as well, as SVG."
    ),
) -> None:
    """Test the differences between the algorithms of stored runs (oblique status lists them).

    On each data set: the 1-SD and 2-SD rules, the corrected resampled t test and its Bayesian counterpart. Over five or
    more data sets: sign test, Wilcoxon with Holm's correction, Bayesian signed-rank test, Friedman and Nemenyi with a
    critical-difference diagram. Several runs are tested together, on the data sets with results of all algorithms.
    docs/experiments.md explains the choice of a test.

    Example: oblique significance smoke --metric leaves
    """
    from oblique_cli.drawing.ranks import critical_differences
    from oblique_cli.drawing.svg import svg
    from oblique_cli.evaluation.paired import StoredRun, pair
    from oblique_cli.evaluation.significance_report import Limits, judge
    from oblique_cli.evaluation.tables import method_titles

    stored = []
    with printed.store() as store:
        for name in runs:
            stored_run = read_run(store, name)
            stored.append(StoredRun(stored_run.experiment, store.rows(name), stored_run.content["data"]))
    title = " and ".join(run.experiment.title or run.experiment.name for run in stored)
    verdicts = judge(pair(stored, method_titles(), metrics), title, Limits(alpha, rope, rope_leaves))
    if diagram is not None:
        write(svg(critical_differences([ranks for ranks, _ in verdicts.diagrams()])), diagram)
    write(rendered(verdicts, printed.format_, printed.output), printed.output)


@declare.command()
def rescore(
    run: str = declare.run(),
    metrics: tuple[str, ...] = declare.metric(
        "--metric", "A metric; may be repeated (oblique list metrics).", multiple=True, required=True
    ),
    printed: Printed = declare.group(Printed),
) -> None:
    """Compute metrics of RUN from its stored predictions, without fitting anything, and print their table.

    The values are stored with the folds; oblique table, significance and diff can then use them.

    Example: oblique rescore bupa_hhgdt --metric mcc --metric f1_macro
    """
    from oblique_cli.config.result_tables import table_of
    from oblique_cli.evaluation.metrics import METRICS
    from oblique_cli.evaluation.pivot import in_form
    from oblique_cli.evaluation.sheets import render
    from oblique_cli.experiments.rescoring import rescored

    with printed.store() as store:
        stored_run = read_run(store, run)
        rows = rescored(store, stored_run, store.rows(run), metrics)
        if not store.read_only:
            names = [name for name in metrics if METRICS[name].measured]
            new = {row.key: {name: row.measures[name] for name in names} for row in rows if row.status == "ok"}
            store.add_measures(run, new)
        remarks = store.remarks(run)
    shown = table_of(stored_run.experiment, rows, metrics, remarks)
    write(render(in_form(shown, printed.format_), printed.format_), printed.output)


@declare.command()
def diff(
    first: str = declare.argument(),
    second: str = declare.argument(),
    second_results: str | None = declare.option(
        "--second-results", "Folder of results of SECOND.  [default: that of FIRST]", metavar="DIR"
    ),
    alpha: float = _level(1),
    metrics: tuple[str, ...] = declare.metrics(),
    printed: Printed = declare.group(Printed),
) -> None:
    """Show how the stored run SECOND differs from FIRST: which cells, by how much, significantly or not, which folds.

    Algorithms are matched by their ids. Folds are compared one by one: correct rows, sizes, selected parameters, and
    the number of test rows with another prediction. If both runs have the same folds of the same data, the differences
    are tested.

    \b
    Example: oblique diff before after
             oblique diff bupa_hhgdt bupa_hhgdt --second-results other/results
    """
    from oblique_cli.config.result_tables import table_of
    from oblique_cli.evaluation.metrics import TESTED
    from oblique_cli.evaluation.sheets import render
    from oblique_cli.evaluation.tables import task_of_experiment
    from oblique_cli.experiments.diffing import Side
    from oblique_cli.experiments.diffing import diff as compared

    def side(store: Store, name: str) -> Side:
        run, rows = read_run(store, name), store.rows(name)
        names = metrics or TESTED[task_of_experiment(run.experiment)]
        return Side.of(store, run, rows, table_of(run.experiment, rows, names))

    with printed.store() as first_store, printed.store(second_results) as second_store:
        comparison = compared(side(first_store, first), side(second_store, second), metrics, alpha)
    write(render(comparison, printed.format_), printed.output)


@declare.command()
def merge(
    run: str = declare.run(),
    folders: tuple[str, ...] = declare.argument(metavar="FOLDER...", nargs=-1, required=True),
    results: str = declare.RESULTS,
) -> None:
    """Take the folds of RUN from results FOLDERs into --results, one folder after the other, each whole or not at all.

    This joins the parts of oblique run --shard; the table then equals that of a single run. Folders with other data,
    another configuration or a different result for a fold are refused. Folds that exist already stay.

    Example: oblique merge bupa_hhgdt part1 part2 --results results
    """
    from oblique_cli.experiments.store import Store

    sources = [Path(folder) if Path(folder).is_file() else database(folder) for folder in folders]
    for folder, source in zip(folders, sources, strict=True):
        if source.resolve() == database(results).resolve():
            raise click.UsageError(f"{folder} is where --results is: give the folders that folds come from")
    with ExitStack() as stack:
        others = [stack.enter_context(Store(source, must_exist=True)) for source in sources]
        for other in others:
            other.run(run)  # raises an error before an empty results file is created
        store = stack.enter_context(Store(database(results)))
        for source, other in zip(sources, others, strict=True):
            new, known = store.take_over(other, run)
            note(f"{source}: {new} folds taken, {known} there already")
        state = store.run(run)
    left = state.total - state.done - state.failed
    click.echo(f"{run}: {state.done} of {state.total} folds, {state.failed} failed, {left} left -> {database(results)}")
