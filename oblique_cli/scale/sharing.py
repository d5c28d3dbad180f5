"""Division of a pass among several workers: by rows, by directions, or both (thesis 4.1.3.1 and 4.2).

Parts r of the rows need tables of all directions from each, parts d of the directions read all rows, r * d = workers:
rows_bytes * d / (workers * DISK) + table_bytes / d * ceil(log2(r)) / NETWORK beside the counting itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DISK = 500e6  # bytes per second that a worker reads
NETWORK = 100e6  # bytes per second of a transferred table


@dataclass(frozen=True)
class Cut:
    """Numbers of parts of the rows and of the directions."""

    rows: int
    directions: int


def seconds(cut: Cut, rows_bytes: float, table_bytes: float) -> float:
    """Return the seconds of a pass without counting, for rows and tables of these sizes."""
    workers = cut.rows * cut.directions
    steps = math.ceil(math.log2(cut.rows)) if cut.rows > 1 else 0
    return rows_bytes * cut.directions / (workers * DISK) + table_bytes / cut.directions * steps / NETWORK


def cut(workers: int, chunks: int, directions: int, rows_bytes: float, table_bytes: float) -> Cut:
    """Return the cheapest cut for some workers; among equals the cut with more parts of the rows."""
    best = Cut(min(workers, chunks), 1)
    least = seconds(best, rows_bytes, table_bytes) if best.rows == workers else math.inf
    for d in range(2, min(workers, directions) + 1):
        rows = workers // d
        if rows * d == workers and rows <= chunks:
            candidate = Cut(rows, d)
            if (cost := seconds(candidate, rows_bytes, table_bytes)) < least:
                best, least = candidate, cost
    return best
