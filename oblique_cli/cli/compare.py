"""`oblique compare`: comparison of algorithms on each data set by the rules of papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import Runner, database, read_run, rendered, write
from oblique_cli.cli._own import CLASSIFIERS, OwnOptions, Settings, experiment_of, is_own, refuse_strays
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from oblique_cli.evaluation.tables import ResultTable
    from oblique_cli.ground.nouns import Experiment

# The names in comparing.RULES, repeated here so that the help need not import them.
RULES = ("1-SD", "2-SD", "TPRTI")


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique compare`."""

    sources: tuple[str, ...] = declare.argument(metavar="[FILE|RUN]...", nargs=-1)
    datasets: tuple[str, ...] = declare.names(
        "--dataset",
        shell_complete=declare.complete_datasets,
        help="In place of FILE: data sets by name (oblique data list), as in a,b; may be repeated.",
    )
    algorithms: tuple[str, ...] = declare.names(
        "--algorithm",
        shell_complete=declare.complete_algorithms,
        help=f"Two or more, as in a,b; may be repeated.  [default: {','.join(CLASSIFIERS)}, or two for numbers]",
    )
    settings: Settings = declare.group(Settings)
    rule: str = declare.option("--rule", type=click.Choice(RULES), default="1-SD", help="Rule for a better mean.")
    options: OwnOptions = declare.group(OwnOptions)
    runner: Runner = declare.group(Runner)


@click.command()
@declare.parameters
def compare(params: Params = declare.group(Params)) -> None:
    """Compare algorithms on each data set by accuracy, leaves or other metrics, with a verdict.

    With your FILEs (and --target) or with --dataset, algorithms are run on them. With stored RUNs (oblique status),
    their algorithms are compared with each other and nothing is run; a single run has the published numbers and
    verdicts beside its own.

    The name of the stored run is derived from its content, so the same command resumes after an interruption. The
    formats csv and json contain the verdicts and the means.

    \b
    Example: oblique compare --dataset bupa,wine --algorithm gdt,hhgdt --repeats 5
             oblique compare my.csv --target class --algorithm hhcart_a,hhgdt,axis_parallel
             oblique compare my-1b0a0320 my-77c1e5d2
    """
    files = [word for word in params.sources if is_own(word)]
    if not files:
        refuse_strays(params.options, "a file of your own")
    kinds = (bool(files), len(files) < len(params.sources), bool(params.datasets))
    if sum(kinds) != 1:
        raise click.UsageError("give files of your own, names of data sets by --dataset, or stored runs: one of them")
    if kinds[1]:
        if params.algorithms or params.settings.changes:
            raise click.UsageError("--algorithm, --set and their like cannot change stored runs; leave them out")
        _show(params, _stored(params.sources, params))
        return
    if len(params.algorithms) == 1:
        raise click.UsageError("--algorithm needs two or more names, as in gdt,hhgdt")
    experiment = _experiment(params, files)
    refuse_unfit(experiment)
    summary, table = params.runner.run(experiment)
    if not summary.stopped:
        _show(params, table)
    params.runner.report(summary)
    raise SystemExit(summary.exit_code)


def _show(params: Params, table: ResultTable) -> None:
    """Write the comparison of the algorithms of a table; in text formats, print it below the table."""
    from oblique_cli.evaluation import comparing

    form, output = params.runner.format_, params.runner.output
    comparison = comparing.compare(table, params.rule)
    text = rendered(comparison, form, output)
    if form not in ("csv", "json"):
        # The comparison contains the notes of the table.
        text = rendered(replace(table, notes=()), form, output) + "\n" + text
    write(text, output)


def _experiment(params: Params, files: Sequence[str]) -> Experiment:
    from oblique_cli import config
    from oblique_cli.experiments.digests import digest

    settings, where = params.settings, "oblique compare"
    if files:
        sizes = {"repeats": ("--repeats {}", 2), "folds": ("--folds {}", 2)}  # an SD needs two repetitions
        return experiment_of(files, params.options, params.algorithms, settings.overrides, where, sizes)
    plain = {"version": 1, "datasets": list(params.datasets), "algorithms": list(params.algorithms or CLASSIFIERS)}
    experiment = config.from_mapping(plain, "compare", settings.overrides, where)
    return replace(experiment, name=f"compare-{digest([experiment.digest(), *experiment.metrics])[:8]}")


def refuse_unfit(experiment: Experiment) -> None:
    """Raise ConfigError if the scheme of an experiment does not allow a comparison of its algorithms."""
    from oblique_cli.schemes import SCHEMES

    scheme = SCHEMES[experiment.cv.scheme]
    why = f"has an accuracy of its own kind ({scheme.estimate})" if scheme.estimate else ""
    if not why and not scheme.redraws:
        why = "tests on the same divisions in every repetition, which gives no SD to compare by"
    if why:
        raise ConfigError(f"run {experiment.name!r} is by scheme {experiment.cv.scheme}, which {why}.")


def _stored(runs: Sequence[str], params: Params) -> ResultTable:
    """Return the lines of stored runs as one table."""
    from oblique_cli.config.result_tables import table_of
    from oblique_cli.evaluation.joining import joined
    from oblique_cli.evaluation.paired import StoredRun
    from oblique_cli.experiments.store import Store

    tables, stored = {}, {}
    names = list(dict.fromkeys(runs))
    with Store(database(params.runner.results), must_exist=True) as store:
        for name in names:
            run, rows = read_run(store, name), store.rows(name)
            experiment = run.experiment if len(names) == 1 else replace(run.experiment, published=())
            refuse_unfit(experiment)
            tables[name] = table_of(experiment, rows, params.settings.metrics, store.remarks(name))
            stored[name] = StoredRun(experiment, rows, run.content["data"])
    return joined(tables, stored) if len(names) > 1 else tables[names[0]]
