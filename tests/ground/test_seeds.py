"""Random streams: named, independent of order, the same in every process and on every machine."""

import subprocess
import sys

import numpy as np
import pytest

from oblique_cli.ground import seeds


def test_the_same_names_give_the_same_stream_forever():
    a, b = (seeds.generator(7, "folds", "iris", 3).random(5) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    # Numbers that must never change: stored results would no longer be reproducible.
    assert seeds.integer(20260101, "folds", "bupa", 0) == 2016798399
    assert seeds.generator(1, "a").integers(1000, size=3).tolist() == [786, 745, 268]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ((1, "a"), (2, "a")),
        ((1, "a"), (1, "b")),
        ((1, "a", 1), (1, "a1")),
        ((1, "a", "b"), (1, "b", "a")),
        ((1, 1), (1, "1")),
        ((1,), (1, "")),
        ((1, "a", "b"), (1, "ab")),
    ],
)
def test_other_names_give_another_stream(first, other):
    assert seeds.generator(*first).random() != seeds.generator(*other).random()
    assert seeds.integer(*first) != seeds.integer(*other)


def test_integers_fit_interfaces_that_want_31_bits_and_roots_are_not_negative():
    drawn = [seeds.integer(5, "x", i) for i in range(2000)]
    assert min(drawn) >= 0 and max(drawn) < 2**31
    assert len(set(drawn)) > 1990
    with pytest.raises(ValueError):
        seeds.seed_sequence(-1, "a")


def test_another_process_draws_the_same_and_naming_streams_needs_no_numerical_library():
    code = (
        "from oblique_cli.ground import seeds; print(seeds.integer(11, 'fold', 4), seeds.generator(11, 'x').random())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert (int(out[0]), float(out[1])) == (seeds.integer(11, "fold", 4), seeds.generator(11, "x").random())
    code = "import sys, oblique_cli.ground.seeds; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
