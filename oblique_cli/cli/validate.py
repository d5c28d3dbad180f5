"""`oblique validate`: check configurations without running them."""

from __future__ import annotations

import click

from oblique_cli.errors import EXIT_CONFIG, ConfigError


@click.command()
@click.argument("configs", metavar="CFG...", nargs=-1)
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change a key first, as in cv.repeats=2.")
@click.option("--allow-outside", is_flag=True, help="Let paths in a configuration leave its project folder.")
def validate(configs: tuple[str, ...], overrides: tuple[str, ...], allow_outside: bool) -> None:
    """Check configurations: files, or names of bundled ones; all bundled ones if none is given.

    Every problem is shown with its place. Ends with exit code 2 if there is any.

    Example: oblique validate bupa_hhgdt my.yaml
    """
    from oblique_cli.experiments import composing, config, schemes

    bad = False
    for name in configs or composing.bundled():
        try:
            experiment = config.load(name, overrides, allow_outside)
        except ConfigError as error:
            bad = True
            click.echo(str(error), err=True)
            continue
        counts = (
            (len(experiment.datasets), "data set"),
            (len(experiment.algorithms), "algorithm"),
            (len(schemes.places(experiment.cv)), "fold"),
        )
        size = " x ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        click.echo(f"{name}: ok ({size})")
    if bad:
        raise SystemExit(EXIT_CONFIG)
