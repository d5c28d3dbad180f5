"""What commands share: options, the results file, one run with its table, and where text goes."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._completing import complete_metric, completed, names_at, with_plugins
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from oblique_cli.evaluation.tables import HasSheet, ResultTable
    from oblique_cli.experiments.progress import Progress
    from oblique_cli.experiments.running import RunSummary, Shard
    from oblique_cli.experiments.store import Run, Store
    from oblique_cli.ground.nouns import Experiment, Job

# The names in tables.FORMATS, which the help must know without importing it.
FORMATS = ("text", "md", "csv", "latex", "json")
PICTURES = ("svg", "pdf", "png")  # forms of a picture

Command = Callable[..., Any]


def gathered(kind: type[Any], name: str, *options: Command) -> Command:
    """Return a decorator that adds `options`; the command receives those that are fields of the dataclass `kind` as one
    argument `name`."""

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            params = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            return command(**values, **{name: kind(**params)})

        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorated


data_dir_option = click.option(
    "--data-dir",
    metavar="DIR",
    help="Folder with data files that are not bundled. Without it: $OBLIQUE_DATA, then the cache.",
)
csv_option = click.option(
    "--csv", metavar="FILE", help="Your table, for names that look like something else; - for standard input."
)
offline_option = click.option("--offline", is_flag=True, help="Never use the network.")
json_option = click.option(
    "--format",
    "as_json",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    callback=lambda ctx, param, value: value == "json",
    help="Form.",
)
results_option = click.option(
    "--results", metavar="DIR", default="results", show_default=True, help="Folder of the results, in oblique.sqlite."
)


def form_option(
    choices: Sequence[str], otherwise: str = "text", spelled: Mapping[str, str] | None = None, what: str = "Form"
) -> Command:
    """Return the option --format, received as `format_`. Its default is the suffix of --output, else `otherwise`.

    spelled : endings of forms that have another name
    """
    endings = {**{form: form for form in choices}, "txt": "text", **(spelled or {})}

    def chosen(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
        # --output is eager, hence known here.
        ending = Path(ctx.params.get("output") or "").suffix.lower().removeprefix(".")
        return value or endings.get(ending, otherwise)

    help_text = f"{what}.  [default: by the ending of --output, else {otherwise}]"
    return click.option("--format", "format_", type=click.Choice(choices), callback=chosen, help=help_text)


format_option = form_option(FORMATS, spelled={"tex": "latex"}, what="Form of the table")

metric_option = click.option(
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_metric,
    help="A metric (oblique list metrics); may be repeated.  [default: accuracy and leaves, or errors and leaves]",
)


def names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in "a,b" and in further texts."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def part_options(command: Command) -> Command:
    """Add --dataset and --algorithm, which leave out the other parts of a run."""
    for option, name, metavar, what in (
        ("--algorithm", "algorithms", "ID", "An algorithm"),
        ("--dataset", "datasets", "NAME", "A data set"),
    ):
        help_text = f"{what}, or several, as in a,b; may be repeated.  [default: all]"
        command = click.option(option, name, metavar=metavar, multiple=True, callback=names, help=help_text)(command)
    return command


allow_code_option = click.option(
    "--allow-code", is_flag=True, help="Allow a configuration to import Python files and classes of any library."
)


escape_option = click.option(
    "--escape-formulas",
    "escape",
    is_flag=True,
    help="In CSV, put ' before a text that a spreadsheet would run (it begins with =, +, -, @); numbers stay.",
)


def set_option(example: str) -> Command:
    """Return the option --set."""
    return click.option(
        "--set", "overrides", metavar="KEY=VALUE", multiple=True, help=f"Change a setting, such as {example}."
    )


def seed_option(default: int) -> Command:
    """Return the option --seed."""
    return click.option(
        "--seed", type=click.IntRange(0), default=default, show_default=True, help="Seed of all random draws."
    )


def writable(ctx: click.Context, param: click.Parameter | None, path: str | None) -> str | None:
    """Refuse an output that cannot be written before hours of work, not after."""
    if path is None:
        return None
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise click.BadParameter(f"the folder of {path!r} does not exist.")
    if place.exists() and not place.is_file():  # a rename would put a file in the place of a device
        raise click.BadParameter(f"{path!r} is not a regular file.")
    return str(place)


def picture_form(path: str | None, otherwise: str = "") -> str:
    """Return the form of a picture by the name of its file, SVG without one; BadParameter for a name that says none."""
    form = Path(path).suffix[1:].lower() if path else PICTURES[0]
    if form not in PICTURES:
        names = f"*.{PICTURES[0]}, *.{PICTURES[1]} or *.{PICTURES[2]}"
        raise click.BadParameter(f"{path!r} does not say the form; name it {names}{otherwise}.")
    return form


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=writable,
    is_eager=True,
    help="Write to FILE instead of standard output; a failed write leaves no partial file.",
)


def off_terminal(output: str | None, name: str) -> str | None:
    """Return the file for a picture or a page: `output`, or `name` in this folder where a terminal would get it.

    A usage error if that would write over something that nobody has named
    """
    if output is not None or not sys.stdout.isatty():
        return output
    if Path(name).exists():
        raise click.UsageError(f"{name!r} is there already: say --output {shlex.quote(name)} to write over it")
    return writable(click.get_current_context(), None, name)


# click's types take type arguments only from version 8.4 on.
if TYPE_CHECKING:
    OptionType = click.ParamType[Any]
    TextChoice = click.Choice[str]
else:
    OptionType, TextChoice = click.ParamType, click.Choice


class NumberRange(click.FloatRange):
    """A range of numbers. click's own range accepts "nan", which is neither below nor above any limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"must be a number. Got {value!r}.", param, ctx)
        return float(number)


class KnownName(TextChoice):
    """One of the names that the help lists, or one that a plugin has added. registry : its place, as of `names_at`"""

    def __init__(self, choices: Sequence[str], registry: str) -> None:
        super().__init__(choices)
        self.registry = registry

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from oblique_cli import plugins

        if value not in self.choices and plugins.load() and value in names_at(self.registry):
            return str(value)
        return str(super().convert(value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completed(dict.fromkeys((*self.choices, *with_plugins(self.registry))), incomplete)


class Jobs(OptionType):
    """A number of processors, or "auto"."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto":
            return "auto"
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"must be auto or a whole number, at least 1. Got {value!r}.", param, ctx)
        return int(value)


jobs_option = click.option(
    "-j", "--jobs", metavar="N|auto", type=Jobs(), default="auto", show_default=True, help="Number of processors."
)


# ---- running ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runner:
    """The options of every command that runs folds; `running_options` makes one."""

    jobs: int | str
    scheduler: str | None
    results: str
    data_dir: str | None
    offline: bool
    quiet: bool
    fresh: bool = False
    strict_environment: bool = False
    keep_probabilities: bool = False

    def run(
        self,
        experiment: Experiment,
        shard: Shard | None = None,
        only: Callable[[Job], bool] | None = None,
        argv: Sequence[str] | None = None,
    ) -> tuple[RunSummary, ResultTable]:
        """Run or resume an experiment; return how the run ended, and the table of what is stored now.

        shard, only : the folds to run, see `running.run`
        argv : the command to remember the run by, without it the one that is being run
        """
        from oblique_cli.evaluation.tables import table_of
        from oblique_cli.experiments.progress import Progress
        from oblique_cli.experiments.running import run
        from oblique_cli.experiments.store import Store

        if self.keep_probabilities:
            experiment = replace(experiment, keep="probabilities")
        progress = Progress(quiet=self.quiet, closing=False)
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
            )
            known = replace(experiment, fold_counts=summary.fold_counts)
            rows, remarks = store.rows(experiment.name), store.remarks(experiment.name)
            return summary, table_of(known, rows, remarks=remarks)

    def report(self, summary: RunSummary) -> None:
        """Say on standard error how a run ended."""
        from oblique_cli.experiments.progress import duration

        failed = len(summary.failures)
        if summary.stopped:
            again = shlex.join(word for word in command_line() if word != "--fresh")
            click.echo(
                f"stopped: {summary.done} of {summary.total} folds stored, {failed} failed. Go on with: {again}",
                err=True,
            )
        elif failed or not self.quiet:
            why = " (oblique status says why, the same command tries them again)" if failed else ""
            click.echo(
                f"{summary.name}: {summary.done} of {summary.total} folds, {failed} failed{why}, "
                f"{duration(summary.seconds)} -> {database(self.results)}",
                err=True,
            )


def _without_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"


def _with_runner(*more: Command) -> Command:
    """Return a decorator that adds the options of `Runner` and `more`; the command receives the first as `runner`."""
    return gathered(
        Runner,
        "runner",
        jobs_option,
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run folds on the workers of a Dask cluster, whose scheduler is there, as in tcp://host:8786.",
        ),
        results_option,
        data_dir_option,
        offline_option,
        *more,
        format_option,
        output_option,
        click.option("--quiet", is_flag=True, help="Print failures only, no progress and no summary."),
        click.option(
            "--no-color",
            is_flag=True,
            expose_value=False,
            callback=_without_color,
            help="No colors; also by the variable NO_COLOR.",
        ),
    )


running_options = _with_runner(
    click.option("--fresh", is_flag=True, help="Delete the stored folds of the run and start over."),
    click.option(
        "--strict-environment",
        is_flag=True,
        help="Refuse to continue with folds from other versions or another processor.",
    ),
    click.option("--keep-probabilities", is_flag=True, help="Store class probabilities of every test row, too."),
)
# Those of a command that runs folds of a stored run again.
rerunning_options = _with_runner()


def command_line() -> list[str]:
    """Return the words of the command that is being run."""
    words = click.get_current_context().find_root().obj
    return ["oblique", *(words or ())]


# ---- results ---------------------------------------------------------------------------------------------------------


def database(results: str) -> Path:
    """Return the file of results in the folder `results`."""
    return Path(results) / "oblique.sqlite"


def read_run(store: Store, name: str) -> Run:
    """Return a stored run of which something is shown, and say on standard error how many of its folds are missing."""
    run = store.run(name)
    say_missing(run)
    return run


def say_missing(run: Run) -> None:
    """Say on standard error how many folds of a run are not stored, if any."""
    if (missing := run.total - run.done - run.failed - run.damaged) > 0:
        command = shlex.join(word for word in run.argv if word != "--fresh")
        click.echo(
            f"{run.name}: {missing} of {run.total} folds {'is' if missing == 1 else 'are'} not stored"
            + (f"; {command} runs {'it' if missing == 1 else 'them'}." if command else "."),
            err=True,
        )


def run_again(runner: Runner, name: str, only: Callable[[Job], bool]) -> tuple[RunSummary, ResultTable]:
    """Run again the folds of the stored run `name` that `only` accepts, as `Runner.run` does."""
    from oblique_cli.estimators.outside.algorithm import is_foreign
    from oblique_cli.experiments.store import Store

    with Store(database(runner.results), must_exist=True) as store:
        run = store.run(name)
    for spec in run.experiment.datasets:
        if spec.target is not None and spec.csv is None and not spec.source:
            raise ConfigError(
                f"run {name!r} does not say where its file for data set {spec.name!r} is, because an older version "
                f"began it: give its command again ({shlex.join(run.argv)})."
            )
    # A file of results must not cause an import that the user has not allowed.
    if run.experiment.code or any(map(is_foreign, run.experiment.algorithms)):
        raise ConfigError(
            f"run {name!r} imports code of its own: give its command again ({shlex.join(run.argv)}), which says "
            "whether that is allowed."
        )
    return runner.run(run.experiment, only=only, argv=run.argv)


@contextlib.contextmanager
def working(doing: str, quiet: bool = False) -> Iterator[Progress]:
    """Show on standard error what a command does and for how long: on a terminal after a second, elsewhere after ten.

    doing : "reading my.csv"; the `Progress` that is returned may be told what follows, and of steps
    """
    from oblique_cli.experiments.progress import Progress

    with Progress(quiet=quiet, closing=False, brief=True).watched(doing) as progress:
        yield progress


def called(table: str) -> str:
    """Return what a file is called in messages."""
    return "standard input" if table == "-" else table


# ---- text ------------------------------------------------------------------------------------------------------------


def write(text: str | bytes, output: str | None = None) -> None:
    """Write a finished text or picture to a file, or to standard output."""
    if output is None:
        click.echo(text, nl=False)
    else:
        from oblique_cli.data import files

        # A file's name may be bytes that are no text.
        files.write(Path(output), text.encode(errors="replace") if isinstance(text, str) else text)


def rendered(table: HasSheet, format_: str, output: str | None) -> str:
    """Return a table in a format; as text on a terminal, no wider than that."""
    from oblique_cli.evaluation.tables import narrow, render

    width = terminal_width() if output is None and format_ == "text" else None
    return render(table, format_) if width is None else narrow(table, width)


def terminal_width() -> int | None:
    """Return the columns of the terminal that is written to, None if it is none: files and pipes get whole lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def headed(text: str) -> str:
    """Return a text whose lines that begin with # are no longer than the terminal that it goes to."""
    width = terminal_width()
    if width is None:
        return text
    lines = []
    for line in text.splitlines():
        wraps = line.startswith("# ") and len(line) > width
        lines += textwrap.wrap(line, width, subsequent_indent="#   ") if wraps else [line]
    return "".join(f"{line}\n" for line in lines)


def columns(rows: Sequence[Sequence[str]], right: Container[int] = (), header: bool = False) -> str:
    """Lines of text in aligned columns; the columns numbered in `right` are right-aligned.

    On a terminal that is too narrow a table with a `header` (its first row) becomes a block a row, each cell on a line
    of its own; without one, the last column is wrapped.
    """
    width, widths = terminal_width(), [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        if header:
            return "\n".join(stacked(rows[0], row, width) for row in rows[1:])
        return "\n".join(_wrapped(row, widths, width) for row in rows)
    padded = []
    for i, cells in enumerate(zip(*rows, strict=True)):
        padded.append([f"{cell:>{widths[i]}}" if i in right else f"{cell:<{widths[i]}}" for cell in cells])
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*padded, strict=True))


def stacked(header: Sequence[str], row: Sequence[str], width: int) -> str:
    """A row as lines, for a terminal that is too narrow for it: the first cell, and the others with their names."""
    lines = [textwrap.fill(row[0], width)]
    for name, cell in zip(header[1:], row[1:], strict=True):
        lines.append(textwrap.fill(f"{name}: {cell}", width, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)


def _wrapped(row: Sequence[str], widths: Sequence[int], width: int) -> str:
    before = "  ".join(f"{cell:<{size}}" for cell, size in zip(row[:-1], widths, strict=False))
    indent = len(before) + 2
    if indent > width // 2:  # too little is left for the last column
        return "\n".join([before.rstrip(), textwrap.fill(row[-1], width, initial_indent="  ", subsequent_indent="  ")])
    return textwrap.fill(row[-1], width, initial_indent=f"{before}  ", subsequent_indent=" " * indent)


def facts(pairs: Mapping[str, str]) -> str:
    """Lines of names and their values, the values aligned; a name without a value is left out."""
    return columns([pair for pair in pairs.items() if pair[1]])
