"""Investigations of cells that deviate: `python -m studies.NAME` runs one from the root of a checkout.

Each takes the options of `oblique reproduce` and stores its tables as results/reproduction/NAME_*.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from oblique_cli import cli
from oblique_cli.papers.reproduction.framework.studies import STUDIES, Study


def script(study: Study) -> NoReturn:
    """Run a study by the words after `python -m studies.NAME`."""
    STUDIES.register(study.name)(study)
    sys.exit(cli.call(["reproduce", study.name, *sys.argv[1:]]))


def halves(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sets that a cause is looked for on, every second one, and those that confirm it."""
    return tuple(names[::2]), tuple(names[1::2])
