"""Large nodes in small tables."""

from collections.abc import Iterator

import pytest

import oblique_cli._core as _core


@pytest.fixture
def large_from_40_rows() -> Iterator[None]:
    """Nodes of more than 40 rows are large: their moments are exact sums, and their rows may lie in blocks."""
    before = _core.exact_sums_above(40)
    yield
    _core.exact_sums_above(before)
