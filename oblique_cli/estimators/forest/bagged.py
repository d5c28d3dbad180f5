"""Forests of any heuristic that the core grows: bagging, random subspaces, double random forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.base import ForestClassifier, relative
from oblique_cli.estimators.monotonic import ALLOWED, meaning
from oblique_cli.estimators.n_jobs import LARGEST
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


def listed_names(value: Any) -> Any:
    """Return the items of a list, of a text with commas, or of one heuristic; None for anything else."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, Proposer):
        return [value]
    return list(value) if isinstance(value, Sequence) and len(value) else None


def proposers_of(value: Any) -> list[Proposer]:
    """Return the heuristics that a value names, in the order of their trees; ConfigError for a bad parameter."""
    made = [PROPOSERS[item]() if isinstance(item, str) else item for item in listed_names(value)]
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
    """A forest of unpruned oblique trees by any heuristic with native growth.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.

    Notes
    -----
    Sample weights are measured in units of the smallest positive one, and so is `min_samples_leaf`. A row lighter
    than the heaviest by more than 2^200 counts as that light. Rows are drawn alike and count by their weight."""

    proposer: str | Proposer | Sequence[str | Proposer] = parameter(
        default="hhgdt, hhcart_a",
        allowed=Heuristics(),
        kw_only=False,
        help='The heuristic that splits nodes: a registered name or an instance. With several ("hhgdt, hhcart_d" or a '
        "list) the trees take them in turn. Where it finds no split at an impure node, the best cut along an axis "
        "is taken.",
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
        return families(self.proposer, self.criterion, rows_of(self.min_samples_leaf, drawn))
