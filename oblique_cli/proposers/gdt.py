"""GDT: the angle bisector of two clustering hyperplanes, with its offset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.parameters import parameter
from oblique_cli.proposers._clustering import BISECTOR_CLASSES, better_bisector
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer


@PROPOSERS.register("gdt")
class GDT(Proposer):
    """Geometric decision tree, with the thesis' treatment of rank deficiency.

    A bisector that leaves one side empty, or has no normal, makes the node a leaf. The limit epsilon on the
    misclassification rate is tuned; there is no pruning (thesis 5.2)."""

    title = "GDT"
    source = "Manwani & Sastry (2012), section II; Wickramarachchi (2015), section 5.1, algorithm 7"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini", "max_misrate": 0.05}
    limit_name: ClassVar[str | None] = "epsilon"
    native: ClassVar[str | None] = "gdt"

    bisector_classes: str = parameter(
        default="all",
        allowed=BISECTOR_CLASSES,
        help='"all" keeps the bisector that splits all classes of the node better; "super" the one that splits the two '
        "super-classes better. With two classes both are equation 6 of Manwani & Sastry (2012).",
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the better bisector with its offset."""
        plane = better_bisector(node, self.bisector_classes)
        if plane is not None:
            yield Candidates.directions(plane[None, :-1], -plane[-1:])

    def native_options(self) -> dict[str, Any]:
        return {"bisector_by_super_classes": self.bisector_classes == "super"}
