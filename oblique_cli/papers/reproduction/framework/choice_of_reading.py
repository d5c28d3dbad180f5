"""Rule of all studies for texts and tables that disagree on a method.

Both readings are run and shown. The study takes the reading that meets more of the text's claims on its results, in a
tie the words; cells do not count. The estimator's default stays with the words. Readings of TPRTI, whose
words support both, are chosen by sizes (docs/algorithms/tprti.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

# Whether a claim holds; None if the difference is within chance.
Claims = Sequence[bool | None]
HOLDS = {True: "holds", False: "fails", None: "-"}


def of_claims(claims: Mapping[str, Claims]) -> str:
    """Return the reading that meets most claims; in a tie the first, that of the words. claims : by reading"""
    return max(claims, key=lambda reading: met(claims[reading]))


def met(claims: Claims) -> int:
    """Return the number of claims that hold."""
    return sum(holds is True for holds in claims)


def side_of(ours: tuple[float, float], theirs: tuple[float, float]) -> int:
    """Return 1 if ours, mean and SD, is significantly larger, -1 if theirs is, 0 if their 1-SD intervals overlap."""
    gap, spread = ours[0] - theirs[0], ours[1] + theirs[1]
    return 0 if abs(gap) < spread - 1e-9 else 1 if gap > 0 else -1


def claims_sentence(claims: Mapping[str, Claims]) -> str:
    """Return the number of claims that each reading meets, in words."""
    return ", ".join(f"{reading} meets {met(answers)} of {len(answers)} claims" for reading, answers in claims.items())


def table_of(
    name: str,
    caption: str,
    cells: Mapping[str, Sequence[Cell]],
    claims: Mapping[str, Mapping[str, bool | None]],
    wanted: Callable[[Cell], bool],
) -> ExtraTable:
    """Return every claim and every wanted cell by each reading, and the number of claims that each meets.
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
