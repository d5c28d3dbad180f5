"""`oblique bias-variance`: how much of the error is bias, and how much variance."""

from __future__ import annotations

from typing import Any

import click

from oblique_cli.cli._common import (
    allow_code_option,
    data_dir_option,
    format_option,
    jobs_option,
    offline_option,
    output_option,
    rendered,
    set_option,
    write,
)
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_OK


@click.command()
@click.argument("config", metavar="CFG")
@set_option("cv.repeats=20")
@jobs_option
@data_dir_option
@offline_option
@allow_code_option
@format_option
@output_option
def bias_variance(
    config: str,
    overrides: tuple[str, ...],
    jobs: Any,
    data_dir: str | None,
    offline: bool,
    allow_code: bool,
    format_: str,
    output: str | None,
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
    raise SystemExit(EXIT_OK if all(line.estimate for line in decomposition.lines) else EXIT_FAILED_FOLDS)
