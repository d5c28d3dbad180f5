"""What the Householder heuristics share: vectors in, reflected spaces out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from oblique_cli.constraints import Choice, Real
from oblique_cli.geometry import householder_vector, parallel_to_an_axis
from oblique_cli.tree.splitting import Candidates

Array = NDArray[np.float64]

TAU = Real(0.0, 2.0)
SIGN = Choice(("negative", "positive"))
SIGNS = {"negative": -1.0, "positive": 1.0}

# Exactly on an axis there is nothing to reflect, whatever tau is.
LEAST_TAU = 1e-12


def reflections(vectors: Iterable[Array], tau: float) -> Iterator[Candidates]:
    """Yield the space of each unit vector: its reflection, or the original axes if it is within tau of one.

    The original space is searched once, where it first occurs (thesis 3.5, algorithms 3 and 8).
    """
    original = False
    for d in vectors:
        if not parallel_to_an_axis(d, max(tau, LEAST_TAU)):
            yield Candidates.reflection(householder_vector(d))
        elif not original:
            original = True
            yield Candidates.axes()
