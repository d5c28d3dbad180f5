"""Split of one node: the input of a heuristic, its proposals, and the exact search among them."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, PluginError, quoted
from oblique_cli.foreign import error_text
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Constraint, violation
from oblique_cli.ground.registry import Registry, fault_of_texts, has_docstring, misfit, source_of
from oblique_cli.parameters import Declared
from oblique_cli.tree.monotone import OPEN, Bounds, Signs

# Options of every family in the compiled core, set by growth. `Proposer.native_options` gives all others.
GROWTH_OPTIONS = frozenset(
    ("criterion", "min_parent", "epsilon", "max_depth", "max_leaf_nodes", "min_leaf", "strict_ties", "exhaustive")
) | frozenset(("seed", "polish", "max_terms", "split_cost"))


@dataclass(frozen=True, eq=False)
class Node:
    """The node as a heuristic sees it. Read only.

    X : (n, p) float64 C order; y : (n,) int32 codes; weights : (n,) or None; n_classes : of the whole problem
    seed, path : key of the node's random numbers: the tree's seed, and the turns from the root as bits behind a leading
        1, where 1 is right (in a tree grown bottom-up, the number of the merge). A node made by hand has no seed by
        default
    signs, bounds : monotone constraints, and the bounds of predictions at this node (monotone.py); None without"""

    X: Array
    y: NDArray[np.int32]
    weights: Array | None
    n_classes: int
    depth: int
    criterion: str
    ties: str = "tolerant"
    min_leaf: float = 1.0
    seed: int | None = None
    path: int = 1
    signs: Signs | None = None
    bounds: Bounds = OPEN

    @property
    def class_weights(self) -> Array:
        """Weight of each class at the node, (n_classes,)."""
        return np.bincount(self.y, weights=self.weights, minlength=self.n_classes).astype(np.float64)

    @property
    def tree_seed(self) -> int:
        """Seed of the tree, for a heuristic that draws numbers in the compiled core; ConfigError without a seed."""
        if self.seed is None:
            raise ConfigError("a node made by hand has no random numbers; give it a seed, as in Node(..., seed=0).")
        return self.seed

    def search_options(self, seed: int = 0) -> dict[str, Any]:
        """Return the options of the compiled core for a search at this node. seed : of its random numbers"""
        return {
            "criterion": self.criterion,
            "min_leaf": float(self.min_leaf),
            "strict_ties": self.ties == "strict",
            "exhaustive": False,
            "seed": seed,
        }

    @property
    def core_path(self) -> int:
        """Path of the node as the core stores it: beyond depth 63 two nodes may share a stream."""
        return self.path % 2**64

    def rng(self, *names: str | int) -> np.random.Generator:
        """Return a new generator of this node, the same for the same names; ConfigError if the node has no seed.

        names : purpose of the numbers, if one stream is not enough: rng("restart", 3). Equal names give equal numbers

        The stream depends only on the tree's seed, the node's path and the names. So a node's draws do not depend on
        other nodes or their order, and a tree that stops earlier is the top of the larger tree."""
        return seeds.generator(self.tree_seed, "node", f"{self.path:x}", *names)

    def of_class(self, code: int) -> tuple[Array, Array | None]:
        """Return rows and weights of one class."""
        part = self.of_rows(self.y == code)
        return part.X, part.weights

    def of_rows(self, rows: NDArray[Any]) -> Node:
        """Return the node with some of its rows. rows : their numbers, or a mask (n,)"""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weights=weights)

    @property
    def table(self) -> tuple[Array, NDArray[np.int32], Array | None, int]:
        """Rows, classes, weights and number of classes, as the compiled core takes them."""
        return self.X, self.y, self.weights, self.n_classes


@dataclass(frozen=True, eq=False)
class Candidates:
    """A group of directions in which to search a split, in the order in which they are proposed.

    Make one with `axes()`, `reflection(u)` or `directions(D, thresholds)`. A reflection is given by its vector u: the
    search projects the rows on u once and computes all p axes of the reflected space from that."""

    spec: tuple[Any, ...]

    @classmethod
    def axes(cls) -> Candidates:
        """Return the p original axes."""
        return cls(("axes",))

    @classmethod
    def reflection(cls, u: Array) -> Candidates:
        """Return the p columns of I - 2uu'. u : (p,) unit vector."""
        return cls(("reflection", np.ascontiguousarray(u, dtype=np.float64)))

    @classmethod
    def directions(cls, D: Array, thresholds: Array | None = None) -> Candidates:
        """Return the rows of D, unit normals. D : (k, p); thresholds : (k,), or None to search them."""
        t = None if thresholds is None else np.ascontiguousarray(thresholds, dtype=np.float64)
        return cls(("directions", np.ascontiguousarray(D, dtype=np.float64), t))


@dataclass(frozen=True)
class Finish:
    """Refinements of a heuristic's split, none by default.
    polish : perturb the hyperplane as OC1 does (Murthy et al. 1994) and keep improvements; max_terms : most
    coefficients (`limited`); split_cost : c; a split with k of p coefficients must beat the best axis-parallel split by
    more than c (k - 1) / p of the node's impurity"""

    polish: bool = False
    split_cost: float = 0.0
    max_terms: int | None = None

    def __bool__(self) -> bool:
        return self.polish or self.split_cost > 0.0 or self.max_terms is not None

    def options(self) -> dict[str, Any]:
        """Return the options for the compiled core."""
        most = -1 if self.max_terms is None else int(self.max_terms)
        return {"polish": bool(self.polish), "split_cost": float(self.split_cost), "max_terms": most}


PLAIN = Finish()
EQUAL = 1e-9  # gains closer than this share are equal


class Split(NamedTuple):
    """Hyperplane of a node: left iff coef @ x <= threshold."""

    coef: Array
    threshold: float
    gain: float
    order: int

    def over(self, features: NDArray[np.intp], p: int) -> Split:
        """Return the split of some features as one of all p features."""
        coef = np.zeros(p)
        coef[features] = self.coef
        return self._replace(coef=coef)


class Proposer(Declared, BaseEstimator, ABC):
    """A split heuristic: it proposes directions; the search chooses the split.

    Subclasses implement `propose` and declare each of their parameters by one `oblique_cli.parameters.parameter`. The
    class attributes describe the algorithm that the heuristic makes:

    title           name in published tables
    source          paper and section
    classifier      name of the estimator class; without it that of the proposer with "Classifier" behind it
    tree_defaults   parameters of the tree that differ from the estimator's own defaults
    member_defaults parameters of the heuristic that differ from its defaults where a forest, boosting or a refined
                    tree names it, because stored comparisons of these methods were measured with them
    limit_name      what the paper calls the misclassification limit; set if it is tuned on a grid
    native          family name in the compiled core that grows the same tree, or None
    quantitative    whether the heuristic cannot use qualitative features
    combines        whether a split may add up several features

    A heuristic whose parameters decide the last two overrides `native_family` and `is_quantitative`.

    draws_tree_seed only for OC1, whose published trees depend on it: the seed of a tree is the next number of the
                    generator that draws pruning rows, instead of being named after the fit

    A heuristic that draws random numbers uses `node.rng()`, without a declaration."""

    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    classifier: ClassVar[str] = ""
    tree_defaults: ClassVar[Mapping[str, Any]] = {}
    member_defaults: ClassVar[Mapping[str, Any]] = {}
    limit_name: ClassVar[str | None] = None
    native: ClassVar[str | None] = None
    quantitative: ClassVar[bool] = False
    combines: ClassVar[bool] = True
    draws_tree_seed: ClassVar[bool] = False

    @classmethod
    def member(cls, **params: Any) -> Proposer:
        """Return the heuristic as part of another method, with `member_defaults` below the parameters."""
        return cls(**{**cls.member_defaults, **params})

    @abstractmethod
    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield groups of directions, the same for the same node; without any, the node becomes a leaf."""

    def native_family(self) -> str | None:
        """Return the core's family that grows the same tree with these parameters, or None."""
        return self.native

    def is_quantitative(self) -> bool:
        """Return whether the heuristic, with these parameters, cannot use qualitative features."""
        return self.quantitative

    def native_options(self) -> dict[str, Any]:
        """Return all options of the core's family, which has no defaults of its own."""
        return {}


def _fault(proposer: Any) -> str | None:
    """Return the fault of a heuristic as text that follows its name, or None."""
    if not (isinstance(proposer, type) and issubclass(proposer, Proposer)):
        return "is no subclass of Proposer"
    if inspect.isabstract(proposer):
        missing = sorted(getattr(proposer, "__abstractmethods__", ()))
        return f"has no method {missing[0]}{'(node)' if missing[0] == 'propose' else ''}"
    if fault := misfit(proposer.propose, "self", "node"):
        return f"has a method propose that {fault}; random numbers come from node.rng()"
    if fault := fault_of_texts(proposer, "title", "source") or _fault_of_attributes(proposer):
        return fault
    if not has_docstring(proposer):
        return "has no docstring, whose first line says what it does"
    try:
        made = proposer()
        parameters = made.get_params(deep=False)
    except Exception as error:
        return f"cannot be made without arguments; give every parameter a default ({error_text(error)})"
    for name in sorted(parameters.keys() ^ proposer.constraints.keys()):
        place = "constructor" if name in proposer.constraints else "constraints"
        return f"has a parameter {name!r} that its {place} lack"
    for name, constraint in proposer.constraints.items():
        if message := violation(name, parameters[name], constraint, proposer.__name__):
            return f"has a default that its constraints forbid: {message.removesuffix('.')}"
    if (native := proposer.native) is None:
        return None
    if native not in (families := _core.families()):
        return f"has native {native!r}, which is no family of the core; it knows {', '.join(sorted(families))}"
    options, wanted = set(made.native_options()), set(families[native]) - GROWTH_OPTIONS
    faults = [("lacks", wanted - options), ("has too many, namely", options - wanted)]
    words = " and ".join(f"{verb} {', '.join(map(repr, sorted(names)))}" for verb, names in faults if names)
    return f"has native_options() that are not those of family {native!r}: it {words}" if words else None


def _fault_of_attributes(proposer: type[Proposer]) -> str | None:
    """Return the fault of a heuristic's declaration as text that follows its name, or None."""
    for name in ("constraints", "aliases", "tree_defaults", "member_defaults"):
        if not isinstance(getattr(proposer, name), Mapping):
            return f"has {name} {getattr(proposer, name)!r}, which must be a mapping of the names of parameters"
    for name, constraint in proposer.constraints.items():
        if not isinstance(constraint, Constraint):
            return f"has a parameter {name!r} without a Constraint that says what its value may be"
    for name in ("quantitative", "combines", "draws_tree_seed"):
        if not isinstance(getattr(proposer, name), bool):
            return f"has {name} {getattr(proposer, name)!r}, which must be True or False"
    for name in ("limit_name", "native"):
        if not isinstance(getattr(proposer, name), str | None):
            return f"has {name} {getattr(proposer, name)!r}, which must be a text or None"
    return None


def from_core(proposer: Proposer, node: Node, seed: int = 0) -> Iterator[Candidates]:
    """Yield the proposals of a heuristic's native family, if it has no Python form. seed : of its random numbers"""
    options = node.search_options(seed) | proposer.native_options()
    yield from map(Candidates, _core.propose(*node.table, str(proposer.native_family()), options, node.core_path))


PROPOSERS: Registry[type[Proposer]] = Registry("proposer", "oblique list algorithms", _fault)


def best_split(
    node: Node, proposer: Proposer, min_leaf: float = 1.0, exhaustive: bool = False, finish: Finish = PLAIN
) -> Split | None:
    """Return the first of the best splits among all proposals, as refined by `finish`, or None if none has a positive
    score. The tie rule is that of docs/core.md, without tolerances of a node with `ties="strict"`. `exhaustive=True`
    sorts the rows along every direction instead of computing bounds, with the same result."""
    split = search(node, proposed(proposer, node), min_leaf, exhaustive)
    return finished(node, proposer, split, min_leaf, finish) if split and finish else split


def proposed(proposer: Proposer, node: Node) -> Iterator[Candidates]:
    """Yield the proposals of a heuristic at a node; PluginError, with its file, for anything but `Candidates`."""
    groups = proposer.propose(node)
    if not isinstance(groups, Iterable):
        raise _no_candidates(proposer, groups)
    for group in groups:
        if not isinstance(group, Candidates):
            raise _no_candidates(proposer, group)
        yield group


def _no_candidates(proposer: Proposer, output: Any) -> PluginError:
    who = f"{source_of(type(proposer))}: {type(proposer).__name__}.propose"
    return PluginError(f"{who} must yield Candidates, such as Candidates.axes(). Got {quoted(output)}.")


def finished(node: Node, proposer: Proposer, split: Split, min_leaf: float, finish: Finish) -> Split | None:
    """Return a heuristic's split after polishing, then limiting its features, then comparison with the best
    axis-parallel split; None if no split remains."""
    if finish.polish:
        split = polished(node, split, min_leaf)
    if finish.max_terms is not None:
        sparser = limited(node, proposer, split, min_leaf, finish)
        if sparser is None:
            return None
        split = sparser
    further = np.count_nonzero(split.coef) - 1
    axis = search(node, [Candidates.axes()], min_leaf) if finish.split_cost > 0.0 and further > 0 else None
    if axis is None:
        return split
    needed = finish.split_cost * (further / len(split.coef)) * impurity(node.class_weights, node.criterion)
    return split if split.gain - axis.gain > needed + _slack(node) else axis


def _slack(node: Node) -> float:
    """Return the difference below which two gains are equal up to rounding, as in every search."""
    return 0.0 if node.ties == "strict" else EQUAL * impurity(node.class_weights, node.criterion)


def polished(node: Node, split: Split, min_leaf: float) -> Split:
    """Return a split with its hyperplane perturbed as OC1 does, if that improves it."""
    options = node.search_options(node.tree_seed) | {"min_leaf": float(min_leaf)}
    start = (split.coef, split.threshold, split.gain, node.core_path)
    coef, threshold, gain = _core.polish(*node.table, options, *start)
    return Split(coef, threshold, gain, split.order)


def limited(node: Node, proposer: Proposer, split: Split, min_leaf: float, finish: Finish) -> Split | None:
    """Return a split of at most `finish.max_terms` coefficients by backward elimination (Brodley and Utgoff 1995, by
    dispersion): drop the half of the features with the smallest spread of terms, and run the heuristic on the others.
    In each round the previous plane without the dropped features is a candidate too; at the end the best axis is."""
    most = finish.max_terms or len(split.coef)
    if np.count_nonzero(split.coef) <= most:
        return split
    best: Split | None = split
    while best and (count := int(np.count_nonzero(best.coef))) > most:
        chosen = widest_terms(node, best.coef, max(most, (count + 1) // 2))
        best = _on_chosen(node, proposer, best.coef, chosen, min_leaf, finish)
    axis = search(node, [Candidates.axes()], min_leaf)
    return best if axis is None or (best and best.gain > axis.gain + _slack(node)) else axis


def widest_terms(node: Node, coef: Array, count: int) -> NDArray[np.intp]:
    """Return the `count` features, in their order, whose terms (|coefficient| times the feature's deviation at the
    node) spread most over the rows; among equals the first."""
    low, high = node.X.min(axis=0), node.X.max(axis=0)
    centered = (node.X - (0.5 * low + 0.5 * high)) / np.where(high > low, high - low, 1.0)
    mean = np.average(centered, axis=0, weights=node.weights)
    variance = np.average(centered**2, axis=0, weights=node.weights) - mean**2
    sizes = np.abs(coef) * (high - low) * np.sqrt(np.maximum(variance, 0.0))
    edge = np.sort(sizes)[-count]
    sure = np.flatnonzero(sizes > edge + EQUAL * edge)
    equal = np.flatnonzero((sizes >= edge - EQUAL * edge) & (sizes <= edge + EQUAL * edge) & (coef != 0.0))
    return np.sort(np.concatenate([sure, equal[: count - len(sure)]]))


def _on_chosen(
    node: Node, proposer: Proposer, coef: Array, chosen: NDArray[np.intp], min_leaf: float, finish: Finish
) -> Split | None:
    """Return the better of the heuristic's split on some features and the best cut along a plane restricted to them."""
    part = replace(node, X=np.ascontiguousarray(node.X[:, chosen]))
    rest = coef[chosen] / np.linalg.norm(coef[chosen])
    along = search(part, [Candidates.directions(rest[None])], min_leaf)
    best = search(part, proposed(proposer, part), min_leaf)
    if best and finish.polish:
        best = polished(part, best, min_leaf)
    if along and not (best and best.gain >= along.gain - _slack(node)):
        best = along
    return None if best is None else best.over(chosen, len(coef))


def impurity(class_weights: Array, criterion: str) -> float:
    """Return the impurity of a node in units of the criterion: the gain of a cut with pure sides only. For twoing it is
    half of Gini's, as its value is with two classes. Raise ValueError for an unknown criterion."""
    return _core.impurity(class_weights[class_weights > 0], criterion)


def search(node: Node, groups: Iterable[Candidates], min_leaf: float = 1.0, exhaustive: bool = False) -> Split | None:
    """Return the first of the best splits among given candidates, as `best_split` does; None also if there are none.
    Under monotonic constraints, a candidate across which features disagree is replaced by its agreeing parts, and axes
    are searched if no cut is allowed (core/split/candidates.cpp)."""
    candidates = [group.spec for group in groups]
    if not candidates and node.signs is None:
        return None
    strict, (low, high) = node.ties == "strict", node.bounds
    result = _core.search(
        *node.table, node.criterion, candidates, min_leaf, strict, exhaustive, signs=node.signs, low=low, high=high
    )
    return None if result is None else Split(*result)
