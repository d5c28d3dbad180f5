"""`oblique run`: run or resume experiments, and print their tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import (
    Runner,
    allow_code_option,
    metric_option,
    own_data,
    running_options,
    set_option,
    write,
)
from oblique_cli.errors import EXIT_OK, ConfigError

if TYPE_CHECKING:
    from oblique_cli.nouns import Experiment

# An oblique tree, and an axis-parallel one that shows whether oblique splits are worth it.
OWN_DATA_ALGORITHMS = ("axis_parallel", "hhcart_a")


@click.command()
@click.argument("configs", metavar="[CFG]...", nargs=-1)
@click.option("--csv", metavar="FILE", help="Run on a CSV file of your own, without a configuration.")
@click.option("--target", metavar="COLUMN", help="With --csv: the column of the class.")
@click.option(
    "--algorithm",
    "algorithms",
    metavar="NAME",
    multiple=True,
    help=f"With --csv: an algorithm; may be repeated.  [default: {' and '.join(OWN_DATA_ALGORITHMS)}]",
)
@metric_option
@set_option("cv.repeats=2")
@running_options
@click.option("--allow-outside", is_flag=True, help="Let paths in a configuration leave its project folder.")
@allow_code_option
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and about how long it would take.")
def run(
    configs: tuple[str, ...],
    csv: str | None,
    target: str | None,
    algorithms: tuple[str, ...],
    metrics: tuple[str, ...],
    overrides: tuple[str, ...],
    runner: Runner,
    format_: str,
    output: str | None,
    allow_outside: bool,
    allow_code: bool,
    dry_run: bool,
) -> None:
    """Run configurations: files, or names of bundled ones (oblique list configs).

    Folds that are stored already are not run again, so the same command goes on after an interruption or a kill. A fold
    that fails is stored with its message and tried again next time.

    Ends with exit code 3 if folds failed. Ctrl-C finishes the folds in hand; a second Ctrl-C stops at once.

    \b
    Example: oblique run bupa_hhgdt --set cv.repeats=2 --format md
             oblique run --csv my.csv --target class --set dataset.missing=impute
    """
    if metrics:
        overrides += (f"metrics=[{', '.join(map(_quoted, metrics))}]",)
    if csv is None:
        if target is not None or algorithms:
            raise click.UsageError("--target and --algorithm go with --csv; a configuration has its own")
        if not configs:
            raise click.UsageError("give a configuration, or --csv with --target")
        experiments = _load(configs, overrides, allow_outside, allow_code)
    else:
        if configs:
            raise click.UsageError("give either configurations or --csv")
        if target is None:
            raise click.UsageError("--csv needs --target, the name of its class column")
        experiments = [_own_data(csv, target, algorithms, overrides)]
    if len(experiments) > 1 and format_ in ("csv", "json") and not dry_run:
        raise click.UsageError(f"--format {format_} is for one configuration at a time, as it is one table a file")

    if dry_run:
        from oblique_cli.cli._plan import plan

        write("\n".join(plan(experiment, runner) for experiment in experiments), output)
        return
    from oblique_cli.evaluation.tables import render

    tables: list[str] = []
    code = EXIT_OK
    for experiment in experiments:
        summary, table = runner.run(experiment)
        code = max(code, summary.exit_code)
        if summary.stopped:
            runner.report(summary)
            break
        tables.append(render(table, format_))
        # A file holds all tables so far; on a terminal each one appears when it is done.
        write("\n".join(tables) if output else "\n" * (len(tables) > 1) + tables[-1], output)
        runner.report(summary)
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
    return experiments


def _own_data(csv: str, target: str, algorithms: tuple[str, ...], overrides: tuple[str, ...]) -> Experiment:
    """Return the experiment of a CSV file without a configuration."""
    from oblique_cli import config

    plain = {
        "version": 1,
        "dataset": own_data(csv, target),
        "algorithms": list(algorithms or OWN_DATA_ALGORITHMS),
    }
    return config.from_mapping(plain, Path(csv).stem, overrides, where="oblique run --csv")
