"""`oblique validate`: check configurations without running them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from oblique_cli.errors import EXIT_OK, ConfigError, DataError

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.experiments.model import DatasetSpec


@click.command()
@click.argument("configs", metavar="CFG...", nargs=-1)
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change a key first, as in cv.repeats=2.")
@click.option("--allow-outside", is_flag=True, help="Let paths in a configuration leave its project folder.")
def validate(configs: tuple[str, ...], overrides: tuple[str, ...], allow_outside: bool) -> None:
    """Check configurations: files, or names of bundled ones; all bundled ones if none is given.

    Every problem of a file is shown with its place. Then what its data sets say against it, those that are at hand.
    Ends with exit code 2 if there is any, or 4 if a CSV file cannot be read.

    Example: oblique validate bupa_hhgdt my.yaml
    """
    from oblique_cli.data import catalogue
    from oblique_cli.experiments import composing, config, jobs, schemes
    from oblique_cli.experiments.running import csv_task

    @functools.cache
    def dataset(spec: DatasetSpec, place: str | None, task: str) -> Dataset | None:
        """The data, if they are at hand; a file that the configuration names has to be."""
        try:
            return catalogue.load(spec, place, offline=True, task=task)
        except DataError:
            if spec.csv is None:
                return None
            raise

    code = EXIT_OK
    for name in configs or composing.bundled():
        try:
            experiment = config.load(name, overrides, allow_outside)
        except ConfigError as error:
            code = code or error.exit_code
            click.echo(str(error), err=True)
            continue
        try:
            for spec in experiment.datasets:
                data = dataset(spec, experiment.data_dir, csv_task(experiment))
                if data is not None:
                    jobs.check(experiment, spec, data)
        except (ConfigError, DataError) as error:
            code = code or error.exit_code
            click.echo(f"{name}: {error}", err=True)
            continue
        counts = (
            (len(experiment.datasets), "data set"),
            (len(experiment.algorithms), "algorithm"),
            (len(schemes.places(experiment.cv)), "fold"),
        )
        size = " x ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        click.echo(f"{name}: ok ({size})")
    raise SystemExit(code)
