"""scikit-learn estimators of hierarchies: AVALANCHE, and supervised taxonomies by STAXAC."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.multiclass import check_classification_targets

from oblique_cli.estimators.checked_rows import checked
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Integer, Real, check
from oblique_cli.papers.hierarchy.dissimilarities import DTYPES, METRICS, SCALINGS, Condensed, from_square, pairwise
from oblique_cli.papers.hierarchy.hierarchies import GRAPHS, Taxonomy, avalanche, divisive, staxac
from oblique_cli.papers.hierarchy.measures import extract_clusters
from oblique_cli.parameters import Declared, parameter

PRECOMPUTED = "precomputed"


class DistanceEstimator(Declared, BaseEstimator, kw_only=True):
    """Base of estimators that use rows and a metric, or a matrix of distances."""

    metric: str = parameter(
        default="euclidean",
        allowed=Choice((*METRICS, PRECOMPUTED)),
        help='Distance between rows, or "precomputed" if X is a square matrix of dissimilarities.',
    )
    scaling: str = parameter(
        default="zscore",
        allowed=Choice(SCALINGS),
        help="Columns are brought to mean 0 and variance 1 of the training rows first.",
    )

    def _check_parameters(self) -> None:
        check(self.get_params(deep=False), self.constraints, type(self).__name__)

    def _condensed(self, X: Array, dtype: str = "float64") -> Condensed:
        """Return the condensed distances between training rows; X is the square matrix for metric "precomputed"."""
        if self.metric == PRECOMPUTED:
            return from_square(X, dtype)
        return pairwise(X, self.metric, self.scaling, dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags


class _Condensed(DistanceEstimator):
    """Base of estimators that store the distances between all rows."""

    dtype: str = parameter(
        default="float64",
        allowed=Choice(DTYPES),
        kw_only=True,
        help="Of the condensed matrix, n (n - 1) / 2 numbers.",
    )


class AvalancheClustering(ClusterMixin, _Condensed, kw_only=True):
    """Divisive clustering of a dissimilarity matrix (Amalaman 2015, chapter 4).

    Attributes
    ----------
    tree_ : Hierarchy
        `tree_.linkage()` is SciPy's matrix.
    labels_ : (n,) cluster of each row
    n_features_in_ : int
    """

    n_clusters: int = parameter(
        default=2,
        allowed=Integer(1),
        kw_only=False,
        help="Clusters of `labels_`: the highest joins of the tree are undone. The tree itself goes down to single "
        "rows.",
    )

    def fit(self, X: ArrayLike, y: Any = None) -> AvalancheClustering:
        """Grow the tree. X : (n, p) finite numbers, or (n, n) for metric "precomputed"; y is not used."""
        self._check_parameters()
        rows = checked(self, X, dtype=np.float64)
        self.tree_ = avalanche(self._condensed(rows, self.dtype))
        self.labels_ = self.tree_.cut(self.n_clusters)
        return self


class SupervisedTaxonomy(_Condensed, kw_only=True):
    """A supervised taxonomy by STAXAC (Amalaman 2015, section 5.3) or by division, the ground of EUREKA's measures.

    Attributes
    ----------
    tree_ : Hierarchy
    taxonomy_ : Taxonomy
        Class counts, purity and majority class of every node; `hierarchy.measures` computes other measures from it.
    labels_ : (n,) number of each row's cluster, the largest first
    rounds_ : int
        How often STAXAC made the proximity graph: once more each time that merge candidates ran out; n - 1 if renewed.
    classes_ : (C,) class labels
    n_features_in_ : int
    """

    graph: str = parameter(
        default="nearest",
        allowed=Choice(GRAPHS),
        kw_only=False,
        help="Which clusters are neighbors: those nearest to each other at the beginning, whose union inherits the "
        "neighbors of both; those nearest to each other now; or those of the Gabriel graph, inherited too.",
    )
    method: str = parameter(
        default="staxac",
        allowed=Choice(("staxac", "divisive")),
        help='"staxac" merges clusters; "divisive", an interpretation of chapter 7, divides them from the root along '
        "edges of the minimum spanning tree, so that `graph` has no effect.",
    )
    threshold: float = parameter(
        default=1.0, allowed=Real(0.0, 1.0, open_low=True), help="Purity of the clusters in `labels_`."
    )

    def fit(self, X: ArrayLike, y: ArrayLike) -> SupervisedTaxonomy:
        """Build the taxonomy. X : (n, p) finite numbers, or (n, n) for metric "precomputed"; y : (n,) labels."""
        self._check_parameters()
        rows, labels = checked(self, X, y, dtype=np.float64, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        distances = self._condensed(rows, self.dtype)
        by_division = self.method == "divisive"
        self.tree_, self.rounds_ = (
            (divisive(distances, codes), 1) if by_division else staxac(distances, codes, self.graph)
        )
        self.taxonomy_ = Taxonomy.of(self.tree_, codes, len(self.classes_))
        clusters = extract_clusters(self.taxonomy_, self.threshold)
        rank = np.empty(self.tree_.n_nodes, dtype=np.int64)
        rank[clusters] = np.arange(len(clusters))
        self.labels_ = rank[self.tree_.owners(clusters)]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
