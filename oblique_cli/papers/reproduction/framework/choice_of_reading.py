"""One rule for all studies where the words of a text and its tables disagree on how a method works.

Both readings are run and shown. The study takes the one that meets more of what the text claims of its results, and on
a tie the words; cells are not counted for it. The estimator's default stays with the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Whether a claim holds; None if chance decides.
Claims = Sequence[bool | None]


def of_claims(claims: Mapping[str, Claims]) -> str:
    """Return the reading that meets most claims; the first one, that of the words, on a tie. claims : by reading"""
    return max(claims, key=lambda reading: met(claims[reading]))


def met(claims: Claims) -> int:
    """Return how many claims hold."""
    return sum(holds is True for holds in claims)


def side_of(ours: tuple[float, float], theirs: tuple[float, float]) -> int:
    """Return 1 if ours, mean and SD, is significantly more, -1 if theirs is, 0 if their intervals of one SD overlap."""
    gap, spread = ours[0] - theirs[0], ours[1] + theirs[1]
    return 0 if abs(gap) < spread - 1e-9 else 1 if gap > 0 else -1


def told(claims: Mapping[str, Claims]) -> str:
    """Return how many claims each reading meets, in words."""
    return ", ".join(f"{reading} meets {met(found)} of {len(found)} claims" for reading, found in claims.items())


def halves(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sets that a cause is looked for on, every second one, and those that confirm it."""
    return tuple(names[::2]), tuple(names[1::2])
