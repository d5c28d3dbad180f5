"""A covering array holds every pair of values, in few rows."""

from itertools import combinations, product

import pytest
from covering import covering, few


@pytest.mark.parametrize("sizes", [(1, 1), (3,), (2, 2, 2), (17, 8, 3), (5, 4, 3, 2, 6)])
@pytest.mark.parametrize("strength", [1, 2])
def test_every_combination_is_there_in_few_rows(sizes, strength):
    rows = covering(sizes, strength)
    for chosen in combinations(range(len(sizes)), min(strength, len(sizes))):
        wanted = set(product(*(range(sizes[factor]) for factor in chosen)))
        assert {tuple(row[factor] for factor in chosen) for row in rows} == wanted
    assert len(set(rows)) == len(rows)
    largest = sorted(sizes)[-2:]
    assert len(rows) <= (max(sizes) if strength == 1 else 1.5 * largest[0] * (largest[-1] if len(sizes) > 1 else 1))
    assert covering(sizes, strength) == rows


def test_few_are_the_rows_of_a_covering_array():
    names, rows = few(name="abc", case=(1, 2), side=(3, 4)).args
    assert names == ["name", "case", "side"] and len(rows) == 6 < 3 * 2 * 2
    assert {(row[0], row[1]) for row in rows} == set(product("abc", (1, 2)))
