"""A cell of a published table with our number, and the rule for their agreement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import hypot

AGREES = "agrees"
DEVIATES = "deviates"
NOT_RUN = "not run"
NOT_PRINTED = "not printed"

RULE = "a cell agrees if |ours - published| <= 2 sqrt(SD_ours^2 + SD_published^2); an SD that is not there counts as 0"

# Differences by two printed decimals or 1e-9 of rounding are ignored.
TOLERANCE = 1e-9
ROUNDED = 0.0005  # of errors, which are printed to three decimals


@dataclass(frozen=True)
class Cell:
    """One number of a published table, and ours.

    table       reference, such as "wickramarachchi2015:3.1"
    dataset     name in our catalogue
    method      as printed, such as "HHCART(A)"
    ours        mean, None if absent; the others likewise
    qualifier   distinction of cells of one data set, method and metric: "sampling=STRS; class_index=1"
    note        reason for a missing number of ours, or a remark on it
    """

    table: str
    dataset: str
    method: str
    metric: str
    ours: float | None
    ours_sd: float | None
    published: float | None
    published_sd: float | None
    qualifier: str = ""
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus published, None unless both exist."""
        return None if self.ours is None or self.published is None else self.ours - self.published

    @property
    def noise(self) -> float:
        """The largest difference at which the cell agrees, by RULE."""
        return 2 * hypot(self.ours_sd or 0.0, self.published_sd or 0.0)

    @property
    def verdict(self) -> str:
        """AGREES or DEVIATES by RULE; NOT_RUN without a number of ours, NOT_PRINTED without a published one."""
        if self.published is None:
            return NOT_PRINTED
        if self.difference is None:
            return NOT_RUN
        return AGREES if abs(self.difference) <= self.noise + TOLERANCE else DEVIATES

    @property
    def which(self) -> dict[str, str]:
        """The parts of the qualifier, by their names."""
        return dict(part.split("=") for part in self.qualifier.split("; "))

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """The key that identifies the cell."""
        return self.table, self.dataset, self.method, self.metric, self.qualifier


@dataclass(frozen=True)
class Agreement:
    """Number of agreeing cells of a kind among those with both numbers; the others were not run or not printed."""

    agree: int
    compared: int
    not_run: int

    def __str__(self) -> str:
        return f"{self.agree} of {self.compared}" + (f" ({self.not_run} not run)" if self.not_run else "")


def agreement(cells: Iterable[Cell]) -> dict[tuple[str, str], Agreement]:
    """Return the agreement by (table, metric), in the order of the cells."""
    verdicts: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        verdicts.setdefault((cell.table, cell.metric), []).append(cell.verdict)
    return {
        key: Agreement(names.count(AGREES), names.count(AGREES) + names.count(DEVIATES), names.count(NOT_RUN))
        for key, names in verdicts.items()
    }


def is_wide(cell: Cell) -> bool:
    """Return whether a cell agrees although one number is less than half the other, only because its SD is large. A
    gain, a difference of two numbers, never counts, because its ratio near 0 is meaningless; nor do rounded digits."""
    if cell.verdict != AGREES or cell.ours is None or cell.published is None or "gain" in cell.metric:
        return False
    small, large = sorted((abs(cell.ours), abs(cell.published)))
    return small < large / 2 and large - small > ROUNDED
