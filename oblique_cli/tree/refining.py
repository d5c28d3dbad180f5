"""Refinement of trees of hyperplanes: tree alternating optimization (Carreira-Perpinan & Tavallali 2018).

A tree is first grown by any heuristic, then improved as a whole: one node after another gets its best hyperplane with
all others fixed. A `Space` does this: `PlaneSpace` for trees of classes, by `core/refinement` over standardized
features, and refining_equations.py for regression trees. This module has the path over penalties and the choice of
penalty and start by cross-validation for both: the payload of a tree defines its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.ground.geometry import level_codes
from oblique_cli.ground.magnitudes import exponents, measured
from oblique_cli.tree.payloads import SHARES, Classes, LeafModels
from oblique_cli.tree.pruning import LabeledRows
from oblique_cli.tree.structure import Tree, TreeBuilder, numbered

Planes = dict[str, NDArray[Any]]  # a tree in the form of the core, over the columns of a `PlaneSpace`

SURROGATES = ("logistic", "squared_hinge")
REFINEMENTS = ("none", "tao")
EQUAL = 1e-12  # cross-validation losses closer than this share are equal


class Run(NamedTuple):
    """One run of the optimization.
    penalty : cost of a unit of |w|_1, with |w|_2 = 1, as a share of the training weight; sweeps : passes over all
    nodes; objective : (steps,) cost of the leaves (`Payload.costs`) plus the penalties, at the start and after each
    update; sweep, node : (steps,) of each; node below 0 for an update of the leaves"""

    penalty: float
    sweeps: int
    converged: bool
    objective: Array
    sweep: Ints
    node: Ints


@dataclass(frozen=True)
class Settings:
    """Settings of refinement.
    surrogate : loss whose minima are the proposed planes; max_sweeps, threads : of a run; max_terms : most features of
    a proposed plane, None for no limit"""

    surrogate: str = "logistic"
    max_sweeps: int = 40
    tolerance: float = 1e-6
    split_leaves: bool = False
    threads: int = 1
    max_terms: int | None = None


class LeafPrior(NamedTuple):
    """Logistic models in leaves under refinement.
    scores : (C, q + 1) start of every leaf; columns : (n, q) of the models for the training rows; penalty : ridge on a
    leaf's change from the start, in the unit of the weights of the `PlaneSpace`; made : scores (n_nodes, C, q + 1) ->
    the models of a tree"""

    scores: Array
    columns: Array
    penalty: float
    made: Callable[[Array], LeafModels]


class Space(ABC):
    """Training rows on which trees are refined; a state is a mutable form of a tree."""

    @abstractmethod
    def begin(self, tree: Tree) -> Any:
        """Return the state of a tree."""

    @abstractmethod
    def step(self, state: Any, penalty: float, settings: Settings, leaves: LeafPrior | None) -> tuple[Any, Run]:
        """Return the refined state and the record of the run."""

    @abstractmethod
    def end(self, state: Any, start: Tree, leaves: LeafPrior | None) -> Tree:
        """Return the tree of a state. start : the tree before refinement"""

    def unchanged(self, state: Any, before: Any) -> bool:
        """Return whether a step has left a state unchanged."""
        return False


class PlaneSpace(Space):
    """Training rows for refinement in the core: standardized features, one column for each level of a qualitative one.

    A level's column is 1 in its rows, so that a plane may give every level any score; the tree stores these as
    `level_scores`. NaN in a quantitative feature is a missing value: the node's `missing_left` sends the row, and the
    surrogate uses the mean. A level not seen in training is a row of zeros, as in prediction.

    X : (n, p), quantitative features finite or NaN; codes : (n,) below n_classes
    weights : (n,) positive, or None
    levels : p counts, 0 for a quantitative feature
    numbers : (n, k) targets of variances near 1, whose means are the leaves' predictions; then there is one class"""

    def __init__(
        self,
        X: Array,
        codes: Ints,
        n_classes: int,
        weights: Array | None = None,
        levels: Sequence[int] | None = None,
        numbers: Array | None = None,
    ) -> None:
        n, p = X.shape
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.n_classes = n_classes
        self.numbers = None if numbers is None else np.ascontiguousarray(numbers)
        self.levels = (0,) * p if levels is None else tuple(levels)
        # In units of the smallest weight, as in growth, so that counts do not depend on the scale of the weights.
        self.weights = np.ones(n) if weights is None else np.ascontiguousarray(weights / weights.min(), np.float64)
        self.total = float(self.weights.sum())
        self.features: list[int] = []  # of each column
        columns = []
        for j, count in enumerate(self.levels):
            if count == 0:
                columns.append(self.X[:, j])
            else:
                feature_codes = level_codes(self.X[:, j], count)
                columns += [(feature_codes == level).astype(np.float64) for level in range(count)]
            self.features += [j] * max(count, 1)
        self._of_level = np.array(self.levels)[self.features] > 0  # whether a column is that of a level
        wide = np.column_stack(columns)
        absent = np.isnan(wide)
        self._powers = exponents(wide)
        wide = measured(wide, self._powers)
        known = np.where(absent, 0.0, self.weights[:, None])
        present = np.where(absent, 0.0, wide)
        share = known / np.maximum(known.sum(axis=0), np.finfo(float).tiny)
        self._mean = (share * present).sum(axis=0)
        spread = np.sqrt((share * (present - self._mean) ** 2).sum(axis=0))
        # A column that varies by rounding only is constant: no plane uses it.
        largest = np.abs(present).max(axis=0)
        self._scale = np.where(spread > 1e-13 * largest, spread, 0.0)
        usable = np.where(self._scale > 0.0, self._scale, 1.0)
        Z = np.where(absent | (self._scale == 0.0), 0.0, (wide - self._mean) / usable)
        self.Z = np.ascontiguousarray(Z)
        self.absent = np.ascontiguousarray(absent) if absent.any() else None
        self._problems = _core.ReducedProblems()

    def end(self, state: Any, start: Tree, leaves: LeafPrior | None) -> Tree:
        """Return the tree of some arrays, with models in its leaves."""
        models = None
        if leaves is not None:
            scores = leaves.scores + state["models"].reshape(-1, *leaves.scores.shape)
            models = leaves.made(np.where((state["left"] < 0)[:, None, None], scores, 0.0))
        return self.tree(state, start.missing_left is not None, as_it_is=leaves is not None, models=models)

    def unchanged(self, state: Any, before: Any) -> bool:
        """Return whether all arrays are equal."""
        return state.keys() == before.keys() and all(np.array_equal(state[name], before[name]) for name in state)

    def begin(self, tree: Tree) -> Planes:
        """Return the arrays of a tree over these features in the core's form."""
        coef = tree.coef_[:, self.features].copy()
        coef[:, self._of_level] *= tree.level_scores
        largest = int(self._powers.max())  # a plane may be scaled freely
        coef = measured(coef, largest - self._powers)
        offset = -measured(tree.thresholds, largest) + coef @ self._mean
        w = coef * self._scale
        size = np.sqrt((w * w).sum(axis=1))
        # A plane this far from all rows, in standard deviations, sends them all to one side.
        some = size > np.abs(offset) * np.finfo(float).tiny ** 0.5
        w[some] /= size[some, None]
        w[~some] = 0.0
        b = np.where(some, offset / np.where(some, size, 1.0), np.sign(offset))
        missing_left = np.zeros(tree.n_nodes, dtype=bool) if tree.missing_left is None else tree.missing_left
        return {
            "left": tree.left,
            "right": tree.right,
            "w": np.ascontiguousarray(w),
            "b": np.ascontiguousarray(np.where(tree.is_leaf, 0.0, b)),
            "missing_left": np.ascontiguousarray(missing_left),
            "labels": tree.labels,
        }

    def step(
        self, state: Planes, penalty: float, settings: Settings, leaves: LeafPrior | None = None
    ) -> tuple[Planes, Run]:
        """Return the refined arrays and the record of the run.
        penalty : share of the training weight; leaves : models in place of labels"""
        arguments: dict[str, Any] = dict(state)
        if leaves is not None:
            arguments |= {"leaf_prior": leaves.scores, "leaf_x": leaves.columns, "leaf_penalty": leaves.penalty}
        result = _core.refine(
            self.Z,
            self.absent,
            self.codes,
            self.weights,
            self.n_classes,
            **arguments,
            penalty=penalty * self.total,
            surrogate=settings.surrogate,
            max_sweeps=settings.max_sweeps,
            tolerance=settings.tolerance,
            split_leaves=settings.split_leaves,
            n_threads=settings.threads,
            max_terms=settings.max_terms or 0,
            feature_of=np.array(self.features, dtype=np.int32),
            numbers=self.numbers,
            problems=self._problems,
        )
        objective = np.append(result["before"], result["objective"]) / self.total
        steps = (np.append(0, result["sweep"]), np.append(-2, result["node"]))
        run = Run(penalty, result["sweeps"], result["converged"], objective, *(part.astype(np.int32) for part in steps))
        arrays = {name: result[name] for name in (*state, "models") if name in result}
        arrays["missing_left"] = arrays["missing_left"].astype(bool)
        # Without unreachable nodes, children numbered after their parents.
        order, left, right = numbered(arrays["left"], arrays["right"])
        packed = {name: np.ascontiguousarray(values[order]) for name, values in arrays.items()}
        return packed | {"left": left, "right": right}, run

    def tree(
        self, planes: Planes, missing: bool = False, as_it_is: bool = False, models: LeafModels | None = None
    ) -> Tree:
        """Return the tree over the original features, with the counts of the training rows.
        missing : whether it accepts missing values; as_it_is : whether to keep splits between leaves of equal label;
        models : of the leaves, by the nodes of the arrays"""
        w, b = planes["w"], planes["b"]
        coef = np.where(self._scale > 0.0, w / np.where(self._scale > 0.0, self._scale, 1.0), 0.0)
        threshold = coef @ self._mean - b
        smallest = int(self._powers.min())
        coef, threshold = measured(coef, self._powers - smallest), measured(threshold, -smallest)
        narrow, scores = np.zeros((len(b), self.X.shape[1])), coef[:, self._of_level]
        narrow[:, np.equal(self.levels, 0)] = coef[:, ~self._of_level]
        # The coefficient of a qualitative feature is the size of its largest score, and scores are shares of it.
        of_scores = np.array(self.features)[self._of_level]
        for j in np.unique(of_scores):
            part = scores[:, of_scores == j]
            size = np.abs(part).max(axis=1, keepdims=True)
            scores[:, of_scores == j] = np.where(size > 0.0, part / np.where(size > 0.0, size, 1.0), 0.0)
            narrow[:, j] = size[:, 0]
        for norm in (np.inf, 2):  # tiny numbers have no squares
            size = np.linalg.norm(narrow, norm, axis=1)
            size[size == 0.0] = 1.0
            narrow /= size[:, None]
            threshold = threshold / size
        leaf = planes["left"] < 0
        missing_left = planes["missing_left"] & ~leaf if missing else None
        shape = (planes["left"], planes["right"], narrow, np.where(leaf, 0.0, threshold))
        nothing = np.zeros((len(b), self.n_classes)), np.zeros(len(b)), np.zeros(len(b), dtype=np.int64)
        payload = SHARES if models is None else Classes(leaf_models=models)
        bare = Tree(*shape, *nothing, self.levels, np.where(leaf[:, None], 0.0, scores), missing_left, payload)
        return counted(bare, self.X, self.codes, self.weights, as_it_is)


def counted(tree: Tree, X: Array, codes: Ints, weights: Array, as_it_is: bool = False) -> Tree:
    """Return a tree with the counts of given rows, without branches that no row reaches and, unless `as_it_is`, without
    splits between leaves of equal label."""
    n_classes = tree.counts.shape[1]
    counts, n_rows = np.zeros((tree.n_nodes, n_classes)), np.zeros(tree.n_nodes, dtype=np.int64)
    leaves = tree.apply(X)
    np.add.at(counts, (leaves, codes), weights)
    np.add.at(n_rows, leaves, 1)
    for node in range(tree.n_nodes - 1, 0, -1):
        parent = tree.parents[node]
        counts[parent] += counts[node]
        n_rows[parent] += n_rows[node]
    labels = counts.argmax(axis=1)
    # The common label of all leaves below a node, -1 if they differ.
    common = np.where(tree.is_leaf, labels, -1)
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[node]:
            below = {int(common[c]) for c in (tree.left[node], tree.right[node]) if n_rows[c]}
            common[node] = below.pop() if len(below) == 1 and not as_it_is else -1
    builder = TreeBuilder(tree.n_features, n_classes, tree.levels, tree.missing_left is not None)
    stack = [(0, builder.add(counts[0], int(n_rows[0])))]
    while stack:
        old, new = stack.pop()
        while common[old] < 0 and not (n_rows[tree.left[old]] and n_rows[tree.right[old]]):
            old = int(tree.left[old] if n_rows[tree.left[old]] else tree.right[old])
        if common[old] >= 0:
            continue
        children = [int(tree.left[old]), int(tree.right[old])]
        ids = [builder.add(counts[c], int(n_rows[c])) for c in children]
        missing_left = tree.missing_left is not None and bool(tree.missing_left[old])
        n = counts[old].sum()
        below_squares = sum(float((side * side).sum() / side.sum()) for side in counts[children])
        gain = float((below_squares - float((counts[old] * counts[old]).sum()) / n) / n)  # decrease of Gini impurity
        split = (tree.coef_[old], float(tree.thresholds[old]), gain, ids[0], ids[1])
        builder.split(new, *split, tree.level_scores[old], missing_left)
        stack.extend([(children[1], ids[1]), (children[0], ids[0])])
    counted_tree = builder.finish()
    if tree.leaf_models is None:
        return counted_tree
    was = np.zeros(counted_tree.n_nodes, dtype=np.intp)  # inner nodes and the old root have no models
    was[counted_tree.apply(X)] = leaves
    return counted_tree.with_leaf_models(tree.leaf_models.at(was))


class Path(NamedTuple):
    """Trees of rising penalty, each refined from the previous tree. runs[k] gave trees[k]."""

    trees: list[Tree]
    runs: list[Run]


def penalties_of(space: PlaneSpace, number: int) -> Array:
    """Return a geometric path of penalties, as shares of the training weight: from the weight of one row (a cut for one
    row is noise) to the weight outside the largest class, where no cut pays."""
    of_class = np.bincount(space.codes, weights=space.weights, minlength=space.n_classes)
    low = 1.0 / len(space.X)
    high = max(1.0 - float(of_class.max()) / space.total, 2.0 * low)
    return np.geomspace(low, high, number)


def along_path(
    tree: Tree, space: Space, penalties: Iterable[float], settings: Settings, leaves: LeafPrior | None = None
) -> Path:
    """Return the trees of rising penalties: the first refined from `tree`, each further tree from the previous one.
    leaves : models in the leaves, whose predictions replace labels"""
    state = space.begin(tree)
    path = Path([], [])
    for penalty in penalties:
        before = state
        state, run = space.step(state, float(penalty), settings, leaves)
        same = path.trees and space.unchanged(state, before)
        path.trees.append(path.trees[-1] if same else space.end(state, tree, leaves))
        path.runs.append(run)
    return path


def n_coefficients(tree: Tree) -> int:
    """Return the number of non-zero coefficients of all hyperplanes of a tree."""
    return int(np.count_nonzero(tree.coef_))


class Chosen(NamedTuple):
    """Choice of cross-validation.
    start, penalty : positions; error : (starts, penalties) mean losses; coefficients : (starts, penalties) mean number
    of non-zero coefficients; unrefined : (starts,) mean losses of the unrefined starts"""

    start: int
    penalty: int
    error: Array
    coefficients: Array
    unrefined: tuple[float, ...]


class Fold(NamedTuple):
    """One fold of a cross-validation. space : its training rows; test : the others; starts : a tree each, to refine"""

    space: Space
    test: LabeledRows
    starts: Sequence[Callable[[], Tree]]


def choose(folds: Iterable[Fold], penalties: Array, settings: Settings, standard_errors: float) -> Chosen:
    """Choose start and penalty by cross-validation: the fewest coefficients (then the smaller error, the earlier start,
    the larger penalty) within c standard errors sqrt(q (1 - q) / n) of the smallest error q, n the effective number of
    rows under weights. Each fold grows its own starts, on its own rows."""
    fold_results: list[tuple[list[list[float]], list[list[int]], list[float]]] = []
    total, squares = 0.0, 0.0
    for fold in folds:
        X, targets, test_weights = fold.test
        weights = np.ones(len(X)) if test_weights is None else test_weights
        total += float(weights.sum())
        squares += float(weights @ weights)
        paths = [(start := grow(), along_path(start, fold.space, penalties, settings).trees) for grow in fold.starts]
        lost = {
            id(tree): float(weights @ tree.payload.losses(tree.predicted(X), targets))
            for start, trees in paths
            for tree in (start, *trees)
        }
        fold_results.append((
            [[lost[id(tree)] for tree in trees] for _, trees in paths],
            [[n_coefficients(tree) for tree in trees] for _, trees in paths],
            [lost[id(start)] for start, _ in paths],
        ))  # fmt: skip
    error, coefficients, unrefined = (np.sum([result[at] for result in fold_results], axis=0) for at in range(3))
    error, coefficients, unrefined = error / total, coefficients / len(fold_results), unrefined / total
    best = float(error.min())
    spread = standard_errors * np.sqrt(best * (1.0 - best) * squares) / total if standard_errors else 0.0
    limit = (best + spread) * (1.0 + EQUAL)
    eligible = [(coefficients[s, k], error[s, k], s, -k) for s, k in np.argwhere(error <= limit).tolist()]
    _, _, s, k = min(eligible)
    return Chosen(s, -k, error, coefficients, tuple(unrefined.tolist()))


@dataclass(frozen=True, eq=False)
class Refined:
    """Refined tree.
    start : the tree before; path : trees of rising penalties, the last one the result, empty if the start is kept;
    penalties : all candidates; chosen : by cross-validation, None with a single candidate"""

    start: Tree
    path: Path
    penalties: Array
    chosen: Chosen | None

    @property
    def tree(self) -> Tree:
        """Refined tree, or the start if it is kept."""
        return self.path.trees[-1] if self.path.trees else self.start

    @property
    def run(self) -> Run:
        """Run that gave the refined tree."""
        return self.path.runs[-1]

    def summary(self) -> str:
        """Return a sentence on the refinement: penalty, sizes, training errors before and after, sweeps."""
        if not self.path.runs:
            single = self.start.n_leaves == 1
            return f"not refined: {'the tree is a single leaf' if single else 'cross-validation prefers the start'}"
        trees = (self.start, self.tree)
        if self.start.is_regression:
            sums = (max(tree.equations.rss[tree.is_leaf].sum(), 0.0) / tree.n_rows[0] for tree in trees)
            before, after = map(float, map(np.sqrt, sums))
            error_change = f"training RMSE {before:.4g} to {after:.4g}"
        else:
            before, after = (float(tree.errors[tree.is_leaf].sum() / tree.counts[0].sum()) for tree in trees)
            error_change = f"training error {100 * before:.1f} to {100 * after:.1f} %"
        sweeps = sum(run.sweeps for run in self.path.runs)
        end = "" if self.run.converged else ", stopped before it converged"
        return (
            f"refined at penalty {self.run.penalty:.4g}: {self.start.n_leaves} to {self.tree.n_leaves} leaves, "
            f"{n_coefficients(self.start)} to {n_coefficients(self.tree)} coefficients, {error_change} in {sweeps} "
            f"sweep{'s' * (sweeps != 1)}{end}"
        )


def refined(
    space: Space,
    starts: Sequence[Callable[[], Tree]],
    folds: Iterable[Fold],
    penalties: Array,
    standard_errors: float,
    settings: Settings,
    may_stay: bool = False,
) -> Refined:
    """Refine the best of several trees at the best penalty.
    starts : each grows its tree on all rows; folds : the same on parts of the rows; penalties : (k,) rising, chosen by
    cross-validation; may_stay : whether to keep an unrefined tree if no penalty has less error"""
    chosen = None
    if len(starts) > 1 or len(penalties) > 1:
        chosen = choose(folds, penalties, settings, standard_errors)
    start = starts[chosen.start if chosen else 0]()
    if may_stay and chosen and chosen.unrefined[chosen.start] <= chosen.error.min() * (1.0 + EQUAL):
        return Refined(start, Path([], []), penalties, chosen)
    last = chosen.penalty if chosen else 0
    return Refined(start, along_path(start, space, penalties[: last + 1], settings), penalties, chosen)


def random_tree(space: PlaneSpace, depth: int, rng: np.random.Generator, missing: bool = False) -> Tree:
    """Return a complete tree of random hyperplanes, each of which halves the rows of its node; a node that cannot be
    halved is a leaf.
    missing : whether the tree accepts missing values"""
    p = space.Z.shape[1]
    nodes: list[tuple[int, Array, float]] = []  # left child, or -1; direction; offset
    rows_of = [(np.arange(len(space.Z)), 0)]
    varying = space.Z.any(axis=0)
    for rows, level in rows_of:  # the list grows during the loop
        direction = np.asarray(rng.normal(size=p) * varying)
        size = float(np.sqrt(direction @ direction))
        split = False
        if level < depth and size > 0.0:
            direction /= size
            along = space.Z[rows] @ direction
            middle = float(np.median(along))
            left = along <= middle
            split = bool(left.any() and not left.all())
        if split:
            nodes.append((len(rows_of), direction, -middle))
            rows_of += [(rows[left], level + 1), (rows[~left], level + 1)]
        else:
            nodes.append((-1, np.zeros(p), 0.0))
    left_child = np.array([node[0] for node in nodes], dtype=np.int32)
    planes: Planes = {
        "left": left_child,
        "right": np.where(left_child < 0, -1, left_child + 1).astype(np.int32),
        "w": np.array([node[1] for node in nodes]),
        "b": np.array([node[2] for node in nodes]),
        "missing_left": np.ones(len(nodes), dtype=bool),
        "labels": np.zeros(len(nodes), dtype=np.int32),
    }
    return space.tree(planes, missing, as_it_is=True)
