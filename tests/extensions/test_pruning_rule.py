"""A pruning rule is a class that says which rows it needs."""

import pytest

RULE = '''

@PRUNINGS.register("depth_limit")
class DepthLimit(PruningRule):
    """Cuts every branch at a depth."""

    rows = NO_ROWS
    constraints: ClassVar[Mapping[str, Constraint]] = {"depth_limit": Integer(0)}

    def __init__(self, depth_limit: int = 1) -> None:
        self.depth_limit = depth_limit

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the tree without nodes below the limit."""
        return tree.collapse(tree.depths >= self.depth_limit)
'''
CONFIG = """version: 1
dataset: bupa
algorithms: [{name: hhcart_d, pruning: depth_limit, depth_limit: 2}]
cv: {folds: 3, repeats: 1}
"""


@pytest.mark.long
def test_a_pruning_rule_is_one_class(checkout):
    checkout.insert("oblique_cli/tree/pruning.py", "", RULE)
    assert "depth_limit" in checkout.oblique("list", "prunings").out
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet", "--format", "csv", "--metric", "leaves", "--metric", "depth")
    assert (ended.code, ended.err) == (0, "")
    header, line = (text.split(",") for text in ended.out.splitlines()[:2])
    row = dict(zip(header, line, strict=True))
    assert 2 <= float(row["leaves_mean"]) <= 4 and float(row["depth_mean"]) <= 2
    tested = checkout.contracts(
        "tests/tree/test_pruning_rules.py", "tests/estimators/oblique/test_random_streams.py", named="depth_limit"
    )
    assert tested.code == 0 and " passed" in tested.out, tested.out
