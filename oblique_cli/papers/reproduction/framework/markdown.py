"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table_lines(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    escaped = [tuple(cell.replace("|", r"\|") for cell in row) for row in (header, ("---",) * len(header), *rows)]
    return [f"| {' | '.join(row)} |" for row in escaped]
