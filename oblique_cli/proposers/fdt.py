"""FDT: an axis-parallel search along Fisher's linear discriminant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.proposers._discriminant import fisher, largest_class, unit_normal, whiten
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer


@PROPOSERS.register("fdt")
class FDT(Proposer):
    """Fisher's decision tree: project all rows on Fisher's direction and search the threshold along it (thesis 2.3).

    Choices that the thesis leaves open: with more than two classes the direction separates the largest class from the
    rest, and the threshold is scored with all classes. If the within-class scatter is singular, the direction is
    computed from the eigenvectors of the scatter of all rows (`whiten`). With equal means the node is a leaf."""

    title = "FDT"
    source = "López-Chau, Cervantes, López-García & Lamont (2013); Wickramarachchi (2015), section 2.3"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}
    native: ClassVar[str | None] = "fdt"

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield Fisher's direction."""
        scores, basis, standard = whiten(node)
        direction = fisher(scores, largest_class(node), node.weights)
        if direction is not None:
            yield Candidates.directions(unit_normal(basis @ direction, standard)[None, :])
