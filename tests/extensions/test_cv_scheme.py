"""A cross-validation scheme is one file."""

import pytest

pytestmark = pytest.mark.long

SCHEME = '''"""Every other row."""

import numpy as np

from oblique_cli.ground.nouns import Fold
from oblique_cli.schemes._draws import pruning_rows
from oblique_cli.schemes._scheme import Scheme, scheme


@scheme("every_other")
class EveryOther(Scheme):
    """Two folds: the rows of even number, and those of odd number."""

    def places(self, dataset, cv):
        return [(r, k) for r in range(cv.repeats) for k in (0, 1)]

    def draw(self, dataset, cv, seed, repeat):
        for k in (0, 1):
            test, train = np.arange(k, dataset.n, 2), np.arange(1 - k, dataset.n, 2)
            yield Fold(repeat, k, train, test, pruning_rows(dataset, cv, train, seed, "pruning", repeat, k))
'''
CONFIG = """version: 1
dataset: iris
algorithms: [axis_parallel]
cv: {scheme: every_other, repeats: 2}
"""


def test_a_scheme_is_one_file(checkout):
    checkout.write("oblique_cli/schemes/every_other.py", SCHEME)
    assert "every_other" in checkout.oblique("list", "schemes").out
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet", "--format", "csv")
    assert (ended.code, ended.err) == (0, "")
    header, line = (text.split(",") for text in ended.out.splitlines()[:2])
    row = dict(zip(header, line, strict=True))
    assert (row["folds_ok"], row["folds_expected"], row["accuracy_sd"]) == ("4", "4", "0.0")
    assert 90 < float(row["accuracy_mean"]) < 100
    tested = checkout.contracts("tests/schemes/test_scheme.py", "tests/schemes/test_folds.py", named="every_other")
    assert tested.code == 0 and " passed" in tested.out, tested.out
