"""Rule of all studies for texts and tables that disagree on a method.

Both readings are run and shown. The study takes the reading that meets more of the text's claims on its results, in a
tie the words; cells do not count. The estimator's default stays with the words. Readings of TPRTI, whose
words support both, are chosen by sizes (docs/algorithms/tprti.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest

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


def chosen(
    request: StudyRequest,
    default: str,
    table: tuple[str, str],
    cells: Mapping[str, Sequence[Cell]],
    claims: Mapping[str, Claims],
    wanted: Callable[[Cell], bool],
) -> tuple[Sequence[Cell], ExtraTable]:
    """Return the cells by the reading that is taken, and a table of every claim and every wanted cell by each reading.

    default         reading of the configuration, for a part of the sets: it has too few claims for a choice
    table           name, and caption with {} for the reading that is taken
    cells, claims   by reading, that of the words first; cells in one order
    """
    taken = of_claims({reading: [*each.values()] for reading, each in claims.items()}) if request.is_whole else default
    first = next(iter(claims.values()))
    rows = [("claim", text, "", *(HOLDS[each[text]] for each in claims.values())) for text in first]
    rows += [
        (each[0].table, each[0].dataset, each[0].metric, *(f"{cell.ours:.2f} ({cell.verdict})" for cell in each))
        for each in zip(*cells.values(), strict=True)
        if wanted(each[0]) and all(cell.ours is not None for cell in each)
    ]
    counts = (str(met(each.values())) for each in claims.values())
    rows.append(("claims met", str(len(first)), "", *counts))
    name, caption = table
    header = ("table", "data set", "metric", *cells)
    return cells[taken], ExtraTable(name, caption.format(taken), header, tuple(rows), left=3)
