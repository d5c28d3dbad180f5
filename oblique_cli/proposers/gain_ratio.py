"""Cuts of features by gain ratio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer, from_core


@PROPOSERS.register("gain_ratio")
class GainRatio(Proposer):
    """C4.5's choice among cuts of features: the largest ratio of gain to split information.

    Each feature proposes its cut of largest gain. Among the cuts whose gain is at least the average gain of these cuts
    minus 0.001, the cut with the largest ratio is taken, the first of equals. The gain is the criterion's, by default
    the decrease of entropy in bits. C4.5's correction of release 8 for the number of cuts is not applied."""

    title = "Gain ratio"
    source = "Quinlan (1993), C4.5: Programs for Machine Learning"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "entropy"}
    native: ClassVar[str | None] = "gain_ratio"
    combines: ClassVar[bool] = False

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the chosen feature with its threshold."""
        yield from from_core(self, node)
