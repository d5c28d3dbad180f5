"""scikit-learn estimator of PATHFINDER."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from oblique_cli.drawing.diagram import Sketch, yes_or_no
from oblique_cli.drawing.view import TreeView
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.fitted import LogProbabilities, SingleTree, TrainingRows
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real, check
from oblique_cli.ground.nodes import spread_decreases
from oblique_cli.papers.pathfinder.regions import IMPURE, OUTSIDE, CellGrid, RegionTree, export_text, grow, node_texts
from oblique_cli.parameters import Declared, parameter

SMALLEST_GRID = 2
LARGEST_GRID = 1000  # class counts of all cells of a plane must fit into memory


class GridSize(Constraint):
    """A number of cells from 2 to 1000, or "auto"."""

    def holds(self, value: Any) -> bool:
        return value == "auto" if isinstance(value, str) else Integer(SMALLEST_GRID, LARGEST_GRID).holds(value)

    def describe(self) -> str:
        return f"{Integer(SMALLEST_GRID, LARGEST_GRID).describe()}, or 'auto'"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Integer(SMALLEST_GRID, LARGEST_GRID).schema(), {"const": "auto"}]}


class PathfinderClassifier(Declared, LogProbabilities, SingleTree, ClassifierMixin, BaseEstimator, kw_only=True):
    """A tree whose splits are pieces of lines around clusters, with the option to reject (Amalaman 2015, chapter 3).

    At a node, every plane of two features gets a grid over the node's rows, and every ordered pair of classes is
    clustered on it into rectangles of high purity. Boundary points lie halfway between opposed rectangles. The boundary
    point nearest to a row belongs to a rectangle. The row is inside the cluster if it lies on the side of the
    rectangle's center of the line through the two boundary points of this rectangle that are nearest to the row. The
    plane and pair whose inside and outside have the largest Gini gain split the node. A row that lies inside no cluster
    of its leaf's class is rejected; with `rejected="impure"` the rows of impure leaves are rejected instead.

    Attributes
    ----------
    tree_ : RegionTree, in features normalized to [0, 1] on the training rows
    grid_size_ : int
    reject_ : (n,) bool, which training rows are rejected
    classes_ : (C,) class labels
    n_features_in_, n_leaves_, n_nodes_, depth_ : int

    `predict` gives every row the class of its leaf; `predict_with_reject` also says which rows are rejected. Nothing is
    drawn at random, and the order of the training rows does not matter.
    """

    needs_pruning_rows: ClassVar[bool] = False

    grid_size: int | str = parameter(
        default=16,
        allowed=GridSize(),
        kw_only=False,
        help='Cells along an axis. "auto" takes, of 2 to `max_grid_size`, the number with the fewest training rows '
        "misclassified or rejected, the smallest of equals (the paper, 3.4.2, goes by the error alone, in which a "
        "tree that rejects every row is perfect).",
    )
    max_grid_size: int = parameter(
        default=30, allowed=Integer(SMALLEST_GRID, LARGEST_GRID), help='Largest number that "auto" tries.'
    )
    alpha: float = parameter(
        default=100.0,
        allowed=Real(0.0, 100.0, open_low=True),
        help="Least percentage of the pivot class in a row or column of cells that is added to a rectangle; at most "
        "`theta`.",
    )
    theta: float = parameter(
        default=100.0,
        allowed=Real(0.0, 100.0, open_low=True),
        help="Least percentage of the pivot class in a rectangle.",
    )
    min_node: float = parameter(
        default=5.0,
        allowed=Real(0.0, 100.0),
        help="A node with fewer rows, in percent of the training rows, is a leaf.",
    )
    min_gain: float = parameter(
        default=1.0,
        allowed=Real(0.0, 100.0),
        help="Least Gini gain of a split, in percent of the node's Gini index.",
    )
    rejected: str = parameter(
        default=OUTSIDE,
        allowed=Choice((OUTSIDE, IMPURE)),
        help='Rejected rows: "outside", those inside no cluster of their leaf\'s class (section 3.3.3); "impure", '
        "those of leaves whose largest class has less than `theta` percent (figure 3.4).",
    )

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for purity limits in the wrong order, or None."""
        if self.alpha <= self.theta:
            return None
        return f"alpha of {owner} must not exceed theta, {self.theta:g}. Got {self.alpha:g}."

    def fit(self, X: ArrayLike, y: ArrayLike) -> PathfinderClassifier:
        """Grow the tree. X : (n, p) finite numbers; y : (n,) labels. One class, or one feature, gives a single leaf."""
        owner = type(self).__name__
        check(self.get_params(deep=False), self.constraints, owner)
        if message := self.clash(owner):
            raise ConfigError(message)
        rows, labels = checked(self, X, y, dtype=np.float64, order="C", ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, inverse = np.unique(labels, return_inverse=True)
        codes = np.ascontiguousarray(inverse, dtype=np.int32)
        self._low = rows.min(axis=0)
        half = rows.max(axis=0) / 2 - self._low / 2
        self._half_width = np.where(half > 0, half, 1.0)
        U = self._normalized(rows)
        sizes = range(SMALLEST_GRID, self.max_grid_size + 1) if self.grid_size == "auto" else [int(self.grid_size)]
        best: tuple[int, int, RegionTree, NDArray[np.bool_]] | None = None
        for size in sizes:
            tree = self._grown(U, codes, size)
            leaves, rejected = tree.apply(U)
            bad = int(((self._labels(tree)[leaves] != codes) | rejected).sum())
            if best is None or bad < best[0]:
                best = bad, size, tree, rejected
        assert best is not None
        _, self.grid_size_, self.tree_, self.reject_ = best
        self.n_leaves_ = self.tree_.n_leaves
        self.n_nodes_ = self.tree_.n_nodes
        self.depth_ = self.tree_.depth
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row's leaf, rejected or not. X : (n, p); returns (n,)."""
        return self.predict_with_reject(X)[0]

    def predict_with_reject(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the class of each row's leaf, and whether the row is rejected. X : (n, p); returns (n,), (n,) bool."""
        leaves, rejected = self._applied(X)
        return self.classes_.take(self._labels(self.tree_)[leaves]), rejected

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of each row's leaf. X : (n, p); returns (n, C), columns in the order of classes_."""
        leaves = self.apply(X)
        counts = np.array([node.counts for node in self.tree_.nodes], dtype=np.float64)[leaves]
        shares: Array = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row as a node number of tree_, rejected or not. X : (n, p); returns (n,)."""
        return self._applied(X)[0]

    def _applied(self, X: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        check_is_fitted(self)
        rows = checked(self, X, dtype=np.float64, order="C", reset=False)
        leaves_and_rejections: tuple[NDArray[np.int32], NDArray[np.bool_]] = self.tree_.apply(self._normalized(rows))
        return leaves_and_rejections

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the effects of the reject option on rows X (n, p) of classes y (n,), in percent.

        reject_percent              rejected rows
        published_accuracy_percent  100 less the percentage of misclassified rows: section 3.4.3, in which a rejected
                                    row counts as correct
        accepted_accuracy_percent   accuracy among the classified rows; 100 if there are none
        """
        predicted, rejected = self.predict_with_reject(X)
        wrong = (predicted != np.asarray(y)) & ~rejected
        accepted = int((~rejected).sum())
        return {
            "reject_percent": 100.0 * float(rejected.mean()),
            "published_accuracy_percent": 100.0 - 100.0 * float(wrong.mean()),
            "accepted_accuracy_percent": 100.0 - (100.0 * int(wrong.sum()) / accepted if accepted else 0.0),
        }

    def _decreases(self) -> Array:
        # A split is a line of pieces in the plane of two features, in units of their ranges: each has half a share.
        counts = np.array([node.counts for node in self.tree_.nodes], dtype=np.float64)
        totals = counts.sum(axis=1)
        gains = spread_decreases(self.tree_.parents, totals / totals[0], counts / totals[:, None])
        out = np.zeros((1, self.n_features_in_))
        for node, gain in zip(self.tree_.nodes, gains.tolist(), strict=True):
            if node.split is not None:
                out[0, [node.split.x, node.split.y]] += gain / 2
        return out

    def _text_of(self, tree: RegionTree, features: Sequence[str], classes: Sequence[str], precision: int) -> str:
        return export_text(tree, features, classes)

    def _view_of(
        self,
        tree: RegionTree,
        features: Sequence[str],
        classes: Sequence[str],
        precision: int,
        title: str,
        rows: TrainingRows,
    ) -> TreeView:
        texts = node_texts(tree, features, classes)
        counts = np.array([node.counts for node in tree.nodes], dtype=np.float64)
        # The drawing shows the counts at every node.
        texts = [text.rpartition("  (")[0] or text for text in texts]
        shades = [node.label if node.split is None else -1 for node in tree.nodes]
        sketch = Sketch(tree.parents, texts, yes_or_no(tree.left), shades)
        return sketch.view(title, classes, counts, counts.sum(axis=1).astype(np.int64))

    def _grown(self, U: Array, codes: NDArray[np.int32], size: int) -> RegionTree:
        grid = CellGrid(size, self.alpha / 100, self.theta / 100)
        limits = self.min_node / 100 * len(U), self.min_gain / 100
        return grow(U, codes, len(self.classes_), grid, *limits, self.rejected)

    def _labels(self, tree: RegionTree) -> NDArray[np.intp]:
        return np.array([node.label for node in tree.nodes])

    def _normalized(self, X: Array) -> Array:
        # By halves, since the range of finite numbers may overflow.
        return np.ascontiguousarray((X / 2 - self._low / 2) / self._half_width)
