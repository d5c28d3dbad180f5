"""A fitted model as cooperative games over its columns: the contribution of each column to every sum of a tree.

The core solves such games (`core/shapley/cubes.hpp`). It knows no levels, missing cells, fills or codes: here they
all become summands of one column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli import _core
from oblique_cli.ground.arrays import Array
from oblique_cli.models.procedure import MAJORITY, MISSING, NUMBER, Lane, Leaf, Part, Procedure, Scaled, Steps, Term

Item = TypeVar("Item")

# Outputs to explain: class shares, scores of models in leaves, or the predicted number.
PROBABILITY, SCORE, VALUE = "probability", "score", "value"


@dataclass(frozen=True, eq=False)
class Summands:
    """Terms of all splits of a tree, and the entry that each term belongs to."""

    coef: Array
    column: NDArray[np.int64]
    level: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    entry: NDArray[np.int64]  # rising; an entry is the contribution of one column to one sum
    n_entries: int

    def of(self, X: Array) -> Array:
        """Return the value of every entry for each row, (n, entries); infinite where a missing number decides."""
        values = X[:, self.column]
        gaps = np.isnan(values)
        summands = np.where(gaps, np.where(self.missing_left, -np.inf, np.inf), values * self.coef)
        by_level = self.level != NUMBER
        holds = np.where(self.level == MISSING, gaps, values == self.level)
        summands[:, by_level] = (self.coef * holds)[:, by_level]
        if len(self.entry) == self.n_entries:
            return np.ascontiguousarray(summands)
        starts = np.searchsorted(self.entry, np.arange(self.n_entries))
        added: Array = np.add.reduceat(summands, starts, axis=1)
        return added


class _Sums:
    """Sums of a tree in the order of growth: those of its nodes, then those of rotated features.

    A term has a slot: a column's number, the indicator of a level, or a rotated feature.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.slots: dict[tuple[int, int], int] = {}  # column and level -> slot
        self.starts, self.coefs, self.sources, self.lanes = [0], list[float](), list[int](), list[int]()

    def add(self, lanes: Sequence[Lane]) -> None:
        """Append a sum."""
        for number, lane in enumerate(lanes):
            for term in lane:
                rotated = term.cell - self.n_columns
                slot = ~rotated if rotated >= 0 else self.slots.setdefault((term.cell, term.level), len(self.slots))
                self.coefs.append(term.coef)
                self.sources.append(slot)
                self.lanes.append(number)
        self.starts.append(len(self.coefs))

    def arrays(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int32], NDArray[np.int32]]:
        """Return offsets, coefficients, sources and lanes of the terms as the core takes them."""
        sources, lanes = (np.array(numbers, np.int32) for numbers in (self.sources, self.lanes))
        return np.array(self.starts, np.int64), np.array(self.coefs, np.float64), sources, lanes


@dataclass(frozen=True, eq=False)
class TreeGame:
    """One tree as the core takes it, and the conversion of rows to summands.

    parts : of the models in leaves, in the order of their entries: cell and its contribution to the outputs; factors :
    of the products in leaves, two columns each
    """

    core: Any
    splits: Summands
    slots: tuple[tuple[int, int], ...]  # column and level of each value that splits add up in the order of growth
    parts: tuple[_Part, ...]
    factors: tuple[Scaled, ...]
    n_outputs: int

    def summands(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Return the summands of rows for splits, (n, entries), and for leaves, (n, entries * outputs), slots, and
        factors, (n, 2 * products)."""
        leaves = np.hstack([np.empty((len(X), 0)), *(part.of(X) for part in self.parts)])
        slots = [_holds(X[:, column], level) for column, level in self.slots]
        factors = [_deviations(column, X) for column in self.factors]
        first, second = (np.ascontiguousarray(np.array(of).reshape(len(of), len(X)).T) for of in (slots, factors))
        return self.splits.of(X), leaves, first, second


@dataclass(frozen=True, eq=False)
class _Part:
    """The contribution of one column to the outputs in a leaf: all its terms, scaled columns and their products."""

    cell: int
    terms: tuple[Term, ...]
    scaled: tuple[tuple[tuple[Scaled, ...], Array], ...]  # of `Part`s: columns and coefficients
    n_outputs: int

    def of(self, X: Array) -> Array:
        added = np.zeros((len(X), self.n_outputs))
        for term in self.terms:
            added[:, 0] += term.coef * _holds(X[:, term.cell], term.level)
        for columns, coef in self.scaled:
            added += np.prod([_deviations(column, X) for column in columns], axis=0)[:, None] * coef
        return added


def _deviations(column: Scaled, X: Array) -> Array:
    """Return a column in standard deviations, (n,)."""
    x = _holds(X[:, column.cell], column.level)
    return np.nan_to_num(np.clip((x - column.center) / column.scale, column.low, column.high), nan=0.0)


def _holds(values: Array, level: int) -> Array:
    """Return a column as a term on that level takes it."""
    if level == NUMBER:
        return values
    return (np.isnan(values) if level == MISSING else values == level).astype(np.float64)


def players_of(procedure: Procedure) -> list[int]:
    """Return the cell of each of `Procedure.columns`: a column of codes has the cell of its numbers."""
    return [*range(len(procedure.cells)), *(code_column.term.cell for code_column in procedure.coded)]


def game_of(procedure: Procedure, tree: Steps, output: str) -> TreeGame:
    """Return one tree as a game. output : as `outputs_of` names it"""
    players, n_outputs = players_of(procedure), n_free_outputs(procedure, output)
    terms: list[tuple[float, int, int, bool, int]] = []
    features: list[int] = []
    sums = _Sums(len(players))
    missing_left = np.zeros(tree.n_nodes, np.int32)
    starts, leaf_starts, product_starts = [0], [0], [0]
    parts: list[_Part] = []
    products: list[tuple[Part, Array]] = []
    intercepts = np.zeros((tree.n_nodes, n_outputs))
    thresholds = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes):
        if tree.left[node] >= 0:
            split = tree.split(node)
            thresholds[node], missing_left[node] = split.threshold, bool(split.missing_left)
            sums.add(split.lanes)
            plain_terms = [plain for term in split.terms for plain in unrotated(term, tree, len(players))]
            for cell, of_cell in grouped(plain_terms, lambda term: players[term.cell]).items():
                side = bool(split.missing_left)
                terms += [(term.coef, term.cell, term.level, side, len(features)) for term in of_cell]
                features.append(cell)
        else:
            sums.add(())
            intercepts[node], leaf_parts, leaf_products = _leaf(procedure, tree.leaf(node), output, n_outputs)
            parts, products = parts + leaf_parts, products + leaf_products
        starts.append(len(features))
        leaf_starts.append(len(parts))
        product_starts.append(len(products))
    for lane in tree.rotated:
        sums.add((lane,))
    columns = zip(*terms, strict=True) if terms else ((),) * 5
    types = (np.float64, np.int64, np.int64, np.bool_, np.int64)
    coef, column, level, sides, entry = (np.array(*pair) for pair in zip(columns, types, strict=True))
    factors = tuple(column for part, _ in products for column in part.columns)
    core = _core.Game(
        np.array(tree.left, np.int32), np.array(tree.right, np.int32), thresholds,
        np.array(starts, np.int64), np.array(features, np.int32),
        np.array(leaf_starts, np.int64), np.array([part.cell for part in parts], np.int32), intercepts,
        np.array(product_starts, np.int64), np.array([column.cell for column in factors], np.int32),
        np.array([coef for _, coef in products], np.float64).reshape(len(products), n_outputs),
        *sums.arrays(), np.array([players[column] for column, _ in sums.slots], np.int32), missing_left,
        len(procedure.cells),
    )  # fmt: skip
    summands = Summands(coef, column, level, sides, entry, len(features))
    return TreeGame(core, summands, tuple(sums.slots), tuple(parts), factors, n_outputs)


def grouped(items: Iterable[Item], cell_of: Callable[[Item], int]) -> dict[int, tuple[Item, ...]]:
    """Return the items of each cell, cells in the order of their first item."""
    groups: dict[int, list[Item]] = {}
    for item in items:
        groups.setdefault(cell_of(item), []).append(item)
    return {cell: tuple(of_cell) for cell, of_cell in groups.items()}


def unrotated(term: Term, tree: Steps, n_columns: int) -> list[Term]:
    """Return the terms that a term represents: itself, or those of its rotated feature."""
    if term.cell < n_columns:
        return [term]
    return [Term(term.coef * part.coef, part.cell, part.level) for part in tree.rotated[term.cell - n_columns]]


def _leaf(
    procedure: Procedure, leaf: Leaf, output: str, n_outputs: int
) -> tuple[Array, list[_Part], list[tuple[Part, Array]]]:
    """Return the constant of a leaf, the contributions of cells, and products of two cells with their coefficients."""
    if output == VALUE and leaf.scores is None:
        terms = grouped(leaf.terms, lambda term: term.cell)
        return np.array([leaf.intercept]), [_Part(cell, of_cell, (), 1) for cell, of_cell in terms.items()], []
    if output == PROBABILITY:
        if procedure.voting == MAJORITY:
            return np.arange(n_outputs) == leaf.label, [], []
        return np.array(leaf.shares[:n_outputs]), [], []
    assert leaf.scores is not None
    parts = []
    products = [part for part in leaf.scores.parts if len({column.cell for column in part.columns}) > 1]
    of_one_cell = [part for part in leaf.scores.parts if part not in products]
    for cell, of_cell in grouped(of_one_cell, lambda part: part.columns[0].cell).items():
        scaled = tuple((part.columns, centered(part.coef, n_outputs)) for part in of_cell)
        parts.append(_Part(cell, (), scaled, n_outputs))
    with_coefs = [(part, centered(part.coef, n_outputs)) for part in products]
    return centered(leaf.scores.intercept, n_outputs), parts, with_coefs


def centered(values: Sequence[float], n_outputs: int) -> Array:
    """Return the first scores less the mean of all scores, as adding a number to all scores leaves probabilities the
    same, or the only score, that of a number; (n_outputs,)."""
    array = np.array(values, np.float64)
    return np.asarray((array - array.mean() * (len(array) > 1))[:n_outputs])


def n_free_outputs(procedure: Procedure, output: str) -> int:
    """Return the number of free outputs of a game: the last of several follows from the constant sum."""
    count = len(outputs_of(procedure, output))
    return max(1, count - 1) if output != VALUE else count


def completed(values: Array, base: Array, n_outputs: int, output: str) -> tuple[Array, Array]:
    """Return values, (..., K), and base values, (K,), with the last output that games leave out."""
    if values.shape[-1] == n_outputs:
        return values, base
    total = 1.0 if output == PROBABILITY else 0.0
    last = -values.sum(axis=-1, keepdims=True)
    return np.concatenate([values, last], axis=-1), np.append(base, total - base.sum())


def outputs_of(procedure: Procedure, output: str) -> tuple[str, ...]:
    """Return the names of the outputs: classes, or the target of regression."""
    if output == VALUE:
        return (procedure.target,)
    if output == PROBABILITY:
        return procedure.classes
    return tuple(procedure.classes[code] for code in procedure.scored)
