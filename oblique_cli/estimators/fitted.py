"""Interface that fitted trees and forests share with scikit-learn: importances, paths, sizes, text and drawing."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nodes import Indicator, Spreads, paths, ranges_of, spreads_of
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:  # drawings and texts load on first use: a fit needs none
    from matplotlib.axes import Axes

    from oblique_cli.drawing.view import TreeView

Names = Sequence[str] | NDArray[Any] | None
NOTEBOOK = "oblique-tree"  # class of the HTML element around a picture, so that its styles apply to nothing else
APPEARANCE = ("label", "filled", "impurity", "node_ids", "proportion", "rounded", "fontsize")
# Training rows and their class codes, or their numbers in regression.
TrainingRows = tuple[Array, NDArray[Any]] | None


class LogProbabilities:
    """Classifier with `predict_proba`."""

    classes_: NDArray[Any]
    n_outputs_ = 1

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the natural logarithm of `predict_proba`, minus infinity for 0. X : (n, p); returns (n, C)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))  # type: ignore[attr-defined]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the largest probability, the first of classes_ on a tie. X : (n, p); returns (n,)."""
        shares = self.predict_proba(X)  # type: ignore[attr-defined]
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))


class TreeKind(ABC):
    """Common base of all kinds of trees. `tree` is a fitted structure of any type."""

    n_features_in_: int
    n_leaves_: int
    n_nodes_: int
    depth_: int
    _names_of_levels: Mapping[int, Sequence[str]] | None = None

    @abstractmethod
    def apply(self, X: ArrayLike) -> NDArray[Any]:
        """Return the leaf of each row as a node number, (n,), or (n, number of trees) for several trees."""

    @abstractmethod
    def _decreases(self) -> Array:
        """Return the impurity decrease by feature for each tree, (number of trees, p)."""

    def _text_of(self, tree: Any, features: Sequence[str], classes: Sequence[str], precision: int) -> str:
        """Return the rules of a tree, by default of a tree of hyperplanes."""
        from oblique_cli.tree.describe import export_text

        return export_text(tree, features, classes, precision, self._level_names())

    def _view_of(
        self, tree: Any, features: Sequence[str], classes: Sequence[str], precision: int, title: str, rows: TrainingRows
    ) -> TreeView:
        """Return the data of a tree's drawing, by default for hyperplanes. rows : as in `SingleTree.view`"""
        from oblique_cli.drawing.view import view_of

        if rows is not None:
            rows = getattr(self, "tree_rows", np.asarray)(rows[0]), rows[1]
        levels = self._level_names()
        return view_of(tree, features, classes, title=title, precision=precision, level_names=levels, rows=rows)

    def _shown(
        self, tree: Any, features: Names, classes: Names, precision: int, title: str, rows: TrainingRows = None
    ) -> TreeView:
        """Return the data of a drawing of a tree, for names of features and classes that may be None."""
        from oblique_cli.drawing.view import unbroken

        names = [unbroken(name) for name in self._feature_names(features)]
        return self._view_of(tree, names, self._class_names(classes), precision, title, rows)

    def _level_names(self) -> dict[int, list[str]]:
        """Names of the levels of qualitative columns, by the position of the column."""
        if self._names_of_levels is not None:
            return {j: list(names) for j, names in self._names_of_levels.items()}
        return {j: [str(level) for level in levels] for j, levels in getattr(self, "levels_", {}).items()}

    def with_level_names(self, names: Mapping[int, Sequence[str]]) -> Self:
        """Return a copy with other names of levels in texts and drawings. names : column -> in the order of levels_"""
        named = copy.copy(self)
        named._names_of_levels = names
        return named

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the impurity decrease of the splits, (p,); of sum 1, or all 0 without a split.

        A split counts by its decrease of Gini impurity (of the residual sum in regression), weighted by its training
        rows, as in Breiman et al. (1984) and in scikit-learn, whatever criterion grew the tree. A hyperplane's decrease
        is divided among its features by |coefficient| times the range of the feature in the training rows, so that
        units do not matter. For an axis-parallel tree this is scikit-learn's definition. The shares of several trees
        are averaged over the trees that have a split."""
        check_is_fitted(self)
        decreases = self._decreases()
        totals = decreases.sum(axis=1, keepdims=True)
        shares = decreases[totals[:, 0] > 0] / totals[totals[:, 0] > 0]
        return np.asarray(shares.mean(axis=0)) if len(shares) else np.zeros(decreases.shape[1])

    def get_depth(self) -> int:
        """Return the longest path from a root to a leaf: of the deepest tree, if there are several."""
        check_is_fitted(self)
        return int(self.depth_)

    def get_n_leaves(self) -> int:
        """Return the number of leaves: of all trees, if there are several."""
        check_is_fitted(self)
        return int(self.n_leaves_)

    def _feature_names(self, feature_names: Names) -> list[str]:
        seen = getattr(self, "feature_names_in_", None)
        names = seen if feature_names is None else feature_names
        if names is None:
            return [f"x{j + 1}" for j in range(self.n_features_in_)]
        return self._as_many(names, self.n_features_in_, "feature_names")

    def _class_names(self, class_names: Names) -> list[str]:
        classes = getattr(self, "classes_", ())
        if class_names is None:
            return [str(label) for label in classes]
        return self._as_many(class_names, len(classes), "class_names")

    def _as_many(self, names: Sequence[str] | NDArray[Any], n: int, parameter: str) -> list[str]:
        if isinstance(names, str) or len(names) != n:
            raise ConfigError(f"{parameter} must be a list of {n} names for this {type(self).__name__}. Got {names!r}.")
        return [name if isinstance(name, Indicator) else str(name) for name in names]


class SingleTree(TreeKind):
    """Estimator of one tree, `tree_`."""

    tree_: Any
    _spreads: Spreads

    def _keep_spreads(self, X: Array, levels: Sequence[int] = ()) -> None:
        """Store the statistics of training rows (n, p) for `explain`, of 10,000 to 20,000 if there are more."""
        self._spreads = spreads_of(X, levels, most=10_000)

    def to_html(self, feature_names: Names = None, class_names: Names = None, precision: int = 3) -> str:
        """Return the tree as one HTML page that shows a node's content on a click and needs no network.

        feature_names : (p,) names; class_names : (C,) names, for classes only; precision : significant digits"""
        from oblique_cli.drawing.page import PageData, page
        from oblique_cli.drawing.view import text_of

        view = self.view(feature_names, class_names, precision, type(self).__name__)
        rules = self.export_text(feature_names, class_names, precision) if view.classes else text_of(view)
        return page(view, PageData(self._feature_names(feature_names), level_names=self._level_names(), rules=rules))

    def _repr_html_inner(self) -> str:
        return self._with_picture(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the notebook display: the fitted tree below scikit-learn's box, if the box is shown."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._with_picture(shown["text/html"])
        return shown

    def _with_picture(self, box: str) -> str:
        """Return the box with the tree below it (of a large tree the first levels); the box alone before a fit."""
        if not hasattr(self, "tree_"):
            return box
        from oblique_cli.drawing.scene import FIRST, WHOLE, scene_of
        from oblique_cli.drawing.svg import drawing, style_sheet

        view = self.view().cut(None if self.n_leaves_ <= WHOLE else FIRST)
        scope = f"{NOTEBOOK} "
        styles = f"<style>{style_sheet(f'.{scope}')}.{scope}{{ max-height: 40em; overflow: auto; }}</style>"
        return f'{box}{styles}<div class="{NOTEBOOK}">{drawing(scene_of(view))}</div>'

    def explain(self, row: ArrayLike, **options: Any) -> Any:
        """Return the explanation of one row (p,) and the nearest change to another class: `oblique_cli.explain`.

        options : `reference`, rows for means and standard deviations in place of the training rows; `fix` and `to`"""
        return oblique_cli.explain(self, np.asarray(row, np.float64), **options)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Return the nodes of each row's path, in order. X : (n, p); returns (n, n_nodes) of 0 and 1, sparse."""
        return paths(self.apply(X), self.tree_.parents)

    def export_text(self, feature_names: Names = None, class_names: Names = None, precision: int = 3) -> str:
        """Return the rules of the tree.

        feature_names : (p,) names; by default the columns of `fit`, else x1, x2, ...
        class_names : (C,) names; by default the labels; precision : significant digits"""
        check_is_fitted(self)
        return self._text_of(self.tree_, self._feature_names(feature_names), self._class_names(class_names), precision)

    def plot(
        self,
        feature_names: Names = None,
        class_names: Names = None,
        precision: int = 3,
        title: str = "",
        ax: Axes | None = None,
    ) -> Any:
        """Return the tree as a matplotlib figure; `figure.savefig("tree.svg")` writes it, a notebook shows it.

        ax : axes to draw in, which are returned; other parameters are those of `export_text`
        ConfigError for more than 200 leaves, or without matplotlib."""
        from oblique_cli.drawing.diagram import drawn

        return drawn(self.view(feature_names, class_names, precision, title), ax)

    def view(
        self,
        feature_names: Names = None,
        class_names: Names = None,
        precision: int = 3,
        title: str = "",
        rows: TrainingRows = None,
    ) -> TreeView:
        """Return the data for drawings of the tree; modules of `oblique_cli.drawing` make SVG, HTML and more of them.

        rows : the training rows (n, p) and their class codes (n,), for counts and histograms that the tree lacks
        Other parameters are those of `plot`."""
        check_is_fitted(self)
        return self._shown(self.tree_, feature_names, class_names, precision, title, rows)


class TreePredictor(LogProbabilities, SingleTree, ClassifierMixin):
    """Classifier that predicts by its `tree_`; subclasses check rows in `_rows`."""

    classes_: NDArray[Any]
    tree_: Tree
    levels_: Mapping[int, Sequence[Any]] = MappingProxyType({})  # for models without qualitative columns

    @abstractmethod
    def _rows(self, X: ArrayLike) -> Array:
        """Return checked rows in the tree's form, (n, p)."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the majority label of each row's leaf, or the label by its linear model. X : (n, p); returns (n,)."""
        rows, leaves = self._rows_and_leaves(X)
        return np.asarray(self.classes_.take(self.tree_.predicted(rows, leaves=leaves)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of each row's leaf, weighted if the fit was weighted, or its `probabilities`.

        X : (n, p); returns (n, C), columns in the order of classes_"""
        rows, leaves = self._rows_and_leaves(X)
        return self.tree_.predicted_shares(rows, leaves=leaves)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row as a node number of tree_. X : (n, p); returns (n,)."""
        return self._rows_and_leaves(X)[1]

    def _rows_and_leaves(self, X: ArrayLike) -> tuple[Array, NDArray[np.int32]]:
        """Return rows from `tree_rows`, (n, p), and their leaves, (n,)."""
        rows = self.tree_rows(X)
        return rows, self.tree_.apply(rows, threads_of(self))

    def tree_rows(self, X: ArrayLike) -> Array:
        """Return rows in the form of `tree_`: levels as its codes, missing values filled if fitted so. X : (n, p)"""
        check_is_fitted(self)
        return self._rows(X)

    def _keep(self, tree: Tree, X: Array) -> None:
        """Set `tree` as the fitted one. X : (n, p) its training rows"""
        self._take(tree)
        self._ranges = ranges_of(X)
        self._keep_spreads(X, tree.levels)

    def _take(self, tree: Tree) -> None:
        self.tree_ = tree
        self.n_leaves_ = tree.n_leaves
        self.n_nodes_ = tree.n_nodes
        self.depth_ = tree.depth

    def _decreases(self) -> Array:
        return self.tree_.compute_feature_importances(False, self._ranges)[None]


class SeveralTrees(TreeKind):
    """Estimator of several trees."""

    def _tree(self, number: int) -> Any:
        return self.tree(number)  # type: ignore[attr-defined]

    @abstractmethod
    def _parents(self) -> list[NDArray[np.int64]]:
        """Return the parents of the nodes of every tree."""

    def decision_path(self, X: ArrayLike) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes of all trees that each row of X (n, p) passes, (n, all nodes) of 0 and 1, sparse, and the
        first column of each tree, (number of trees + 1,), as forests of scikit-learn do."""
        leaves = self.apply(X)
        parents = self._parents()
        visited = [paths(leaves[:, i], of_tree) for i, of_tree in enumerate(parents)]
        starts = np.cumsum([0, *(len(of_tree) for of_tree in parents)], dtype=np.int64)
        return csr_matrix(hstack(visited)), starts

    def export_text(
        self, feature_names: Names = None, class_names: Names = None, precision: int = 3, number: int | None = None
    ) -> str:
        """Return the rules of all trees one after the other, or of the tree `number`, counted from 0.

        Other parameters as for a single tree: feature names (default x1, x2, ...), class names, significant digits."""
        check_is_fitted(self)
        names = self._feature_names(feature_names), self._class_names(class_names)
        if number is not None:
            return self._text_of(self._numbered(number), *names, precision)
        n = len(self._parents())
        texts = (self._text_of(self._tree(i), *names, precision) for i in range(n))
        return "\n".join(f"# tree {i}\n{text}" for i, text in enumerate(texts))

    def plot(
        self,
        number: int = 0,
        feature_names: Names = None,
        class_names: Names = None,
        precision: int = 3,
        title: str = "",
        ax: Axes | None = None,
    ) -> Any:
        """Return the tree `number`, counted from 0, as a matplotlib figure, or `ax` with the tree drawn in it.

        Other parameters are those of `export_text`. ConfigError for more than 200 leaves, or without matplotlib."""
        from oblique_cli.drawing.diagram import drawn

        check_is_fitted(self)
        return drawn(self._shown(self._numbered(number), feature_names, class_names, precision, title), ax)

    def _numbered(self, number: int) -> Any:
        n = len(self._parents())
        if not 0 <= number < n:
            raise ConfigError(f"number of a tree must be from 0 to {n - 1}. Got {number!r}.")
        return self._tree(number)


def visits(leaves: NDArray[Any], parents: NDArray[np.int64], codes: NDArray[Any], n_classes: int) -> Array:
    """Return the number of rows of each class at each node, (n_nodes, C). leaves : (n,); codes : (n,) class codes"""
    counts = np.zeros((len(parents), n_classes))
    np.add.at(counts, (leaves, codes), 1.0)
    for node in range(len(parents) - 1, 0, -1):
        counts[parents[node]] += counts[node]
    return counts


def export_text(
    decision_tree: Any, *, feature_names: Names = None, class_names: Names = None, decimals: int = 3
) -> str:
    """Return the rules of a fitted tree: its `export_text`, called as the function of `sklearn.tree`.

    decimals : significant digits"""
    return str(decision_tree.export_text(feature_names, class_names, decimals))


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Names = None,
    class_names: Any = None,
    precision: int = 3,
    ax: Axes | None = None,
    **appearance: Any,
) -> Any:
    """Return a figure of a fitted tree, or `ax` with the tree drawn in it, called as the function of `sklearn.tree`.

    max_depth : levels that are drawn, None for all; class_names : (C,) names, or True for the labels
    appearance : `filled`, `rounded` and other options of scikit-learn's drawing, without effect here"""
    if unknown := sorted(appearance.keys() - set(APPEARANCE)):
        raise TypeError(f"plot_tree() got an unexpected keyword argument {unknown[0]!r}")
    from oblique_cli.drawing.diagram import drawn

    names = None if isinstance(class_names, bool) else class_names
    return drawn(decision_tree.view(feature_names, names, precision).cut(max_depth), ax)
