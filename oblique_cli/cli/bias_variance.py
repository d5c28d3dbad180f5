"""`oblique bias-variance`: decomposition of the error into bias and variance."""

from __future__ import annotations

from typing import Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import rendered, write
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_OK


@click.command()
@declare.parameters
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
