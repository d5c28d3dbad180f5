"""`oblique validate`: check configurations without running them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from oblique_cli.errors import EXIT_CONFIG, EXIT_DATA, EXIT_OK, ConfigError, DataError

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.nouns import DatasetSpec


@click.command()
@click.argument("configs", metavar="CFG...", nargs=-1)
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change a key first, as in cv.repeats=2.")
@click.option("--allow-outside", is_flag=True, help="Let paths in a configuration leave its project folder.")
def validate(configs: tuple[str, ...], overrides: tuple[str, ...], allow_outside: bool) -> None:
    """Check configurations: files, or names of bundled ones; all bundled ones if none is given.

    Every problem of a file is shown with its place, then every conflict with one of its data sets; sets that are not at
    hand are passed over. Faulty entries of the data catalogue are shown as well. Ends with exit code 2 if a
    configuration is wrong, else with 4 if data cannot be used.

    Example: oblique validate bupa_hhgdt my.yaml
    """
    from oblique_cli import config, schemes
    from oblique_cli.config import composing
    from oblique_cli.data import catalogue
    from oblique_cli.experiments import jobs
    from oblique_cli.experiments.running import csv_task

    @functools.cache
    def dataset(spec: DatasetSpec, place: str | None, task: str) -> Dataset | None:
        """The data, or None for a set of the catalogue that is still to be fetched or put in its place."""
        if spec.csv is None:
            known = catalogue.entry(spec.name)
            # `load` moves a damaged file of the cache aside; `verify` changes nothing.
            seen = catalogue.verify(spec.name, place)
            if seen.status == "absent" and not known.bundled:
                return None
            if seen.status == "bad":
                raise DataError(f"{seen.message}. Put a good copy in its place")
        return catalogue.load(spec, place, offline=True, task=task)

    codes = {EXIT_OK}
    for fault in catalogue.faults().values():  # shown always; an error for a configuration that uses the set
        click.echo(fault, err=True)
    if catalogue.faults() and not configs:
        codes.add(EXIT_DATA)
    for name in configs or composing.bundled():
        try:
            experiment = config.load(name, overrides, allow_outside)
        except ConfigError as error:
            codes.add(error.exit_code)
            click.echo(str(error), err=True)
            continue
        faults = []
        for spec in experiment.datasets:
            try:
                data = dataset(spec, experiment.data_dir, csv_task(experiment))
                if data is not None:
                    jobs.check(experiment, spec, data)
            except (ConfigError, DataError) as error:
                faults.append(error)
                click.echo(f"{name}: {error}", err=True)
        if faults:
            codes |= {fault.exit_code for fault in faults}
            continue
        counts = (
            (len(experiment.datasets), "data set"),
            (len(experiment.algorithms), "algorithm"),
            (len(schemes.places(experiment.cv)), "fold"),
        )
        size = " x ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        click.echo(f"{name}: ok ({size})")
    raise SystemExit(EXIT_CONFIG if EXIT_CONFIG in codes else max(codes))
