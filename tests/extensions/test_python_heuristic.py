"""A split heuristic in Python is one file: an algorithm of the command line, an estimator, a row of every contract."""

import pytest

# It draws at every node: a heuristic from outside that did once gave other trees to `predict_path` than to a fit.
PROPOSER = '''"""Random directions."""

from typing import ClassVar

import numpy as np

from oblique_cli.ground.constraints import Integer
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer


@PROPOSERS.register("random_directions")
class RandomDirections(Proposer):
    """`n_directions` directions drawn at random, in units of the features' ranges at the node."""

    title = "random directions"
    source = "an example (2026)"
    constraints: ClassVar = {"n_directions": Integer(1)}

    def __init__(self, n_directions=8):
        self.n_directions = n_directions

    def propose(self, node):
        reach = 0.5 * node.X.max(axis=0) - 0.5 * node.X.min(axis=0)
        varies = reach > 0.0
        if varies.any():
            drawn = node.rng().standard_normal((self.n_directions, len(reach)))
            normals = np.where(varies, drawn * (reach[varies].min() / np.where(varies, reach, 1.0)), 0.0)
            yield Candidates.directions(normals / np.linalg.norm(normals, axis=1, keepdims=True))
'''
PATH = """
import numpy as np
from oblique_cli import RandomDirectionsClassifier, make
from contracts import real_set
data = real_set("bupa")
values = [0.0, 0.1, 0.2, 0.3]
path = make("random_directions", random_state=3).fit(data.X, data.y).predict_path(data.X, values)
for column, value in zip(path.T, values):
    direct = RandomDirectionsClassifier(n_directions=8, max_misrate=value, random_state=3).fit(data.X, data.y)
    np.testing.assert_array_equal(column, direct.predict(data.X))
print("equal")
"""


@pytest.mark.long
def test_a_heuristic_is_one_file(checkout):
    checkout.write("oblique_cli/proposers/random_directions.py", PROPOSER)
    assert "random_directions" in checkout.oblique("list", "algorithms").out
    ended = checkout.oblique("tree", "iris", "--algorithm", "random_directions", "--set", "n_directions=3")
    assert (ended.code, ended.err) == (0, "")
    tested = checkout.contracts(
        "tests/proposers/test_proposers.py",
        "tests/estimators/oblique/test_random_streams.py",
        "tests/estimators/test_algorithms.py",
        named="random_directions",
    )
    assert tested.code == 0, tested.out
    assert " passed" in tested.out


@pytest.mark.long
def test_its_limit_cuts_the_tree_that_a_direct_fit_grows(checkout):
    checkout.write("oblique_cli/proposers/random_directions.py", PROPOSER)
    (checkout.folder / "tests").symlink_to(checkout.sources / "tests")
    ended = checkout.python("-c", "import sys; sys.path.insert(0, 'tests')\n" + PATH)
    assert (ended.out, ended.err) == ("equal\n", "")
