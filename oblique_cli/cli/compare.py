"""`oblique compare`: comparison of algorithms on the data sets of the thesis by the rules of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import Runner, note, open_results, read_run, rendered, write
from oblique_cli.cli._own import CLASSIFIERS, OwnOptions, experiment_of, is_own, listed_words, refuse_strays

if TYPE_CHECKING:
    from oblique_cli.evaluation.tables import ResultTable
    from oblique_cli.ground.nouns import Experiment
    from oblique_cli.schemes import Scheme

# The names in comparing.RULES, repeated here so that the help need not import them.
RULES = ("1-SD", "2-SD", "TPRTI")

SOURCE = "wickramarachchi2015"
PUBLISHED = {"nested": "5.3", "two_stage": "5.2"}

# Table 5.3 tunes these two algorithms, by the parameters of this configuration.
TUNED = ("gdt", "hhgdt")
CONFIGURATION = "reproduce/chapter5_nested"

# Places from which the catalogue loads a data set without the network.
HERE = ("bundled", "data directory", "cache")

REPEATS, FOLDS = 10, 10

# Letter takes about six minutes on two processors, all other sets together take one.
SLOW = ("letter",)


class SchemeName(declare.OptionType):
    """Scheme with an SD over repetitions and no required key except groups."""

    name = "scheme"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from oblique_cli import plugins
        from oblique_cli.schemes import SCHEMES

        plugins.load()  # values are converted before the command runs
        if value not in SCHEMES:
            known = ", ".join(name for name, scheme in SCHEMES.items() if not (_unfit(scheme) or _needs(scheme)))
            self.fail(f"{value!r} is not one of {known}.", param, ctx)
        if why := _unfit(SCHEMES[value]):
            self.fail(f"{value!r} {why}.", param, ctx)
        if _needs(SCHEMES[value]):
            self.fail(f"{value!r} {_needs(SCHEMES[value])}: write a configuration and use oblique run.", param, ctx)
        return value


def _unfit(scheme: Scheme) -> str:
    """Return why `scheme` does not allow a comparison of algorithms, "" if it does."""
    if scheme.estimate:
        return f"has an accuracy of its own kind ({scheme.estimate}), which is no share of right rows to compare by"
    if not scheme.redraws:
        return "tests on the same divisions in every repetition, which gives no SD to compare by"
    return ""


def _needs(scheme: Scheme) -> str:
    """Return the required keys of `scheme` that no option sets, "" if there are none."""
    keys = [key for key in scheme.required if key != "groups"]
    return f"needs cv.{' and cv.'.join(keys)}" if keys else ""


# Options of a new run, which do not apply to a stored run.
RUNNING = {"scheme": "--cv", "algorithms": "--algorithm", "datasets": "--dataset"} | {
    name: f"--{name}" for name in ("repeats", "folds", "seed")
}


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique compare`."""

    sources: tuple[str, ...] = declare.argument(metavar="[FILE|RUN]...", nargs=-1)
    scheme: str = declare.option(
        "--cv", "See oblique list schemes.", type=SchemeName(), default="nested", shell_complete=declare.complete_scheme
    )
    algorithms: tuple[str, ...] = declare.names(
        "--algorithm",
        shell_complete=declare.complete_algorithms,
        help="Two or more, as in a,b; may be repeated.  "
        f"[default: {','.join(TUNED)}; on own data {','.join(CLASSIFIERS)}, or two for numbers]",
    )
    datasets: tuple[str, ...] = declare.names(
        "--dataset",
        shell_complete=declare.complete_datasets,
        help="Names, as in a,b, or all; may be repeated.  "
        "[default: those of Table 5.3 that are there, but not letter, which takes minutes]",
    )
    repeats: int = declare.option("--repeats", "Repetitions.", type=click.IntRange(2), default=REPEATS)
    folds: int | None = declare.option(
        "--folds", "Folds, also of the CV that tunes.  [default: 10, or those of the scheme]", type=click.IntRange(2)
    )
    seed: int = declare.seed(20260101)
    rule: str = declare.option("--rule", "Rule for a better mean.", type=click.Choice(RULES), default="1-SD")
    metrics: tuple[str, ...] = declare.metrics()
    options: OwnOptions = declare.group(OwnOptions)
    runner: Runner = declare.group(Runner)

    def show(self, table: ResultTable) -> None:
        """Write the comparison of the algorithms of a table; in text formats, print it below the table."""
        from oblique_cli.evaluation import comparing

        form, output = self.runner.format_, self.runner.output
        comparison = comparing.compare(table, self.rule)
        text = rendered(comparison, form, output)
        if form not in ("csv", "json"):
            # The comparison contains the notes of the table.
            text = rendered(replace(table, notes=()), form, output) + "\n" + text
        write(text, output)


@declare.command()
def compare(params: Params = declare.group(Params)) -> None:
    """Compare algorithms on each data set by accuracy, leaves or other metrics, with a verdict.

    With your FILEs (and --target), algorithms are compared on them. With stored RUNs (oblique status), their algorithms
    are compared with each other and nothing is run.

    Without options: GDT against HHGDT as in Table 5.3 of the thesis, with the published numbers and verdicts. With a
    scheme that tunes, gdt and hhgdt choose epsilon from 0.05, 0.06, ..., 0.40; all other parameters have their
    defaults.

    The name of the stored run is derived from its content, so the same command resumes after an interruption. The
    formats csv and json contain the verdicts and the means.

    \b
    Example: oblique compare --cv nested --dataset bupa,wine --repeats 5
             oblique compare my.csv --target class --algorithm hhcart_a,hhgdt,axis_parallel
             oblique compare my-1b0a0320 my-77c1e5d2
    """
    algorithms = params.algorithms
    scheme = params.scheme
    files = [word for word in params.sources if is_own(word)]
    if not files:
        refuse_strays(params.options, "a file of your own")
    if params.sources and len(files) < len(params.sources):
        if files:
            raise click.UsageError("give either files of your own or stored runs; run the files first (oblique run)")
        strays = [option for name, option in RUNNING.items() if _was_given(name)]
        if strays:
            raise click.UsageError(f"{listed_words(strays)} cannot change stored runs; leave it out")
        params.show(_stored(params.sources, params.runner, params.metrics))
        return
    if files and params.datasets:
        raise click.UsageError("--dataset goes without files of your own")
    if params.options.groups is not None:
        if _was_given("scheme") and scheme != "group":
            raise click.UsageError(
                f"--groups divides by --cv group, which tunes as nested does; leave out --cv {scheme}"
            )
        scheme = "group"
    elif scheme == "group":
        raise click.UsageError("--cv group needs a column: give it as --groups COLUMN, with a file of your own")
    chosen_here = _was_given("algorithms")
    if not chosen_here and not files:
        algorithms = TUNED
    if len(algorithms) < 2 and (chosen_here or not files):
        raise click.UsageError("--algorithm needs two or more names, as in gdt,hhgdt")
    experiment, missing = _experiment(params, files, algorithms, scheme)
    if missing and not params.runner.quiet:
        note(missing)
    summary, table = params.runner.run(experiment)
    if not summary.stopped:
        params.show(table)
    params.runner.report(summary)
    raise SystemExit(summary.exit_code)


def _experiment(params: Params, files: Sequence[str], algorithms: Sequence[str], scheme: str) -> tuple[Experiment, str]:
    """Return the experiment, and a note on omitted data sets."""
    from oblique_cli import config
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.evaluation.metrics import chosen
    from oblique_cli.schemes import SCHEMES

    counts = {"repeats": params.repeats} if _was_given("repeats") else {}
    if params.folds is not None:
        counts["folds"] = params.folds
    cv, tunes = _cv(scheme, counts), SCHEMES[scheme].tunes
    if files:
        own_algorithms = [_algorithm(name, tunes, ()) for name in algorithms]
        measured = {"metrics": list(params.metrics)} if params.metrics else {}
        # An SD needs two repetitions.
        sizes = {} if counts else {"repeats": ("--repeats {}", 2), "folds": ("--folds {}", 2)}
        more: dict[str, Any] = {"sizes": sizes, "seed": params.seed, "cv": cv, **measured}
        return experiment_of(files, params.options, own_algorithms, (), "oblique compare", **more), ""
    wanted, missing = _datasets(params.datasets, params.runner)
    plain: dict[str, Any] = {
        "version": 1,
        "title": f"{', '.join(ALGORITHMS[name].title for name in algorithms)} by {scheme} cross-validation",
        "seed": params.seed,
        "datasets": wanted,
        "algorithms": [_algorithm(name, tunes, wanted) for name in algorithms],
        "cv": cv,
    }
    if params.metrics:
        plain["metrics"] = list(chosen(params.metrics, "classification", "oblique compare"))
    experiment = config.from_mapping(plain, where="oblique compare")
    name = f"compare-{scheme}-{_digest(experiment)}"
    return replace(experiment, name=name, published=_published(experiment)), missing


def _was_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def _cv(name: str, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the key `cv` of a configuration for a scheme. counts : `repeats` and `folds` set by the user"""
    from oblique_cli.schemes import SCHEMES

    scheme = SCHEMES[name]
    if "folds" in counts and "folds" not in scheme.takes():
        raise click.UsageError(f"--folds has no meaning with --cv {name}, which divides the rows once a repetition")
    meant = {"repeats": REPEATS, "folds": FOLDS, **scheme.fixed, **counts}
    cv: dict[str, Any] = {"scheme": name}
    cv |= {key: meant[key] for key in ("repeats", "folds") if key in scheme.takes()}
    return cv | ({"tune": {"folds": meant["folds"]}} if scheme.tunes else {})


def _stored(runs: Iterable[str], runner: Runner, metrics: tuple[str, ...]) -> ResultTable:
    """Return the lines of stored runs as one table."""
    from oblique_cli.config.result_tables import table_of
    from oblique_cli.errors import ConfigError
    from oblique_cli.evaluation.paired import StoredRun, joined
    from oblique_cli.schemes import SCHEMES

    tables, stored = {}, {}
    with open_results(runner.results) as store:
        for name in dict.fromkeys(runs):
            run = read_run(store, name)
            experiment, rows = replace(run.experiment, published=()), store.rows(name)
            if why := _unfit(SCHEMES[experiment.cv.scheme]):
                raise ConfigError(f"run {name!r} is by scheme {experiment.cv.scheme}, which {why}.")
            tables[name] = table_of(experiment, rows, metrics, store.remarks(name))
            stored[name] = StoredRun(experiment, rows, run.content["data"])
    return joined(tables, stored)


def _digest(experiment: Experiment) -> str:
    """Return eight letters as a digest of a run's settings, including its metrics."""
    from oblique_cli.evaluation.metrics import to_measure
    from oblique_cli.experiments.jobs import digest

    whole, measured = experiment.digest(), to_measure(experiment.metrics)
    return (digest([whole, measured]) if measured else whole)[:8]


def _algorithm(name: str, tunes: bool, datasets: Sequence[str]) -> str | dict[str, Any]:
    """Return an algorithm of a configuration; one that a scheme tunes has the settings of Table 5.3 on data sets."""
    if not tunes or name not in TUNED:
        return name
    from oblique_cli import config

    (spec,) = (spec for spec in config.load(CONFIGURATION).algorithms if spec.name == name)

    def plain(params: Mapping[str, Any], grid: Mapping[str, Any]) -> dict[str, Any]:
        return {**params, **{key: {"grid": list(values)} for key, values in grid.items()}}

    of_sets = {each: plain(**spec.per_dataset[each]) for each in datasets if each in spec.per_dataset}
    return {"name": name, **plain(spec.params, spec.grid), **({"per_dataset": of_sets} if of_sets else {})}


def _datasets(names: tuple[str, ...], runner: Runner) -> tuple[list[str], str]:
    """Return the data sets to use, and a note on omitted sets of Table 5.3 and how to get them.

    Only data sets named by the user may be downloaded.
    """
    from oblique_cli.config.keys import dataset_name
    from oblique_cli.data import catalogue

    if names and names != ("all",):
        return [dataset_name(name) for name in names], ""
    entries = [catalogue.entry(name) for name in _in_table(PUBLISHED["nested"])]
    absent = [e.name for e in entries if catalogue.whereabouts(e, runner.data_dir) not in HERE]
    slow = [name for name in SLOW if not names and name not in absent]
    parts = []
    if absent:
        parts.append(f"{listed_words(absent)} (get with: oblique data fetch {' '.join(absent)})")
    if slow:
        parts.append(f"{listed_words(slow)} (takes minutes: --dataset all)")
    left_out = f"left out: {'; '.join(parts)}." if parts else ""
    return [e.name for e in entries if e.name not in {*absent, *slow}], left_out


def _in_table(table: str) -> list[str]:
    """Return our names of the data sets in a table of the thesis, in its order."""
    from oblique_cli.data import catalogue
    from oblique_cli.evaluation.published import dataset_code, numbers

    ours = {dataset_code(SOURCE, name): name for name in catalogue.names()}
    return [ours[code] for code in dict.fromkeys(number.dataset for number in numbers(SOURCE, table))]


def _published(experiment: Experiment) -> tuple[str, ...]:
    """Return the table of the thesis to compare with, () if it shares no number with this comparison."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.evaluation.published import numbers

    table = PUBLISHED.get(experiment.cv.scheme)
    if table is None:
        return ()
    methods = {number.method for number in numbers(SOURCE, table)}
    named = {ALGORITHMS[spec.name].title for spec in experiment.algorithms}
    shared = {spec.name for spec in experiment.datasets} & set(_in_table(table))
    return (f"{SOURCE}:{table}",) if shared and named & methods else ()
