"""HHCRV: reflections of the class representative vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.geometry import principal_axes, unit_scatter
from oblique_cli.proposers._reflection import SIGNS, Reflecting
from oblique_cli.tree.splitting import PROPOSERS, Node


@PROPOSERS.register("hhcrv")
class HHCRV(Reflecting):
    """Reflect along the representative vector of each class: the main direction of its rows, each of unit length.

    Rows far from the class mean have the same influence as rows near it, so the vector is robust to outliers (thesis
    5.3). Classes with fewer than two distinct rows give no vector; if no class gives one, the original axes are
    searched, as in HHCART (thesis 3.6)."""

    title = "HHCRV"
    source = "Wickramarachchi (2015), section 5.3, algorithm 9"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "twoing"}
    native: ClassVar[str | None] = "hhcrv"

    def _vectors(self, node: Node) -> Iterator[Array]:
        """Yield one vector per class, by class code."""
        for code in np.unique(node.y):
            scatter = unit_scatter(*node.of_class(code))
            if scatter is not None:
                yield principal_axes(scatter, sign=SIGNS[self.sign])[0]
