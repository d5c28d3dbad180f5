"""Pruning: from a tree to a smaller tree, and the registry of rules that estimators choose from.

Minimal cost-complexity pruning is that of thesis 1.7.1 (Breiman et al. 1984); reduced-error and pessimistic pruning are
those of Quinlan (1987), critical-value pruning that of Mingers (1987), named there as alternatives. Minimum-error
pruning with m-probabilities is that of Cestnik and Bratko (1991), minimum-description-length pruning that of Mehta,
Rissanen and Agrawal (1995), for hyperplanes."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oblique_cli.errors import ConfigError, PluginError, quoted
from oblique_cli.foreign import error_text
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.constraints import Boolean, Constraint, Integer, Real
from oblique_cli.ground.registry import Registry, misfit, source_of
from oblique_cli.ground.row_groups import spread_of_sums
from oblique_cli.parameters import Declared, Parameter, parameter
from oblique_cli.tree.description_length import NODE, class_bits, split_bits
from oblique_cli.tree.structure import Tree

ByGroup = tuple[Array, Array]  # (G, K) misclassified weight of each group of rows, (G,) what the groups weigh

PRICE, PRICED_ROWS = 0.01, 1000
TIE = 1e-12  # complexities closer than this collapse in one step (Breiman et al. 1984)


def price_of(price: float | str, n: int) -> float:
    """Return the price of twice the leaves for n training rows: "auto" is PRICE up to PRICED_ROWS rows, and beyond them
    falls as standard errors do."""
    return PRICE * min(1.0, (PRICED_ROWS / n) ** 0.5) if isinstance(price, str) else price


@dataclass(frozen=True, eq=False)
class PruningPath:
    """Weakest-link sequence of a tree, with n_leaves (K,). Member k has a leaf for each node with node_alpha (n_nodes,)
    (-inf at leaves) <= alphas[k]; alphas (K,) rise from -inf, the full tree, to that of the root alone."""

    alphas: Array
    node_alpha: Array
    n_leaves: NDArray[np.int64]

    @property
    def between(self) -> Array:
        """Geometric means of neighboring complexities, (K,), at which trees of folds are cut (CART)."""
        positive = np.maximum(self.alphas, 0.0)
        return np.append(np.sqrt(positive[:-1] * positive[1:]), np.inf)

    def member(self, tree: Tree, k: int) -> Tree:
        """Return member k of the sequence."""
        return tree.collapse(self.node_alpha <= self.alphas[k])


def cost_complexity_path(tree: Tree) -> PruningPath:
    """Return the weakest-link sequence by the costs of the payload: the misclassified share of the training weight, or
    the residual sum of squares as a share of the root's (Breiman et al. 1984, section 8.5)."""
    return complexity_path(tree, tree.payload.costs(tree))


def complexity_path(tree: Tree, errors: Array) -> PruningPath:
    """Return the weakest-link sequence: repeatedly collapse the internal nodes of smallest alpha(t) = (R(t) - R(T_t)) /
    (leaves(T_t) - 1), R(t) = errors[t], (n_nodes,); ties within 1e-12 collapse together."""
    return path_of(tree, np.asarray(tree.walker.weakest_links(np.ascontiguousarray(errors), TIE)))


def critical_value_path(tree: Tree) -> PruningPath:
    """Return the sequence by critical values of the split score (Mingers 1987): a branch is a leaf if the scores of all
    its splits are at most alpha. A split of low score is retained if a split below it has a higher score."""
    strongest = np.where(tree.is_leaf, -np.inf, tree.gains)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        strongest[node] = max(strongest[node], strongest[tree.left[node]], strongest[tree.right[node]])
    return path_of(tree, strongest)


def path_of(tree: Tree, node_alpha: Array) -> PruningPath:
    """Return the sequence in which every branch collapses at the alpha of its root, (n_nodes,), -inf at leaves."""
    # A node below one of smaller alpha is removed before its turn, so only the running minimum from the root matters.
    effective = np.where(tree.is_leaf, -np.inf, node_alpha)
    for node in np.flatnonzero(~tree.is_leaf):
        for child in (tree.left[node], tree.right[node]):
            if not tree.is_leaf[child]:
                effective[child] = min(effective[child], effective[node])
    internal = np.sort(effective[~tree.is_leaf])
    if len(internal) == 0:
        return PruningPath(np.array([-np.inf]), node_alpha, np.array([1]))
    # A step ends when the next alpha is larger by more than a tie.
    last_of_step = np.append(np.diff(internal) > TIE, True)
    alphas = np.concatenate([[-np.inf], internal[last_of_step]])
    still_internal = len(internal) - np.searchsorted(internal, alphas, side="right")
    return PruningPath(alphas, node_alpha, 1 + still_internal)


def sequence_errors(
    tree: Tree, path: PruningPath, alphas: Array, X: Array, y: NDArray[np.int32], weights: Array | None = None
) -> Array:
    """Return the misclassified weight of every T(alpha) on given rows. alphas : (m,) ascending; returns (m,)."""
    rows = np.ascontiguousarray(X, dtype=np.float64), np.ascontiguousarray(y, np.int32), weights
    return np.asarray(tree.walker.sequence_errors(path.node_alpha, tree.labels, np.ascontiguousarray(alphas), *rows))


def smallest_within(errors: Array, total: float, standard_errors: float, by_group: ByGroup | None = None) -> int:
    """Return the last member (the smallest tree) whose error is within c standard errors of the smallest error, with
    standard error sqrt(q (1 - q) / total) at the smallest rate q (thesis 1.7.1).
    errors : (K,) misclassified weight of `total`; by_group : errors (G, K) and weights (G,) of groups of rows, for rows
    whose errors are independent between groups only"""
    q = float(errors.min()) / total
    error = np.sqrt(q * (1.0 - q) / total)
    if by_group is not None:
        error = spread_of_sums(by_group[0][:, int(errors.argmin())], by_group[1])
    limit = q + standard_errors * error
    return int(np.flatnonzero(errors / total <= limit + 1e-12)[-1])


def errors_by_group(
    tree: Tree,
    path: PruningPath,
    alphas: Array,
    X: Array,
    y: NDArray[np.int32],
    weights: Array | None,
    groups: NDArray[Any],
) -> ByGroup:
    """Return the misclassified weight of every T(alpha) on each group's rows, and the weight of each group.
    alphas : (m,) ascending; groups : (n,) of the rows"""
    masks = [groups == group for group in np.unique(groups)]
    parts = [LabeledRows(X[mask], y[mask], None if weights is None else weights[mask]) for mask in masks]
    errors = [sequence_errors(tree, path, alphas, *part) for part in parts]
    return np.array(errors), np.array([part.total for part in parts])


def squared_errors(tree: Tree, path: PruningPath, alphas: Array, X: Array, y: Array) -> Array:
    """Return the squared error of every row under every T(alpha). alphas : (m,) rising; returns (n, m)."""
    stops = np.asarray(tree.apply_limits(X, alphas, path.node_alpha))
    is_new = np.diff(stops, axis=1, prepend=-1) != 0  # a row stops at few nodes, and each is predicted once
    rows = np.nonzero(is_new)[0]
    losses = tree.payload.losses(tree.payload.answers(tree, X[rows], stops[is_new]), y[rows])
    return np.asarray(losses[np.cumsum(is_new) - 1].reshape(is_new.shape))


def chosen_alpha(
    tree: Tree,
    X: Array,
    y: Array,
    parts: Sequence[Rows],
    grown: Callable[[Rows], Tree],
    standard_errors: float,
    groups: NDArray[Any] | None = None,
) -> float:
    """Return the complexity of a regression tree chosen by cross-validation and the c-SE rule, -inf for the full tree.
    Trees of the folds are cut at the path's `between`; the standard error is over all rows, or over independent groups
    (n,).
    parts : disjoint held-out rows of each fold; grown : rows -> the tree of these rows"""
    path = cost_complexity_path(tree)
    if len(path.alphas) < 2 or len(parts) < 2:
        return -np.inf
    trees = [grown(np.setdiff1d(np.arange(len(y)), out)) for out in parts]
    errors = np.concatenate([
        squared_errors(part, cost_complexity_path(part), path.between, X[out], y[out])
        for part, out in zip(trees, parts, strict=True)
    ])  # fmt: skip
    means = errors.mean(axis=0)
    best = int(np.flatnonzero(means <= means.min())[-1])
    error_of_mean = float(errors[:, best].std(ddof=1)) / np.sqrt(len(errors))
    if groups is not None:
        member = np.unique(groups[np.concatenate(parts)], return_inverse=True)[1]
        error_of_mean = spread_of_sums(np.bincount(member, errors[:, best]), np.bincount(member, np.ones(len(member))))
    chosen = int(np.flatnonzero(means <= means[best] + standard_errors * error_of_mean)[-1])
    return float(path.alphas[chosen])


def fixed_alpha(tree: Tree, alpha: float) -> Tree:
    """Return the member of the sequence at complexity `alpha` (in units of the training misclassification rate)."""
    return tree.collapse(cost_complexity_path(tree).node_alpha <= alpha)


def cheapest(tree: Tree, as_leaf: Array, as_split: Array, tie: float = 1e-12) -> Tree:
    """Return the pruned tree of least cost, the smallest on a tie.
    as_leaf, as_split : (n_nodes,) cost of every node as a leaf and as a split; costs within `tie` are equal"""
    cost = as_leaf.copy()
    collapse = np.zeros(tree.n_nodes, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        below = as_split[node] + cost[tree.left[node]] + cost[tree.right[node]]
        collapse[node] = as_leaf[node] <= below + tie
        if not collapse[node]:
            cost[node] = below
    return tree.collapse(collapse)


# ---- rules -----------------------------------------------------------------------------------------------------------


class LabeledRows(NamedTuple):
    """Rows of known class. X : (n, p); codes : (n,) of classes, or numbers in regression; weights : (n,) or None"""

    X: Array
    codes: NDArray[Any]
    weights: Array | None

    @property
    def total(self) -> float:
        """The weight of the rows."""
        return float(len(self.X)) if self.weights is None else float(self.weights.sum())

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Codes of groups of dependent rows, (n,); None for independent rows."""
        return None


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The training rows of a tree, for a rule that divides them.

    rows    the rows that the tree was grown on
    grow    number of folds -> an iterator over them: a tree grown on the rows of all other folds, and the fold's rows;
            each call divides the rows anew"""

    rows: LabeledRows
    grow: Callable[[int], Iterator[tuple[Tree, LabeledRows]]]


NO_ROWS, KEPT_ROWS, TRAINING_ROWS = "none", "kept", "training"


class RuleParameters(Declared, kw_only=True):
    """Parameters of the rules in this module, and of trees; a parameter of several rules has one meaning."""

    pruning_folds: int = parameter(default=10, allowed=Integer(2), help='Folds of "cv".')
    pruning_repeats: int = parameter(
        default=1, allowed=Integer(1), help='Number of divisions into folds by "cv"; the errors are averaged.'
    )
    standard_errors: float = parameter(
        default=0.0,
        allowed=Real(0.0),
        help='c of the c-SE rule for "cost_complexity", "critical_value" and "cv" (thesis 1.7.1; 0 in every '
        "experiment).",
    )
    prune_root: bool = parameter(
        default=True,
        allowed=Boolean(),
        help='Whether "cost_complexity" may leave the root alone; the program OC1, version 3, keeps its split.',
    )
    ccp_alpha: float = parameter(
        default=0.0,
        allowed=Real(0.0),
        help='Complexity at which "ccp_alpha" prunes, in units of the training misclassification rate; above 0 "none" '
        "prunes with it, too.",
    )
    prior_weight: float = parameter(
        default=2.0,
        allowed=Real(0.0),
        help='m of "minimum_error": the weight, in rows, of the root\'s class shares at every node (Cestnik and Bratko '
        "1991).",
    )
    tree_weight: float = parameter(
        default=0.25,
        allowed=Real(0.0),
        help='Weight of a bit of the tree in "description_length", compared with a bit of the classes of its rows; 1 '
        "in the paper.",
    )


class PruningRule(Declared, BaseEstimator, ABC):
    """A way to prune. A subclass is one rule, registered in PRUNINGS. Its class attributes:

    rows         which rows it needs besides the tree: NO_ROWS; KEPT_ROWS, held out from growth, at least one; or
                 TRAINING_ROWS, which it divides by cross-validation
    as_grown     whether it returns every tree as it is

    Its docstring begins with its summary, and each of its parameters is declared once (`oblique_cli.parameters`).
    Parameters that several rules share are one parameter of an estimator and mean the same to all of them; none has the
    name of another parameter of a tree."""

    rows: ClassVar[str] = ""
    as_grown: ClassVar[bool] = False

    @abstractmethod
    def prune(self, tree: Tree, rows: Any) -> Tree:
        """Return the pruned tree. rows : None, `LabeledRows` or `CrossValidation`, by the class attribute `rows`."""


def pruned(rule: PruningRule, tree: Tree, rows: Any) -> Tree:
    """Return the tree pruned by a rule; PluginError, with the rule's file, if the result is not a `Tree`."""
    pruned_tree = rule.prune(tree, rows)
    if not isinstance(pruned_tree, Tree):
        raise PluginError(
            f"{source_of(type(rule))}: {type(rule).__name__}.prune must return a Tree. Got {quoted(pruned_tree)}."
        )
    return pruned_tree


def _fault(rule: Any) -> str | None:
    """Return the fault of a rule as text that follows its name, or None."""
    if not (isinstance(rule, type) and issubclass(rule, PruningRule)):
        return "is no subclass of PruningRule"
    if rule.rows not in (NO_ROWS, KEPT_ROWS, TRAINING_ROWS):
        options = f"{NO_ROWS!r}, {KEPT_ROWS!r} or {TRAINING_ROWS!r}"
        return f"does not say which rows it needs; set its attribute rows to {options}"
    if inspect.isabstract(rule):
        return "has no method prune(tree, rows), so it would prune nothing"
    if not isinstance(rule.as_grown, bool):
        return f"has as_grown {rule.as_grown!r}, which must be True or False"
    if not isinstance(rule.constraints, Mapping):
        return f"has constraints {rule.constraints!r}, which must be a mapping of the names of its parameters"
    try:
        made = rule()
        parameters = made.get_params(deep=False)
    except Exception as error:
        return (
            "cannot be made without arguments; give every parameter a default, and keep it as an attribute "
            f"({error_text(error)})"
        )
    if fault := misfit(made.prune, "tree", "rows"):
        return f"has a method prune that {fault}"
    for name in sorted(parameters.keys() ^ rule.constraints.keys(), key=str):
        where = "constructor" if name in rule.constraints else "constraints"
        return f"has a parameter {name!r} that is missing in its {where}"
    for name, value in parameters.items():
        constraint = rule.constraints[name]
        if name in _RESERVED:
            return _TAKEN.format(name)
        if not isinstance(constraint, Constraint):
            return f"has a parameter {name!r} without a Constraint that says what its value may be"
        if not constraint.holds(value):
            return f"has the default {value!r} for {name!r}, which must be {constraint.describe()}"
        for other, registered in PRUNINGS.items():
            if registered.constraints.get(name, constraint) != constraint:
                return f"has a parameter {name!r} that may be something else than that of pruning {other!r}"
    if not (vars(rule).get("__doc__") or "").strip():
        return "has no docstring, whose first line says in lists what it does"
    return None


_RESERVED: set[str] = set()


def reserve(parameters: Mapping[str, Parameter]) -> None:
    """Reserve a tree's parameter names, except those of the rules here; ConfigError if a rule uses one."""
    others = {parameter.also.name for parameter in parameters.values() if parameter.also}
    _RESERVED.update((parameters.keys() | others) - RuleParameters.parameters.keys())
    for name, rule in PRUNINGS.items():
        if taken := sorted(_RESERVED & rule.parameters.keys()):
            raise ConfigError(f"{source_of(rule)}: pruning {name!r} {_TAKEN.format(taken[0])}.")


_TAKEN = "has a parameter {!r}, which is one of the tree; give it another name"


PRUNINGS: Registry[type[PruningRule]] = Registry("pruning", "oblique list prunings", _fault)


R = TypeVar("R", bound=type[PruningRule])


def pruning_rule(name: str) -> Callable[[R], R]:
    """Decorator that registers a subclass of `PruningRule` as the value `name` of `pruning`."""

    def keep(rule: R) -> R:
        PRUNINGS.register(name)(rule)
        return rule

    return keep


@PRUNINGS.register("none")
class NoPruning(PruningRule):
    """The tree as grown."""

    rows = NO_ROWS
    as_grown = True

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the tree."""
        return tree


@PRUNINGS.register("cost_complexity")
class CostComplexity(RuleParameters, PruningRule, takes=("standard_errors", "prune_root")):
    """Minimal cost-complexity pruning on rows kept from growth, c-SE rule (Breiman et al. 1984; thesis 1.7.1)."""

    rows = KEPT_ROWS

    def prune(self, tree: Tree, rows: LabeledRows) -> Tree:
        """Return the smallest member of the sequence within c standard errors of the best; the tree without rows."""
        path = self.sequence(tree)
        if rows.total <= 0.0:
            return tree
        errors = sequence_errors(tree, path, path.alphas, *rows)
        by_group = None if rows.groups is None else errors_by_group(tree, path, path.alphas, *rows, rows.groups)
        return path.member(tree, smallest_within(errors, rows.total, self.standard_errors, by_group))

    def sequence(self, tree: Tree) -> PruningPath:
        """Return the sequence of trees to choose from."""
        if self.prune_root or tree.n_leaves == 1:
            return cost_complexity_path(tree)
        costs = tree.payload.costs(tree)
        costs[0] = np.inf  # the root is the last link, and the sequence ends before it
        path = complexity_path(tree, costs)
        return PruningPath(path.alphas[:-1], path.node_alpha, path.n_leaves[:-1])


@PRUNINGS.register("critical_value")
class CriticalValue(CostComplexity, takes=("standard_errors",)):
    """Critical-value pruning of splits of low score, chosen on rows kept from growth, c-SE rule (Mingers 1987)."""

    def sequence(self, tree: Tree) -> PruningPath:
        """Return the sequence by critical values."""
        return critical_value_path(tree)


@PRUNINGS.register("reduced_error")
class ReducedError(PruningRule):
    """Reduced-error pruning on rows kept from growth (Quinlan 1987)."""

    rows = KEPT_ROWS

    def prune(self, tree: Tree, rows: LabeledRows) -> Tree:
        """Return the smallest of the most accurate subtrees: a branch collapses unless its root errs more."""
        X, y, weights = rows
        wrong = np.zeros(tree.n_nodes)
        w = np.ones(len(y)) if weights is None else weights
        X = np.ascontiguousarray(X, dtype=np.float64)
        # Each row counts at every node of its path.
        here = tree.apply(X).astype(np.int64)
        active = np.arange(len(y))
        while len(active):
            nodes = here[active]
            missed = tree.labels[nodes] != y[active]
            np.add.at(wrong, nodes[missed], w[active][missed])
            here[active] = tree.parents[nodes]
            active = active[here[active] >= 0]
        return cheapest(tree, wrong, np.zeros(tree.n_nodes))


@PRUNINGS.register("pessimistic")
class Pessimistic(PruningRule):
    """Pessimistic pruning by corrected training errors (Quinlan 1987)."""

    rows = NO_ROWS

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the tree without branches that are not better by a standard error.

        Half an error is added per leaf; a branch with E errors and L leaves has E' = E + L / 2 with standard error
        sqrt(E' (n - E') / n). It becomes a leaf if its root's own errors + 1/2 are at most E' plus that, from the root
        down, so nodes below a collapsed node are not examined."""
        totals = tree.counts.sum(axis=1)
        errors = tree.errors.copy()
        leaves = np.ones(tree.n_nodes)
        branch = errors.copy()
        for node in np.flatnonzero(~tree.is_leaf)[::-1]:
            branch[node] = branch[tree.left[node]] + branch[tree.right[node]]
            leaves[node] = leaves[tree.left[node]] + leaves[tree.right[node]]
        corrected = branch + leaves / 2.0
        deviation = np.sqrt(corrected * np.maximum(totals - corrected, 0.0) / totals)
        collapse = ~tree.is_leaf & (errors + 0.5 <= corrected + deviation + 1e-12)
        return tree.collapse(collapse)


@PRUNINGS.register("cv")
class CrossValidatedComplexity(
    RuleParameters, PruningRule, takes=("pruning_folds", "pruning_repeats", "standard_errors")
):
    """Minimal cost-complexity pruning by cross-validation of the training rows (Breiman et al. 1984, section 3.4.2)."""

    rows = TRAINING_ROWS

    def prune(self, tree: Tree, rows: CrossValidation) -> Tree:
        """Cut the trees of the folds at the geometric mean of neighboring complexities of the main tree.

        The member of least total error is chosen by the c-SE rule. Errors of a row in several repetitions are averaged;
        the standard error is that of the number of rows, since repetitions add no rows."""
        path = cost_complexity_path(tree)
        folds = min(self.pruning_folds, len(rows.rows.X))
        if folds < 2 or len(path.alphas) < 2:
            return tree
        cuts = path.between
        errors = np.zeros(len(cuts))
        of_groups: list[ByGroup] = []
        for repeat in range(self.pruning_repeats):
            for part, left_out in rows.grow(folds):
                fold_path = cost_complexity_path(part)
                errors += sequence_errors(part, fold_path, cuts, *left_out)
                if repeat == 0 and left_out.groups is not None:
                    of_groups.append(errors_by_group(part, fold_path, cuts, *left_out, left_out.groups))
        errors /= self.pruning_repeats
        joined = (np.concatenate(some) for some in zip(*of_groups, strict=True))
        by_group = (next(joined), next(joined)) if of_groups else None
        return path.member(tree, smallest_within(errors, rows.rows.total, self.standard_errors, by_group))


@PRUNINGS.register("ccp_alpha")
class FixedComplexity(RuleParameters, PruningRule, takes=("ccp_alpha",)):
    """Minimal cost-complexity pruning at a given complexity (Breiman et al. 1984)."""

    rows = NO_ROWS

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the member of the sequence at that complexity."""
        return fixed_alpha(tree, self.ccp_alpha)


@PRUNINGS.register("minimum_error")
class MinimumError(RuleParameters, PruningRule, takes=("prior_weight",)):
    """Least expected error by m-probabilities of the training rows (Cestnik and Bratko 1991)."""

    rows = NO_ROWS

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the tree without branches that are not expected to err less.

        At a node of n rows, n_k of class k, class k has probability (n_k + m P_k) / (n + m), where P_k is the share of
        class k at the root (Niblett and Bratko 1986: other probabilities). The error of a leaf is 1 minus the
        probability of its class: here the most frequent class of its rows, in the paper the most probable class."""
        n, m = tree.counts.sum(axis=1), self.prior_weight
        prior = tree.counts[0] / n[0]
        at_label = np.take_along_axis(tree.counts, tree.labels[:, None], axis=1)[:, 0]
        # Expected errors times rows are additive over branches.
        wrong = n * (1.0 - (at_label + m * prior[tree.labels]) / (n + m))
        return cheapest(tree, wrong, np.zeros(tree.n_nodes), 1e-12 * float(n[0]))


@PRUNINGS.register("description_length")
class DescriptionLength(RuleParameters, PruningRule, takes=("tree_weight",)):
    """Fewest bits for the tree and the classes of its training rows (Mehta, Rissanen and Agrawal 1995)."""

    rows = NO_ROWS

    def prune(self, tree: Tree, rows: None) -> Tree:
        """Return the tree without branches that need more bits than they save.

        The code consists of one bit per node, the hyperplanes of splits, and the classes of the rows of leaves. A
        larger weight of the tree's bits never gives a larger tree; Quinlan (1993, chapter 5) uses 1/2."""
        as_leaf = self.tree_weight * NODE + class_bits(tree.counts)
        return cheapest(tree, as_leaf, self.tree_weight * (NODE + split_bits(tree)), 1e-9)
