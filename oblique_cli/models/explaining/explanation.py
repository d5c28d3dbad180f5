"""`explain`: the path of one row through a tree, and the nearest change that leads to another class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, cut, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nodes import BLANK, Indicator
from oblique_cli.ground.registry import close_matches
from oblique_cli.models.explaining.nearest import (
    MARGINS,
    Candidate,
    Polyhedron,
    Solve,
    candidates,
    changed_by,
    nearest_whole,
    polyhedra,
    total_of,
    within,
)
from oblique_cli.models.explaining.scored import PROVEN, changed_rows, regions
from oblique_cli.models.explaining.spread import Spread
from oblique_cli.models.model import Model, as_model
from oblique_cli.models.procedure import MISSING, NUMBER, Procedure, Scores, Split, Term, procedure_of
from oblique_cli.tree.reading import turned
from oblique_cli.tree.structure import of_classes

MOST_TRIED = 20  # leaves that are searched for whole numbers after a nearer change without them


TIMES = " × "


def cell_text(value: float | str | None) -> str:
    """Return the text of a cell's value."""
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else value


@dataclass(frozen=True)
class Contribution:
    """Contribution of one column, or of a product, to the distance of a row from a hyperplane or to a score.

    amount  coefficient times (value - training mean), divided as the distance is; positive to the right; None if a
            number is missing
    """

    column: str  # its name, of a product "age × height"
    value: float | str | None  # of the row: a number, a level, None if missing; of a product "30 × 1.8"
    amount: float | None


@dataclass(frozen=True)
class Step:
    """A split on the path of the row.

    node           its number in the tree; goes : "left" or "right"
    total          the sum of the split for the row, which goes left iff it is at most the threshold; None if a number
                   is missing, so that the stored side decides
    distance       signed distance from the hyperplane in standard deviations of the training columns, negative on the
                   left; None if no number can move, or a number is missing
    mean           `distance` at the training means; mean and contributions add up to `distance`
    contributions  of columns, the largest first
    says           for a split on a single level: the condition on the row's column; "" for any other split
    exchanged      whether `oblique tree` shows this split with its sides exchanged
    """

    node: int
    goes: str
    total: float | None
    threshold: float
    distance: float | None
    mean: float | None
    contributions: tuple[Contribution, ...]
    exchanged: bool = False
    says: str = ""


@dataclass(frozen=True)
class ColumnChange:
    """A number that changes. whole : the training rows have only whole numbers there, and `to` is not whole"""

    column: str
    before: float
    to: float
    deviations: float
    whole: bool


@dataclass(frozen=True)
class Change:
    """The nearest change of the row that leads to another class.

    distance     Euclidean, in standard deviations of the training columns
    predicted    prediction of `predict` for the changed row
    node         leaf of the changed row; row : the changed row as `predict` takes it
    """

    distance: float
    predicted: str
    node: int
    columns: tuple[ColumnChange, ...]
    row: Array

    @property
    def leaves_whole(self) -> bool:
        """Whether a whole number becomes another one in a column that has only whole numbers in the training rows."""
        return any(column.whole and column.before == round(column.before) for column in self.columns)


@dataclass(frozen=True)
class Explanation:
    """The explanation of a tree's prediction for a row.

    predicted label as text, or a number in regression; None for a row without a prediction, whose `missing` is the
               column that it lacks
    node       leaf of the row; steps : the path to it
    counts     class -> weight of its training rows in the leaf; {} in regression
    equation   contributions of columns, which with the intercept add up to the value in a leaf of a regression tree,
               and to the log odds in a leaf with models of the classes
    against of these log odds, ln(p / q): q is the probability of this class, the likeliest of those that are not
               predicted; "" without such models
    shares     class -> probability for the row, in a leaf with such models
    change     the nearest change to another class; None in regression, or if the search finds no change
    bounds     least and largest prediction of the leaf, None without limits
    at_least   no change is nearer than this: infinite if there is none at all, None where `change` itself is exact
    held       columns that the change must not alter: levels, missing cells, constants, and those in `fix`
    """

    predicted: str | float | None
    node: int
    n_rows: int
    counts: dict[str, float]
    steps: tuple[Step, ...]
    equation: tuple[Contribution, ...]
    intercept: float
    change: Change | None
    held: tuple[str, ...]
    missing: str = ""
    against: str = ""
    shares: dict[str, float] = field(default_factory=dict)
    at_least: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def cut(self) -> float | None:
        """The value of the equation if it lies outside the leaf's bounds, else None."""
        if self.bounds is None or not isinstance(self.predicted, float):
            return None
        low, high = self.bounds
        return self.log_odds if not low < self.predicted < high else None

    @property
    def is_nearest(self) -> bool:
        """Whether `change` is proved to be the nearest, up to its distance from the border."""
        if self.change is None or self.at_least is None:
            return self.at_least is None
        return self.at_least >= self.change.distance * (1.0 - PROVEN) - 10.0 * MARGINS[0]

    @property
    def log_odds(self) -> float:
        """The sum of the intercept and all contributions."""
        return math.fsum([self.intercept, *(part.amount or 0.0 for part in self.equation)])


def explain(
    model: Any, row: Sequence[float] | Array, *, reference: Any = None, fix: Sequence[str] = (), to: str | None = None
) -> Explanation:
    """Explain a fitted tree's prediction for one row, and find the nearest change to another class.

    model      a `Model`, or a fitted estimator
    row        (p,) as `Model.predict` takes it: numbers, NaN for a missing cell, codes of levels
    reference  (n, p) training rows, for means and standard deviations; without it those of the fit
    fix        names of columns that the change must not alter; columns of levels, missing cells and constant columns
               never change
    to         class that the change must lead to; any other than the predicted one without it

    The change is the exact solution of a quadratic program for each leaf of another class: of all rows that stay at
    least 1e-6 standard deviations inside the leaf (1e-10 if the leaf is thinner), the nearest one in the Euclidean
    distance in standard deviations. Whole numbers may become fractions, which the result marks. In a tree with
    models in its leaves there is a program for each leaf and class, the row's own leaf included, and more inequalities:
    one for each class that the score must exceed. With squares or products among these the nearest of several searches
    is taken, and `at_least` is a lower bound on the distance of every change.

    Raises ConfigError for a model without a tree, a forest, a row that does not fit or an unknown name.
    """
    model = as_model(model)
    procedure = procedure_of(model)
    names = [cell.name for cell in procedure.cells]
    raw_row = _checked_row(procedure, row, fix, to)
    spread = Spread.of_model(model) if reference is None else Spread.of_reference(procedure, reference)
    query = _Query(model, procedure, raw_row, spread, fix, to)
    lacking = next((j for j in procedure.needed if math.isnan(query.filled[j])), None)
    if lacking is not None and model.takes_missing:
        raise ConfigError(f"the row has no {quoted(names[lacking])}, and goes down several branches; fill the cell.")
    if lacking is not None:
        return Explanation(None, -1, 0, {}, (), (), 0.0, None, (), names[lacking])
    if procedure.coded:
        raise ConfigError(
            f"{procedure.title} cannot be explained where it has a branch for each level of a column, only exported "
            "and drawn: a level has no distance from another one."
        )
    steps, node = query.path()
    leaf = procedure.tree.leaf(node)
    if procedure.is_regression:
        equation = tuple(query.contribution(t.cell, query.amount(t)) for t in leaf.terms)
        if leaf.scores is not None:
            equation = query.of_parts(leaf.scores, lambda added: added[0])
        value = float(query.prediction(raw_row))
        explanation = Explanation(value, node, leaf.n_rows, {}, steps, equation, leaf.intercept, None, ())
        return replace(explanation, bounds=leaf.bounds)
    counts = dict(zip(procedure.classes, leaf.counts, strict=False))
    predicted, number = str(query.prediction(raw_row)), procedure.tree.number(node)
    explanation = Explanation(predicted, number, leaf.n_rows, counts, steps, (), 0.0, None, query.held)
    if leaf.scores is None:
        return replace(explanation, change=query.nearest_leaf(leaf.label))
    shares = model.predict_proba(procedure.for_predict(raw_row[None]))[0]
    code = procedure.classes.index(predicted)
    explanation = replace(
        query.of_scores(explanation, leaf.scores, code),
        shares=dict(zip(procedure.classes, shares.tolist(), strict=True)),
    )
    change, at_least = query.nearest_scores(leaf.scores, code)
    return replace(explanation, change=change, at_least=at_least)


def _checked_row(procedure: Procedure, row: Sequence[float] | Array, fix: Sequence[str], to: str | None) -> Array:
    names, values = [cell.name for cell in procedure.cells], np.array(row, dtype=np.float64).reshape(-1)
    if len(values) != len(names):
        raise ConfigError(f"a row has {len(names)} columns. Got {len(values)} values.")
    if np.isinf(values).any():
        name = names[int(np.flatnonzero(np.isinf(values))[0])]
        raise ConfigError(f"column {quoted(name)} of the row is infinite, which no model takes.")
    if procedure.is_forest:
        raise ConfigError(
            f"{procedure.title} is a vote of {len(procedure.trees)} trees, and only a single tree can be explained; "
            "fit one, as by --algorithm hhcart_a."
        )
    for name in fix:
        if name not in names:
            raise ConfigError(f"the model has no column {quoted(name)} to hold fixed.{close_matches(cut(name), names)}")
    if to is not None and to not in procedure.classes:
        known = f" Its classes: {', '.join(map(cut, procedure.classes[:20]))}."
        raise ConfigError(f"the model has no class {quoted(to)}.{close_matches(cut(to), procedure.classes) or known}")
    return values


def shown(procedure: Procedure, j: int, row: Array) -> float | str | None:
    """Return a cell of the row in the user's units."""
    cell, value = procedure.cells[j], float(row[j])
    if value != value:
        return None
    if not cell.levels:
        return value
    return cell.levels[int(value)] if 0 <= value < len(cell.levels) and value == int(value) else "a level never seen"


def _better(first: Change | None, second: Change | None) -> Change | None:
    """Return the nearer of two changes; whole numbers come before others."""

    known = [change for change in (first, second) if change is not None]
    return min(known, key=lambda change: (change.leaves_whole, change.distance), default=None)


def _is_settled(best: Change | None, bound: float, tried: int) -> bool:
    """Return whether no change at a distance of `bound` or more is better. tried : number of searched leaves"""
    return best is not None and bound >= best.distance and (not best.leaves_whole or tried >= MOST_TRIED)


@dataclass(frozen=True, eq=False)
class _Query:
    """Query of `explain`. raw_row : (p,) as `predict` takes it; fix, to : as in `explain`"""

    model: Model
    procedure: Procedure
    raw_row: Array
    spread: Spread
    fix: Sequence[str]
    to: str | None

    @cached_property
    def filled(self) -> Array:
        """The row with missing cells filled, (p,)."""
        return np.where(np.isnan(self.raw_row), self.procedure.fills, self.raw_row)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """The columns that a change may alter, (p,) bool."""
        able = np.array([not cell.levels and cell.name not in self.fix for cell in self.procedure.cells])
        return able & ~np.isnan(self.raw_row) & (np.array(self.spread.deviations) > 0.0)

    @property
    def held(self) -> tuple[str, ...]:
        """Columns of the tree that a change may not alter."""
        cells = enumerate(self.procedure.cells)
        return tuple(cell.name for j, cell in cells if not self.free[j] and j in self.procedure.used)

    def prediction(self, row: Array) -> Any:
        """Return the prediction of `predict` for a row."""
        (prediction,) = self.model.predict(self.procedure.for_predict(row[None]))
        if self.procedure.is_regression or self.model.has_codes:
            return prediction
        return self.procedure.classes[self.model.fitted.state["classes_"].tolist().index(prediction)]

    def contribution(self, j: int, amount: float, *others: int) -> Contribution:
        """Return the contribution of a column, or of its product with others; NaN if its number is missing."""
        value = shown(self.procedure, j, self.raw_row)
        if others:
            value = TIMES.join(cell_text(shown(self.procedure, k, self.raw_row)) for k in (j, *others))
        name = TIMES.join(self.procedure.cells[k].name for k in (j, *others))
        return Contribution(name, value, None if math.isnan(amount) else amount)

    def amount(self, term: Term) -> float:
        """Return the value of a term."""
        value = float(self.filled[term.cell])
        return term.coef * (value if term.level == NUMBER else term.holds(value))

    def path(self) -> tuple[tuple[Step, ...], int]:
        """Return the splits on the path of the row, and its leaf."""
        tree, shown_tree = self.procedure.tree, self.model.fitted.state.get("tree_")
        sides = turned(shown_tree) if of_classes(shown_tree) else None
        steps, node = [], 0
        while tree.left[node] >= 0:
            split = tree.split(node)
            total, lacking = total_of(split.lanes, self.filled)
            left = bool(split.missing_left) if lacking else total <= split.threshold
            step = self._step(tree.number(node), split, None if lacking else total, left)
            steps.append(step if sides is None else replace(step, exchanged=bool(sides[step.node])))
            node = tree.left[node] if left else tree.right[node]
        return tuple(steps), node

    def _step(self, node: int, split: Split, total: float | None, left: bool) -> Step:
        spread = self.spread
        scaled = [t.coef * spread.deviations[t.cell] for t in split.terms if t.level == NUMBER]
        length = math.hypot(*scaled)
        unit = length or 1.0  # only levels: no number to measure a distance by
        amounts: dict[int, float] = {}
        usual = 0.0
        for term in split.terms:
            if term.level == NUMBER:
                mean = term.coef * spread.means[term.cell]
            else:
                mean = term.coef * spread.shares.get(term.cell, {}).get(term.level, 0.0)
            usual += mean
            amounts[term.cell] = amounts.get(term.cell, 0.0) + (self.amount(term) - mean) / unit
        order = sorted(amounts, key=lambda j: (not math.isnan(amounts[j]), -abs(amounts[j]), j))
        parts = tuple(self.contribution(j, amounts[j]) for j in order)
        distance = None if total is None or not length else (total - split.threshold) / length
        mean_distance = None if distance is None else (usual - split.threshold) / length
        says = ""
        if (level := split.by_level) is not None:
            cell = self.procedure.cells[level.cell]
            named = Indicator(cell.name, "" if level.level == MISSING else cell.levels[level.level])
            says = named.holds(split.level_goes_left == left).replace(BLANK, " ")
        return Step(
            node, "left" if left else "right", total, split.threshold, distance, mean_distance, parts, says=says
        )

    def of_scores(self, explanation: Explanation, scores: Scores, code: int) -> Explanation:
        """Return the explanation with the log odds of the predicted class against the likeliest other one."""
        reached, predicted = scores.of(self.filled.tolist()), scores.classes.index(code)
        if len(reached) == 1:
            return explanation
        rival = max((k for k in range(len(reached)) if k != predicted), key=lambda k: reached[k])
        return replace(
            explanation,
            equation=self.of_parts(scores, lambda added: added[predicted] - added[rival]),
            intercept=scores.intercept[predicted] - scores.intercept[rival],
            against=self.procedure.classes[scores.classes[rival]],
        )

    def of_parts(self, scores: Scores, amount: Callable[[list[float]], float]) -> tuple[Contribution, ...]:
        """Return the contributions of columns and products, the largest first. amount : of a part's scores"""
        amounts: dict[tuple[int, ...], float] = {}
        for part in scores.parts:
            cells = tuple(dict.fromkeys(column.cell for column in part.columns))
            amounts[cells] = amounts.get(cells, 0.0) + amount(part.of(self.filled.tolist()))
        order = sorted(amounts, key=lambda cells: (-abs(amounts[cells]), cells))
        return tuple(self.contribution(cells[0], amounts[cells], *cells[1:]) for cells in order)

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """The free columns of whole numbers, (p,) bool, if the row has a whole number there."""
        known: NDArray[np.bool_] = self.free & np.array(self.spread.whole) & (self.filled == np.rint(self.filled))
        return known

    def _shapes(self, nodes: list[int]) -> Iterator[Polyhedron]:
        """Yield the polyhedra of leaves inside the ranges of the training rows."""
        deviations = np.array(self.spread.deviations)
        shapes = polyhedra(self.procedure, self.filled, deviations, self.free, nodes)
        return within(shapes, self.filled, deviations, self.free, self.spread.ranges())

    def _change(self, candidate: Candidate, solve: Solve) -> Change | None:
        """Return the change to a candidate, to whole numbers where the training rows have only these if possible."""
        if self.whole.any():
            deviations = np.array(self.spread.deviations)
            u = nearest_whole(solve, self.filled, deviations, self.whole)
            if u is not None:
                row = changed_by(u, self.filled, deviations)
                row[self.whole] = np.rint(row[self.whole])
                change = self._checked(replace(candidate, row=row, distance=float(np.linalg.norm(u))))
                if change is not None:
                    return change
        return self._checked(candidate)

    def nearest_leaf(self, label: int) -> Change | None:
        """Return the nearest change to a leaf of another class than `label`, or of the class `to`."""
        tree, deviations = self.procedure.tree, np.array(self.spread.deviations)
        wanted = None if self.to is None else self.procedure.classes.index(self.to)
        leaves = [n for n in tree.leaf_nodes if (k := tree.leaf(n).label) != label and wanted in (None, k)]
        rows = candidates(self._shapes(leaves), self.filled, deviations)
        best: Change | None = None
        for tried, (candidate, solve) in enumerate(sorted(rows, key=lambda pair: (pair[0].distance, pair[0].node))):
            if _is_settled(best, candidate.distance, tried):
                break  # whole numbers are farther away than the nearest numbers
            best = _better(best, self._change(candidate, solve))
        return best

    def nearest_scores(self, scores: Scores, code: int) -> tuple[Change | None, float]:
        """Return the nearest change for class models in leaves, and a lower bound of its distance."""
        procedure, filled, deviations = self.procedure, self.filled, np.array(self.spread.deviations)
        codes = [k for k in scores.classes if k != code and self.to in (None, procedure.classes[k])]
        shapes = self._shapes(procedure.tree.leaf_nodes)
        best, at_least = None, math.inf
        for tried, region in enumerate(regions(shapes, procedure, filled, deviations, self.free, codes)):
            if _is_settled(best, region.above, tried):
                break  # later regions are no nearer
            bound = region.at_least
            for candidate, solve in changed_rows(region, filled, deviations):
                if _is_settled(best, bound, tried):
                    break
                change = self._change(candidate, solve)
                if change is not None:
                    best = _better(best, change)
                    # Without squares and products the search is exact, also that for whole numbers.
                    bound = bound if region.over else max(bound, change.distance)
                    break
            at_least = min(at_least, bound)
        return best, at_least

    def _checked(self, candidate: Candidate) -> Change | None:
        """Return the change of the row, or None if rounding gives the changed row another class, as in a leaf of a few
        bits' width."""
        tree, spread = self.procedure.tree, self.spread
        changed = np.where(self.free, candidate.row, self.raw_row)
        predicted = str(self.prediction(changed))
        code = candidate.code if candidate.code >= 0 else tree.leaf(candidate.node).label
        if predicted != self.procedure.classes[code]:
            return None
        columns = []
        for j in np.flatnonzero(self.free & (changed != self.raw_row)).tolist():
            before, to = float(self.raw_row[j]), float(changed[j])
            whole = spread.whole[j] and to != round(to)
            name, deviations = self.procedure.cells[j].name, (to - before) / spread.deviations[j]
            columns.append(ColumnChange(name, before, to, deviations, whole))
        columns.sort(key=lambda change: -abs(change.deviations))
        return Change(candidate.distance, predicted, tree.number(candidate.node), tuple(columns), changed)
