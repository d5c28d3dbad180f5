"""The scikit-learn faces of hierarchies: AVALANCHE, supervised taxonomies, and nearest neighbors with editing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from oblique_cli import seeds
from oblique_cli.constraints import Choice, Constraint, Integer, Optional, Real, check
from oblique_cli.errors import DataError
from oblique_cli.hierarchy import editing
from oblique_cli.hierarchy.avalanche import avalanche
from oblique_cli.hierarchy.dissimilarities import (
    DTYPES,
    METRICS,
    SCALINGS,
    Condensed,
    between,
    from_square,
    pairwise,
    spread_of,
    to_square,
)
from oblique_cli.hierarchy.joining import upgma
from oblique_cli.hierarchy.measures import extract_clusters, purity_thresholds
from oblique_cli.hierarchy.neighbors import WEIGHTS, classify, nearest, votes, winners
from oblique_cli.hierarchy.staxac import GRAPHS, staxac
from oblique_cli.hierarchy.structure import Taxonomy

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

PRECOMPUTED = "precomputed"
BLOCK = 1000  # rows that are predicted at once, to bound memory

DISTANCE: Mapping[str, Constraint] = {"metric": Choice((*METRICS, PRECOMPUTED)), "scaling": Choice(SCALINGS)}
NEIGHBORS: Mapping[str, Constraint] = {"n_neighbors": Integer(1), "weights": Choice(WEIGHTS), **DISTANCE}
TREES = ("staxac", "upgma")


class _OnDistances(BaseEstimator):
    """What estimators share that work on rows and a metric, or on a matrix of distances."""

    constraints: ClassVar[Mapping[str, Constraint]]
    metric: str
    scaling: str

    def _check_parameters(self) -> None:
        check(self.get_params(deep=False), self.constraints, type(self).__name__)

    def _condensed(self, X: Array, dtype: str) -> Condensed:
        """The condensed distances between training rows; X is the square matrix for metric "precomputed"."""
        if self.metric == PRECOMPUTED:
            return from_square(X, dtype)
        return pairwise(X, self.metric, self.scaling, dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags


# ---- trees -----------------------------------------------------------------------------------------------------------


class AvalancheClustering(ClusterMixin, _OnDistances):
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
        rows = validate_data(self, X, dtype=np.float64)
        self.tree_ = avalanche(self._condensed(rows, self.dtype))
        self.labels_ = self.tree_.cut(self.n_clusters)
        return self


class SupervisedTaxonomy(_OnDistances):
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
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=1)
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


# ---- nearest neighbors ----------------------------------------------------------------------------------------------


class NearestNeighborsClassifier(ClassifierMixin, _OnDistances):
    """The k-nearest-neighbor rule over all training rows, or those that an editor keeps (Amalaman 2015, chapter 6).

    Of rows at one distance the first is the nearer; of classes with equally many votes that of the nearest row wins.

    Parameters
    ----------
    n_neighbors : int, default 1
        k; all rows if fewer are kept. Wilson and WilsonProb edit with the same k.
    weights : {"uniform", "distance"}, default "uniform"
        One vote a neighbor, or 1 / (1 + d).
    metric : str, default "euclidean"
        As in `AvalancheClustering`. For "precomputed", X is (n, n) in fit and (m, n) in predict, distances to all
        training rows.
    scaling : {"zscore", "none"}, default "zscore"

    Attributes
    ----------
    kept_ : (k,) training rows that stayed, rising
    compression_ : float
        Removed over training rows, in percent.
    classes_ : (C,) class labels
    n_features_in_ : int
    n_leaves_, n_nodes_ : int
        Rows kept, the size of the model; `depth_` is 0. The tables of experiments call the size leaves.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = NEIGHBORS
    # A configuration's data set holds rows, so "precomputed" is not for it.
    words: ClassVar[Mapping[str, Constraint]] = {"metric": Choice(METRICS)}
    needs_pruning_rows: ClassVar[bool] = False

    def __init__(
        self, n_neighbors: int = 1, *, weights: str = "uniform", metric: str = "euclidean", scaling: str = "zscore"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.scaling = scaling

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the rows that the editor keeps. X : (n, p), or (n, n) for metric "precomputed"; y : (n,) labels."""
        self._check_parameters()
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._codes = codes.astype(np.int64)
        if self.metric == PRECOMPUTED:
            from_square(rows)  # checks it
        else:
            self._shift, self._scale = spread_of(rows, self.scaling)
            self._rows = (rows - self._shift) / self._scale
        self._keep(self._edit(rows))
        return self

    def _edit(self, X: Array) -> NDArray[np.bool_]:
        """Which training rows stay; X as fit was given it."""
        return np.ones(len(X), dtype=bool)

    def _keep(self, mask: NDArray[np.bool_]) -> None:
        self.kept_ = np.flatnonzero(mask)
        self.compression_ = 100.0 * (1.0 - len(self.kept_) / len(mask))
        self.n_leaves_ = self.n_nodes_ = len(self.kept_)
        self.depth_ = 0

    def _seed(self) -> int:
        return int(check_random_state(getattr(self, "random_state", None)).randint(2**31))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row, (m,). X : (m, p), or (m, n) distances to all training rows."""
        rows = self._columns(X)
        return self.classes_.take(self._predict(rows, self.kept_)[0])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return each class's share of the votes, (m, C), columns in the order of classes_."""
        rows = self._columns(X)
        ballots = self._predict(rows, self.kept_)[1]
        shares: Array = ballots / ballots.sum(axis=1, keepdims=True)
        return shares

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the compression rate in percent, beside the accuracy of an experiment."""
        return {"compression": self.compression_}

    def _columns(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        rows = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        if self.metric != PRECOMPUTED:
            return (rows - self._shift) / self._scale
        if (rows < 0).any():
            raise DataError(f"dissimilarities must be 0 or more. Got {rows.min():g}.")
        return rows

    def _predict(self, X: Array, kept: Ints) -> tuple[Ints, Array]:
        """Class code and votes of scaled rows (or of distances to all training rows), by the training rows `kept`."""
        codes, answers, ballots = self._codes[kept], [], []
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            distances = block[:, kept] if self.metric == PRECOMPUTED else between(block, self._rows[kept], self.metric)
            columns = nearest(distances, self.n_neighbors)
            ballots.append(votes(distances, columns, codes, len(self.classes_), self.weights))
            answers.append(winners(ballots[-1], columns, codes))
        return np.concatenate(answers), np.concatenate(ballots)


class WilsonClassifier(NearestNeighborsClassifier):
    """Nearest neighbors after Wilson editing: rows that the others' k-NN rule gets wrong are dropped.

    Parameters
    ----------
    voting : {"uniform", "distance"}, default "uniform"
        Of the editing: "distance" is WilsonProb (Vazquez, Sanchez & Pla 2005), whose votes are 1 / (1 + d).
    n_neighbors, weights, metric, scaling
        As in `NearestNeighborsClassifier`; n_neighbors serves editing and classification.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"voting": Choice(WEIGHTS), **NEIGHBORS}

    def __init__(
        self,
        voting: str = "uniform",
        *,
        n_neighbors: int = 1,
        weights: str = "uniform",
        metric: str = "euclidean",
        scaling: str = "zscore",
    ) -> None:
        super().__init__(n_neighbors, weights=weights, metric=metric, scaling=scaling)
        self.voting = voting

    def _edit(self, X: Array) -> NDArray[np.bool_]:
        square = to_square(self._condensed(X, "float64"))
        return editing.wilson(square, self._codes, self.n_neighbors, self.voting)


class MultiEditClassifier(NearestNeighborsClassifier):
    """Nearest neighbors after Multi-edit: random subsets edit each other until nothing is removed.

    Parameters
    ----------
    n_subsets : int, default 3
    edit_neighbors : int, default 1
        k of the editing.
    quiet_rounds : int, default 1
        Rounds without a removal after which it ends.
    n_neighbors, weights, metric, scaling
        As in `NearestNeighborsClassifier`.
    random_state : int, RandomState or None, default None

    Stochasticity
    -------------
    One integer is drawn from `random_state`; the subsets of all rounds come from one stream named after it.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_subsets": Integer(2),
        "edit_neighbors": Integer(1),
        "quiet_rounds": Integer(1),
        **NEIGHBORS,
    }

    def __init__(
        self,
        n_subsets: int = 3,
        *,
        edit_neighbors: int = 1,
        quiet_rounds: int = 1,
        n_neighbors: int = 1,
        weights: str = "uniform",
        metric: str = "euclidean",
        scaling: str = "zscore",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_neighbors, weights=weights, metric=metric, scaling=scaling)
        self.n_subsets = n_subsets
        self.edit_neighbors = edit_neighbors
        self.quiet_rounds = quiet_rounds
        self.random_state = random_state

    def _edit(self, X: Array) -> NDArray[np.bool_]:
        square = to_square(self._condensed(X, "float64"))
        rng = seeds.generator(self._seed(), "multi-edit")
        return editing.multi_edit(square, self._codes, self.edit_neighbors, self.n_subsets, self.quiet_rounds, rng)


class SupervisedClusteringEditClassifier(NearestNeighborsClassifier):
    """Nearest neighbors over the representatives of a supervised clustering (Eick, Zeidat & Vilalta 2004).

    Parameters
    ----------
    penalty : float, default 0.1
        What a further cluster costs beside impurity.
    restarts : int, default 5
        Climbs from random representatives.
    n_neighbors, weights, metric, scaling
        As in `NearestNeighborsClassifier`.
    random_state : int, RandomState or None, default None

    Stochasticity
    -------------
    One integer is drawn from `random_state`; the starts of all climbs come from one stream named after it.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"penalty": Real(0.0), "restarts": Integer(1), **NEIGHBORS}

    def __init__(
        self,
        penalty: float = 0.1,
        *,
        restarts: int = 5,
        n_neighbors: int = 1,
        weights: str = "uniform",
        metric: str = "euclidean",
        scaling: str = "zscore",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_neighbors, weights=weights, metric=metric, scaling=scaling)
        self.penalty = penalty
        self.restarts = restarts
        self.random_state = random_state

    def _edit(self, X: Array) -> NDArray[np.bool_]:
        square = to_square(self._condensed(X, "float64"))
        rng = seeds.generator(self._seed(), "supervised clustering")
        return editing.supervised_clustering(square, self._codes, self.penalty, self.restarts, rng)


class HCEditClassifier(NearestNeighborsClassifier):
    """Nearest neighbors after HC-edit: minority rows of the purest large sub-trees are dropped (section 6.3).

    Parameters
    ----------
    tree : {"staxac", "upgma"}, default "staxac"
    beta : float in (0, 1] or None, default None
        Purity of the sub-trees. 1 edits nothing. None chooses among the purity thresholds of the tree of all training
        rows, from its root's to 1, by cross-validation within the training rows: the most accurate one for the given
        n_neighbors, of equals the highest.
    inner_folds : int, default 10
        Of that cross-validation; one a row if there are fewer rows.
    graph : {"nearest", "renewed", "gabriel"}, default "nearest"
        Of STAXAC.
    n_neighbors, weights, metric, scaling
        As in `NearestNeighborsClassifier`; n_neighbors serves classification only.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    beta_ : float
        The threshold used.
    taxonomy_ : Taxonomy
        Of the training rows.

    Further those of `NearestNeighborsClassifier`.

    Stochasticity
    -------------
    One integer is drawn from `random_state`; the inner folds come from one stream named after it.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "tree": Choice(TREES),
        "beta": Optional(Real(0.0, 1.0, open_low=True)),
        "inner_folds": Integer(2),
        "graph": Choice(GRAPHS),
        **NEIGHBORS,
    }

    def __init__(
        self,
        tree: str = "staxac",
        *,
        beta: float | None = None,
        inner_folds: int = 10,
        graph: str = "nearest",
        n_neighbors: int = 1,
        weights: str = "uniform",
        metric: str = "euclidean",
        scaling: str = "zscore",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_neighbors, weights=weights, metric=metric, scaling=scaling)
        self.tree = tree
        self.beta = beta
        self.inner_folds = inner_folds
        self.graph = graph
        self.random_state = random_state

    def _edit(self, X: Array) -> NDArray[np.bool_]:
        condensed = self._condensed(X, "float64")
        seed = self._seed()
        self.taxonomy_ = self._grown(condensed, self._codes)
        self.beta_ = self._chosen_beta(to_square(condensed), seed) if self.beta is None else float(self.beta)
        return editing.hc_edit(self.taxonomy_, self.beta_)

    def _grown(self, condensed: Condensed, codes: Ints) -> Taxonomy:
        tree = upgma(condensed) if self.tree == "upgma" else staxac(condensed, codes, self.graph)[0]
        return Taxonomy.of(tree, codes, len(self.classes_))

    def _chosen_beta(self, square: Array, seed: int) -> float:
        """The threshold with most right answers over inner folds, of equals the highest."""
        candidates = purity_thresholds(self.taxonomy_)
        candidates = candidates[candidates >= self.taxonomy_.purity[-1]]
        n = len(square)
        if n == 1 or len(candidates) == 1:
            return 1.0
        right = np.zeros(len(candidates), dtype=np.int64)
        order = seeds.generator(seed, "hc-edit", "inner folds").permutation(n)
        for valid in np.array_split(order, min(self.inner_folds, n)):
            train = np.setdiff1d(np.arange(n), valid)
            inner = square[np.ix_(train, train)]
            taxonomy = self._grown(from_square(inner), self._codes[train])
            apart, codes = square[np.ix_(valid, train)], self._codes[train]
            known: dict[bytes, int] = {}  # many thresholds keep the same rows
            for k, beta in enumerate(candidates):
                kept = editing.hc_edit(taxonomy, float(beta))
                if kept.tobytes() not in known:
                    found = classify(apart[:, kept], codes[kept], self.n_neighbors, len(self.classes_), self.weights)
                    known[kept.tobytes()] = int((found == self._codes[valid]).sum())
                right[k] += known[kept.tobytes()]
        return float(candidates[np.flatnonzero(right == right.max())[-1]])

    def predict_path(self, X: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """Return what each value of `beta` would predict, from the tree of this fit.

        X : (m, p) or (m, n); values : (v,) in (0, 1]; returns (m, v) labels. The dissertation prints, for each k, the
        best test accuracy over several values: whoever takes the best column has chosen with the test labels.
        """
        rows = self._columns(X)
        return np.stack([self.classes_.take(self._predict(rows, kept)[0]) for kept in self._path(values)], axis=1)

    def n_leaves_path(self, values: ArrayLike) -> Ints:
        """Return the number of rows kept for each value of `predict_path`, (v,)."""
        check_is_fitted(self)
        return np.array([len(kept) for kept in self._path(values)], dtype=np.int64)

    def _path(self, values: ArrayLike) -> list[Ints]:
        betas = [float(value) for value in np.asarray(values, dtype=np.float64)]
        for beta in betas:
            check({"beta": beta}, self.constraints, type(self).__name__)
        return [np.flatnonzero(editing.hc_edit(self.taxonomy_, beta)) for beta in betas]
