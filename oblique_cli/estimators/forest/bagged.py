"""Forests of any heuristic that the core grows, or of bottom-up trees: bagging, random subspaces, double random
forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.base import ForestClassifier, Table, relative
from oblique_cli.estimators.forest.drawn_trees import add_trees
from oblique_cli.estimators.monotonic import ALLOWED, meaning
from oblique_cli.estimators.n_jobs import LARGEST
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier, BUTIFSVMClassifier, HHBUTClassifier
from oblique_cli.estimators.oblique.clusters import one_thread
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import (
    Boolean,
    Choice,
    Constraint,
    CountOrShare,
    FeatureCount,
    Optional,
    check,
    rows_of,
)
from oblique_cli.parameters import parameter
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.splitting import PROPOSERS, Proposer
from oblique_cli.tree.structure import Tree

BOTTOM_UP: Mapping[str, type[BottomUpTreeClassifier]] = {"hhbut": HHBUTClassifier, "butif_svm": BUTIFSVMClassifier}
# Parameters of forests that bottom-up trees do not have -> their value without effect
OF_TOP_DOWN = {"min_samples_leaf": 1, "max_depth": None, "node_bootstrap": False, "monotonic_cst": None}


def native_names() -> tuple[str, ...]:
    """Return the registered heuristics that the core grows."""
    return tuple(name for name, proposer in PROPOSERS.items() if proposer.native is not None)


class Heuristics(Constraint):
    """Name of a heuristic, or several names as a list or as one text with commas between them."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        listed, native = listed_names(value), native_names()
        return listed is not None and all(isinstance(item, Proposer) or item in native for item in listed)

    def describe(self) -> str:
        return f"a heuristic with native growth, or several ({', '.join(native_names())})"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"enum": [*native_names()]}, "minItems": 1}]}


class Bagged(Heuristics):
    """Heuristics as in `Heuristics`, or bottom-up trees."""

    def holds(self, value: Any) -> bool:
        return super().holds(value) or bool(bottom_up_trees(value))

    def describe(self) -> str:
        return f"{super().describe()}, or bottom-up trees without others ({', '.join(BOTTOM_UP)})"

    def schema(self) -> dict[str, Any]:
        names = {"type": "array", "items": {"enum": list(BOTTOM_UP)}, "minItems": 1}
        return {"anyOf": [*super().schema()["anyOf"], names]}


def bottom_up_trees(value: Any) -> list[BottomUpTreeClassifier]:
    """Return the bottom-up trees that a value names, in the order of a forest's trees; none if it names any other."""
    listed = listed_names(value) or []
    made = [BOTTOM_UP[item]() if isinstance(item, str) and item in BOTTOM_UP else item for item in listed]
    return made if all(isinstance(item, BottomUpTreeClassifier) for item in made) else []


def listed_names(value: Any) -> Any:
    """Return the items of a list, of a text with commas, or of one heuristic or tree; None for anything else."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, Proposer | BottomUpTreeClassifier):
        return [value]
    return list(value) if isinstance(value, Sequence) and len(value) else None


def proposers_of(value: Any) -> list[Proposer]:
    """Return the heuristics that a value names, in the order of their trees; ConfigError for a bad parameter."""
    made = [PROPOSERS[item].member() if isinstance(item, str) else item for item in listed_names(value)]
    for proposer in made:
        check(proposer.get_params(deep=False), proposer.constraints, type(proposer).__name__)
    return made


def families(proposer: Any, criterion: str, min_leaf: float) -> list[tuple[str, dict[str, Any]]]:
    """Return the core's families that a parameter names, with their options; ConfigError if one has none."""
    search = {
        "criterion": criterion,
        "min_leaf": float(min_leaf),
        "strict_ties": False,
        "exhaustive": False,
        "seed": 0,  # the core names random streams after the tree
    }
    families = []
    for part in proposers_of(proposer):
        if (family := part.native_family()) is None:
            raise ConfigError(
                f"{type(part).__name__} has no native growth with these parameters, which forests and boosting need. "
                f"Give a heuristic that has: {', '.join(native_names())}."
            )
        families.append((family, search | part.native_options()))
    return families


@dataclass(frozen=True)
class RowCount(CountOrShare):
    """Number of rows drawn for a tree: a number or a share."""

    high: int | None = LARGEST

    @staticmethod
    def of(value: Any, n: int, owner: str) -> int:
        """Return the number of rows that an allowed value means, n for None; ConfigError for more than n."""
        if value is None:
            return n
        if not isinstance(value, int | np.integer):
            return max(1, round(float(value) * n))
        if value > n:
            raise ConfigError(
                f"max_samples of {owner} must be at most the number of rows, {n}. Got {value}; give a share such as "
                "1.0 to follow the rows."
            )
        return int(value)


def family_features(estimator: Any, p: int) -> dict[str, Any]:
    """Return the options of the core for splits of heuristics on a subset of p features."""
    of_tree = FeatureCount.of(estimator.max_features_per_tree, p, planes=True)
    at_node = FeatureCount.of(estimator.max_features, of_tree, planes=True)
    return {"split": "family", "tree_features": of_tree, "mtry": at_node}


class BaggedForestClassifier(ForestClassifier, kw_only=True):
    """A forest of unpruned oblique trees by any heuristic with native growth, or of bottom-up trees.

    The future work of thesis 6.8 is an ensemble of bottom-up trees: each tree finds the clusters of its own bootstrap
    sample, which contains a row as often as it was drawn.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.

    Notes
    -----
    Sample weights are measured in units of the smallest positive one, and so is `min_samples_leaf`. A weight below
    2^-200 of the largest is raised to this share. Rows are drawn with equal probability and enter with their weight.
    Bottom-up trees take no unequal weights."""

    proposer: str | Proposer | BottomUpTreeClassifier | Sequence[str | Proposer | BottomUpTreeClassifier] = parameter(
        default="hhgdt, hhcart_a",
        allowed=Bagged(),
        kw_only=False,
        help='The heuristic that splits nodes: a registered name or an instance. With several ("hhgdt, hhcart_d" or a '
        "list) the trees take them in turn. Where it finds no split at an impure node, the best cut along an axis "
        'is taken. "hhbut", "butif_svm" or both, or estimators of them with parameters, make bottom-up trees.',
    )
    criterion: str = parameter(default="gini", allowed=Choice(CRITERIA), kw_only=False, help="Score of a split.")
    max_samples: int | float | None = parameter(
        default=None,
        allowed=Optional(RowCount()),
        help="Rows drawn for a tree: a number, a share of the rows, or as many as there are (None).",
    )
    max_features: int | float | str | None = parameter(
        default=0.5,
        also="mtry",
        help='Features drawn at each node: a number, a share, a rule, or all (None). "auto" is the square root, '
        "rounded. A share or a rule draws two of several at least: a plane of one feature is along its axis.",
    )
    max_features_per_tree: int | float | str | None = parameter(
        default=None,
        allowed=Optional(FeatureCount()),
        help="Features drawn once for each tree, of which `max_features` are drawn at its nodes: random subspaces (Ho "
        "1998).",
    )
    min_samples_leaf: float = parameter(
        default=1,
        also="min_leaf",
        help="Least weight of a child, rows drawn twice counting twice. A value below 1 is a share of the rows drawn "
        "for a tree, rounded up.",
    )
    bootstrap: bool | None = parameter(
        default=None, help="Whether rows are drawn with replacement. None is True, and False with `node_bootstrap`."
    )
    node_bootstrap: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether a node with more than a tenth of its tree's rows chooses its split on a bootstrap sample of its "
        "rows and then divides all of them: double random forests (Han, Kim & Lee 2020).",
    )
    voting: str = parameter(
        default="mean", help="Whether a tree gives each class its share of the leaf or votes for one class."
    )
    monotonic_cst: Sequence[int] | Mapping[Any, int] | None = parameter(
        default=None, allowed=ALLOWED, help=meaning("the probability of the second of two classes")
    )

    _measured = staticmethod(relative)

    @property
    def _draws_rows(self) -> bool:
        return not self.node_bootstrap if self.bootstrap is None else self.bootstrap

    def _leaves_rows_out(self) -> bool:
        return self._draws_rows or self.max_samples is not None

    def _options(self, p: int) -> dict[str, Any]:
        # The family obeys min_samples_leaf.
        return {"minleaf": 1.0, "node_bootstrap": self.node_bootstrap} | family_features(self, p)

    def _rows_drawn(self, n: int) -> int:
        return RowCount.of(self.max_samples, n, type(self).__name__)

    def _families(self, drawn: int = 1) -> list[tuple[str, dict[str, Any]]]:
        if bottom_up_trees(self.proposer):
            return []
        return families(self.proposer, self.criterion, rows_of(self.min_samples_leaf, drawn))

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with each other or with n_features features, or None."""
        trees = bottom_up_trees(self.proposer)
        for name, usual in OF_TOP_DOWN.items() if trees else ():
            if (value := getattr(self, name)) != usual:
                return (
                    f"{name} of {owner} does not go with bottom-up trees, whose leaves are clusters; leave it at "
                    f"{usual} or give other heuristics. Got {value!r}."
                )
        for tree in trees:
            check(tree.get_params(deep=False), tree.constraints, type(tree).__name__)
            if message := tree.clash(type(tree).__name__):
                return message
        return super().clash(owner, n_features)

    def _add_trees(self, forest: Any, table: Table, options: dict[str, Any], more: int) -> None:
        if bottom_up_trees(self.proposer) and table.weights is not None and np.ptp(table.weights) > 0.0:
            raise ConfigError(
                f"sample_weight of {type(self).__name__} must be equal for all rows of bottom-up trees, as mixtures "
                f"have no weights. Got weights from 1 to {table.weights.max():g} times the smallest; repeat rows."
            )
        super()._add_trees(forest, table, options, more)

    def _grow(self, forest: Any, table: Table, options: dict[str, Any], more: int, threads: int) -> None:
        made = bottom_up_trees(self.proposer)
        if not made:
            super()._grow(forest, table, options, more, threads)
            return

        def bottom_up(rows: Array, codes: NDArray[np.int32], held: Array, number: int) -> Tree:
            again = np.repeat(np.arange(len(rows)), held.astype(np.int64))
            return self._bottom_up(made[number % len(made)], rows[again], codes[again], forest.seed, number)

        with one_thread():  # the end of one tree's limit would end that of another thread
            add_trees(self, forest, table, options, more, threads, bottom_up)

    def _bottom_up(
        self, kind: BottomUpTreeClassifier, X: Array, codes: NDArray[np.int32], seed: int, number: int
    ) -> Tree:
        """Return a tree of the rows drawn, X (n, p), over all features and classes."""
        p, wanted = X.shape[1], family_features(self, X.shape[1])
        features = np.sort(seeds.generator(seed, "features", number).choice(p, wanted["tree_features"], replace=False))
        model = clone(kind).set_params(random_state=seeds.integer(seed, "tree", number), max_features=wanted["mtry"])
        if "criterion" in model.constraints:
            model.set_params(criterion=self.criterion)
        tree = model.fit(X[:, features], self.classes_[codes]).tree_
        coef, counts = np.zeros((tree.n_nodes, p)), np.zeros((tree.n_nodes, len(self.classes_)))
        coef[:, features] = tree.coef_
        counts[:, np.searchsorted(self.classes_, model.classes_)] = tree.counts  # a class may not have been drawn
        return Tree(tree.left, tree.right, coef, tree.thresholds, counts, tree.gains, tree.n_rows)
