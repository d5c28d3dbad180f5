"""Forests of any heuristic that the core grows: bagging, random subspaces, double random forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.aliases import Aliases
from oblique_cli.estimators.forest.base import SHARED, Array, FeatureCount, ForestClassifier, relative
from oblique_cli.estimators.jobs import LARGEST
from oblique_cli.ground.constraints import Boolean, Choice, Constraint, Integer, Optional, Real, check
from oblique_cli.parameters import Alias
from oblique_cli.tree.splitting import CRITERIA, PROPOSERS, Proposer


def native_names() -> tuple[str, ...]:
    """Return the registered heuristics that the core grows."""
    return tuple(name for name, proposer in PROPOSERS.items() if proposer.native is not None)


class Heuristics(Constraint):
    """A heuristic or several, by name; several are a list, or one text with commas between them."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        return isinstance(value, Proposer) or (_names(value) is not None and all(_known(one) for one in _names(value)))

    def describe(self) -> str:
        return f"a heuristic with native growth, or several ({', '.join(native_names())})"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"enum": [*native_names()]}, "minItems": 1}]}


def _names(value: Any) -> Any:
    """The heuristics of a value, each a name or an instance, or None if there are none."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, Proposer):
        return [value]
    return list(value) if isinstance(value, Sequence) and len(value) else None


def _known(one: Any) -> bool:
    return (one in native_names()) if isinstance(one, str) else isinstance(one, Proposer)


def families(proposer: Any, criterion: str, min_leaf: float) -> list[tuple[str, dict[str, Any]]]:
    """Return the families of the core that a parameter names, with their options.

    raises ConfigError for an instance with a parameter out of range, or whose parameters leave it no native growth
    """
    search = {
        "criterion": criterion,
        "min_leaf": float(min_leaf),
        "strict_ties": False,
        "exhaustive": False,
        "seed": 0,  # the core names streams after the tree
    }
    made = [PROPOSERS[one]() if isinstance(one, str) else one for one in _names(proposer)]
    return [(_native_family(part), search | part.native_options()) for part in made]


def _native_family(proposer: Proposer) -> str:
    owner = type(proposer).__name__
    check(proposer.get_params(deep=False), proposer.constraints, owner)
    family = proposer.native_family()
    if family is None:
        raise ConfigError(
            f"{owner} has no native growth with these parameters, which forests and boosting need. Give a heuristic "
            f"that has: {', '.join(native_names())}."
        )
    return family


class RowCount(Constraint):
    """How many rows are drawn for a tree: a number or a share."""

    number = Integer(1, LARGEST)
    share = Real(0.0, 1.0, open_low=True)

    def holds(self, value: Any) -> bool:
        whole = isinstance(value, int | np.integer)
        return self.number.holds(value) if whole else self.share.holds(value)

    def describe(self) -> str:
        return f"{self.number.describe()}, or a share in (0, 1]"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.number.schema(), self.share.schema()]}

    @staticmethod
    def of(value: Any, n: int, owner: str) -> int:
        """Return how many of n rows an allowed value means, all for None; ConfigError for more than there are."""
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


BAGGED: Mapping[str, Constraint] = {
    "proposer": Heuristics(),
    "criterion": Choice(CRITERIA),
    "max_samples": Optional(RowCount()),
    "max_features_per_tree": Optional(FeatureCount()),
    "node_bootstrap": Boolean(),
    **SHARED,
}


class BaggedForestClassifier(ForestClassifier):
    """A forest of unpruned oblique trees by any heuristic with native growth.

    Parameters
    ----------
    proposer : str, Proposer or list of them, default "hhgdt, hhcart_a"
        The heuristic that splits nodes: a registered name or an instance. With several ("hhgdt, hhcart_d" or a list)
        the trees take them in turn. Where it finds no split at an impure node, the best cut along an axis is taken.
    criterion : {"gini", "entropy", "twoing", "max_minority", "sum_minority"}, default "gini"
        Score of a split.
    n_estimators : int, default 50
        Number of trees.
    max_samples : int, float or None, default None
        Rows drawn for a tree: a number, a share of the rows, or as many as there are (None).
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default 0.5
        Features drawn at each node: a number, a share, a rule, or all (None). "auto" is the square root, rounded.
    max_features_per_tree : the same, default None
        Features drawn once for each tree, of which `max_features` are drawn at its nodes: random subspaces (Ho 1998).
    min_samples_leaf : int, default 1
        Least weight of a child, rows drawn twice counting twice.
    max_depth : int or None, default None
        Longest path from the root to a leaf; None for no limit.
    bootstrap : bool or None, default None
        Whether rows are drawn with replacement. None is True, and False with `node_bootstrap`.
    node_bootstrap : bool, default False
        Whether the split of a node with more than a tenth of its tree's rows is chosen on a bootstrap sample of the
        node's rows, all of which it divides: double random forests (Han, Kim & Lee 2020).
    voting : {"mean", "majority"}, default "mean"
        Whether a tree gives each class its share of the leaf or votes for one class.
    probabilities, probability_strength, oob_score, warm_start, n_jobs, random_state
        As in `MPSVMForestClassifier`.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.

    Notes
    -----
    Sample weights are measured in units of the smallest positive one, and so is `min_samples_leaf`. A row lighter
    than the heaviest by more than 2^200 counts as that light. Rows are drawn alike and count by their weight.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = BAGGED
    aliases: ClassVar[Aliases] = {
        "n_estimators": Alias("n_trees"),
        "max_features": Alias("mtry"),
        "min_samples_leaf": Alias("min_leaf"),
    }

    def __init__(
        self,
        proposer: str | Proposer | Sequence[str | Proposer] = "hhgdt, hhcart_a",
        criterion: str = "gini",
        *,
        n_estimators: int = 50,
        max_samples: int | float | None = None,
        max_features: int | float | str | None = 0.5,
        max_features_per_tree: int | float | str | None = None,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool | None = None,
        node_bootstrap: bool = False,
        voting: str = "mean",
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.proposer = proposer
        self.criterion = criterion
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.node_bootstrap = node_bootstrap
        self.voting = voting
        self.probabilities = probabilities
        self.probability_strength = probability_strength
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _draws_rows(self) -> bool:
        return not self.node_bootstrap if self.bootstrap is None else self.bootstrap

    def _leaves_rows_out(self) -> bool:
        return self._draws_rows or self.max_samples is not None

    def _options(self, p: int) -> dict[str, Any]:
        of_tree = FeatureCount.of(self.max_features_per_tree, p)
        return {
            "split": "family",
            "minleaf": 1.0,  # the family keeps to min_samples_leaf
            "tree_features": of_tree,
            "mtry": FeatureCount.of(self.max_features, of_tree),
            "node_bootstrap": self.node_bootstrap,
        }

    def _rows_drawn(self, n: int) -> int:
        return RowCount.of(self.max_samples, n, type(self).__name__)

    def _families(self) -> list[tuple[str, dict[str, Any]]]:
        return families(self.proposer, self.criterion, self.min_samples_leaf)

    def _measured(self, weights: Array) -> Array:
        return relative(weights)
