"""`verify`: proof of a property of a fitted model for all rows, or a row that violates it (docs/guarantees.md)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.spread import Spread
from oblique_cli.models.model import as_model
from oblique_cli.models.procedure import Procedure, procedure_of
from oblique_cli.models.verifying.boxes import Box, Boxes
from oblique_cli.models.verifying.pairs import Effort, Joint, answering, differs, falls, saying
from oblique_cli.models.verifying.polyhedra import Frame, Undecided
from oblique_cli.models.verifying.questions import Query, query_of
from oblique_cli.models.verifying.replay import PREDICT, Answers, Replay

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"
MONOTONE, NEVER_USES, ROBUST = "monotone", "never uses", "robust"
TRIED = 200  # pairs of rows that break one tree of a forest, on which the vote is tried
OF_A_TREE = 4  # of them per tree
TAMEST = 12  # counterexamples of a tree, of which the one nearest to the training means is shown
DIGITS = (2, 3, 4, 6, 9)  # significant digits of a rounded counterexample, the first that still is one

NOT_THERE = "no term of the model takes the column"
NO_VOTE = "single trees break it, and no rows were found of which the vote does"
NO_END = "the solver has not come to an end for some leaves"
TOO_SMALL = "it is broken by less than the digits of an answer show"
OTHERWISE = "the export answers otherwise than predict"


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A row, and the same row after a change, whose predictions violate a property.

    row, changed    (p,) cells, as `Model.predict` takes them
    before, after   labels, or numbers in regression
    shares          of the class `of`, for both rows; the numbers in regression
    of              the class that MONOTONE is about, otherwise `before`; "" in regression
    replayed        how both rows were replayed
    """

    row: Array
    changed: Array
    before: str | float
    after: str | float
    shares: tuple[float, float]
    of: str
    replayed: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on one property.

    kind            MONOTONE, NEVER_USES or ROBUST; column : "" for ROBUST
    direction       1 if the prediction may not fall as the column grows, -1 if it may not rise; 0 for other kinds
    outcome         PROVED, REFUTED or UNDECIDED; why : explanation, or ""
    row             of `rows`, from 0, of a ROBUST verdict; -1 of others
    pairs, programs  of leaves that were compared, and programs that were solved
    """

    kind: str
    column: str
    direction: int
    outcome: str
    counterexample: Counterexample | None = None
    why: str = ""
    row: int = -1
    pairs: int = 0
    programs: int = 0


@dataclass(frozen=True, eq=False)
class Verification:
    """The verdicts on all requested properties.

    verdicts  one for each, of ROBUST one for each row
    columns   names; levels : column -> levels, by their codes; used : columns that the model takes
    of        the class whose share must not fall, or the target of regression
    unit      of `reach`: "standard deviations" or "units"; reach : that of ROBUST
    within    column -> its range, if only rows within it were verified
    gaps      columns whose numbers may be missing from a row, which PROVED does not cover
    """

    verdicts: tuple[Verdict, ...]
    columns: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]]
    used: frozenset[int]
    is_regression: bool
    of: str
    unit: str
    reach: float
    within: Mapping[str, tuple[float, float]]
    gaps: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every property is proved."""
        return all(verdict.outcome == PROVED for verdict in self.verdicts)


def verify(
    model: Any,
    *,
    monotone: Mapping[str, int] | Iterable[str] = (),
    never_uses: Iterable[str] = (),
    robust: float | None = None,
    rows: ArrayLike | None = None,
    within: Mapping[str, tuple[float, float]] | None = None,
    of: str | None = None,
    reference: ArrayLike | None = None,
) -> Verification:
    """Prove properties of a fitted model for all rows, or find rows for which they do not hold.

    model       a `Model`, or a fitted estimator: a tree of hyperplanes or a forest, with constant or linear leaves
    monotone    columns of numbers: 1 where the share of class `of`, or the number predicted, may not fall as the column
                grows, -1 where it may not rise; texts say "age", "age:+" or "age:-"
    never_uses  columns that must not change any prediction: probabilities, label or number
    robust      the reach within which each of `rows` must keep its class, every number moved by at most that much, in
                standard deviations of the training rows if they are known, else in units of the columns
    rows        (n, p) rows as `Model.predict` takes them, for `robust`
    within      column -> (least, most): only rows within are verified; without it there are no bounds
    of          the class of two whose share `monotone` is about; the second one without it
    reference   (m, p) training rows, for the standard deviations; without it those that the model file has

    A proof holds for rows without missing numbers, except for regions thinner than 1e-7 standard deviations, where
    rounding decides. A counterexample is replayed by `predict` and by the exported C. For a forest PROVED means that
    the property holds for each tree, UNDECIDED that it does not and that no counterexample of the vote was found.

    Raises ConfigError for a model without such trees, for an unknown column, and for an inapplicable property.
    """
    model = as_model(model)
    procedure = procedure_of(model)
    rows, reference = model.cells(rows), model.cells(reference)
    query = query_of(procedure, monotone, never_uses, robust, rows, within or {}, of)
    spread = None if reference is None else Spread.of_reference(procedure, reference)
    if spread is None and "units" in model.facts:
        spread = Spread.of_model(model)
    frame = Frame.of(procedure, spread, query.within)
    replay = Replay(model, procedure)
    work = _Work(procedure, frame, replay, query)
    verdicts = [work.monotone(cell, direction) for cell, direction in query.monotone.items()]
    verdicts += [work.never_uses(cell) for cell in query.never_uses]
    if query.rows is not None:
        verdicts += work.robust(spread, query.rows)
    cells = procedure.cells
    gaps = tuple(cells[j].name for j in sorted(frame.numbers) if cells[j].fill is None and j not in procedure.needed)
    return Verification(
        tuple(work.replayed(verdicts)),
        tuple(cell.name for cell in cells),
        {j: cell.levels for j, cell in enumerate(cells) if cell.levels},
        procedure.used,
        procedure.is_regression,
        procedure.target if procedure.is_regression else procedure.classes[query.of],
        "units" if spread is None else "standard deviations",
        query.reach,
        {cells[j].name: ends for j, ends in query.within.items()},
        gaps,
    )


@dataclass(frozen=True, eq=False)
class _Work:
    """A model whose properties are checked one after another."""

    procedure: Procedure
    frame: Frame
    replay: Replay
    query: Query

    def monotone(self, cell: int, direction: int) -> Verdict:
        """Return the verdict whether the prediction never falls as a column moves in a direction."""
        joint = Joint(self.frame, cell, direction)
        verdict = Verdict(MONOTONE, self.procedure.cells[cell].name, direction, PROVED)
        if cell not in self.procedure.used:
            return replace(verdict, why=NOT_THERE)
        says = partial(saying, self.frame, self.procedure, of=self.query.of)
        by_tree = ((joint.rows(v) for v in falls(joint, tree, says)) for tree in self.procedure.trees)
        return self._decided(verdict, joint.effort, by_tree)

    def never_uses(self, cell: int) -> Verdict:
        """Return the verdict whether a column changes no prediction."""
        verdict = Verdict(NEVER_USES, self.procedure.cells[cell].name, 0, PROVED)
        if cell not in self.procedure.used:
            return replace(verdict, why=NOT_THERE)
        effort = Effort()
        ways = [Joint(self.frame, cell, effort=effort)]
        if cell in self.frame.numbers and self.procedure.cells[cell].fill is None:
            ways += [Joint(self.frame, cell, goes=True, effort=effort)] if cell not in self.procedure.needed else []
        says, trees = partial(answering, self.frame, self.procedure), self.procedure.trees
        by_tree = ((joint.rows(v) for joint in ways for v in differs(joint, tree, says)) for tree in trees)
        return self._decided(verdict, effort, by_tree)

    def robust(self, spread: Spread | None, rows: Array) -> Iterator[Verdict]:
        """Yield the verdict whether each row keeps its class."""
        moves = np.ones(rows.shape[1], np.bool_) if spread is None else np.array(spread.deviations) > 0.0
        boxes = Boxes(self.frame, self.query.reach, moves)
        codes = self.replay.predicted(rows).codes if len(rows) else np.zeros(0, np.int64)
        for number, (row, code) in enumerate(zip(rows, codes, strict=True)):
            pairs, programs = boxes.effort.pairs, boxes.effort.programs
            verdict = self._row(boxes, row, int(code))
            pairs, programs = boxes.effort.pairs - pairs, boxes.effort.programs - programs
            yield replace(verdict, row=number, pairs=pairs, programs=programs)

    def _row(self, boxes: Boxes, row: Array, code: int) -> Verdict:
        procedure, box = self.procedure, boxes.box(row)
        undecided = boxes.effort.undecided
        try:
            if procedure.is_forest and box.keeps(procedure, code):
                return Verdict(ROBUST, "", 0, PROVED)
        except Undecided:
            boxes.effort.undecided += 1
        for number, tree in enumerate(procedure.trees):
            for v in box.others(number, tree, code, procedure.threshold):
                changed = self._moved(row, v, box)
                if shown := self._counterexample(ROBUST, 0, row, changed):
                    return Verdict(ROBUST, "", 0, REFUTED, shown)
        if procedure.is_forest:
            return Verdict(ROBUST, "", 0, UNDECIDED, why=NO_VOTE)
        if boxes.effort.undecided > undecided:
            return Verdict(ROBUST, "", 0, UNDECIDED, why=NO_END)
        return Verdict(ROBUST, "", 0, PROVED)

    def _moved(self, row: Array, v: Array, box: Box) -> Array:
        """Return the row at a solution; numbers that do not move keep their bits."""
        changed = row.copy()
        for cell, place in self.frame.numbers.items():
            if box.low[place] < box.high[place] and v[place] != box.v[place]:
                reach = self.query.reach * self.frame.scale[cell]
                moved = self.frame.center[cell] + self.frame.scale[cell] * v[place]
                changed[cell] = min(max(moved, row[cell] - reach), row[cell] + reach)
        return changed

    def _decided(self, verdict: Verdict, effort: Effort, by_tree: Iterable[Iterator[tuple[Array, Array]]]) -> Verdict:
        """Return the verdict on candidates: of each tree, pairs of rows whose predictions violate the property."""
        shown: list[Counterexample] = []
        failed = 0
        for pairs in by_tree:
            of_tree = 0
            for row, changed in pairs:
                counterexample = self._counterexample(verdict.kind, verdict.direction, row, changed)
                shown += [counterexample] if counterexample else []
                failed, of_tree = failed + (counterexample is None), of_tree + 1
                if len(shown) >= TAMEST or (self.procedure.is_forest and (shown or of_tree >= OF_A_TREE)):
                    break
            if shown or failed >= TRIED:
                break
        verdict = replace(verdict, pairs=effort.pairs, programs=effort.programs)
        if shown:
            return replace(verdict, outcome=REFUTED, counterexample=min(shown, key=self._size))
        if failed:
            return replace(verdict, outcome=UNDECIDED, why=NO_VOTE if self.procedure.is_forest else TOO_SMALL)
        return replace(verdict, outcome=UNDECIDED, why=NO_END) if effort.undecided else verdict

    def _size(self, shown: Counterexample) -> float:
        """Return the largest distance of a number of two rows from its training mean, in standard deviations."""
        numbers = list(self.frame.numbers)
        away = [np.abs((cells - self.frame.center) / self.frame.scale)[numbers] for cells in (shown.row, shown.changed)]
        return float(np.nanmax(away)) if numbers else 0.0

    def _counterexample(self, kind: str, direction: int, row: Array, changed: Array) -> Counterexample | None:
        """Return two rows whose predictions violate the property, rounded as far as they still do; else None."""
        for digits in (None,) if kind == ROBUST else (*DIGITS, None):
            pair = (row, changed) if digits is None else (self._rounded(row, digits), self._rounded(changed, digits))
            if not self._allowed(kind, direction, *pair):
                continue
            answers = self.replay.predicted(np.array(pair))
            if self._violates(kind, answers, 0):
                return self._shown(kind, pair, answers)
        return None

    def _rounded(self, cells: Array, digits: int) -> Array:
        rounded = cells.copy()
        for cell in self.frame.numbers:
            if np.isfinite(cells[cell]):
                rounded[cell] = float(f"%.{digits}g" % cells[cell])
        return rounded

    def _allowed(self, kind: str, direction: int, row: Array, changed: Array) -> bool:
        """Return whether the request covers two rows: the column moves in its direction, both are within."""
        for cell, (least, most) in self.query.within.items():
            if not all(least <= cells[cell] <= most for cells in (row, changed) if cells[cell] == cells[cell]):
                return False
        if kind == MONOTONE:
            step = np.nan_to_num(direction * (changed - row))
            return bool((step > 0.0).any() and not (step < 0.0).any())
        return True

    def _violates(self, kind: str, answers: Answers, at: int) -> bool:
        """Return whether the predictions for rows `at` and `at + 1` violate a property."""
        before, after = answers.codes[at], answers.codes[at + 1]
        if kind == ROBUST:
            return bool(before != after)
        if kind == NEVER_USES:
            return bool(before != after or (answers.shares[at] != answers.shares[at + 1]).any())
        of = 0 if self.procedure.is_regression else self.query.of
        label_falls = not self.procedure.is_regression and before == of and after != of
        return bool(label_falls or answers.shares[at, of] > answers.shares[at + 1, of])

    def _shown(self, kind: str, pair: tuple[Array, Array], answers: Answers) -> Counterexample:
        if self.procedure.is_regression:
            values = (float(answers.shares[0, 0]), float(answers.shares[1, 0]))
            return Counterexample(*pair, *values, values, "", PREDICT)
        labels = [self.procedure.classes[code] for code in answers.codes.tolist()]
        of = self.query.of if kind == MONOTONE else int(answers.codes[0])
        shares = (float(answers.shares[0, of]), float(answers.shares[1, of]))
        return Counterexample(*pair, labels[0], labels[1], shares, self.procedure.classes[of], PREDICT)

    def replayed(self, verdicts: list[Verdict]) -> Iterator[Verdict]:
        """Yield the verdicts with all counterexamples replayed by the export."""
        refuted = [verdict.counterexample for verdict in verdicts if verdict.counterexample is not None]
        rows = [cells for example in refuted for cells in (example.row, example.changed)]
        answers, by = self.replay.exported(np.array(rows)) if rows else (None, "")
        places = itertools.count(0, 2)
        for verdict in verdicts:
            if verdict.counterexample is None:
                yield verdict
                continue
            confirmed = answers is None or self._violates(verdict.kind, answers, next(places))
            shown = replace(verdict, counterexample=replace(verdict.counterexample, replayed=by))
            yield shown if confirmed else replace(shown, outcome=UNDECIDED, why=OTHERWISE)
