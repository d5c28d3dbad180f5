"""A fitted model as plain steps: all that is needed to repeat its predictions in another language or on paper.

Exporters and explanations use only these steps, so they depend on no encoder, estimator or tree format of the core.
Numbers and the order of sums are those of the compiled core, so following a procedure gives the same bits.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.own.cell_forms import IN_MINUTES
from oblique_cli.errors import ConfigError
from oblique_cli.models.codecs import resolved
from oblique_cli.models.kinds import KINDS
from oblique_cli.tree.payloads import BELOW, FARTHEST, FARTHEST_SQUARED, HINGE, LEVEL, PRODUCT, SQUARE

if TYPE_CHECKING:
    from oblique_cli.data.own.columns import Column
    from oblique_cli.models.model import Model

NUMBER = -1  # the `level` of a term that takes the number in its cell
MISSING = -2  # the `level` of a term that tests whether the cell is missing

ANYTHING = (-sys.float_info.max, sys.float_info.max)  # bounds that no number exceeds

# Values of `Procedure.voting`.
MAJORITY, MEAN, CLIPPED, SUM = "majority", "mean", "clipped", "sum"
TIE = 1e-9  # shares of a CLIPPED vote that differ by less are equal

HALF_ROOT = math.sqrt(0.5)
EXPORTABLE = "trees of all kinds but taxonomies and PATHFINDER, and their forests and boosting"


@dataclass(frozen=True)
class Cell:
    """One column of a row to predict."""

    name: str
    levels: tuple[str, ...] = ()  # texts of the cell in the order of their codes; () for a number
    fill: float | None = None  # value for a missing cell: a number, or the code of a level; None if there is none
    unit: str = ""  # unit of the number if the file has another form: the days of a date


@dataclass(frozen=True)
class Term:
    """One summand: `coef` times the number in a cell, or `coef` if the cell has a level, else 0."""

    coef: float
    cell: int  # of `Procedure.columns`; indices from len(columns) on are the rotated features of the tree
    level: int = NUMBER  # or the code of a level, or MISSING

    def holds(self, value: float) -> bool:
        """Return whether a cell has the level of the term."""
        return value == self.level or (self.level == MISSING and value != value)


Lane = tuple[Term, ...]


@dataclass(frozen=True)
class Split:
    """A row goes left iff the sum of its terms is at most the threshold.

    A lane of terms is added up from its first term on. The sums of four lanes are added as (0 + 1) + (2 + 3); a lane
    may be empty.
    """

    lanes: tuple[Lane, ...]
    threshold: float
    missing_left: bool | None = None  # whether a row without a number of a term goes left; None: no prediction

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms."""
        return tuple(chain.from_iterable(self.lanes))

    @property
    def by_level(self) -> Term | None:
        """The only term of a split on a single level, None for any other split."""
        terms = self.terms
        alone = len(terms) == 1 and terms[0].level != NUMBER
        return terms[0] if alone and (terms[0].coef <= self.threshold) != (self.threshold >= 0.0) else None

    @property
    def level_goes_left(self) -> bool:
        """Whether rows with the level of `by_level` go left."""
        return self.terms[0].coef <= self.threshold


@dataclass(frozen=True)
class Scaled:
    """A column in standard deviations: (x - center) / scale, moved to the nearest number of [low, high].

    x is the number in a cell, or with a level 1 if the cell has that level and 0 otherwise. A missing number gives 0.
    A factor of squares and products has the limits -FARTHEST_SQUARED and FARTHEST_SQUARED. A hinge has its knot as
    center and 0 as low; its scale is negative if it acts below the knot.
    """

    cell: int
    level: int
    center: float
    scale: float
    low: float = -FARTHEST
    high: float = FARTHEST

    @cached_property
    def by_level(self) -> tuple[float, float]:
        """The values for rows with the level and for all other rows."""
        return self._within((1.0 - self.center) / self.scale), self._within((0.0 - self.center) / self.scale)

    def of(self, value: float) -> float:
        """Return the value for a cell."""
        if self.level != NUMBER:
            return self.by_level[0 if Term(1.0, self.cell, self.level).holds(value) else 1]
        return 0.0 if value != value else self._within((value - self.center) / self.scale)

    def _within(self, z: float) -> float:
        return min(max(z, self.low), self.high)


@dataclass(frozen=True)
class Part:
    """The contribution of a term to scores: coef[k] * z for class `Scores.classes[k]`, z a column, a hinge, or the
    product of two columns; the square of a column is its product with itself."""

    columns: tuple[Scaled, ...]
    coef: tuple[float, ...]

    def of(self, cells: Sequence[float]) -> list[float]:
        """Return the contribution to each score. cells : values of `Procedure.columns`"""
        z = math.prod(column.of(float(cells[column.cell])) for column in self.columns)
        return [coef * z for coef in self.coef]


@dataclass(frozen=True)
class Scores:
    """The model in a leaf: a score for each class, the intercept plus the contributions of the parts.

    The class with the largest score is predicted, the first in a tie. Probabilities are exp(score), divided by their
    sum.
    """

    classes: tuple[int, ...]  # codes of the classes with a score, rising; other classes have probability 0
    intercept: tuple[float, ...]
    parts: tuple[Part, ...]
    takes_missing: bool = False  # whether a missing number adds nothing; otherwise such a row has no prediction

    def of(self, cells: Sequence[float]) -> list[float]:
        """Return the scores of a row, in the order of `classes`. cells : values of `Procedure.columns`"""
        scores = list(self.intercept)
        for part in self.parts:
            scores = [score + amount for score, amount in zip(scores, part.of(cells), strict=True)]
        return scores


@dataclass(frozen=True)
class Leaf:
    """The prediction in a leaf, or that of an inner node as a leaf."""

    label: int = -1  # class code, -1 in regression
    shares: tuple[float, ...] = ()  # probability of each class; in a forest of CLIPPED votes the summands
    counts: tuple[float, ...] = ()  # weight of each class among the training rows, () if unknown
    n_rows: int = 0  # training rows, 0 if unknown
    terms: Lane = ()  # linear model of a regression tree: the sum of the terms from the first on, plus `intercept`
    intercept: float = 0.0
    scores: Scores | None = None  # models of the classes, which decide in place of `label` and `shares`; in regression
    # a model with products or hinges, whose only score is the number, in place of `terms`
    bounds: tuple[float, float] | None = None  # limits of the linear model's prediction
    outputs: tuple[Leaf, ...] = ()  # with several outputs, the leaf of each output

    @property
    def each(self) -> tuple[Leaf, ...]:
        """The leaves of all outputs, or only this leaf."""
        return self.outputs or (self,)


@dataclass(frozen=True)
class Steps:
    """One binary tree. Node 0 is the root, and a child has a larger number than its parent."""

    left: tuple[int, ...]  # children by node, -1 at leaves
    right: tuple[int, ...]
    splits: tuple[Split | None, ...]  # of inner nodes, None at leaves
    leaves: tuple[Leaf | None, ...]  # of every node; in a forest None at inner nodes
    rotated: tuple[Lane, ...] = ()  # sums that `Term.cell` refers to behind the columns
    numbers: tuple[int, ...] = ()  # node numbers in the model, if it counts them differently

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def inner(self) -> list[int]:
        """Nodes with children."""
        return [node for node, child in enumerate(self.left) if child >= 0]

    @property
    def leaf_nodes(self) -> list[int]:
        """Nodes without children."""
        return [node for node, child in enumerate(self.left) if child < 0]

    @cached_property
    def parents(self) -> dict[int, int]:
        """Parent of every node but the root."""
        return {child: node for node in self.inner for child in (self.left[node], self.right[node])}

    def number(self, node: int) -> int:
        """Return the number of a node in the model, as `apply` gives it."""
        return self.numbers[node] if self.numbers else node

    def leaf(self, node: int) -> Leaf:
        """Return the leaf of a node that has one."""
        leaf = self.leaves[node]
        assert leaf is not None
        return leaf

    def split(self, node: int) -> Split:
        """Return the split of an inner node."""
        split = self.splits[node]
        assert split is not None
        return split

    def taken(self) -> Iterator[tuple[int, int, bool]]:
        """Yield cell and level of each term, and whether a row that lacks the number has no prediction."""
        for term in chain.from_iterable(self.rotated):
            yield term.cell, term.level, True
        for split in filter(None, self.splits):
            yield from ((term.cell, term.level, split.missing_left is None) for term in split.terms)
        for leaf in filter(None, self.leaves):
            yield from ((term.cell, term.level, True) for output in leaf.each for term in output.terms)
            if leaf.scores:
                columns = chain.from_iterable(part.columns for part in leaf.scores.parts)
                yield from ((column.cell, column.level, not leaf.scores.takes_missing) for column in columns)


@dataclass(frozen=True)
class Coded:
    """A column of codes that trees over discrete features use instead of a number."""

    term: Term  # the number, or the indicator of a level, with coefficient 1
    values: tuple[float, ...]  # rising; the index of a number among them is its code
    usual: int  # the code of any other number, and of a missing number
    takes_missing: bool = False  # whether the number may be missing; otherwise such a row has no prediction

    def of(self, value: float) -> float:
        """Return the code for a cell."""
        x = value if self.term.level == NUMBER else float(self.term.holds(value))
        return float(self.values.index(x) if x in self.values else self.usual)


@dataclass(frozen=True)
class Procedure:
    """Everything needed to predict.

    cells      columns of a row, in their order
    trees      one, or those of a forest
    classes    labels by class code; () in regression
    voting     None for a single tree; MAJORITY (every tree one vote), MEAN (class shares are added up) or CLIPPED
               (they are added up, negative sums become 0, and the rest is divided by its sum; of shares within TIE the
               first wins); of numbers MEAN, or SUM (the values of the leaves are added up from 0 on, and then `base`);
               of leaves with scores MEAN (their probabilities are added up) or SUM (the scores are, and then `base`,
               and probabilities are made of the sums), and the first class of the largest probability wins
    title      the algorithm in words
    coded      columns of codes, which terms refer to behind the cells
    threshold  of two classes with scores: a class code, and the probability from which on it is predicted
    even       shares where all sums of a CLIPPED vote are negative
    base       what is added to a SUM: one number, or one for each class that has a score
    prior      what is added to the votes of each class in the shares of MAJORITY and MEAN, () without
    votes      what these sums are divided by: the number of trees, and the sum of `prior`
    """

    cells: tuple[Cell, ...]
    trees: tuple[Steps, ...]
    classes: tuple[str, ...] = ()
    voting: str | None = None
    title: str = ""
    target: str = "target"
    coded: tuple[Coded, ...] = ()
    threshold: tuple[int, float] | None = None
    even: tuple[float, ...] = ()
    base: tuple[float, ...] = ()
    prior: tuple[float, ...] = ()
    votes: float = 1.0

    @cached_property
    def columns(self) -> tuple[Cell, ...]:
        """The cells, and behind them the columns of codes."""
        taken, columns = {cell.name for cell in self.cells}, list(self.cells)
        for term in (code_column.term for code_column in self.coded):
            cell = self.cells[term.cell]
            level = "" if term.level == NUMBER else f" is {'missing' if term.level < 0 else cell.levels[term.level]}"
            columns.append(Cell(fresh(f"code of {cell.name}{level}", taken)))
        return tuple(columns)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of all nodes with a leaf."""
        return tuple(leaf for tree in self.trees for leaf in tree.leaves if leaf is not None)

    @property
    def has_scores(self) -> bool:
        """Whether leaves have scores."""
        return any(leaf.scores is not None for leaf in self.leaves)

    @property
    def scored(self) -> tuple[int, ...]:
        """Codes of the classes that have scores."""
        return next(leaf.scores.classes for leaf in self.leaves if leaf.scores is not None)

    @cached_property
    def scaled(self) -> tuple[Scaled, ...]:
        """All standardized columns of the scores, without repetition."""
        return tuple(dict.fromkeys(chain.from_iterable(self.terms)))

    @property
    def terms(self) -> tuple[tuple[Scaled, ...], ...]:
        """The columns of all parts of the scores, one or two each, without repetition."""
        parts = chain.from_iterable(leaf.scores.parts for leaf in self.leaves if leaf.scores is not None)
        return tuple(dict.fromkeys(part.columns for part in parts))

    @property
    def has_bounds(self) -> bool:
        """Whether some leaf's number has bounds."""
        return any(output.bounds is not None for leaf in self.leaves for output in leaf.each)

    @property
    def n_outputs(self) -> int:
        """Number of values predicted at once, 1 for classes."""
        return len(self.trees[0].leaf(self.trees[0].leaf_nodes[0]).each)

    @property
    def is_forest(self) -> bool:
        """Whether trees vote."""
        return self.voting is not None

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted."""
        return not self.classes

    @property
    def tree(self) -> Steps:
        """The only tree."""
        (tree,) = self.trees
        return tree

    @cached_property
    def used(self) -> frozenset[int]:
        """Cells that some term of the model uses."""
        return frozenset(cell for cell, _ in self.taken())

    @cached_property
    def farthest(self) -> float:
        """Power of ten up to which no number makes a sum overflow. Beyond it, formats differ from the compiled core."""
        heaviest, n = 1.0, len(self.columns)
        for tree in self.trees:
            rotated = [sum(abs(term.coef) for term in lane) for lane in tree.rotated]

            def weight(terms: Lane, rotated: list[float] = rotated) -> float:
                factors = (1.0 if term.cell < n else max(1.0, rotated[term.cell - n]) for term in terms)
                return sum(abs(term.coef) * factor for term, factor in zip(terms, factors, strict=True))

            equations = (output.terms for leaf in filter(None, tree.leaves) for output in leaf.each)
            most = max(map(weight, equations), default=0.0) * len(self.trees)
            heaviest = max(heaviest, most, *rotated, *(weight(split.terms) for split in filter(None, tree.splits)))
        return 10.0 ** math.floor(math.log10(sys.float_info.max / 4.0) - math.log10(heaviest))

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Numbers without which a row has no prediction: a term uses them and no rule covers their absence."""
        bare = {cell for cell, level in self.taken(without_a_side=True) if level == NUMBER}
        return tuple(j for j in sorted(bare) if self.cells[j].fill is None)

    @cached_property
    def fills(self) -> NDArray[np.float64]:
        """Fill of a missing cell of each column, NaN without one, (p,)."""
        return np.array([math.nan if cell.fill is None else cell.fill for cell in self.cells])

    def for_predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows, (n, p), as `predict` takes them: missing numbers of unused columns become 0."""
        unused = [j for j, cell in enumerate(self.cells) if j not in self.used and not cell.levels]
        values = rows.copy()
        values[:, unused] = np.nan_to_num(values[:, unused])
        return values

    def with_codes(self, cells: Sequence[float]) -> list[float]:
        """Return the values of all columns. cells : of the cells, missing ones filled"""
        return [*cells, *(code_column.of(float(cells[code_column.term.cell])) for code_column in self.coded)]

    def taken(self, without_a_side: bool = False) -> Iterator[tuple[int, int]]:
        """Yield cell and level of all terms of sums and models; without_a_side : only where a missing number stops."""
        for cell, level, stops in chain.from_iterable(tree.taken() for tree in self.trees):
            if cell < len(self.cells):
                if stops or not without_a_side:
                    yield cell, level
            elif cell < len(self.columns):
                code_column = self.coded[cell - len(self.cells)]
                if not (without_a_side and code_column.takes_missing):
                    yield code_column.term.cell, code_column.term.level


def fresh(name: str, taken: set[str], joined: str = " ") -> str:
    """Return an unused name, with a number behind it if necessary, and add it to `taken`."""
    new, count = name, 2
    while new in taken:
        new, count = f"{name}{joined}{count}", count + 1
    taken.add(new)
    return new


def procedure_of(model: Model, several: bool = False) -> Procedure:
    """Return the steps of a fitted model; ConfigError for an algorithm without a tree or a vote of trees.

    several : whether several outputs are allowed; ConfigError otherwise
    """
    state = model.fitted.state
    title = model.algorithm or model.fitted.cls  # the titles of algorithms are in a table that takes seconds to import
    if model.n_outputs > 1 and not several:
        raise ConfigError(
            f"{title} of {model.n_outputs} outputs cannot be explained or verified; fit a model to each column of y."
        )
    cells, columns = _encoded(model)
    scored = codes_of_scores(model)
    if model.parameters.get("missing") == "impute" and "fill_values_" in state:
        for j, (cell, level) in enumerate(columns):
            if level == NUMBER and cells[cell].fill is None and j not in scored:
                cells[cell] = replace(cells[cell], fill=float(state["fill_values_"][j]))
    target = "target" if model.columns is None else str(model.columns.target)
    known = state["classes_"].tolist() if model.has_codes else list(range(len(model.classes)))
    classes = Classes(tuple(int(code) for code in known), len(model.classes))
    start = Procedure(tuple(cells), (), model.classes, MEAN, title, target)
    forest, tree = state.get("forest_"), state.get("tree_")
    if steps_of := KINDS[model.fitted.kind].steps:
        procedure: Procedure = resolved(steps_of)(model, start.cells, columns, classes)
        return _at_threshold(replace(procedure, title=title, target=target), model)
    if hasattr(forest, "state"):
        return _at_threshold(_core_forest(model, start, columns, classes), model)
    if "trees_" in state:
        trees = tuple(_hyperplanes(tree, columns, scored, classes) for tree in state["trees_"])
        return _at_threshold(replace(start, trees=trees), model)
    if hasattr(tree, "coef_"):
        steps = _hyperplanes(tree, columns, scored, classes)
    elif hasattr(tree, "children_left"):
        steps = _cart(tree, columns)
    else:
        raise ConfigError(
            f"{title} cannot be exported or explained, only its predictions can be had (oblique predict); {EXPORTABLE} "
            "can."
        )
    return _at_threshold(replace(start, trees=(steps,), voting=None), model)


def _core_forest(model: Model, start: Procedure, columns: Sequence[tuple[int, int]], classes: Classes) -> Procedure:
    """Return a forest of the core with votes, numbers or scores in leaves. start : all fields but trees and voting"""
    state = model.fitted.state
    values, probabilities, base = (state.get(name) for name in ("leaf_values_", "leaf_probabilities_", "baseline_"))
    first, trees = 0, []
    for tree_state in state["forest_"].state():
        leaf_range = slice(first, first + len(tree_state["label"]))
        if values is None:
            leaves = _voters(tree_state, classes, None if probabilities is None else probabilities[leaf_range])
        elif classes.n:
            leaves = [Leaf(scores=Scores(classes.known, classes.scores(row), ())) for row in values[leaf_range]]
        else:
            leaves = [_numbers_in(numbers, columns=columns) for numbers in values[leaf_range]]
        trees.append(_forest_tree(tree_state, columns, len(start.cells), leaves))
        first = leaf_range.stop
    start = replace(start, trees=tuple(trees))
    if base is not None:
        return replace(start, voting=SUM, base=classes.scores(base) if classes.n else tuple(base.tolist()))
    # Probabilities of leaves are averaged, also if the leaves have no models.
    if values is not None or probabilities is not None:
        return start
    prior, known = float(state.get("probability_strength_", 0.0)), len(classes.known)
    beforehand = classes.spread([prior / known] * known) if prior else ()
    voting = str(model.parameters["voting"])
    return replace(start, voting=voting, prior=beforehand, votes=len(trees) + prior)


def _at_threshold(procedure: Procedure, model: Model) -> Procedure:
    """Return the procedure with the threshold of a two-class model, if it has one."""
    if model.threshold is None:
        return procedure
    if procedure.is_forest and procedure.voting != SUM:
        raise ConfigError(
            f"{procedure.title} with a threshold cannot be exported or explained, only its predictions can be had "
            "(oblique predict); fit it without --threshold, or take a tree."
        )
    code, share = model.classes.index(model.threshold.label), model.threshold.share
    if procedure.has_scores:
        return replace(procedure, threshold=(code, share))
    leaves = (
        leaf and replace(leaf, label=code if leaf.shares[code] >= share else 1 - code) for leaf in procedure.tree.leaves
    )
    return replace(procedure, trees=(replace(procedure.tree, leaves=tuple(leaves)),))


@dataclass(frozen=True)
class Classes:
    """known : codes of the model for the classes that the estimator knows, in its order; n : classes of the model"""

    known: tuple[int, ...]
    n: int

    def spread(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return values of the estimator's classes as values of all classes of the model, 0 for the others."""
        by_code = dict(zip(self.known, map(float, values), strict=True))
        return tuple(by_code.get(code, 0.0) for code in range(self.n))

    def scores(self, values: NDArray[Any]) -> tuple[float, ...]:
        """Return scores of all known classes: for two, an estimator has only the second score, and the first is 0."""
        return (*[0.0] * (len(self.known) - len(values)), *map(float, values))


# ---- columns ---------------------------------------------------------------------------------------------------------


def _unit(column: Column) -> str:
    """Return the unit of a column's numbers, if the training table has one."""
    if column.date:
        return f"days since 1970-01-01, dates as {column.date}"
    if column.of:
        return f"1 where {column.of} is a bound, else 0"
    return "minutes" if set(column.written) & set(IN_MINUTES) else column.unit


def columns_of(model: Model) -> list[tuple[int, int]]:
    """Return the cell of every column that the estimator sees, and its level: NUMBER, a code, or MISSING."""
    return _encoded(model)[1]


def _encoded(model: Model) -> tuple[list[Cell], list[tuple[int, int]]]:
    """Return cells in the user's units with their fills, and the cell and level of every column of the estimator."""
    encoder = model.encoder
    if model.columns is not None:
        cells = [Cell(feature.name, tuple(feature.levels), unit=_unit(feature)) for feature in model.columns.features]
    else:
        levels = {} if encoder else (model.fitted.state.get("levels_") or {})
        cells = [Cell(name, tuple(map(str, levels.get(j, ())))) for j, name in enumerate(model.feature_names)]
    if encoder is None:
        return cells, [(j, NUMBER) for j in range(len(cells))]
    for positions, fills in ((encoder.quantitative, encoder.medians), (encoder.qualitative, encoder.usual)):
        for j, fill in zip(positions.tolist(), () if fills is None else fills.tolist(), strict=False):
            cells[j] = replace(cells[j], fill=float(fill))
    columns = [(j, NUMBER) for j in encoder.quantitative.tolist()]
    if encoder.levels is None:
        return cells, columns + [(j, NUMBER) for j in encoder.qualitative.tolist()]
    for j, codes in zip(encoder.qualitative.tolist(), encoder.levels, strict=True):
        known = [MISSING if math.isnan(code) else int(code) for code in codes.tolist()]
        columns += [(j, code) for code in known]
        if not cells[j].levels:  # a data set of the catalogue, which holds the level names
            cells[j] = replace(cells[j], levels=tuple(str(code) for code in range(max([*known, 0]) + 1)))
    return cells, columns


def codes_of_scores(model: Model) -> dict[int, tuple[int, ...]]:
    """Return by column of levels that the tree scores: the code in the cell for each code of the estimator."""
    levels = model.fitted.state.get("levels_") or {}
    bare = model.columns is None and model.encoder is None
    return {j: tuple(range(len(known)) if bare else map(int, known)) for j, known in levels.items()}


# ---- trees -----------------------------------------------------------------------------------------------------------


def _hyperplanes(
    tree: Any, columns: Sequence[tuple[int, int]], codes: dict[int, tuple[int, ...]], classes: Classes
) -> Steps:
    """Return a tree of `tree/structure.py`, whose sums have four lanes: feature j is in lane j mod 4."""
    # A single term needs no lanes.
    alone = tree.is_regression and int(np.count_nonzero(tree.coef_, axis=1).max()) <= 1
    # A merged tree may have a leaf without training rows.
    shares = None if tree.is_regression else np.nan_to_num(tree.shares)

    def split(node: int) -> Split:
        lanes: list[list[Term]] = [[] for _ in range(1 if alone else 4)]
        for j in np.flatnonzero(tree.coef_[node]).tolist():
            coef = float(tree.coef_[node, j])
            terms = [Term(coef, *columns[j])]
            if j in codes:
                scores = tree.level_scores[node, tree.level_columns[j]]
                cell = columns[j][0]
                terms = [Term(coef * float(s), cell, c) for s, c in zip(scores, codes[j], strict=True) if s]
            lanes[j % len(lanes)] += terms
        side = None if tree.missing_left is None else bool(tree.missing_left[node])
        return Split(tuple(map(tuple, lanes)), float(tree.thresholds[node]), side)

    def leaf(node: int) -> Leaf:
        if shares is None:
            return _equation(tree, node, columns)
        label, counts = classes.known[int(tree.labels[node])], classes.spread(tree.counts[node])
        has_model = tree.leaf_models is not None and tree.left[node] < 0
        scores = _scores(tree, node, columns, codes, classes) if has_model else None
        return Leaf(label, classes.spread(shares[node]), counts, int(tree.n_rows[node]), scores=scores)

    return _steps(tree.left, tree.right, split, leaf)


def _scores(
    tree: Any, node: int, columns: Sequence[tuple[int, int]], codes: dict[int, tuple[int, ...]], classes: Classes
) -> Scores:
    """Return the model of a leaf, in the order of the columns that the estimator sees, without columns that have no
    coefficients."""
    models = tree.equations.leaf_models if tree.is_regression else tree.leaf_models
    parts, intercept = [], models.intercept[node].copy()

    def scaled(j: int, most: float = FARTHEST_SQUARED) -> Scaled:
        return Scaled(*columns[j], float(models.center[j]), float(models.scale[j]), low=-most, high=most)

    for term, weights in zip(models.terms, models.weights(node).T, strict=True):
        if not weights.any():
            continue
        j = term.feature
        factors = [scaled(j, FARTHEST)]
        if term.kind == LEVEL:
            factors = [Scaled(columns[j][0], codes[j][term.level], 0.0, 1.0)]
        elif term.kind == HINGE:
            scale = float(models.scale[j]) * (-1.0 if term.other == BELOW else 1.0)
            factors = [replace(factors[0], center=term.knot, scale=scale, low=0.0)]
        elif term.kind == PRODUCT:
            factors = [scaled(j), scaled(term.other)]
        elif term.kind == SQUARE:
            factors = [scaled(j)] * 2
            weights = weights * HALF_ROOT
            intercept -= weights
        parts.append(Part(tuple(factors), tuple(weights.tolist())))
    return Scores(classes.known, tuple(intercept.tolist()), tuple(parts), tree.missing_left is not None)


def _equation(tree: Any, node: int, columns: Sequence[tuple[int, int]]) -> Leaf:
    """Return a leaf of a regression tree."""
    models, n_rows = tree.equations, int(tree.n_rows[node])

    def output_leaf(equations: Any) -> Leaf:
        coefs, bounds = equations.coef[node], equations.bounds_of(node)
        terms = tuple(Term(float(coefs[j]), *columns[j]) for j in np.flatnonzero(coefs).tolist())
        if equations.leaf_models is not None:
            scores = _scores(tree, node, columns, {}, Classes((0,), 1))
            return Leaf(n_rows=n_rows, intercept=scores.intercept[0], scores=scores, bounds=bounds)
        return Leaf(n_rows=n_rows, terms=terms, intercept=float(equations.intercept[node]), bounds=bounds)

    if models.n_outputs == 1:
        return output_leaf(models)
    return Leaf(n_rows=n_rows, outputs=tuple(output_leaf(models.of_output(k)) for k in range(models.n_outputs)))


def _cart(tree: Any, columns: Sequence[tuple[int, int]]) -> Steps:
    """Return the steps of scikit-learn's regression tree."""
    missing_left = tree.__getstate__()["nodes"]["missing_go_to_left"]

    def split(node: int) -> Split:
        lane = (Term(1.0, *columns[tree.feature[node]]),)
        return Split((lane,), double_of_single(float(tree.threshold[node])), bool(missing_left[node]))

    def leaf(node: int) -> Leaf:
        return _numbers_in(tree.value[node], int(tree.n_node_samples[node]))

    return _steps(tree.children_left, tree.children_right, split, leaf)


def _numbers_in(values: NDArray[Any], n_rows: int = 0, columns: Sequence[tuple[int, int]] = ()) -> Leaf:
    """Return a leaf with a number, or one per output.

    values : (1,) or (k, 1) numbers, or (p + 3,) or (k, p + 3) bounded equations, as of `equations_of`
    """

    def output_leaf(numbers: list[float]) -> Leaf:
        if len(numbers) == 1:
            return Leaf(n_rows=n_rows, intercept=numbers[0])
        *coefs, intercept, least, most = numbers
        terms = tuple(Term(coef, *column) for coef, column in zip(coefs, columns, strict=True) if coef)
        return Leaf(n_rows=n_rows, terms=terms, intercept=intercept, bounds=(least, most))

    each = tuple(output_leaf(numbers) for numbers in values.reshape(-1, values.shape[-1]).tolist())
    return each[0] if len(each) == 1 else Leaf(n_rows=n_rows, outputs=each)


def double_of_single(threshold: float) -> float:
    """Return the largest number whose nearest single-precision number is at most `threshold`.

    scikit-learn compares rows in single precision. Rounding keeps order, so a single comparison in double precision
    with this number decides the same. By hand: 2**24 + 0.5 gives 2**24 + 1, which rounds down to even. Infinity,
    the threshold that separates missing values from all others, gives the largest finite number.
    """
    if threshold == math.inf:
        return sys.float_info.max
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    if not math.isfinite(float(above)):
        return float(threshold)
    middle = 0.5 * float(below) + 0.5 * float(above)
    return middle if float(np.float32(middle)) <= threshold else math.nextafter(middle, -math.inf)


def _forest_tree(state: Any, columns: Sequence[tuple[int, int]], n_cells: int, leaves: Sequence[Leaf]) -> Steps:
    """Return a tree of `Forest.state()`; its sums begin with their first term. leaves : in numerical order"""
    left = np.asarray(state["left"])
    starts = np.asarray(state["rotation_start"]).tolist()
    rotated = tuple(
        _lane(state["rotation_coef"], state["rotation_feature"], range(starts[q], starts[q + 1]), columns)
        for q in range(len(starts) - 1)
    )
    places = [(n_cells + q, NUMBER) for q in range(len(rotated))] if rotated else columns
    width = int(state["width"])

    def split(node: int) -> Split:
        term, threshold = int(state["term"][node]), float(state["threshold"][node])
        if term < 0:
            return Split(((Term(1.0, *places[~term]),),), threshold)
        at = range(term * width, (term + 1) * width)
        return Split((_lane(state["coef"], state["feature"], at, places),), threshold)

    def leaf(node: int) -> Leaf | None:
        return None if left[node] >= 0 else leaves[~left[node]]

    return _steps(np.where(left >= 0, left, -1), np.where(left >= 0, left + 1, -1), split, leaf, rotated)


def _voters(state: Any, classes: Classes, probabilities: Any) -> list[Leaf]:
    """Return the leaves of a voting tree of `Forest.state()`. probabilities : of the leaves; None for row shares"""
    first, leaves = np.asarray(state["leaf_start"]), []
    for number, label in enumerate(np.asarray(state["label"]).tolist()):
        held = range(int(first[number]), int(first[number + 1]))
        weights, total = [0.0] * len(classes.known), 0.0
        for i in held:
            weights[state["leaf_class"][i]] = float(state["leaf_weight"][i])
            total += float(state["leaf_weight"][i])
        pure = len(held) == 1
        shares = [1.0 if pure and weight else weight / total for weight in weights]
        if probabilities is not None:
            shares = probabilities[number].tolist()
        leaves.append(Leaf(classes.known[label], classes.spread(shares), classes.spread(weights)))
    return leaves


def _lane(coef: Any, feature: Any, at: Iterable[int], places: Sequence[tuple[int, int]]) -> Lane:
    # A product of any finite number with 0 adds nothing.
    return tuple(Term(float(coef[i]), *places[feature[i]]) for i in at if coef[i])


def _steps(
    left: NDArray[Any],
    right: NDArray[Any],
    split: Callable[[int], Split],
    leaf: Callable[[int], Leaf | None],
    rotated: tuple[Lane, ...] = (),
) -> Steps:
    children = tuple(int(child) for child in left)
    splits = tuple(split(node) if child >= 0 else None for node, child in enumerate(children))
    leaves = tuple(leaf(node) for node in range(len(children)))
    return Steps(children, tuple(int(child) for child in right), splits, leaves, rotated)
