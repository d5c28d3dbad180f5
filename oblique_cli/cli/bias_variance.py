"""`oblique bias-variance`: decomposition of the error into bias and variance."""

from __future__ import annotations

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import read_run, rendered, write
from oblique_cli.cli.stored import Printed


@click.command()
@declare.parameters
def bias_variance(run: str = declare.run(), printed: Printed = declare.group(Printed)) -> None:
    """Split the error of the algorithms of the stored run RUN into squared bias and variance.

    Nothing is run: the stored predictions of all repetitions vote on each row. The error equals that of oblique table.

    Example: oblique bias-variance bupa_hhgdt
    """
    from oblique_cli.experiments.decomposing import decompose

    with printed.store() as store:
        decomposition = decompose(store, read_run(store, run))
    write(rendered(decomposition, printed.format_, printed.output), printed.output)
