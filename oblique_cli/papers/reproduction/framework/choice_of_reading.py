"""One rule for all studies where the words of a text and its tables disagree on how a method works.

Both readings are run and shown. The study takes the one that meets more claims of the text on its results, and on a tie
the words; cells do not count. The estimator's default stays with the words. Readings of TPRTI, whose
words say both, are by sizes (docs/algorithms/tprti.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

# Whether a claim holds; None if chance decides.
Claims = Sequence[bool | None]
HOLDS = {True: "holds", False: "fails", None: "-"}


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


def claims_sentence(claims: Mapping[str, Claims]) -> str:
    """Return how many claims each reading meets, in words."""
    return ", ".join(f"{reading} meets {met(answers)} of {len(answers)} claims" for reading, answers in claims.items())


def table_of(
    name: str,
    caption: str,
    cells: Mapping[str, Sequence[Cell]],
    claims: Mapping[str, Mapping[str, bool | None]],
    wanted: Callable[[Cell], bool],
) -> ExtraTable:
    """Return every claim and every wanted cell by each reading, and how many claims each meets.
    cells, claims : by reading, that of the words first; cells in one order, claims by their text"""
    first = next(iter(claims.values()))
    rows = [("claim", text, "", *(HOLDS[mine[text]] for mine in claims.values())) for text in first]
    rows += [
        (each[0].table, each[0].dataset, each[0].metric, *(f"{cell.ours:.2f} ({cell.verdict})" for cell in each))
        for each in zip(*cells.values(), strict=True)
        if wanted(each[0]) and all(cell.ours is not None for cell in each)
    ]
    counts = (str(met(list(mine.values()))) for mine in claims.values())
    rows.append(("claims met", str(len(first)), "", *counts))
    return ExtraTable(name, caption, ("table", "data set", "metric", *cells), tuple(rows), left=3)
