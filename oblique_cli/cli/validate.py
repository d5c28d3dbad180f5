"""`oblique validate`: checks of configurations without running them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import note, write_json
from oblique_cli.cli._fitting import load_scikit_learn
from oblique_cli.errors import EXIT_CONFIG, EXIT_OK, ConfigError, DataError, ObliqueError

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.ground.nouns import DatasetSpec, Experiment


@declare.command()
def validate(
    configs: tuple[str, ...] = declare.argument(metavar="CFG...", nargs=-1),
    overrides: tuple[str, ...] = declare.changes("cv.repeats=2"),
    allow_outside: bool = declare.flag("--allow-outside", "Allow paths outside the project folder of a configuration."),
    allow_code: bool = declare.ALLOW_CODE,
    schema: bool = declare.flag("--schema", "Print the JSON schema of configurations, for editors, and check none."),
) -> None:
    """Check configurations: files, or names of bundled ones; without CFG, all bundled ones.

    Prints every error of a file with its place, then every conflict with its data sets; data sets that are not
    available are skipped. No code is imported: a table has the classes of other libraries and their parameters;
    --allow-code imports the classes instead. The exit code is 2 if a configuration is wrong, else 4 if data cannot be
    used.

    \b
    Example: oblique validate bupa_hhgdt my.yaml
             oblique validate --schema > oblique.schema.json
    """
    load_scikit_learn()
    from oblique_cli import config

    if schema:
        if configs or overrides:
            raise click.UsageError("--schema goes without CFG and --set: all configurations have one schema")
        write_json(config.schema())
        return
    from oblique_cli.config import composing, outside

    codes = {EXIT_OK}
    dataset = functools.cache(_dataset)
    for name in configs or composing.bundled():
        try:
            experiment = config.load(name, overrides, allow_outside, outside.ALLOW if allow_code else outside.LEAVE)
        except (ConfigError, DataError) as error:
            codes.add(error.exit_code)
            note(str(error))
            continue
        if experiment.code and not allow_code:
            files = ", ".join(Path(path).name for path in experiment.code)
            click.echo(f"{name}: ok as far as known without {files} (--allow-code runs it and checks the rest)")
            continue
        faults, folds = _conflicts(experiment, dataset, allow_code)
        # The error of an algorithm recurs for every data set.
        note(*dict.fromkeys(f"{name}: {fault}" for fault in faults))
        codes |= {fault.exit_code for fault in faults}
        if not faults:
            click.echo(f"{name}: ok ({_size(experiment, folds)})")
    raise SystemExit(EXIT_CONFIG if EXIT_CONFIG in codes else max(codes))


def _dataset(spec: DatasetSpec, place: str | None, task: str, groups: str) -> Dataset | None:
    """Return the data, or None for a set of the catalogue that is not downloaded or stored yet."""
    from oblique_cli.data import catalogue, local_sources

    if local_sources.is_at_hand(spec) and not local_sources.is_there(spec):
        return None
    if spec.csv is None and not local_sources.is_at_hand(spec):
        known = catalogue.entry(spec.name)
        # `load` moves a damaged file of the cache aside; `verify` changes nothing.
        seen = catalogue.verify(spec.name, place)
        if seen.status == "absent" and not known.bundled:
            return None
        if seen.status == "bad":
            raise DataError(f"{seen.message}. Put a good copy in its place")
    return catalogue.load(spec, place, offline=True, task=task, groups=groups)


def _conflicts(
    experiment: Experiment, dataset: Callable[..., Dataset | None], allow_code: bool
) -> tuple[list[ObliqueError], set[int]]:
    """Return the error messages of an experiment on its data sets, and the numbers of folds."""
    from oblique_cli import schemes
    from oblique_cli.evaluation.tables import task_of_experiment
    from oblique_cli.experiments import jobs

    faults: list[ObliqueError] = []
    folds: set[int] = set()
    for spec in experiment.datasets:
        try:
            groups = schemes.SCHEMES[experiment.cv.scheme].group_column(experiment.cv)
            data = dataset(spec, experiment.data_dir, task_of_experiment(experiment), groups)
            if data is not None:
                jobs.check(experiment, spec, data, allow_code)
                folds.add(len(schemes.places(experiment.cv, data)))
        except (ConfigError, DataError) as error:
            faults.append(error)
    return faults, folds


def _size(experiment: Experiment, folds: set[int]) -> str:
    """Return the size of an experiment in words. folds : numbers of folds of the available data sets"""
    from oblique_cli import schemes

    if not folds and not schemes.SCHEMES[experiment.cv.scheme].places_from_data:  # no data set is available
        folds = {len(schemes.places(experiment.cv))}
    counts = [(len(experiment.datasets), "data set"), (len(experiment.algorithms), "algorithm")]
    if len(folds) == 1:  # else the data sets differ, or none is available
        counts.append((min(folds), "fold"))
    size = " x ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    return size + (f" x {min(folds)} to {max(folds)} folds" if len(folds) > 1 else "")
