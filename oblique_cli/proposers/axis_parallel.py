"""Splits on one feature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer


@PROPOSERS.register("axis_parallel")
class AxisParallel(Proposer):
    """The p original axes: the classical tree of Breiman et al. (1984), and the baseline of every oblique one."""

    title = "Axis-parallel"
    source = "Breiman et al. (1984); Wickramarachchi (2015), section 1.5"
    native: ClassVar[str | None] = "axis_parallel"
    combines: ClassVar[bool] = False

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the original axes."""
        yield Candidates.axes()
