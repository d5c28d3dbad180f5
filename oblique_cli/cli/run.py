"""`oblique run` and `oblique bias-variance`: run or resume experiments, and print their tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import Runner, columns, database, open_results, rendered, write
from oblique_cli.cli._own import CLASSIFIERS, OwnOptions, experiment_of, is_own, refuse_strays
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_OK, ConfigError, DataError

if TYPE_CHECKING:
    from oblique_cli.experiments.running import Shard
    from oblique_cli.ground.nouns import Experiment, Row


class Part(declare.OptionType):
    """Part I of N parts of a run, as "2/8"."""

    name = "part"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        from oblique_cli.experiments.running import Shard

        index, slash, count = str(value).partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
            self.fail(f"must be I/N with I from 1 to N, such as 2/8. Got {value!r}.", param, ctx)
        return Shard(int(index), int(count))


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique run`."""

    configs: tuple[str, ...] = declare.argument(
        metavar="[CFG|FILE]...", nargs=-1, shell_complete=declare.complete_config_or_file
    )
    csv: str | None = declare.CSV
    algorithms: tuple[str, ...] = declare.names(
        "--algorithm",
        shell_complete=declare.complete_algorithms,
        help="Own data: an algorithm, or several, as in a,b; may be repeated.  "
        f"[default: {' and '.join(CLASSIFIERS)}, or two for numbers]",
    )
    options: OwnOptions = declare.group(OwnOptions)
    metrics: tuple[str, ...] = declare.metrics()
    overrides: tuple[str, ...] = declare.changes("cv.repeats=2")
    repeats: int | None = declare.option("--repeats", "The same as --set cv.repeats=N.", type=click.IntRange(1))
    folds: int | None = declare.option("--folds", "The same as --set cv.folds=N.", type=click.IntRange(2))
    seed: int | None = declare.option("--seed", "The same as --set seed=N.", type=click.IntRange(0))
    runner: Runner = declare.group(Runner)
    shard: Shard | None = declare.option(
        "--shard",
        "Run part I of N, as on N machines; oblique merge puts the parts together.",
        metavar="I/N",
        type=Part(),
    )
    allow_outside: bool = declare.flag("--allow-outside", "Allow paths outside the project folder of a configuration.")
    allow_code: bool = declare.ALLOW_CODE
    dry_run: bool = declare.flag("--dry-run", "Print what would run and the estimated time, and run nothing.")


@declare.command()
def run(params: Params = declare.group(Params)) -> None:
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
    counts = {"cv.repeats": params.repeats, "cv.folds": params.folds, "seed": params.seed}
    overrides = params.overrides + tuple(f"{key}={n}" for key, n in counts.items() if n is not None)
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
    if len(experiments) > 1 and params.runner.format_ in ("csv", "json") and not params.dry_run:
        raise click.UsageError(
            f"--format {params.runner.format_} is for one configuration at a time, as it is one table a file"
        )

    output = params.runner.output
    if params.dry_run:
        write("\n".join(_plan(experiment, params.runner) for experiment in experiments), output)
        return
    tables: list[str] = []
    code, form = EXIT_OK, params.runner.format_
    for experiment in experiments:
        summary, table = params.runner.run(experiment, params.shard)
        code = max(code, summary.exit_code)
        if summary.stopped:
            params.runner.report(summary)
            break
        if form == "latex":
            from oblique_cli.evaluation.pivot import in_form

            tables.append(rendered(in_form(table, form), form, output))
        else:
            tables.append(rendered(table, form, output))
        # A file holds all tables so far; a terminal shows each table when it is complete.
        write("\n".join(tables) if output else "\n" * (len(tables) > 1) + tables[-1], output)
        params.runner.report(summary)
    raise SystemExit(code)


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _load(
    names: tuple[str, ...], overrides: tuple[str, ...], allow_outside: bool, allow_code: bool
) -> list[Experiment]:
    """Return all configurations, or raise one error with the problems of all."""
    from oblique_cli import config
    from oblique_cli.config import outside

    code = outside.ALLOW if allow_code else outside.REFUSE
    experiments: list[Experiment] = []
    problems: list[ConfigError | DataError] = []
    for name in names:
        try:
            experiments.append(config.load(name, overrides, allow_outside, code))
        except (ConfigError, DataError) as error:
            problems.append(error)
    if problems:
        kind = ConfigError if any(isinstance(error, ConfigError) for error in problems) else DataError
        raise kind("\n".join(map(str, problems)))
    first: dict[str, tuple[str, Experiment]] = {}  # a shared name is an error before any run
    for where, experiment in zip(names, experiments, strict=True):
        other, known = first.setdefault(experiment.name, (where, experiment))
        if known.content() != experiment.content():
            raise ConfigError(
                f"{other} and {where} are two experiments, and both runs would be called {experiment.name!r}: give one "
                "of them the key name:, or run them apart with --set name=..."
            )
    return experiments


def _plan(experiment: Experiment, runner: Runner) -> str:
    """Return the plan of a run as text: folds per data set and algorithm, and their expected time.

    The time is estimated from stored folds of the same data set and algorithm, divided among the workers.
    raises the errors that the run would raise for its data, its folds or a changed configuration
    """
    from oblique_cli.experiments import jobs as jobs_of
    from oblique_cli.experiments.remaining_time import estimate, seconds_of
    from oblique_cli.experiments.running import count_workers, load_datasets

    datasets = load_datasets(experiment, runner.data_dir, runner.offline)
    jobs = jobs_of.expand(experiment, datasets)
    rows: list[Row] = []
    left = jobs
    path = database(runner.results)
    if path.is_file() and not runner.fresh:
        with open_results(runner.results) as store:
            store.check(experiment.name, jobs_of.content(experiment, datasets))
            left, keys = store.pending(experiment.name, jobs), {job.key for job in jobs}
            rows = [row for row in store.rows(experiment.name) if row.key in keys]

    folds, pending = (Counter((job.dataset, job.algorithm) for job in group) for group in (jobs, left))
    seconds = seconds_of(rows)
    failed = Counter((row.dataset, row.algorithm) for row in rows if row.status != "ok")
    lines: list[tuple[str, ...]] = [("data set", "algorithm", "folds", "stored", "failed", "left", "a fold takes")]
    for cell, total in folds.items():
        mean_time = f"{fmean(seconds[cell]):.2g} s" if cell in seconds else "-"
        counts = (total, total - pending[cell], failed[cell], pending[cell])
        lines.append((*cell, *map(str, counts), mean_time))
    about = ""
    if left:
        time_left = estimate(pending, rows, count_workers(runner.jobs))
        about = f", {time_left.text if time_left else 'and no stored fold to tell the time from'}"
    table = columns(lines, right=range(2, 7), header=True)
    return f"{experiment.name}: {len(left)} of {len(jobs)} folds to run{about}\n{table}\n"


@declare.command()
def bias_variance(
    config: str = declare.argument(metavar="CFG"),
    overrides: tuple[str, ...] = declare.changes("cv.repeats=20"),
    jobs: Any = declare.JOBS,
    data_dir: str | None = declare.DATA_DIR,
    offline: bool = declare.OFFLINE,
    allow_code: bool = declare.ALLOW_CODE,
    format_: str = declare.TABLE_FORM,
    output: str | None = declare.OUTPUT,
) -> None:
    """Split the error of the algorithms of configuration CFG into squared bias and variance.

    Runs all folds of all repetitions again and stores nothing. The error equals that of oblique run with the same
    configuration. The exit code is 3 if folds failed.

    Example: oblique bias-variance smoke --set cv.repeats=10
    """
    from oblique_cli.config import load, outside
    from oblique_cli.experiments.decomposing import decompose
    from oblique_cli.experiments.running import count_workers, load_datasets

    experiment = load(config, overrides, code=outside.ALLOW if allow_code else outside.REFUSE)
    decomposition = decompose(experiment, load_datasets(experiment, data_dir, offline), count_workers(jobs))
    write(rendered(decomposition, format_, output), output)
    raise SystemExit(EXIT_FAILED_FOLDS if any(record["message"] for record in decomposition.records) else EXIT_OK)
