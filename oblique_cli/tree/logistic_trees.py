"""Logistic model trees: a linear model of the classes at every node, pruning by the models' errors, refinement.

Landwehr, Hall and Frank (2005): the model of a node continues that of its parent, and the tree is pruned as CART is,
with the training errors of the models in place of those of constant leaves. There are two kinds of models:

- "logit_boost" (theirs): each step of LogitBoost adds a regression on one feature to the scores of every class. The
  number of steps is chosen once, by cross-validation at the root, and used at every node (their section 5.2).
- "ridge": the change from the parent's scores has an L2 penalty, so that a node of few rows stays close to its
  parent. The penalty is chosen together with the size of the tree.

With both, cross-validation may choose a tree of one leaf, which is logistic regression. With ridge models the
hyperplanes may then be refined by tree alternating optimization, with the models in the leaves
(core/refinement/leaf_fits.hpp).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log2
from typing import NamedTuple, Protocol

import numpy as np

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.tree.leaf_models import LINEAR, PAIRS, PARTS, SQUARES, ModelColumns, unit_of
from oblique_cli.tree.payloads import ABOVE, BELOW, near, paired, softmax, standardized
from oblique_cli.tree.pruning import LabeledRows, PruningPath, complexity_path
from oblique_cli.tree.refining import LeafPrior, Path, PlaneSpace, Run, Settings, along_path, penalties_of
from oblique_cli.tree.structure import Tree

RIDGE, LOGIT_BOOST = "ridge", "logit_boost"
MODELS = (RIDGE, LOGIT_BOOST)
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # ridge penalties, in rows, candidates for cross-validation
MOST_STEPS, PATIENCE = 200, 50  # of LogitBoost; Landwehr et al. (2005), section 5.2
REFINED = 2  # number of starts that are refined: the best ones after pruning
SCREENED_AT = 3.0  # penalty of the models whose excess the search for products and hinges uses
MOST_PAIRS, ROUNDS = 60, 3  # products and hinges that are columns at most, and rounds in which they are chosen
MOST_FACTORS = 60  # features of largest effects whose products and hinges are screened
MOST_KNOTS = 5  # quantiles of a feature that are knots of hinges
LEAST_DEVIATION = 1e-3  # of a hinge, in standard deviations of its feature
LEAST_SHARE = 1e-300  # least share, so that its logarithm is finite
EQUAL = 1e-9  # cross-validation losses closer than this are equal


@dataclass(frozen=True)
class How:
    """Settings of models.
    penalty : ridge on the change from the parent, in rows of weight `unit_of`, None for LogitBoost of `steps` steps;
    terms : of TERMS; chosen : columns of `ModelRows.columns` that may have a term, None for all"""

    penalty: float | None
    steps: int = 0
    terms: str = LINEAR
    chosen: tuple[int, ...] | None = None


class ModelRows:
    """Training rows in the form of node models.
    X : (n, p), NaN for missing; codes : (n,) below n_classes; weights : (n,) positive, or None; levels : p counts, 0
    for a quantitative feature; products, hinges : whether these are among the columns of PAIRS"""

    def __init__(
        self,
        X: Array,
        codes: Ints,
        n_classes: int,
        weights: Array | None = None,
        levels: Sequence[int] | None = None,
        *,
        products: bool = True,
        hinges: bool = False,
    ) -> None:
        n, p = X.shape
        counts = (0,) * p if levels is None else tuple(levels)
        self.X, self.n_classes = X, n_classes
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.unit = 1.0 if weights is None else unit_of(weights)
        self.weights = np.ones(n) if weights is None else np.ascontiguousarray(weights / self.unit)
        self.total = float(self.weights.sum())
        self.seen = ModelColumns(counts, X, self.weights)
        self._products, self._hinges = products, hinges
        self._of_rows: dict[str, Array] = {}

    def columns(self, terms: str, X: Array | None = None) -> Array:
        """Return the columns of the models, (n, q). X : (n, p) rows other than the training rows"""
        if terms == PAIRS and terms not in self._of_rows:
            screen_pairs(self, SQUARES, self._products, self._hinges)
        if X is not None:
            return self.seen.of(X, terms)
        if terms not in self._of_rows:
            self._of_rows[terms] = self.seen.of(self.X, terms)
        return self._of_rows[terms]

    def one_leaf(self, A: Array) -> tuple[Array, Array]:
        """Return the model (C, q + 1) of all rows with these columns (n, q), and its weighted excess (n, C)."""
        everything, root = np.zeros(len(A), dtype=np.int32), np.array([-1], dtype=np.int32)
        inputs = (A, self.codes, self.weights, self.n_classes, everything, root, SCREENED_AT, 0, 1e-3)
        model = np.asarray(_core.node_models(*inputs))[0]
        excess = softmax(A @ model[:, :-1].T + model[:, -1])
        excess[np.arange(len(A)), self.codes] -= 1.0
        return model, excess * self.weights[:, None]


class OneLeaf(Protocol):
    """Rows whose products and hinges are screened: X (n, p), weights (n,), and the model of one leaf."""

    X: Array
    weights: Array
    seen: ModelColumns

    def one_leaf(self, A: Array) -> tuple[Array, Array]:
        """As of `ModelRows`."""


def screen_pairs(
    rows: OneLeaf, terms: str, products: bool, hinges: bool, most: int = MOST_PAIRS, rounds: int = ROUNDS
) -> None:
    """Add to `terms` as columns the products and hinges that lower the bound of the loss (Böhning 1992), or the squared
    error, of one leaf most.

    They are chosen in rounds, each by the excess of a model with all pairs of earlier rounds. Factors are the features
    of the largest coefficients in the first of these models, of values or squares. A round takes at most one hinge of a
    feature. Knots are at quantiles. Without squares among the terms they are products, too."""
    seen, with_squares = rows.seen, terms == SQUARES
    chosen: list[_Pair] = []
    A = seen.of(rows.X, terms)
    for number in range(rounds):
        model, excess = rows.one_leaf(A)
        if number == 0:
            effects = np.zeros(rows.X.shape[1])
            for features, first in ((seen.used, 0), (seen.bent if with_squares else [], len(seen.used))):
                effects[features] += (model[:, first : first + len(features)] ** 2).sum(axis=0)
            factors = sorted(sorted(seen.used, key=lambda j: -effects[j])[:MOST_FACTORS])
            knots = {j: _knots(rows.X[:, j]) for j in factors if hinges and j in seen.bent}
        candidates = [hinge for j, at in knots.items() if (hinge := _best_hinge(rows, j, at, excess)) is not None]
        if products:
            candidates += _products(rows, factors, excess, not with_squares)
        present = {pair[1:4] for pair in chosen}
        candidates = [pair for pair in candidates if pair.fall > 0.0 and pair[1:4] not in present]
        chosen += sorted(candidates, key=lambda pair: -pair.fall)[: -(-most // rounds)]
        if not chosen:
            return
        _, first_of, second_of, at, mean, deviation = zip(*sorted(chosen, key=lambda pair: pair[1:4]), strict=True)
        pairs = np.array([first_of, second_of], dtype=np.int64).T
        seen.take_pairs(pairs, np.array(at), np.array(mean), np.array(deviation))
        A = seen.of(rows.X, PAIRS if with_squares else PARTS)


class _Pair(NamedTuple):
    """Candidate column.
    fall : of the bound; first, second, knot : as of `LeafModels`; mean, deviation : what standardizes it"""

    fall: float
    first: int
    second: int
    knot: float
    mean: float = 0.0
    deviation: float = 1.0


def _products(rows: OneLeaf, factors: Sequence[int], excess: Array, squared: bool) -> list[_Pair]:
    """Return all products of some features. excess : (n, C) weighted; squared : whether squares are among them"""
    z = near(standardized(rows.X[:, factors], rows.seen.center[factors], rows.seen.scale[factors]))
    bound = 0.5 * (z**2 * rows.weights[:, None]).T @ z**2 + SCREENED_AT
    falls = sum((((z * of_class[:, None]).T @ z) ** 2 for of_class in excess.T), np.zeros_like(bound)) / bound
    places = [*itertools.combinations(range(len(factors)), 2)]
    if squared:
        places += [(i, i) for i, j in enumerate(factors) if j in rows.seen.bent]
    return [_Pair(float(falls[i, j]), factors[i], factors[j], 0.0) for i, j in places]


def _best_hinge(rows: OneLeaf, j: int, knots: Array, excess: Array) -> _Pair | None:
    """Return the hinge of a feature that lowers the bound most, None without knots. excess : (n, C) weighted"""
    pairs = np.array([(j, side) for side in (ABOVE, BELOW) for _ in knots], dtype=np.int64).reshape(-1, 2)
    at, total = np.tile(knots, 2), float(rows.weights.sum())
    columns = paired(rows.X, rows.seen.center, rows.seen.scale, pairs, at)
    means = rows.weights @ columns / total
    deviations = np.sqrt(rows.weights @ (columns - means) ** 2 / total)
    falls = (((columns - means).T @ excess) ** 2).sum(axis=1)
    usable = deviations > LEAST_DEVIATION
    if not usable.any():
        return None
    falls = np.where(usable, falls / np.where(usable, deviations, 1.0) ** 2, 0.0) / (0.5 * total + SCREENED_AT)
    best = int(falls.argmax())
    of_values = (float(of[best]) for of in (at, means, deviations))
    return _Pair(float(falls[best]), j, int(pairs[best, 1]), *of_values)


def _knots(x: Array) -> Array:
    """Return at most MOST_KNOTS quantiles of a feature between its least and largest value, rising."""
    known = x[~np.isnan(x)]
    quantiles = np.quantile(known, np.arange(1, MOST_KNOTS + 1) / (MOST_KNOTS + 1), method="inverted_cdf")
    return np.unique(quantiles[(quantiles > known.min()) & (quantiles < known.max())])


class NodeModels:
    """Models (n_nodes, C, q + 1) of all nodes, parent's terms included, intercept last, and the training weight
    (n_nodes,) that each model misclassifies.
    path : the weakest-link sequence by these errors; near : models at another penalty, as starting values"""

    def __init__(
        self, tree: Tree, rows: ModelRows, how: How, tolerance: float = 1e-4, near: NodeModels | None = None
    ) -> None:
        self.tree, self.rows = tree, rows
        self._parent = tree.parents.astype(np.int32)
        self._parent[0] = -1
        columns, leaves = rows.columns(how.terms), tree.apply(rows.X)
        self.how = how
        of_rows = (rows.codes, rows.weights, rows.n_classes, leaves, self._parent)
        like = near is not None and (near.how.terms, near.how.chosen) == (how.terms, how.chosen)
        fitted_columns = [*(range(columns.shape[1]) if how.chosen is None else how.chosen), columns.shape[1]]
        start = np.ascontiguousarray(near.models[:, :, fitted_columns]) if near is not None and like else None
        some = columns if how.chosen is None else np.ascontiguousarray(columns[:, fitted_columns[:-1]])
        self.models: Array = np.zeros((tree.n_nodes, rows.n_classes, columns.shape[1] + 1))
        self.models[:, :, fitted_columns] = _core.node_models(some, *of_rows, how.penalty, how.steps, tolerance, start)
        self.wrong = np.asarray(_core.node_losses(columns, *of_rows, self.models)[0])

    @property
    def path(self) -> PruningPath:
        """Weakest-link sequence by the training errors of the models."""
        return complexity_path(self.tree, self.wrong / self.rows.total)

    def losses(self, test: LabeledRows) -> tuple[Array, Array]:
        """Return misclassified weight and log loss of each node's model on the rows that pass it, (n_nodes,) each."""
        weights = np.ones(len(test.X)) if test.weights is None else test.weights / self.rows.unit
        inputs = (self.rows.columns(self.how.terms, test.X), test.codes, weights, self.rows.n_classes)
        node_losses = _core.node_losses(*inputs, self.tree.apply(test.X), self._parent, self.models)
        return np.asarray(node_losses[0]), np.asarray(node_losses[1])

    def with_models(self) -> Tree:
        """Return the tree with the models of its leaves."""
        leaf = self.tree.is_leaf[:, None, None]
        models = self.rows.seen.as_leaf_models(np.where(leaf, self.models, 0.0), self.how.terms)
        return self.tree.with_leaf_models(models)


def forward_choice(tree: Tree, rows: ModelRows, how: How, most: int) -> tuple[int, ...]:
    """Return at most `most` columns of `rows.columns(how.terms)`, common to all models of a tree, by forward selection:
    each next column lowers the bound of the loss (Böhning 1992) most, summed over leaves and classes."""
    columns, leaves = rows.columns(how.terms), tree.apply(rows.X)
    places = [np.flatnonzero(leaves == leaf) for leaf in np.unique(leaves)]
    bounds = [0.5 * rows.weights[i] @ columns[i] ** 2 + float(how.penalty or 0.0) for i in places]
    chosen: list[int] = []
    while len(chosen) < min(most, columns.shape[1]):
        models = NodeModels(tree, rows, replace(how, chosen=tuple(chosen)), 1e-3).models
        falls = np.zeros(columns.shape[1])
        for i, bound in zip(places, bounds, strict=True):
            model = models[leaves[i[0]]]
            excess = softmax(columns[i] @ model[:, :-1].T + model[:, -1])
            excess[np.arange(len(i)), rows.codes[i]] -= 1.0
            falls += ((columns[i].T @ (excess * rows.weights[i][:, None])) ** 2).sum(axis=1) / bound
        falls[chosen] = -1.0
        chosen.append(int(falls.argmax()))
    return tuple(sorted(chosen))


def collapses(tree: Tree, path: PruningPath) -> tuple[Array, Array]:
    """Return the complexity (n_nodes,) at which each node becomes a leaf, and that at which its parent does."""
    alone = np.where(tree.is_leaf, -np.inf, path.node_alpha)
    above = np.full(tree.n_nodes, np.inf)
    for node in np.flatnonzero(~tree.is_leaf):
        alone[node] = min(alone[node], above[node])
        above[[tree.left[node], tree.right[node]]] = alone[node]
    return alone, above


def between(path: PruningPath) -> Array:
    """Return a complexity inside the range of every member: geometric means of neighbors, as in CART."""
    complexities = np.where(path.alphas < 0.0, path.alphas, path.between)
    complexities[-1] = np.inf
    return complexities


# ---- choice ----------------------------------------------------------------------------------------------------------


class LogisticFold(NamedTuple):
    """Fold of a cross-validation. rows, space : training rows; test : test rows; trees : one of each start"""

    rows: ModelRows
    space: PlaneSpace
    test: LabeledRows
    trees: Sequence[Tree]


class Candidate(NamedTuple):
    """Candidate tree of cross-validation.
    start : position; how : of its models; member : of the weakest-link sequence, -1 if the full tree is refined;
    penalty : position in the path of refinement, or -1; wrong, log_loss : shares of the held-out weight; leaves : of
    the tree on all rows; most : terms per class, None for all"""

    start: int
    how: How
    member: int
    penalty: int
    wrong: float
    log_loss: float
    leaves: float
    most: int | None = None

    def loss(self, weight: float, price: float = 0.0) -> float:
        """Return the objective. weight : of the log loss beside the misclassified share; price : of twice the leaves"""
        return self.wrong + weight * self.log_loss + price * log2(self.leaves)


@dataclass(frozen=True, eq=False)
class LogisticChoice:
    """Chosen logistic model tree, with all `candidates`.
    start : the tree as grown; run : the last run of refinement, whose objective is that of models with all terms;
    penalties : of the planes, along the path of refinement"""

    tree: Tree
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    start: Tree
    run: Run | None
    penalties: Array

    def summary(self) -> str:
        """Return a sentence on the choice and its cross-validation error."""
        how = self.chosen.how
        models = f"{how.steps} steps of LogitBoost" if how.penalty is None else f"ridge {how.penalty:g}"
        if self.chosen.most is not None:
            models += f" of at most {self.chosen.most} terms a class"
        way = "refined" if self.chosen.member < 0 else "pruned"
        validation = ""
        if len(self.candidates) > 1:
            validation = (
                f", error {100 * self.chosen.wrong:.1f} % and log loss {self.chosen.log_loss:.3f} in cross-validation "
                f"of {len(self.candidates)} trees"
            )
        plural = "leaves" if self.tree.n_leaves != 1 else "leaf"
        return f"{way}: {self.tree.n_leaves} {plural} with models by {models}{validation}"


def boosting_steps(folds: Iterable[tuple[ModelRows, LabeledRows]]) -> int:
    """Return the number of LogitBoost steps with the least error at the root, the smallest of equals."""
    errors: list[Array] = []
    for rows, test in folds:
        weights = np.ones(len(test.X)) if test.weights is None else test.weights / rows.unit
        unseen = rows.columns(LINEAR, test.X)
        inputs = (rows.columns(LINEAR), rows.codes, rows.weights, unseen, test.codes, weights, rows.n_classes)
        errors.append(rows.unit * np.asarray(_core.boosting_errors(*inputs, MOST_STEPS, PATIENCE)))
    if not errors:
        return MOST_STEPS
    shortest = min(map(len, errors))
    return int(np.argmin(sum(each[:shortest] for each in errors)))


@dataclass(frozen=True)
class Comparison:
    """Settings of the comparison of logistic model trees.
    settings : of refinement, None without; n_penalties : of its path; doubling_price : decrease of the loss required
    for twice the leaves, in the last choice; max_terms : most terms per class of ridge models; all_terms_price : models
    with more terms are taken if their loss is lower by more than this"""

    settings: Settings | None
    n_penalties: int
    log_loss_weight: float
    doubling_price: float = 0.0
    max_terms: int | None = None
    all_terms_price: float | None = None


def choose(
    rows: ModelRows,
    space: PlaneSpace,
    starts: Sequence[Callable[[], Tree]],
    folds: Sequence[LogisticFold],
    hows: Sequence[Sequence[How]],
    comparison: Comparison,
) -> LogisticChoice:
    """Return the logistic model tree of least cross-validation loss plus price of size.
    starts : each grows its tree on all rows; folds : empty without cross-validation; hows : paths of penalties of equal
    length by kind of models"""
    settings, log_loss_weight = comparison.settings, comparison.log_loss_weight
    max_terms, all_terms_price = comparison.max_terms, comparison.all_terms_price
    grown = [start() for start in starts]
    penalties = penalties_of(space, comparison.n_penalties)
    every = trials = [_Trial(s, tree, rows, folds) for s, tree in enumerate(grown)]
    candidates: list[Candidate] = []
    refined: dict[Candidate, list[Tree]] = {}

    def least_loss(trial: _Trial) -> float:
        return trial.best(log_loss_weight).loss(log_loss_weight)

    if len(trials) > REFINED and len(hows[0]) > 1:
        for trial in trials:
            candidates += trial.members(hows[0][len(hows[0]) // 2])
        trials = sorted(trials, key=least_loss)[:REFINED]
    places = {}
    for trial in trials:
        place = len(hows[0]) // 2
        for each in hows:
            if each[0].terms != PAIRS:  # its place is where models with squares begin
                place = trial.walk(each, place, log_loss_weight, candidates)
        places[trial] = place
    if hows[-1][0].terms == PAIRS:
        best_trial = min(trials, key=least_loss)
        most_loss = least_loss(best_trial)
        best_trial.walk(hows[-1], places[best_trial], log_loss_weight, candidates, most_loss)
    if settings is not None and folds:
        for trial in sorted(trials, key=least_loss)[:REFINED]:
            best = trial.best(log_loss_weight)
            refined |= _refinements(best.start, folds, best.how, penalties, settings)
    chosen = _least([*candidates, *refined], log_loss_weight, comparison.doubling_price)
    candidates += refined
    columns = rows.columns(chosen.how.terms).shape[1]
    most = columns if max_terms is None or not (folds or all_terms_price is None) else max_terms
    if most < columns and chosen.how.penalty is not None:
        trees = refined.get(chosen) or every[chosen.start].of_folds(chosen)
        candidates.append(sparse := _sparse(chosen, folds, trees, most))
        gained = sparse.loss(log_loss_weight) - chosen.loss(log_loss_weight)
        if all_terms_price is None or gained <= all_terms_price:
            chosen = sparse
    tree, run = grown[chosen.start], None
    if chosen.member >= 0:
        tree = every[chosen.start].paths[chosen.how].member(tree, chosen.member)
    elif settings is not None:
        path = refined_path(tree, rows, space, chosen.how, penalties[: chosen.penalty + 1], settings)
        tree, run = path.trees[-1], path.runs[-1]
    if chosen.most is not None:
        how = replace(chosen.how, chosen=forward_choice(tree, rows, chosen.how, chosen.most))
        final = NodeModels(tree, rows, how, 1e-10).with_models()
    else:
        final = tree if run else NodeModels(tree, rows, chosen.how, 1e-10).with_models()
    return LogisticChoice(final, chosen, tuple(candidates), grown[chosen.start], run, penalties)


def _sparse(dense: Candidate, folds: Sequence[LogisticFold], trees: Sequence[Tree], most: int) -> Candidate:
    """Return the candidate with models of few terms, chosen by each fold on its training rows. trees : of the folds"""
    if not folds:
        return dense._replace(most=most)
    wrong = log_loss = total = 0.0
    for fold, tree in zip(folds, trees, strict=True):
        how = replace(dense.how, chosen=forward_choice(tree, fold.rows, dense.how, most))
        models = NodeModels(tree, fold.rows, how)
        sums = [fold.rows.unit * float(of_node[tree.is_leaf].sum()) for of_node in models.losses(fold.test)]
        wrong, log_loss, total = wrong + sums[0], log_loss + sums[1], total + fold.test.total
    return dense._replace(wrong=wrong / total, log_loss=log_loss / total, most=most)


def _least(candidates: Sequence[Candidate], weight: float, price: float = 0.0) -> Candidate:
    """Return the candidate of least loss; among equals that of fewest leaves, then the first."""
    limit = min(c.loss(weight, price) for c in candidates) + EQUAL
    return min((c for c in candidates if c.loss(weight, price) <= limit), key=lambda c: c.leaves)


class _Trial:
    """Start under comparison: its tree on all rows and the trees of the folds, whose models are fitted for one penalty
    after another, each from the models of the previous penalty."""

    def __init__(self, start: int, tree: Tree, rows: ModelRows, folds: Sequence[LogisticFold]) -> None:
        self.start, self.tree, self.rows, self.folds = start, tree, rows, folds
        self.candidates: dict[How, list[Candidate]] = {}
        self.paths: dict[How, PruningPath] = {}
        self._near: list[NodeModels | None] = [None] * (1 + len(folds))

    def best(self, weight: float) -> Candidate:
        """Return the candidate of least loss."""
        return _least([c for members in self.candidates.values() for c in members], weight)

    def loss(self, how: How, weight: float) -> float:
        """Return the least loss of the members with these models."""
        return _least(self.candidates[how], weight).loss(weight)

    def members(self, how: How) -> list[Candidate]:
        """Return all new members of the weakest-link sequence; without folds the full tree."""
        if how in self.candidates:
            return []
        models = self._models(0, self.tree, self.rows, how)
        path = self.paths[how] = models.path
        alphas = between(path)
        wrong, log_loss, total = np.zeros(len(alphas)), np.zeros(len(alphas)), 0.0
        for i, fold in enumerate(self.folds):
            of_fold = self._models(1 + i, fold.trees[self.start], fold.rows, how)
            # A node is a leaf from the complexity at which it collapses to that at which its parent collapses.
            begin, end = (np.searchsorted(alphas, at) for at in collapses(of_fold.tree, of_fold.path))
            end[0] = len(alphas)
            for sums, of_node in zip((wrong, log_loss), of_fold.losses(fold.test), strict=True):
                change = np.zeros(len(alphas) + 1)
                np.add.at(change, begin, of_node)
                np.add.at(change, np.maximum(begin, end), -of_node)
                sums += fold.rows.unit * np.cumsum(change)[:-1]
            total += fold.test.total
        shares = wrong / (total or 1.0), log_loss / (total or 1.0)
        number = len(alphas) if self.folds else 1
        self.candidates[how] = [
            Candidate(self.start, how, k, -1, shares[0][k], shares[1][k], float(path.n_leaves[k]))
            for k in range(number)
        ]
        return list(self.candidates[how])

    def walk(
        self, path: Sequence[How], place: int, weight: float, candidates: list[Candidate], most_loss: float = np.inf
    ) -> int:
        """Add the members of a path of penalties from a place on, in both directions while the loss falls; return the
        place of least loss. most_loss : the path ends at its first place unless its loss is lower"""
        candidates += self.members(path[place])
        for step in (-1, 1) if self.loss(path[place], weight) < most_loss else ():
            while 0 <= place + step < len(path):
                candidates += self.members(path[place + step])
                if self.loss(path[place + step], weight) >= self.loss(path[place], weight):
                    break
                place += step
        return place

    def of_folds(self, chosen: Candidate) -> list[Tree]:
        """Return the trees of the folds, cut as a member of the sequence on all rows is."""
        alpha = between(self.paths[chosen.how])[chosen.member]
        trees = []
        for fold in self.folds:
            tree = fold.trees[self.start]
            fold_path = NodeModels(tree, fold.rows, chosen.how).path
            member = max(int(np.searchsorted(fold_path.alphas, alpha, side="right")) - 1, 0)
            trees.append(fold_path.member(tree, member))
        return trees

    def _models(self, place: int, tree: Tree, rows: ModelRows, how: How) -> NodeModels:
        models = self._near[place] = NodeModels(tree, rows, how, near=self._near[place])
        return models


def _refinements(
    start: int, folds: Sequence[LogisticFold], how: How, penalties: Array, settings: Settings
) -> dict[Candidate, list[Tree]]:
    """Return the full tree refined along a path of penalties, and the trees of the folds."""
    wrong, log_loss, leaves, total = np.zeros(len(penalties)), np.zeros(len(penalties)), np.zeros(len(penalties)), 0.0
    paths: list[Sequence[Tree]] = []
    for fold in folds:
        path = refined_path(fold.trees[start], fold.rows, fold.space, how, penalties, settings)
        paths.append(path.trees)
        tree_losses: dict[int, tuple[float, float]] = {}
        for i, tree in enumerate(path.trees):
            if id(tree) not in tree_losses:
                tree_losses[id(tree)] = losses(tree, fold.test)
            wrong[i] += tree_losses[id(tree)][0]
            log_loss[i] += tree_losses[id(tree)][1]
            leaves[i] += tree.n_leaves / len(folds)
        total += fold.test.total
    return {
        Candidate(start, how, -1, i, wrong[i] / total, log_loss[i] / total, float(leaves[i])): [
            trees[i] for trees in paths
        ]
        for i in range(len(penalties))
    }


def losses(tree: Tree, rows: LabeledRows) -> tuple[float, float]:
    """Return misclassified weight and log loss of a tree with models on some rows."""
    shares = tree.predicted_shares(rows.X)
    weights = np.ones(len(shares)) if rows.weights is None else rows.weights
    true_shares = np.maximum(shares[np.arange(len(shares)), rows.codes], LEAST_SHARE)
    return float(weights[shares.argmax(axis=1) != rows.codes].sum()), float(-(weights @ np.log(true_shares)))


def refined_path(
    tree: Tree, rows: ModelRows, space: PlaneSpace, how: How, penalties: Array, settings: Settings
) -> Path:
    """Return the trees of rising penalties, with models in their leaves."""
    everything = np.zeros(len(rows.X), dtype=np.int32)
    root = np.array([-1], dtype=np.int32)
    columns = rows.columns(how.terms)
    inputs = (columns, rows.codes, rows.weights, rows.n_classes, everything, root)
    scores = np.ascontiguousarray(np.asarray(_core.node_models(*inputs, how.penalty, tolerance=1e-10))[0])
    penalty = float(how.penalty or 0.0) * space.total / rows.total  # in the units of the space
    prior = LeafPrior(scores, columns, penalty, partial(rows.seen.as_leaf_models, terms=how.terms))
    return along_path(tree, space, penalties, settings, prior)
