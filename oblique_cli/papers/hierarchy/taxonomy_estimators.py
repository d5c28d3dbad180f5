"""The scikit-learn faces of hierarchies: AVALANCHE, and supervised taxonomies by STAXAC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.utils.multiclass import check_classification_targets

from oblique_cli.estimators.checked_rows import checked
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real
from oblique_cli.papers.hierarchy.avalanche import avalanche
from oblique_cli.papers.hierarchy.dissimilarities import DTYPES
from oblique_cli.papers.hierarchy.distance_estimator import DISTANCE, DistanceEstimator
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy
from oblique_cli.papers.hierarchy.measures import extract_clusters
from oblique_cli.papers.hierarchy.staxac import GRAPHS, staxac


class AvalancheClustering(ClusterMixin, DistanceEstimator):
    """Divisive clustering of a dissimilarity matrix (Amalaman 2015, chapter 4).

    Parameters
    ----------
    n_clusters : int, default 2
        Clusters of `labels_`: the highest joins of the tree are undone. The tree itself goes down to single rows.
    metric : str, default "euclidean"
        One of euclidean, sqeuclidean, cityblock, chebyshev, cosine, correlation, hamming, or "precomputed" if X is a
        square matrix of dissimilarities.
    scaling : {"zscore", "none"}, default "zscore"
        Columns are brought to mean 0 and variance 1 first.
    dtype : {"float64", "float32"}, default "float64"
        Of the condensed matrix, n (n - 1) / 2 numbers.

    Attributes
    ----------
    tree_ : Hierarchy
        `tree_.linkage()` is SciPy's matrix.
    labels_ : (n,) cluster of each row
    n_features_in_ : int
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"n_clusters": Integer(1), **DISTANCE, "dtype": Choice(DTYPES)}

    def __init__(
        self, n_clusters: int = 2, *, metric: str = "euclidean", scaling: str = "zscore", dtype: str = "float64"
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.scaling = scaling
        self.dtype = dtype

    def fit(self, X: ArrayLike, y: Any = None) -> AvalancheClustering:
        """Grow the tree. X : (n, p) finite numbers, or (n, n) for metric "precomputed"; y is not used."""
        self._check_parameters()
        rows = checked(self, X, dtype=np.float64)
        self.tree_ = avalanche(self._condensed(rows, self.dtype))
        self.labels_ = self.tree_.cut(self.n_clusters)
        return self


class SupervisedTaxonomy(DistanceEstimator):
    """A supervised taxonomy by STAXAC (Amalaman 2015, section 5.3), the ground of EUREKA's measures.

    Parameters
    ----------
    graph : {"nearest", "renewed", "gabriel"}, default "nearest"
        Which clusters are neighbors: those nearest to each other at the beginning, whose union inherits the neighbors
        of both; those nearest to each other now; or those of the Gabriel graph, inherited too.
    threshold : float in (0, 1], default 1
        Purity of the clusters in `labels_`.
    metric, scaling, dtype
        As in `AvalancheClustering`.

    Attributes
    ----------
    tree_ : Hierarchy
    taxonomy_ : Taxonomy
        Class counts, purity and majority class of every node; `hierarchy.measures` reads the rest off it.
    labels_ : (n,) number of each row's cluster, the largest first
    rounds_ : int
        How often the proximity graph was made: once more each time that merge candidates ran out; n - 1 if renewed.
    classes_ : (C,) class labels
    n_features_in_ : int
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "graph": Choice(GRAPHS),
        "threshold": Real(0.0, 1.0, open_low=True),
        **DISTANCE,
        "dtype": Choice(DTYPES),
    }

    def __init__(
        self,
        graph: str = "nearest",
        *,
        threshold: float = 1.0,
        metric: str = "euclidean",
        scaling: str = "zscore",
        dtype: str = "float64",
    ) -> None:
        self.graph = graph
        self.threshold = threshold
        self.metric = metric
        self.scaling = scaling
        self.dtype = dtype

    def fit(self, X: ArrayLike, y: ArrayLike) -> SupervisedTaxonomy:
        """Build the taxonomy. X : (n, p) finite numbers, or (n, n) for metric "precomputed"; y : (n,) labels."""
        self._check_parameters()
        rows, labels = checked(self, X, y, dtype=np.float64, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.tree_, self.rounds_ = staxac(self._condensed(rows, self.dtype), codes, self.graph)
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
