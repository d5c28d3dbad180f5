"""Size against accuracy: trees cut smaller and smaller, with splits of few features and of any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, TOP_DOWN
from oblique_cli.experiments.running import Case
from oblique_cli.fitting.cutting import Cut, cuts
from oblique_cli.fitting.goals import Goal
from oblique_cli.tree.structure import Tree

FEW = (1, 2, 3)  # features of a split that are tried beside what the fit has


@dataclass(frozen=True)
class Sized:
    """A tree of the frontier.

    algorithm : its name; max_terms : of its splits, None for any
    chosen : whether it is the fitted one; best : whether no tree of as few terms has a score as good
    """

    algorithm: str
    cut: Cut
    max_terms: int | None
    chosen: bool = False
    best: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters that make the tree of all rows."""
        limit = {} if self.max_terms is None else {"max_terms": self.max_terms}
        return {**limit, "pruning": "ccp_alpha", "ccp_alpha": self.cut.alpha}

    def plain(self) -> dict[str, Any]:
        """Return the step as plain data."""
        cut = self.cut
        size = {"n_terms": cut.terms, "leaves": cut.leaves, "max_terms": self.max_terms}
        scores = {"score": cut.score, "error": cut.error, "alpha": cut.alpha}
        return {"algorithm": self.algorithm, **size, **scores, "chosen": self.chosen, "best": self.best}


def has_frontier(case: Case) -> bool:
    """Whether the trees of an algorithm are those of one heuristic, grown top-down."""
    return ALGORITHMS[case.spec.name].family is TOP_DOWN


def refuse_without(case: Case) -> None:
    """Raise ConfigError for an algorithm without a path of sizes, and for one that is tuned."""
    if not has_frontier(case):
        raise ConfigError(
            f"{case.spec.name} has no path of sizes; trees of one heuristic have, such as hhcart_a or fdt."
        )
    if case.spec.grid:
        raise ConfigError("a path of sizes goes without a grid; leave out --tune, or give one value.")


def frontier(case: Case, goal: Goal, seed: int, fitted: Any) -> tuple[Sized, ...]:
    """Return the trees of a fit, by the terms of their splits and from the largest.

    fitted : the tree of all rows, which is marked if it is among the trees
    Each tree is scored on held-out rows, as in pruning; the score of the chosen tree is optimistic. ConfigError for an
    algorithm without a path.
    """
    refuse_without(case)
    max_terms = case.spec.params.get("max_terms")
    limits = [max_terms]
    if max_terms is None and _combines(case):
        limits += [few for few in FEW if few < case.dataset.p]
    sizes = []
    for limit in limits:
        params = {**case.spec.params, "max_terms": limit}
        steps = cuts(case, np.arange(case.dataset.n), goal, params, seed)
        # Of several trees with equal complexity the smallest, which pruning at this complexity gives.
        last = {cut.alpha: Sized(case.spec.name, cut, limit) for cut in steps}
        sizes += [last[alpha] for alpha in sorted(last)]
    return tuple(_marked(sizes, max_terms, fitted))


def _combines(case: Case) -> bool:
    """Whether splits of the algorithm may have several features."""
    made = case.algorithm.make(random_state=0, **case.spec.params)
    return bool(made._checked_proposer().combines)


def _marked(steps: Sequence[Sized], max_terms: int | None, fitted: Any) -> list[Sized]:
    least: dict[int, Sized] = {}
    for step in sorted(steps, key=lambda sized: (sized.cut.terms, sized.cut.loss)):
        if all(step.cut.loss < other.cut.loss for other in least.values()):
            least[id(step)] = step
    size = (fitted.n_leaves, fitted.n_terms) if isinstance(fitted, Tree) else None
    return [
        replace(
            step,
            chosen=step.max_terms == max_terms and (step.cut.leaves, step.cut.terms) == size,
            best=id(step) in least,
        )
        for step in steps
    ]
