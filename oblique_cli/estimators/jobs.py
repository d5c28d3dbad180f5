"""The parameter `n_jobs`, with the meaning that it has in scikit-learn."""

from __future__ import annotations

import os
from typing import Any

from oblique_cli.constraints import Constraint, Integer, Optional
from oblique_cli.errors import ConfigError

LARGEST = 2**31 - 1  # of the numbers that the core counts with

N_JOBS: Constraint = Optional(Integer(-LARGEST, LARGEST))


def threads_of(estimator: Any) -> int:
    """Return how many threads `n_jobs` of an estimator asks for: None for one, -1 for one a processor, -2 for one less.

    One for an estimator without the parameter; ConfigError for 0.
    """
    n_jobs: int | None = getattr(estimator, "n_jobs", None)
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        owner = type(estimator).__name__
        raise ConfigError(f"n_jobs of {owner} must not be 0. Set it to None for one thread or -1 for all.")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
