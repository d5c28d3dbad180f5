"""Common base of `svm_split` and `logistic_split`: directions of linear classifiers, each class against the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.ground.constraints import Real
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import Candidates, Node, Proposer, from_core


class LinearSplit(Proposer):
    """Directions of linear classifiers, each of one class at the node against the rest; two classes give one."""

    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}

    cost: float = parameter(
        default=1.0,
        allowed=Real(1e-6, 1e6),
        help="C of |w|^2 / 2 + C sum_i v_i L(y_i (w z_i + b)) over standard scores z at the node, v being the weights "
        "of rows and L the loss. A smaller cost draws the direction towards that between the class means.",
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield one direction per class in the order of their codes, without zero directions."""
        yield from from_core(self, node)

    def native_options(self) -> dict[str, Any]:
        return {"cost": float(self.cost)}
