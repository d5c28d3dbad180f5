"""Functions that commands share: results file, runs, tables of runs, and output of text."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from oblique_cli.evaluation.sheets import HasSheet
    from oblique_cli.evaluation.tables import ResultTable
    from oblique_cli.experiments.progress import Progress
    from oblique_cli.experiments.running import RunSummary, Shard
    from oblique_cli.experiments.store import Run, Store
    from oblique_cli.ground.nouns import Experiment, Job

# ---- running ---------------------------------------------------------------------------------------------------------


def _without_color(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value:
        os.environ["NO_COLOR"] = "1"
    return value


@dataclass(frozen=True)
class Runner:
    """Options of every command that runs folds."""

    jobs: int | str = declare.JOBS
    scheduler: str | None = declare.option(
        "--scheduler",
        "Run folds on the workers of a Dask cluster, whose scheduler is there, as in tcp://host:8786.",
        metavar="ADDRESS",
    )
    results: str = declare.RESULTS
    data_dir: str | None = declare.DATA_DIR
    offline: bool = declare.OFFLINE
    fresh: bool = declare.flag("--fresh", "Delete the stored folds of the run and start over.")
    strict_environment: bool = declare.flag(
        "--strict-environment", "Refuse to continue with folds from other versions or another processor."
    )
    keep_probabilities: bool = declare.flag("--keep-probabilities", "Store class probabilities of every test row, too.")
    format_: str = declare.TABLE_FORM
    output: str | None = declare.OUTPUT
    quiet: bool = declare.flag("--quiet", "Print failures only, no progress and no summary.")
    no_color: bool = declare.option(
        "--no-color", "No colors; also by the variable NO_COLOR.", is_flag=True, callback=_without_color
    )

    def run(
        self,
        experiment: Experiment,
        shard: Shard | None = None,
        only: Callable[[Job], bool] | None = None,
        argv: Sequence[str] | None = None,
    ) -> tuple[RunSummary, ResultTable]:
        """Run or resume an experiment; return the summary of the run and the table of all stored folds.

        shard, only : the folds to run, see `running.run`
        argv : the command to store with the run; default: the current command line
        """
        from oblique_cli.config.result_tables import table_of
        from oblique_cli.experiments.progress import Progress
        from oblique_cli.experiments.running import run
        from oblique_cli.experiments.store import Store

        if self.keep_probabilities:
            experiment = replace(experiment, keep="probabilities")
        progress = Progress(quiet=self.quiet, closing=False)
        costs: dict[str, Any] = {}
        if not self.quiet:  # costs estimate the remaining time, which a quiet run does not print
            from oblique_cli.fitting.budget import fold_cost

            costs = {"costs": fold_cost}
        with Store(database(self.results)) as store, progress.watched("preparing"):
            summary = run(
                experiment,
                store,
                n_jobs=self.jobs,
                fresh=self.fresh,
                progress=progress,
                data_dir=self.data_dir,
                offline=self.offline,
                argv=command_line() if argv is None else argv,
                shard=shard,
                only=only,
                strict_environment=self.strict_environment,
                scheduler=self.scheduler,
                **costs,
            )
            known = replace(experiment, fold_counts=summary.fold_counts)
            rows, remarks = store.rows(experiment.name), store.remarks(experiment.name)
            return summary, table_of(known, rows, remarks=remarks)

    def report(self, summary: RunSummary) -> None:
        """Print on standard error how a run ended."""
        from oblique_cli.experiments.progress import duration

        failed = len(summary.failures)
        if summary.stopped:
            again = shlex.join(word for word in command_line() if word != "--fresh")
            note(f"stopped: {summary.done} of {summary.total} folds stored, {failed} failed. Go on with: {again}")
        elif failed or not self.quiet:
            why = " (oblique status says why, the same command tries them again)" if failed else ""
            note(
                f"{summary.name}: {summary.done} of {summary.total} folds, {failed} failed{why}, "
                f"{duration(summary.seconds)} -> {database(self.results)}"
            )


def command_line() -> list[str]:
    """Return the words of the current command line."""
    words = click.get_current_context().find_root().obj
    return ["oblique", *(words or ())]


# ---- results ---------------------------------------------------------------------------------------------------------


def database(results: str) -> Path:
    """Return the path of the results file in the folder `results`."""
    return Path(results) / "oblique.sqlite"


def open_results(results: str) -> Store:
    """Open the results in a folder. Raise StoreError if there are none."""
    from oblique_cli.experiments.store import Store

    return Store(database(results), must_exist=True)


def read_run(store: Store, name: str) -> Run:
    """Return a stored run, and print on standard error how many of its folds are missing."""
    run = store.run(name)
    say_missing(run)
    return run


def say_missing(run: Run) -> None:
    """Print on standard error how many folds of a run are missing, if any."""
    if (missing := run.total - run.done - run.failed - run.damaged) > 0:
        command = shlex.join(word for word in run.argv if word != "--fresh")
        note(
            f"{run.name}: {missing} of {run.total} folds {'is' if missing == 1 else 'are'} not stored"
            + (f"; {command} runs {'it' if missing == 1 else 'them'}." if command else ".")
        )


def run_again(runner: Runner, name: str, only: Callable[[Job], bool]) -> tuple[RunSummary, ResultTable]:
    """Run again the folds of the stored run `name` that `only` accepts, as `Runner.run` does."""
    from oblique_cli.estimators.outside.algorithm import is_foreign

    with open_results(runner.results) as store:
        run = store.run(name)
    for spec in run.experiment.datasets:
        if spec.target is not None and spec.csv is None and not spec.source:
            raise ConfigError(
                f"run {name!r} does not say where its file for data set {spec.name!r} is, because an older version "
                f"began it: give its command again ({shlex.join(run.argv)})."
            )
    # A results file must not cause an import that the user has not allowed.
    if run.experiment.code or any(map(is_foreign, run.experiment.algorithms)):
        raise ConfigError(
            f"run {name!r} imports code of its own: give its command again ({shlex.join(run.argv)}), which says "
            "whether that is allowed."
        )
    return runner.run(run.experiment, only=only, argv=run.argv)


@contextlib.contextmanager
def working(doing: str, quiet: bool = False) -> Iterator[Progress]:
    """Show on standard error the step and its elapsed time: on a terminal after one second, elsewhere after ten.

    doing : text such as "reading my.csv"; the yielded `Progress` accepts further texts and counts of steps
    """
    from oblique_cli.experiments.progress import Progress

    with Progress(quiet=quiet, closing=False).watched(doing) as progress:
        yield progress


def called(table: str) -> str:
    """Return the name of a file for messages."""
    return "standard input" if table == "-" else table


# ---- text ------------------------------------------------------------------------------------------------------------


def write(text: str | bytes, output: str | None = None) -> None:
    """Write a complete text or picture to a file or to standard output."""
    if output is None:
        click.echo(text, nl=False)
    else:
        from oblique_cli.data import files

        # The name of a file may be bytes that cannot be decoded.
        files.write(Path(output), text.encode(errors="replace") if isinstance(text, str) else text)


def write_json(document: Any, output: str | None = None) -> None:
    """Write plain data as JSON."""
    write(json.dumps(document, ensure_ascii=False, indent=1) + "\n", output)


def note(*sentences: str) -> None:
    """Print sentences on standard error, one per line."""
    for sentence in sentences:
        click.echo(sentence, err=True)


def rendered(table: HasSheet, format_: str, output: str | None) -> str:
    """Return a table in a format; text for a terminal is limited to its width."""
    from oblique_cli.evaluation.sheets import narrow, render

    width = terminal_width() if output is None and format_ == "text" else None
    return render(table, format_) if width is None else narrow(table, width)


def terminal_width() -> int | None:
    """Return the width of the terminal in columns, or None if the output is a file or pipe, whose lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def headed(text: str) -> str:
    """Return a text with its lines that begin with # wrapped to the width of the terminal."""
    width = terminal_width()
    if width is None:
        return text
    lines = []
    for line in text.splitlines():
        wraps = line.startswith("# ") and len(line) > width
        lines += textwrap.wrap(line, width, subsequent_indent="#   ") if wraps else [line]
    return "".join(f"{line}\n" for line in lines)


def columns(rows: Sequence[Sequence[str]], right: Container[int] = (), header: bool = False) -> str:
    """Return rows as lines of aligned columns; the columns numbered in `right` are right-aligned.

    If the terminal is too narrow, a table with a `header` (its first row) is printed as one block per row with one line
    per cell; without a header, the last column is wrapped.
    """
    width, widths = terminal_width(), [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        if header:
            return "\n".join(_stacked(rows[0], row, width) for row in rows[1:])
        return "\n".join(_wrapped(row, widths, width) for row in rows)
    lines = []
    for row in rows:
        cells = (f"{cell:>{size}}" if i in right else f"{cell:<{size}}"
                 for i, (cell, size) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _stacked(header: Sequence[str], row: Sequence[str], width: int) -> str:
    """Return a row as lines for a narrow terminal: the first cell, then the other cells with their column names."""
    lines = [textwrap.fill(row[0], width)]
    for name, cell in zip(header[1:], row[1:], strict=True):
        lines.append(textwrap.fill(f"{name}: {cell}", width, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)


def _wrapped(row: Sequence[str], widths: Sequence[int], width: int) -> str:
    before = "  ".join(f"{cell:<{size}}" for cell, size in zip(row[:-1], widths, strict=False))
    indent = len(before) + 2
    if indent > width // 2:  # too little width remains for the last column
        return "\n".join([before.rstrip(), textwrap.fill(row[-1], width, initial_indent="  ", subsequent_indent="  ")])
    return textwrap.fill(row[-1], width, initial_indent=f"{before}  ", subsequent_indent=" " * indent)


def facts(pairs: Mapping[str, str]) -> str:
    """Return lines of names and aligned values; names without a value are omitted."""
    return columns([pair for pair in pairs.items() if pair[1]])
