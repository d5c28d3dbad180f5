"""Few cases of a large product: each value at least once, or each pair of values."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest

# Rows of a test, by the numbers of their values.
Row = tuple[int, ...]


def covering(sizes: Sequence[int], strength: int) -> list[Row]:
    """Rows that hold every combination of the values of any `strength` factors, few of them and always the same.

    Each row takes, factor after factor, the value that completes most of what no row holds yet; of equally good values
    the one that was used least.
    """
    strength = min(strength, len(sizes))
    groups = list(combinations(range(len(sizes)), strength))
    missing = {(group, values) for group in groups for values in product(*(range(sizes[f]) for f in group))}
    used = [[0] * size for size in sizes]
    rows: list[Row] = []
    while missing:
        row = dict(zip(*min(missing), strict=True))
        for factor in sorted(set(range(len(sizes))) - row.keys()):
            ready = [group for group in groups if factor in group and {*group} <= {*row, factor}]
            worths = []
            for value in range(sizes[factor]):
                full = {**row, factor: value}
                new = sum((group, tuple(full[f] for f in group)) in missing for group in ready)
                worths.append((new, -used[factor][value], -value))
            row[factor] = -max(worths)[2]
        rows.append(tuple(row[factor] for factor in range(len(sizes))))
        missing -= {(group, tuple(row[f] for f in group)) for group in groups}
        for factor, value in row.items():
            used[factor][value] += 1
    return rows


def few(strength: int = 2, **factors: Sequence[Any]) -> pytest.MarkDecorator:
    """A test of the rows of a covering array alone, where the rest of the product would say little more.

    strength   2: every pair of values of two factors is in a test; 1: every value is
    factors    name of an argument of the test -> its values
    """
    names, values = list(factors), [list(each) for each in factors.values()]
    rows = covering([len(each) for each in values], strength)
    return pytest.mark.parametrize(names, [[values[f][value] for f, value in enumerate(row)] for row in rows])
