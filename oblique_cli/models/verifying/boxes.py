"""Proof that a row keeps its class while its numbers move a little: the leaves that reach into a box around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.procedure import MAJORITY, Leaf, Procedure, Scores, Steps
from oblique_cli.models.verifying.pairs import SMALL, Effort, inside
from oblique_cli.models.verifying.polyhedra import MARGIN, Form, Frame, Program, Shape, Undecided


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes around rows: each present number moves by at most `reach`, in units of the frame."""

    frame: Frame
    reach: float
    moves: NDArray[np.bool_]  # (p,) whether a number may move: those with a spread
    effort: Effort = field(default_factory=Effort)
    shapes: dict[tuple[int, frozenset[int]], list[Shape]] = field(default_factory=dict)  # of earlier rows

    def box(self, row: Array) -> Box:
        """Return the box around a row. row : (p,), filled"""
        frame = self.frame
        v, around = frame.variables(row), np.zeros(frame.n)
        lacking = frozenset(cell for cell in frame.numbers if np.isnan(row[cell]))
        for cell, place in frame.numbers.items():
            if self.moves[cell] and cell not in lacking:
                around[place] = self.reach
        return Box(self, v, v - around, v + around, lacking)


@dataclass(frozen=True, eq=False)
class Box:
    """A box around one row."""

    boxes: Boxes
    v: Array  # the variables of the row
    low: Array
    high: Array
    lacking: frozenset[int]  # columns whose numbers are missing

    def reached(self, number: int, tree: Steps) -> Iterator[tuple[Shape, Program]]:
        """Yield the leaves of a tree that may reach into the box, by a check of each split."""
        known, key, n = self.boxes.shapes, (number, self.lacking), len(self.v)
        if key not in known:
            known[key] = self.boxes.frame.shapes(tree, self.lacking)
        for shape in known[key]:
            least = np.where(shape.A > 0.0, shape.A * self.low, shape.A * self.high).sum(axis=1)
            if (least <= shape.b + MARGIN).all():
                free = (np.zeros((0, n)), np.zeros(n, np.bool_))
                yield shape, Program(shape.A, shape.b, shape.strict, self.low, self.high, *free)

    def others(
        self, number: int, tree: Steps, code: int, threshold: tuple[int, float] | None = None
    ) -> Iterator[Array]:
        """Yield variables of rows in the box that a tree gives another class than `code`, the nearest first."""
        for shape, program in self.reached(number, tree):
            leaf = tree.leaf(shape.node)
            self.boxes.effort.pairs += 1
            try:
                if leaf.scores is not None:
                    yield from self._of_scores(program, leaf, code, threshold)
                elif leaf.label != code:
                    moving = np.flatnonzero(self.low < self.high)
                    yield from inside(program, self.boxes.effort, moving.tolist(), self.v[moving], 10 * MARGIN)
            except Undecided:
                self.boxes.effort.undecided += 1

    def _of_scores(
        self, program: Program, leaf: Leaf, code: int, threshold: tuple[int, float] | None
    ) -> Iterator[Array]:
        scores = leaf.scores
        assert scores is not None
        predicted = scores.classes.index(code)
        for rival, form in self._leads(scores, predicted):
            enough = SMALL * form.size
            if threshold is not None:
                first, share = threshold
                enough += float(np.log(share / (1.0 - share))) * (1.0 if scores.classes[rival] == first else -1.0)
            self.boxes.effort.programs += 1
            v = program.highest(form, enough)
            if v is not None:
                yield v

    def _leads(self, scores: Scores, predicted: int) -> Iterator[tuple[int, Form]]:
        """Yield each other class, by its place, and its score less that of the predicted class."""
        for rival in range(len(scores.classes)):
            if rival != predicted:
                weights = np.zeros(len(scores.classes))
                weights[rival], weights[predicted] = 1.0, -1.0
                yield rival, self.boxes.frame.score(scores, weights.tolist(), self.lacking)

    def keeps(self, procedure: Procedure, code: int) -> bool:
        """Return True if the vote of a forest keeps its class in the box: the sum of its least leads is above 0.

        Each tree may have its least lead at another row, so False proves nothing.
        """
        n = len(procedure.classes)
        total = np.zeros(n)
        for number, tree in enumerate(procedure.trees):
            least = np.full(n, np.inf)
            for shape, program in self.reached(number, tree):
                leaf = tree.leaf(shape.node)
                lead = self._least_leads(program, procedure, leaf, code)
                if (lead >= least).all():
                    continue
                self.boxes.effort.programs += 1
                # A leaf that only touches the box counts too: the bound must hold.
                if leaf.scores is None and program.deepest(True) is None:
                    continue
                least = np.minimum(least, lead)
            total += least
        return bool((np.delete(total, code) > MARGIN * len(procedure.trees)).all())

    def _least_leads(self, program: Program, procedure: Procedure, leaf: Leaf, code: int) -> Array:
        """Return a lower bound of the lead of a class' share over each other share in a leaf, (K,)."""
        n = len(procedure.classes)
        if leaf.scores is None:
            shares = np.eye(n)[leaf.label] if procedure.voting == MAJORITY else np.array(leaf.shares)
            share_leads: Array = shares[code] - shares
            return share_leads
        classes = leaf.scores.classes
        most = np.full(n, -np.inf)
        for rival, form in self._leads(leaf.scores, classes.index(code)):
            self.boxes.effort.programs += 1
            most[classes[rival]] = program.bound(form)
        odds = np.exp(np.minimum(most, 700.0))
        # p - q with q / p <= odds: at least p (1 - odds) below 1, where p >= 1 / (1 + all odds); -1 < tanh beyond.
        lead: Array = np.where(odds < 1.0, (1.0 - odds) / (1.0 + odds.sum()), -np.tanh(0.5 * np.minimum(most, 700.0)))
        return lead
