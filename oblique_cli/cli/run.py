"""`oblique run`: run or resume experiments, and print their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._common import (
    OptionType,
    Runner,
    allow_code_option,
    csv_option,
    gathered,
    metric_option,
    names,
    rendered,
    running_options,
    set_option,
    write,
)
from oblique_cli.cli._completing import complete_algorithms, complete_config_or_file
from oblique_cli.cli._own import CLASSIFIERS, OwnOptions, experiment_of, is_own, own_data_options, refuse_strays
from oblique_cli.errors import EXIT_OK, ConfigError

if TYPE_CHECKING:
    from oblique_cli.experiments.running import Shard
    from oblique_cli.ground.nouns import Experiment


class Part(OptionType):
    """Part I of N, as "2/8"."""

    name = "part"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        from oblique_cli.experiments.running import Shard

        index, slash, count = str(value).partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
            self.fail(f"must be I/N with I from 1 to N, such as 2/8. Got {value!r}.", param, ctx)
        return Shard(int(index), int(count))


@dataclass(frozen=True)
class Params:
    """The parameters of `oblique run`."""

    configs: tuple[str, ...]
    csv: str | None
    algorithms: tuple[str, ...]
    metrics: tuple[str, ...]
    overrides: tuple[str, ...]
    runner: Runner
    format_: str
    output: str | None
    shard: Shard | None
    allow_outside: bool
    allow_code: bool
    dry_run: bool
    options: OwnOptions


@click.command()
@click.argument("configs", metavar="[CFG|FILE]...", nargs=-1, shell_complete=complete_config_or_file)
@csv_option
@click.option(
    "--algorithm",
    "algorithms",
    metavar="NAME",
    shell_complete=complete_algorithms,
    multiple=True,
    callback=names,
    help="Own data: an algorithm, or several, as in a,b; may be repeated.  "
    f"[default: {' and '.join(CLASSIFIERS)}, or two for numbers]",
)
@own_data_options
@metric_option
@set_option("cv.repeats=2")
@running_options
@click.option(
    "--shard",
    metavar="I/N",
    type=Part(),
    help="Run part I of N, as on N machines; oblique merge puts the parts together.",
)
@click.option("--allow-outside", is_flag=True, help="Allow paths outside the project folder of a configuration.")
@allow_code_option
@click.option("--dry-run", is_flag=True, help="Print what would run and the estimated time, and run nothing.")
@gathered(Params, "params")
def run(params: Params) -> None:
    """Run configurations (files, or names of bundled ones: oblique list configs), or compare trees on your FILE.

    FILE is a CSV, TSV, ARFF or Parquet file, compressed or not; - is standard input. Its format is detected and
    printed. Its trees are pruned by cross-validation, and each combination of data and settings gets its own run name.

    Stored folds are not run again, so the same command resumes after an interruption or a kill. A failed fold is stored
    with its message and run again by the next command.

    The exit code is 3 if folds failed. Ctrl-C finishes the folds in progress; a second Ctrl-C stops immediately.

    \b
    Example: oblique run bupa_hhgdt --set cv.repeats=2 --format md
             oblique run my.csv --target class --algorithm hhgdt --set cv.repeats=2
    """
    overrides = params.overrides
    if params.metrics:
        overrides += (f"metrics=[{', '.join(map(_quoted, params.metrics))}]",)
    files = [word for word in params.configs if is_own(word)] + ([params.csv] if params.csv else [])
    if not files:
        refuse_strays(params.options, "a file of your own; a configuration says it itself")
        if params.algorithms:
            raise click.UsageError("--algorithm goes with a file of your own; a configuration has its own")
        if not params.configs:
            raise click.UsageError("give a configuration, or a file of your own with --target")
        experiments = _load(params.configs, overrides, params.allow_outside, params.allow_code)
    else:
        if len(files) < len(params.configs) + bool(params.csv):
            raise click.UsageError("give either configurations or files of your own")
        experiments = [experiment_of(files, params.options, params.algorithms, overrides, "oblique run")]
    if len(experiments) > 1 and params.format_ in ("csv", "json") and not params.dry_run:
        raise click.UsageError(
            f"--format {params.format_} is for one configuration at a time, as it is one table a file"
        )

    if params.dry_run:
        from oblique_cli.cli._plan import plan

        write("\n".join(plan(experiment, params.runner) for experiment in experiments), params.output)
        return
    tables: list[str] = []
    code = EXIT_OK
    for experiment in experiments:
        summary, table = params.runner.run(experiment, params.shard)
        code = max(code, summary.exit_code)
        if summary.stopped:
            params.runner.report(summary)
            break
        tables.append(rendered(table, params.format_, params.output))
        # A file holds all tables so far; on a terminal each one appears when it is done.
        write("\n".join(tables) if params.output else "\n" * (len(tables) > 1) + tables[-1], params.output)
        params.runner.report(summary)
    raise SystemExit(code)


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _load(
    names: tuple[str, ...], overrides: tuple[str, ...], allow_outside: bool, allow_code: bool
) -> list[Experiment]:
    """Return all configurations, or one error with the problems of all."""
    from oblique_cli import config
    from oblique_cli.config import outside

    code = outside.ALLOW if allow_code else outside.REFUSE
    experiments, problems = [], []
    for name in names:
        try:
            experiments.append(config.load(name, overrides, allow_outside, code))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(problems))
    _refuse_collisions(names, experiments)
    return experiments


def _refuse_collisions(names: Sequence[str], experiments: Sequence[Experiment]) -> None:
    """Raise ConfigError before anything is run if two experiments would be one run."""
    first: dict[str, tuple[str, Experiment]] = {}
    for where, experiment in zip(names, experiments, strict=True):
        other, known = first.setdefault(experiment.name, (where, experiment))
        if known.content() != experiment.content():
            raise ConfigError(
                f"{other} and {where} are two experiments, and both runs would be called {experiment.name!r}: give one "
                "of them the key name:, or run them apart with --set name=..."
            )
