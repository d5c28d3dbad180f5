"""Cuts of features by gain ratio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer, from_core


@PROPOSERS.register("gain_ratio")
class GainRatio(Proposer):
    """C4.5's choice among cuts of features: gain beside the information of the division itself.

    Each feature has its best cut by gain. Of the features whose cuts gain at least the average of all that have one,
    less 0.001, the one of the largest ratio is taken; of equal ones the first. The gain is that of the criterion,
    entropy in bits by default. The correction of release 8 for the number of cuts is left out."""

    title = "Gain ratio"
    source = "Quinlan (1993), C4.5: Programs for Machine Learning"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "entropy"}
    native: ClassVar[str | None] = "gain_ratio"
    combines: ClassVar[bool] = False

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the chosen feature with its threshold."""
        yield from from_core(self, node)
