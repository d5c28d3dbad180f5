"""scikit-learn estimators of regression trees with linear leaves: TPRTI-A and TPRTI-B, RETIS, and M5-style."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.monotonic import ALLOWED, meaning, signs_of
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.oblique.groups import Growth
from oblique_cli.estimators.regression.tree_regressor import TreeRegressor
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Choice, Constraint, Integer, Optional, Real
from oblique_cli.ground.row_groups import Groups
from oblique_cli.parameters import Declared, as_in, parameter
from oblique_cli.tree import look_ahead
from oblique_cli.tree.look_ahead import AllTurns, EveryValue, FarthestTurn, Means, Proposals, Settings
from oblique_cli.tree.structure import Tree
from oblique_cli.tree.turning_points import turning_points

DISCRETE = ("auto", "all", "none")


class LookAhead(Declared, kw_only=True):
    """Parameters of the choice of cuts by the models of both sides."""

    weighting: str = parameter(
        default="size",
        allowed=Choice(look_ahead.WEIGHTINGS),
        help='"size" weighs the residual sums of the children by their shares of the rows, as line 10 of algorithm 2 '
        "(TPRTI-A) and line 9 of algorithm 3 (TPRTI-B) alike. An even cut then halves the sum even if it explains "
        'nothing, so trees grow until nodes are small. "sum" adds them; the study of Table 2.7 takes it for TPRTI-A '
        "and RETIS, whose printed sizes are nearer to it.",
    )
    improvement_by: str | None = parameter(
        default=None,
        allowed=Optional(Choice(look_ahead.WEIGHTINGS)),
        help="Weighting by which `min_improvement_percent` judges the chosen cut; None for `weighting`. The words of "
        'section 2.3.2.1 choose by the RSS, and Table 2.5 stops by the weighted RSS: `weighting="sum"` with "size" '
        "here.",
    )
    small_children: str = parameter(
        default="avoid",
        allowed=Choice(look_ahead.SMALL_CHILDREN),
        help='"avoid" never chooses a cut that leaves a child below `min_child_percent`; "leaf" makes a node a leaf if '
        "its chosen cut leaves such a child.",
    )
    selection: str = parameter(
        default="rss",
        allowed=Choice(look_ahead.SELECTIONS),
        help='"leave_one_out", beyond the paper, scores the `shortlist` best cuts again by cross-validation: the error '
        "of predicting each row from the other rows of its side, in closed form. The stopping rule uses it as well.",
    )
    shortlist: int = parameter(default=20, allowed=Integer(1), help='Cuts that "leave_one_out" scores again.')


class ModelTreeRegressor(TreeRegressor, kw_only=True):
    """Common base of the model trees: rows in canonical order, growth, prediction, equations."""

    min_node_percent: float = parameter(
        default=10, allowed=Real(0.0, 100.0), help="A node with fewer rows, in percent of the training rows, is a leaf."
    )
    min_improvement_percent: float = parameter(
        default=10,
        allowed=Real(0.0, 100.0),
        help="Least decrease of a node's residual sum of squares by a cut, in percent.",
    )
    min_child_percent: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0, 100.0)),
        help="Least rows of a child, in percent of the training rows; None for `min_node_percent`, since Table 2.5 "
        "calls that the required size of a node. With 0, leaves of a few rows arise, whose models err between rows.",
    )
    max_depth: int | None = as_in(Growth, "max_depth")
    monotonic_cst: Sequence[int] | Mapping[Any, int] | None = parameter(
        default=None, allowed=ALLOWED, help=meaning("the predicted number")
    )

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        signs, settings = signs_of(self), self._settings(len(rows))
        if signs is not None and settings.selection == "leave_one_out":
            raise ConfigError(
                f"{ORDER} of {type(self).__name__} is not kept with selection 'leave_one_out'; set selection to 'rss'."
            )
        return look_ahead.grow(rows, targets, self._proposals(rows, targets), replace(settings, signs=signs))

    def _settings(self, n: int) -> Settings:
        shared = {name: getattr(self, name) for name in LookAhead.parameters if name in self.parameters}
        child = self.min_node_percent if self.min_child_percent is None else self.min_child_percent
        return Settings(
            min_node=self.min_node_percent / 100 * n,
            min_improvement=self.min_improvement_percent / 100,
            min_child=child / 100 * n,
            max_depth=self.max_depth,
            **shared,
        )

    @abstractmethod
    def _proposals(self, X: Array, y: Array) -> Proposals:
        """Return the proposals of cuts at the root. X : (n, p) scaled; y : (n,)"""


class TPRTIRegressor(ModelTreeRegressor, LookAhead, kw_only=True):
    """A regression tree with linear leaves, cut at turning points (TPRTI; Amalaman 2015, chapter 2).

    Turning points are computed once. Along each feature, rows are cut into windows; the centroid of a window is a
    turning point if the line through the centroids, in the plane of the feature and y, turns there. At a node, variant
    A scores a cut at every turning point inside the node; variant B at the one farthest from the node's model.

    Attributes
    ----------
    tree_ : Tree
    turning_points_ : TurningPoints
    n_features_in_, n_leaves_, n_nodes_, depth_ : int

    Nothing is drawn at random, and the order of the training rows does not matter."""

    # A configuration cannot refer to columns by number.
    words: ClassVar[Mapping[str, Constraint]] = {"discrete": Choice(DISCRETE)}

    variant: str = parameter(
        default="A",
        allowed=Choice(("A", "B")),
        kw_only=False,
        help="At a node, A scores a cut at every turning point it still has, B the coordinates of the one farthest "
        "from the node's model.",
    )
    subset_size: int = parameter(
        default=5, allowed=Integer(1), help="S, rows of a window. Table 2.5 has 3 to 250, chosen for each data set."
    )
    step: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="K, by how many rows a window moves on; None for S, windows that do not overlap. The paper gives no "
        "value.",
    )
    cos_beta: float = parameter(
        default=0.8,
        allowed=Real(-1.0, 1.0),
        help="A centroid is a turning point if the cosine of its turn is below this. Angles depend on units; nothing "
        "is scaled.",
    )
    discrete: Any = parameter(
        default="auto",
        help='Features of which every distinct value is a turning point: "auto", those with at most '
        '`max_discrete_values`; "all"; "none"; or a list of columns.',
    )
    max_discrete_values: int = parameter(default=10, allowed=Integer(0), help='Limit of `discrete="auto"`.')

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for a step that skips rows between subsets, or None."""
        if self.step is None or self.step <= self.subset_size:
            return super().clash(owner, n_features)
        return f"step of {owner} must not exceed subset_size, {self.subset_size}. Got {self.step}."

    def _proposals(self, X: Array, y: Array) -> Proposals:
        step = self.subset_size if self.step is None else self.step
        turns = turning_points(X, y, self._discrete(X), self.subset_size, step, self.cos_beta)
        self.turning_points_ = turns
        return AllTurns(turns) if self.variant == "A" else FarthestTurn(turns)

    def _discrete(self, X: Array) -> NDArray[np.bool_]:
        p = X.shape[1]
        if isinstance(self.discrete, str):
            if self.discrete == "auto":
                return np.array([len(np.unique(column)) <= self.max_discrete_values for column in X.T])
            if self.discrete in DISCRETE:
                return np.full(p, self.discrete == "all")
        else:
            columns = np.asarray(self.discrete)
            whole = columns.ndim == 1 and (columns.dtype.kind in "iu" or len(columns) == 0)
            if whole and (len(columns) == 0 or 0 <= columns.min() <= columns.max() < p):
                return np.isin(np.arange(p), columns)
        raise ConfigError(
            f"discrete of {type(self).__name__} must be one of {', '.join(DISCRETE)} or a list of columns from 0 to "
            f"{p - 1}. Got {self.discrete!r}."
        )


class RETISRegressor(ModelTreeRegressor, LookAhead, kw_only=True):
    """A regression tree with linear leaves that tries every distinct value of every feature (Karalic 1992).

    As Amalaman (2015), section 2.4.2, runs it: TPRTI-A with all features discrete, no pruning. One pass over the sorted
    rows scores all cuts of a feature, so a node costs O(n p^3), not O(n^2 p^3)."""

    def _proposals(self, X: Array, y: Array) -> Proposals:
        return EveryValue()


class M5StyleRegressor(ModelTreeRegressor, kw_only=True):
    """A regression tree grown by the variance of the target, cut at means, with linear leaves, pruned (after M5).

    Growth as Amalaman (2015), section 2.1, describes M5; pruning by Quinlan's estimate of the error, mean absolute
    residual times (n + v) / (n - v). Three parts of M5 as in Quinlan (1992) and WEKA are missing: dropping terms of a
    leaf's model, smoothing along the path, and searching all values of a feature."""

    min_node_percent: float = parameter(default=1)
    min_improvement_percent: float = parameter(
        default=0, help="Least decrease of the sum of squares around the mean by a cut, in percent."
    )
    pruning: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Whether a subtree becomes a leaf where the estimated error of the leaf's model is no larger.",
    )

    def _settings(self, n: int) -> Settings:
        return replace(super()._settings(n), weighting="sum", constant=True)

    def _proposals(self, X: Array, y: Array) -> Proposals:
        return Means()

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        tree = super()._grown(rows, targets, groups)
        return look_ahead.prune(tree, rows, targets) if self.pruning else tree
