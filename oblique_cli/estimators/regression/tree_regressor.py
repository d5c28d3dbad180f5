"""Common base of the regression trees as estimators: checked rows in canonical order, predictions, drawings."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.view import MOST_TERMS, NodeView, TreeView, unbroken, view_of
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.checked_rows import checked, checked_numbers, some_positive
from oblique_cli.estimators.fitted import Names, SingleTree, TrainingRows, TreeKind
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.monotonic import signs_of, warn_of_flat
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Choice, check
from oblique_cli.ground.magnitudes import comparable
from oblique_cli.ground.nodes import BLANK, pairs_of
from oblique_cli.ground.row_groups import Groups, checked_groups, parts_of
from oblique_cli.ground.seeds import generator
from oblique_cli.parameters import Declared, parameter
from oblique_cli.tree.describe import leaf_texts
from oblique_cli.tree.leaf_quantiles import LeafResiduals, quantiles_of
from oblique_cli.tree.scorecards import scores_of
from oblique_cli.tree.sparse import Light, idle_terms
from oblique_cli.tree.structure import Tree
from oblique_cli.tree.truncation import ALL, LEAF, NONE, TRUNCATIONS, truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def names_of_outputs(n_outputs: int, target: Names) -> Sequence[str] | NDArray[Any]:
    """Return a name for each output: the given ones, or one name, numbered for several outputs; None is "y"."""
    name = "y" if target is None else target
    if not isinstance(name, str):
        return name
    return [name] if n_outputs == 1 else [f"{name}{k + 1}" for k in range(n_outputs)]


def left_out(n: int, folds: int, seed: int, purpose: str, groups: Groups | None) -> list[NDArray[np.intp]]:
    """Return the held-out rows of each fold of n rows, ascending; leave-one-out if n < folds. groups : (n,) or None"""
    if groups is not None:
        return parts_of(groups, folds, generator(seed, purpose))
    places = generator(seed, purpose).permutation(n)
    return [np.sort(part) for part in np.array_split(places, min(folds, n))]


MOST_COPIES = 8  # most copies of a row of mean weight, for fractional weights
MOST_WHOLE = 64  # most copies of a row of mean weight, for whole weights


def copies_of(weights: Array) -> NDArray[np.intp]:
    """Return the number of copies of each row: weights in their largest common unit, so integers are copies of rows.

    weights : (n,), not negative. If no unit makes them whole with few copies per row on average, they are rounded to
    multiples of the mean weight over `MOST_COPIES`, and a positive weight counts at least once."""
    positive = weights[weights > 0]
    scaled = weights / positive.min()
    for parts in range(1, MOST_COPIES + 1):
        counts = np.rint(scaled * parts)
        most = MOST_WHOLE if parts == 1 else MOST_COPIES
        if np.abs(scaled * parts - counts).max() < 1e-9 * scaled.max() and counts.sum() <= most * len(positive):
            break
    else:
        counts = np.rint(weights / (positive.mean() / MOST_COPIES))
        counts = np.where(weights > 0, np.maximum(counts, 1), 0)
    return np.asarray(counts.astype(np.intp))


class ShownNumbers(TreeKind):
    """Drawing data of a tree that predicts numbers."""

    def _view_of(
        self,
        tree: Tree,
        features: Sequence[str],
        classes: Sequence[str],
        precision: int,
        title: str,
        rows: TrainingRows,
    ) -> TreeView:
        # Histograms of one color: regression has no classes.
        codes = None if rows is None else (np.asarray(rows[0], dtype=np.float64), np.zeros(len(rows[0]), np.int32))
        light = None if codes is None else Light.of(tree, codes[0], pairs_of(features)).tree(tree)
        view = view_of(
            tree, features, [classes[0]], title=title, precision=precision, rows=codes, light=light, most=MOST_TERMS
        ).noted(() if light is None else idle_terms(tree, light))
        texts = _unbroken(leaf_texts(tree, features, classes, precision))
        brief = _unbroken(leaf_texts(tree, features, classes, precision, MOST_TERMS))
        models = tree.equations

        def shown(node: NodeView) -> NodeView:
            if not node.is_leaf:
                return replace(node, counts=())
            rule: dict[str, Any] = {}  # for several outputs a page shows the text
            if models.n_outputs == 1:
                used = np.flatnonzero(models.coef[node.number]).tolist()
                model = [[j, float(models.coef[node.number, j])] for j in used]
                rule = {"v": [float(models.intercept[node.number]), model, *(models.bounds_of(node.number) or ())]}
                if models.leaf_models is not None:
                    from oblique_cli.drawing.page import terms_of

                    (score,) = scores_of(models.leaf_models, node.number, features, [""])
                    rule["v"][0], rule["z"] = score.intercept, terms_of(score)
            # An equation includes its number of rows.
            text, short = texts[node.number], brief[node.number]
            return replace(node, text=text, brief=short, counts=(), n_rows=-1, rule=rule)

        nodes, page_models = tuple(map(shown, view.nodes)), models.leaf_models
        return replace(view, nodes=nodes, classes=(), plane=None, toward="", models=page_models)


class ShownRegression(ShownNumbers, SingleTree):
    """Interface of a fitted regression tree: importances, rules and drawings."""

    _ranges: Array  # of the training rows; not needed for axis-parallel splits

    @property
    def model_tree(self) -> Tree:
        """Tree with an equation at every node."""
        check_is_fitted(self)
        tree: Tree = self.tree_
        return tree

    def _decreases(self) -> Array:
        """Return the decrease of the residual sum by every split, divided among the features of its hyperplane, without
        the models of leaves."""
        tree = self.model_tree
        inner = np.flatnonzero(~tree.is_leaf)
        shares = np.abs(tree.coef_[inner]) * getattr(self, "_ranges", 1.0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return np.asarray((tree.gains[inner] @ shares)[None])

    def export_text(self, feature_names: Names = None, target: Names = "y", precision: int = 3) -> str:
        """Return the rules of the tree with the model of every leaf.

        feature_names : (p,) names; by default the columns of `fit`, else x1, x2, ...
        target : name of the target, or (k,) names of the outputs; a single name is numbered for several outputs
        precision : significant digits"""
        check_is_fitted(self)
        tree = self.model_tree
        return self._text_of(tree, self._feature_names(feature_names), self._outputs(tree, target), precision)

    def plot(
        self,
        feature_names: Names = None,
        target: Names = "y",
        precision: int = 3,
        title: str = "",
        ax: Axes | None = None,
    ) -> Any:
        """Return the tree as a matplotlib figure, with the models of leaves, or `ax` with the tree drawn in it.

        Other parameters are those of `export_text`. ConfigError for more than 200 leaves, or without matplotlib."""
        return drawn(self.view(feature_names, target, precision, title), ax)

    def view(
        self,
        feature_names: Names = None,
        target: Names = "y",
        precision: int = 3,
        title: str = "",
        rows: TrainingRows = None,
    ) -> TreeView:
        """Return the data for drawings of the tree, by parameters of `plot`.

        rows : training rows (n, p) and numbers (n,), or None"""
        check_is_fitted(self)
        features, tree = [unbroken(name) for name in self._feature_names(feature_names)], self.model_tree
        outputs = [unbroken(name) for name in self._outputs(tree, target)]
        return self._view_of(tree, features, outputs, precision, title, rows)

    def _outputs(self, tree: Tree, target: Names) -> list[str]:
        return self._as_many(names_of_outputs(tree.equations.n_outputs, target), tree.equations.n_outputs, "target")


class TreeRegressor(Declared, ShownRegression, RegressorMixin, BaseEstimator, kw_only=True):
    """Regression tree with a model in every leaf; its `tree_` predicts and applies."""

    needs_pruning_rows: ClassVar[bool] = False

    tree_: Tree

    leaf_residuals: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether leaves store the residuals of their training rows, which `predict_quantiles` needs.",
    )
    truncate: str = parameter(
        default=ALL,
        allowed=Choice(TRUNCATIONS),
        help='Bound of the predictions of linear leaves: 1.5 times the range of "all" training targets, or of those of '
        'each "leaf", around its middle; "none" does not bound.',
    )

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Grow the tree.

        X : (n, p) and y : (n,) numbers; the largest of a column is 0 or from 2**-300 to 2**300, that of y 0 or from
            1e-140 to 1e140, DataError otherwise. A constant target gives one leaf. With fewer rows than coefficients a
            model interpolates all of them, with coefficients of minimum norm.
        sample_weight : (n,) or None; a row of weight 2 counts as two rows (`copies_of`), a row of weight 0 as none"""
        return self._fit(X, y, sample_weight)

    def _fit(self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None = None) -> Any:
        """Grow the tree. groups : (n,) of rows that stay together, or None"""
        owner = type(self).__name__
        check(self.get_params(deep=False), self.constraints, owner)
        if message := self.clash(owner):
            raise ConfigError(message)
        rows, targets, together = self._training_rows(X, y, weights, groups)
        vars(self).pop("leaf_residuals_", None)
        tree = truncated(self._grown(rows, targets, together), rows, targets, self.truncate)
        self.tree_ = tree
        self._keep_spreads(rows)
        self.n_leaves_, self.n_nodes_, self.depth_ = tree.n_leaves, tree.n_nodes, tree.depth
        if self.leaf_residuals:
            self.leaf_residuals_ = LeafResiduals.of(tree, rows, targets)
        if hasattr(self, ORDER):
            warn_of_flat(self, signs_of(self), tree.used_features, rows, targets, stacklevel=4)
        return self

    @abstractmethod
    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        """Return the tree of checked rows (n, p) with numbers (n,) or (n, k)."""

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for monotonic constraints together with bounds of single leaves, or None."""
        if self.truncate != LEAF or getattr(self, ORDER, None) is None:
            return None
        return f"{ORDER} of {owner} is not kept with truncate {LEAF!r}; set truncate to {ALL!r} or {NONE!r}."

    @property
    def n_outputs_(self) -> int:
        """Number of outputs k."""
        check_is_fitted(self)
        return self.tree_.equations.n_outputs

    def _numbers(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return checked rows (n, p) and targets (n,), or (n, k) if several outputs are allowed."""
        return checked_numbers(self, X, y)

    def _training_rows(
        self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None
    ) -> tuple[Array, Array, Groups | None]:
        """Return checked rows and targets, in an order that depends on their content only, and the group of every row.
        weights : (n,) or None; the copies of a row (`copies_of`) form a group if there are no other groups"""
        rows, targets = self._numbers(X, y)
        together = checked_groups(groups, len(rows), type(self).__name__)
        # Sums depend on the order of rows, but trees must not.
        keys = (*rows.T[::-1], *targets.reshape(len(rows), -1).T[::-1])
        if weights is None:
            order = np.lexsort(keys)
        else:
            ordinary = comparable(some_positive(weights, rows)[0], f"sample_weight of {type(self).__name__}")
            counts = copies_of(ordinary)
            order = np.lexsort((counts, *keys))
            order = np.repeat(order[counts[order] > 0], counts[order[counts[order] > 0]])
            if together is None and counts.max() > 1:
                place = np.cumsum(np.diff(order, prepend=order[0]) != 0)  # of the row among those that count
                together = np.zeros(len(rows), dtype=np.intp)
                together[order] = place
        return np.ascontiguousarray(rows[order]), targets[order], None if together is None else together[order]

    def predict(self, X: ArrayLike) -> Array:
        """Return the prediction of each row's leaf model. X : (n, p); returns (n,), for k outputs (n, k)."""
        check_is_fitted(self)
        return self.tree_.predicted(checked(self, X, dtype=np.float64, order="C", reset=False))

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike = (0.1, 0.5, 0.9)) -> Array:
        """Return quantiles of the target in each row's leaf, (n, k), from training rows: no guarantee for new rows.

        X : (n, p); q : (k,) ascending shares. A constant leaf returns the quantiles of its targets, a linear leaf its
        prediction plus those of its residuals. ConfigError for other shares, or a fit without `leaf_residuals`"""
        check_is_fitted(self)
        rows = checked(self, X, dtype=np.float64, order="C", reset=False)
        return quantiles_of(self.tree_, getattr(self, "leaf_residuals_", None), rows, q)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row as a node number of tree_. X : (n, p); returns (n,)."""
        check_is_fitted(self)
        return self.tree_.apply(checked(self, X, dtype=np.float64, order="C", reset=False))


class DividedTreeRegressor(TreeRegressor):
    """Regression tree whose fit divides its rows for cross-validation."""

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Any:
        """Grow the tree.

        X : (n, p) and y : (n,) numbers, or (n, k) if several outputs are allowed; the largest of a column is 0 or
            from 2**-300 to 2**300, that of y 0 or from 1e-140 to 1e140, DataError otherwise. A constant target gives
            one leaf. ConfigError for k > 1 with a parameter for single outputs.
        sample_weight : (n,) or None; a row of weight 2 counts as two rows (`copies_of`), a row of weight 0 as none
        groups : (n,) group of each row: cross-validation keeps groups together. None for independent rows"""
        return self._fit(X, y, sample_weight, groups)


def _unbroken(texts: Sequence[str]) -> list[str]:
    """Return texts without line breaks inside a term."""
    return [re.sub(r" ([+-]) (\S+) ", rf" \1{BLANK}\2{BLANK}", text) for text in texts]
