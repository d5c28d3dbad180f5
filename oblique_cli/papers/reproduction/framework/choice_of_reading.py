"""Rule of all studies for texts and tables that disagree on a method.

Both readings are run and shown. The study takes the reading that meets more of the text's claims on its results, in a
tie the words; cells do not count. The estimator's default stays with the words. Readings of TPRTI, whose
words support both, are chosen by sizes (docs/algorithms/tprti.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oblique_cli.papers.reproduction.framework.printed_cells import Cell

# Whether each claim holds, by its text; None if the difference is within chance or a number is missing.
Claims = Mapping[str, bool | None]
HOLDS = {True: "holds", False: "fails", None: "-"}
ACCURACY = "accuracy_percent"
# Mean and SD by data set, method as printed, and metric.
Numbers = Mapping[tuple[str, str, str], tuple[float, float]]


def numbers_of(cells: Iterable[Cell]) -> Numbers:
    """Return our numbers in the form for claims."""
    return {(c.dataset, c.method, c.metric): (c.ours, c.ours_sd or 0.0) for c in cells if c.ours is not None}


def gap(numbers: Numbers, dataset: str, method: str, other: str, metric: str = ACCURACY) -> float | None:
    """Return the difference of the means of two methods, None if one is missing."""
    ours, theirs = numbers.get((dataset, method, metric)), numbers.get((dataset, other, metric))
    return None if ours is None or theirs is None else ours[0] - theirs[0]


def side(numbers: Numbers, dataset: str, method: str, other: str, metric: str = ACCURACY) -> int | None:
    """Return `side_of` two methods, None if one number is missing."""
    ours, theirs = numbers.get((dataset, method, metric)), numbers.get((dataset, other, metric))
    return None if ours is None or theirs is None else side_of(ours, theirs)


def side_of(ours: tuple[float, float], theirs: tuple[float, float]) -> int:
    """Return 1 if ours, mean and SD, is significantly larger, -1 if theirs is, 0 if their 1-SD intervals overlap."""
    difference, spread = ours[0] - theirs[0], ours[1] + theirs[1]
    return 0 if abs(difference) < spread - 1e-9 else 1 if difference > 0 else -1


def of_claims(claims: Mapping[str, Sequence[bool | None]]) -> str:
    """Return the reading that meets most claims; in a tie the first, that of the words. claims : by reading"""
    return max(claims, key=lambda reading: met(claims[reading]))


def met(claims: Iterable[bool | None]) -> int:
    """Return the number of claims that hold."""
    return sum(holds is True for holds in claims)
