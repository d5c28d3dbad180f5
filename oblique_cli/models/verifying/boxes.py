"""Whether a row keeps its class while its numbers move a little: the leaves that reach into a box around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oblique_cli.models.procedure import MAJORITY, Leaf, Procedure, Steps
from oblique_cli.models.verifying.pairs import SMALL, Effort
from oblique_cli.models.verifying.polyhedra import MARGIN, Frame, Program, Shape, Undecided

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes around rows: each number that is there moves by at most `reach`, in units of the frame.

    moves  (p,) whether a number may move: those that have a spread
    """

    frame: Frame
    reach: float
    moves: NDArray[np.bool_]
    effort: Effort = field(default_factory=Effort)

    @cached_property
    def _known(self) -> dict[tuple[int, frozenset[int]], list[Shape]]:
        return {}

    def box(self, row: Array) -> Box:
        """Return the box around a row. row : (p,), filled"""
        frame = self.frame
        v = frame.variables(row)
        around = np.zeros(frame.n)
        lacking = frozenset(cell for cell in frame.numbers if np.isnan(row[cell]))
        for cell, place in frame.numbers.items():
            if self.moves[cell] and cell not in lacking:
                around[place] = self.reach
        return Box(self, v, v - around, v + around, lacking)

    def shapes(self, number: int, tree: Steps, lacking: frozenset[int]) -> list[Shape]:
        """Return the leaves of a tree, each kept for the next row."""
        key = (number, lacking)
        if key not in self._known:
            self._known[key] = self.frame.shapes(tree, lacking)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class Box:
    """A box around one row. v : its variables; low, high : bounds; lacking : columns whose numbers are missing"""

    boxes: Boxes
    v: Array
    low: Array
    high: Array
    lacking: frozenset[int]

    def reached(self, number: int, tree: Steps) -> Iterator[tuple[Shape, Program]]:
        """Yield the leaves of a tree that may reach into the box, as far as a look at each split says."""
        for shape in self.boxes.shapes(number, tree, self.lacking):
            least = np.where(shape.A > 0.0, shape.A * self.low, shape.A * self.high).sum(axis=1)
            if (least <= shape.b + MARGIN).all():
                n = len(self.v)
                yield (
                    shape,
                    Program(
                        shape.A, shape.b, shape.strict, self.low, self.high, np.zeros((0, n)), np.zeros(n, np.bool_)
                    ),
                )

    def others(
        self, number: int, tree: Steps, code: int, threshold: tuple[int, float] | None = None
    ) -> Iterator[Array]:
        """Yield variables of rows in the box to which a tree gives another class than `code`, the nearest first."""
        for shape, program in self.reached(number, tree):
            leaf = tree.leaf(shape.node)
            self.boxes.effort.pairs += 1
            try:
                if leaf.scores is not None:
                    yield from self._of_scores(program, leaf, code, threshold)
                elif leaf.label != code:
                    yield from self.inside(program)
            except Undecided:
                self.boxes.effort.undecided += 1

    def inside(self, program: Program) -> Iterator[Array]:
        """Yield rows of a leaf in the box."""
        for strict_only in (False, True):
            self.boxes.effort.programs += 1
            solution = program.deepest(strict_only)
            if solution is None:
                return
            v, depth = solution
            if depth > MARGIN:
                if not strict_only:
                    self.boxes.effort.programs += 1
                    moving = np.flatnonzero(self.low < self.high)
                    near = program.nearest(min(0.5 * depth, 10 * MARGIN), moving.tolist(), self.v[moving])
                    if near is not None:
                        yield near
                yield v
                return

    def _of_scores(
        self, program: Program, leaf: Leaf, code: int, threshold: tuple[int, float] | None
    ) -> Iterator[Array]:
        scores = leaf.scores
        assert scores is not None
        predicted = scores.classes.index(code)
        for rival in range(len(scores.classes)):
            if rival == predicted:
                continue
            weights = np.zeros(len(scores.classes))
            weights[rival], weights[predicted] = 1.0, -1.0
            form = self.boxes.frame.score(scores, weights.tolist(), self.lacking)
            enough = SMALL * form.size
            if threshold is not None:
                first, share = threshold
                enough += float(np.log(share / (1.0 - share))) * (1.0 if scores.classes[rival] == first else -1.0)
            self.boxes.effort.programs += 1
            v = program.highest(form, enough)
            if v is not None:
                yield v

    def keeps(self, procedure: Procedure, code: int) -> bool:
        """Return True if the vote of a forest keeps its class in the box: the trees' least leads of it add up to > 0.

        Each tree may have its least lead at another row, so False says nothing.
        """
        n = len(procedure.classes)
        total = np.zeros(n)
        for number, tree in enumerate(procedure.trees):
            least = np.full(n, np.inf)
            for shape, program in self.reached(number, tree):
                leaf = tree.leaf(shape.node)
                lead = _leads(self, program, procedure, leaf, code)
                if (lead >= least).all():
                    continue
                self.boxes.effort.programs += 1
                # A leaf that only touches the box counts too: the bound must hold.
                if leaf.scores is None and program.deepest(True) is None:
                    continue
                least = np.minimum(least, lead)
            total += least
        return bool((np.delete(total, code) > MARGIN * len(procedure.trees)).all())


def _leads(box: Box, program: Program, procedure: Procedure, leaf: Leaf, code: int) -> Array:
    """By how much the share of a class leads each other one in a leaf, at least; (K,)."""
    n = len(procedure.classes)
    if leaf.scores is None:
        shares = np.eye(n)[leaf.label] if procedure.voting == MAJORITY else np.array(leaf.shares)
        share_leads: Array = shares[code] - shares
        return share_leads
    classes = leaf.scores.classes
    most = np.full(n, -np.inf)
    for rival, at in enumerate(classes):
        if at != code:
            weights = np.zeros(len(classes))
            weights[rival], weights[classes.index(code)] = 1.0, -1.0
            box.boxes.effort.programs += 1
            most[at] = program.bound(box.boxes.frame.score(leaf.scores, weights.tolist(), box.lacking))
    odds = np.exp(np.minimum(most, 700.0))
    # p - q with q / p <= odds: at least p (1 - odds) below 1, where p >= 1 / (1 + all odds); -1 < tanh beyond.
    lead: Array = np.where(odds < 1.0, (1.0 - odds) / (1.0 + odds.sum()), -np.tanh(0.5 * np.minimum(most, 700.0)))
    return lead
