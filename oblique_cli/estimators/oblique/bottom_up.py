"""scikit-learn estimators of bottom-up trees: HHBUT, and its variant with support vector machines."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.fitted import TreePredictor
from oblique_cli.estimators.missing_values import refuse_missing
from oblique_cli.estimators.oblique.clusters import CRITERIA as COMPONENT_CRITERIA
from oblique_cli.estimators.oblique.clusters import ClassClusters, Clustering, Shared
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array, Ints, Rows
from oblique_cli.ground.constraints import (
    Boolean,
    Choice,
    Constraint,
    Either,
    FeatureCount,
    Integer,
    Optional,
    Real,
    Text,
    check,
)
from oblique_cli.ground.magnitudes import common_exponent, measured, refuse_extreme
from oblique_cli.parameters import Declared, parameter
from oblique_cli.proposers.hhcart import HHCART
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.merging import DISTANCES, Plane, degrees_of_overlap, grow_below, grow_bottom_up, merge_order
from oblique_cli.tree.probabilities import AUTO, DIRICHLET, RULES, strength_of, with_probabilities
from oblique_cli.tree.splitting import PROPOSERS, Node, Proposer, best_split
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

SVM_STEPS = 1000  # step limit of liblinear; its plane at the limit is used even without convergence
LIBLINEAR = threading.Lock()  # its random numbers are those of the process, and would depend on other threads
GROUP_COSTS = {"alike": None, "by_size": "balanced"}  # -> scikit-learn's class weights

ROWS: Mapping[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}


class Heuristic(Constraint):
    """Name of a registered heuristic."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in PROPOSERS

    def describe(self) -> str:
        return f"one of {', '.join(PROPOSERS)}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(PROPOSERS)}


AS_IN_HHCART = 'As in `HHCARTClassifier`, for the hyperplanes of "hhcart" and of `hybrid`.'
REMEDY = "fill them, or leave those rows out"


class BottomUpTreeClassifier(Declared, TreePredictor, BaseEstimator, kw_only=True):
    """A tree built from its leaves: clusters of each class, merged two by two (thesis chapter 6, algorithm 10).

    A Gaussian mixture divides the rows of each class into clusters, which become the leaves. The two nodes of different
    classes with the nearest centroids are merged into a node of a new class, until only the root is left. At each merge
    a hyperplane is fitted between the rows of the two children. There is no pruning. With two or more classes the tree
    has one leaf for each cluster, whatever method fits the hyperplanes. The prediction for a row is the class of the
    cluster whose leaf it reaches.

    Attributes
    ----------
    tree_ : Tree
        Counts are of the rows in the clusters of a node, not of the rows that the hyperplanes send there. Gains are the
        scores of splits with the two children as classes, 0 for planes of a support vector machine.
    n_clusters_ : dict
        Class label -> number of its clusters. A single class is not divided, for lack of another class.
    overlap_ : (K,)
        With `merging="overlap"` or a `hybrid_overlap`, the degree of overlap of every cluster with clusters of other
        classes, 0 (apart) to 1 (the same), in the order of `n_clusters_`: its greatest Bhattacharyya coefficient.
        `undecided` compares it.
    classes_ : (C,) class labels
    n_features_in_ : int
    n_leaves_, n_nodes_, depth_ : int
    seconds_saved_ : float
        Seconds that this fit saved by using clusters of an earlier fit in the same process.

    There is no `sample_weight`: mixtures as scikit-learn fits them have no weights.

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`. The start of each mixture, the divisions that score K and
    the order in which the support vector machine visits rows have a stream each, named after class and K."""

    needs_pruning_rows: ClassVar[bool] = False
    shared_work: ClassVar[tuple[str, ...]] = tuple(Clustering.__dataclass_fields__)  # decide the clusters

    splitter: str = parameter(
        default="hhcart",
        allowed=Choice(("hhcart", "svm", "fisher")),
        kw_only=False,
        help='"hhcart" searches the reflections of the eigenvectors of both children, as HHCART(A) does at a node of '
        'two classes (HHBUT); "svm" is a linear support vector machine with a soft margin (BUTIF); "fisher" searches '
        "the threshold along Fisher's direction, as FDT does (Landeweerd et al. 1983, in thesis 6.2.2).",
    )
    components: str = parameter(
        default="bic",
        allowed=Choice(COMPONENT_CRITERIA),
        help="Criterion for the number of components K of a class. K grows by one while the criterion improves: BIC, "
        "the log-likelihood held out in a `component_folds`-fold cross-validation, or in as many random halves.",
    )
    min_components: int = parameter(
        default=1, allowed=Integer(1), help="K to start from. Equal to `max_components` it fixes K."
    )
    max_components: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Largest K; None for the number of distinct rows, which also limits `min_components`.",
    )
    component_folds: int = parameter(default=10, allowed=Integer(2), help='Folds of "cv", random halves of "mccv".')
    standardize: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Whether each feature is scaled to variance 1 in the class before mixtures are fitted, so that units "
        "decide nothing.",
    )
    covariance_regularization: float = parameter(
        default=0.01,
        allowed=Real(0.0, open_low=True),
        help="Added to the diagonal of every covariance: with `standardize` a share of each feature's variance, else "
        "in the features' own units squared. The tables of the thesis come out with 0.1 and `standardize` off.",
    )
    n_init: int = parameter(
        default=1, allowed=Integer(1), help="Starts of each mixture; the most likely result is used."
    )
    max_steps: int = parameter(
        default=1000,
        allowed=Integer(1),
        help="Steps of each mixture; a mixture that has not converged by then is an error.",
    )
    merging: str = parameter(
        default="centroid",
        allowed=Choice(DISTANCES),
        help="Nodes that are merged first: those of the nearest centroids; of the nearest means by the Mahalanobis "
        "distance (Landeweerd et al. 1983, in thesis 6.2.2, with one cluster a class); or, an interpretation of thesis "
        "6.8 and 7.2, those whose normal distributions overlap most (Bhattacharyya).",
    )
    max_features: int | float | str | None = parameter(
        default=None,
        allowed=Optional(FeatureCount()),
        help="Features drawn at each merge for its hyperplane: a number, a share, a rule, or all (None), as in "
        "`ObliqueTreeClassifier`. Clusters see all features.",
    )
    hybrid: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Future work of thesis 7.2: if training rows of another class reach a leaf, a top-down tree replaces it. "
        "The tree then has more leaves than clusters.",
    )
    hybrid_heuristic: str = parameter(
        default="hhcart_a", allowed=Heuristic(), help="Name of the heuristic of these top-down trees."
    )
    hybrid_overlap: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0, 1.0)),
        help="Only leaves of undecided clusters, whose degree of overlap (`overlap_`) is above this, are replaced by "
        "`hybrid`; None for all leaves.",
    )
    hybrid_epsilon: float = parameter(
        default=0.0,
        allowed=Real(0.0, 1.0),
        help="A node of these trees is split only if its misclassification rate is above this.",
    )
    probabilities: str = parameter(
        default=DIRICHLET,
        allowed=Choice(RULES),
        help="What `predict_proba` gives for a leaf, as in `ObliqueTreeClassifier` and docs/guarantees.md.",
    )
    probability_strength: float | str = parameter(
        default=AUTO,
        allowed=Either(Real(0.0), Text(AUTO, f"'{AUTO}'")),
        help="Strength of that smoothing, in rows, as in `ObliqueTreeClassifier`. Cross-validation cannot choose it, "
        "as it would fit all mixtures again.",
    )
    criterion: str = parameter(default="twoing", allowed=Choice(CRITERIA), help=AS_IN_HHCART)
    tau: float = parameter(default=0.05, allowed=HHCART.constraints["tau"], help=AS_IN_HHCART)
    sign: str = parameter(default="negative", allowed=HHCART.constraints["sign"], help=AS_IN_HHCART)
    ties: str = parameter(default="tolerant", allowed=Choice(("tolerant", "strict")), help=AS_IN_HHCART)
    cost: float = parameter(
        default=1.0,
        allowed=Real(0.0, open_low=True),
        help="Cost of the support vector machine (Gamma of thesis eq. 6.4.4), for features scaled to variance 1 at the "
        "node.",
    )
    group_costs: str = parameter(
        default="alike",
        allowed=Choice(tuple(GROUP_COSTS)),
        help="Cost of a row in the support vector machine: equal in both groups of a node, as in thesis eq. 6.4.4, or "
        'with "by_size" larger in the smaller group, so that both groups have equal total cost, which is nearer to the '
        "printed tables.",
    )
    random_state: Any = parameter(default=None)

    def fit(self, X: ArrayLike, y: ArrayLike, shared: Shared | None = None) -> BottomUpTreeClassifier:
        """Compute the clusters, merge them, and fit a hyperplane at each merge.

        X : (n, p) finite numbers; y : (n,) labels
        shared : a dictionary, {} at first, common to fits on the same rows: trees that differ only in their hyperplanes
            have the same clusters, which take most of the time
        raises NotConverged, which names class and K, if a mixture does not converge"""
        owner = type(self).__name__
        check(self.get_params(deep=False), self.constraints, owner)
        if message := self.clash(owner):
            raise ConfigError(message)
        rows, labels = checked(self, X, y, ensure_min_samples=1, **ROWS)
        refuse_missing(rows, list(range(rows.shape[1])), self, REMEDY)
        check_classification_targets(labels)
        self.classes_, inverse = np.unique(labels, return_inverse=True)
        if not self.standardize:  # the term added to covariances is then in the features' own units
            refuse_extreme(rows, f"{owner} without standardize")
        # One power of 2 for all features: distance ratios of clusters and directions of planes do not change.
        self._power = common_exponent(rows)
        rows = measured(rows, self._power)
        seed = int(check_random_state(self.random_state).randint(2**31))
        started = time.perf_counter()
        clusters = self._clusters(rows, inverse, seed, {} if shared is None else shared)
        self.seconds_saved_ = max(0.0, clusters.seconds - (time.perf_counter() - started))
        self._grow(rows, inverse.astype(np.int32), clusters.rows, seed)
        return self

    def _clusters(self, X: Array, codes: NDArray[np.integer], seed: int, shared: Shared) -> ClassClusters:
        """Return the clusters of each class; a data set of one class is one cluster."""
        if len(self.classes_) == 1:
            return ClassClusters([[np.arange(len(X))]], 0.0)
        settings = Clustering(**{name: getattr(self, name) for name in Clustering.__dataclass_fields__})
        return settings.of_classes(X, codes, list(self.classes_), seed, shared)

    def _grow(self, X: Array, codes: Ints, clusters: list[list[Rows]], seed: int) -> None:
        """Merge and split: the whole fit except the mixtures."""
        self.n_clusters_ = {label: len(groups) for label, groups in zip(self.classes_, clusters, strict=True)}
        leaves = [group for groups in clusters for group in groups]
        labels = [code for code, groups in enumerate(clusters) for _ in groups]
        skeleton = _Skeleton(X, codes, leaves, labels, merge_order(X, leaves, labels, self.merging), seed)
        self.__dict__.pop("overlap_", None)  # of the previous fit
        if self.merging == "overlap" or self.hybrid_overlap is not None:
            self.overlap_ = degrees_of_overlap(X, leaves, labels)
        self._keep(self._split(skeleton, self.cost), X)
        self._skeleton = skeleton if self.splitter == "svm" else None
        self._trees = {float(self.cost): self.tree_}

    def _split(self, skeleton: _Skeleton, cost: float) -> Tree:
        X, codes = skeleton.X, skeleton.codes
        proposer = self._proposer("fdt" if self.splitter == "fisher" else "hhcart_a")

        p = X.shape[1]
        drawn = min(FeatureCount.of(self.max_features, p, planes=True), p)

        def splitter(rows: Array, group: Ints, merge: int) -> Plane | None:
            if drawn == p:
                return plane(rows, group, merge)
            features = np.sort(seeds.generator(skeleton.seed, "features", merge).choice(p, drawn, replace=False))
            if (narrow := plane(np.ascontiguousarray(rows[:, features]), group, merge)) is None:
                return None
            coef = np.zeros(p)
            coef[features] = narrow.coef
            return narrow._replace(coef=coef)

        def plane(rows: Array, group: Ints, merge: int) -> Plane | None:
            if self.splitter == "svm":
                return svm_plane(rows, group, cost, skeleton.seed, self.group_costs)
            node = Node(rows, group, None, 2, 0, self.criterion, self.ties, seed=skeleton.seed, path=merge)
            split = best_split(node, proposer)
            return None if split is None else Plane(split.coef, split.threshold, split.gain)

        # Clusters stand for classes while the tree grows, so that each leaf can be traced to its cluster.
        n_classes, n_clusters = len(self.classes_), len(skeleton.leaves)
        clusters = np.empty(len(X), dtype=np.int32)
        clusters[np.concatenate(skeleton.leaves)] = np.repeat(np.arange(n_clusters), [*map(len, skeleton.leaves)])
        tree = grow_bottom_up(X, clusters, n_clusters, skeleton.leaves, skeleton.merges, splitter)
        cluster_of = tree.labels
        tree = tree.changed(counts=tree.counts @ np.eye(n_classes)[skeleton.labels])
        if self.hybrid:
            proposer = self._proposer(self.hybrid_heuristic)
            limit = self.hybrid_overlap
            undecided = None if limit is None else (self.overlap_ > limit)[cluster_of]

            def grow(rows: Rows, leaf: int) -> Tree:
                seed = seeds.integer(skeleton.seed, "below", leaf)
                stopping = Stopping(epsilon=self.hybrid_epsilon)
                how: dict[str, Any] = {
                    "criterion": self.criterion,
                    "ties": self.ties,
                    "seed": seed,
                    "stopping": stopping,
                }
                return grow_top_down(X[rows], codes[rows], n_classes, proposer, **how)

            tree = grow_below(tree, X, codes, grow, undecided)
        if self._power:  # the features of the rows were scaled by a power of 2
            thresholds = measured(tree.thresholds, -self._power)
            tree = Tree(tree.left, tree.right, tree.coef_, thresholds, tree.counts, tree.gains, tree.n_rows)
        strength = strength_of(self.probabilities, self.probability_strength)
        return with_probabilities(tree, self.probabilities, float(strength))

    def _proposer(self, name: str) -> Proposer:
        """Return a heuristic by its name, with those of the parameters tau and sign that it has."""
        kind = PROPOSERS[name]
        return kind(**{key: getattr(self, key) for key in ("tau", "sign") if key in kind.constraints})

    def undecided(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Return which clusters overlap with another class by more than a threshold, (K,), in the order of `overlap_`.

        Thesis 7.2: a cluster represents a class if its overlap is below a threshold (no value is stated), and is
        undecided above it. threshold : between 0 and 1. ValueError unless the fit computed `overlap_`."""
        check_is_fitted(self)
        if not hasattr(self, "overlap_"):
            raise ValueError('undecided needs degrees of overlap; fit with merging="overlap" or a hybrid_overlap.')
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold of undecided must be between 0 and 1. Got {threshold!r}.")
        return np.asarray(self.overlap_ > threshold)

    def _rows(self, X: ArrayLike) -> Array:
        rows: Array = checked(self, X, reset=False, **ROWS)
        refuse_missing(rows, list(range(rows.shape[1])), self, REMEDY)
        return rows

    def predict_path(self, X: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """Return the predictions of fits with each value of `cost`, from the clusters and merges of this fit.

        X : (n, p); values : (m,) positive; returns (n, m) labels. For splitter "svm", which stores training rows."""
        trees = self._path(values)
        rows = self._rows(X)
        return np.stack([self.classes_.take(tree.labels[tree.apply(rows)]) for tree in trees], axis=1)

    def n_leaves_path(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the number of leaves for each value of `predict_path`, (m,)."""
        return np.array([tree.n_leaves for tree in self._path(values)], dtype=np.int64)

    def _path(self, values: ArrayLike) -> list[Tree]:
        check_is_fitted(self)
        if self._skeleton is None:
            raise ConfigError(f"a path over cost needs splitter 'svm'. Got {self.splitter!r}.")
        costs = [float(value) for value in np.asarray(values, dtype=np.float64)]
        for cost in costs:
            check({"cost": cost}, {"cost": self.constraints["cost"]}, type(self).__name__)
            if cost not in self._trees:
                self._trees[cost] = self._split(self._skeleton, cost)
        return [self._trees[cost] for cost in costs]

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for an empty range of K, or None."""
        if self.max_components is None or self.min_components <= self.max_components:
            return None
        return (
            f"min_components of {owner} must not exceed max_components, {self.max_components}. Got "
            f"{self.min_components}."
        )


class HHBUTClassifier(BottomUpTreeClassifier, kw_only=True):
    """HHBUT: a bottom-up tree whose hyperplanes are those of HHCART(A) (thesis 6.3 and 6.5, algorithm 10).

    Attributes
    ----------
    tree_, n_clusters_, classes_, n_features_in_, n_leaves_, n_nodes_, depth_
        As in `BottomUpTreeClassifier`."""

    splitter = "hhcart"
    cost, group_costs = 1.0, "alike"


class BUTIFSVMClassifier(BottomUpTreeClassifier, kw_only=True):
    """BUTIF-SVM: a bottom-up tree whose hyperplanes are linear support vector machines (Barros et al. 2014; thesis 6).

    Attributes
    ----------
    tree_, n_clusters_, classes_, n_features_in_, n_leaves_, n_nodes_, depth_
        As in `BottomUpTreeClassifier`."""

    splitter = "svm"
    criterion, tau, sign, ties = "twoing", 0.05, "negative", "tolerant"


@dataclass(frozen=True, eq=False)
class _Skeleton:
    """Parts of a tree that do not depend on its hyperplanes."""

    X: Array
    codes: Ints
    leaves: list[Rows]
    labels: list[int]  # class of each leaf
    merges: list[tuple[int, int]]
    seed: int


def scale_of(X: Array) -> tuple[Array, Array]:
    """Return means and standard deviations of the columns, (p,) twice; infinity for a constant column."""
    spread = X.std(axis=0)
    return X.mean(axis=0), np.where((spread > 0) & (X.max(axis=0) > X.min(axis=0)), spread, np.inf)


def plane_of(machine: Any, center: Array, spread: Array) -> Plane | None:
    """Return the plane, of unit length, of a linear machine fitted on scaled rows; None if it has no normal."""
    w = machine.coef_[0] / spread
    length = float(np.linalg.norm(w))
    if not length > 0:
        return None
    w = w / length
    return Plane(w, float(center @ w - machine.intercept_[0] / length), 0.0)


def svm_plane(X: Array, group: Ints, cost: float, seed: int, group_costs: str = "alike") -> Plane | None:
    """Return the plane of a linear support vector machine between two groups (thesis eq. 6.4.4), or None.
    X : (n, p), scaled here to variance 1, as the margin depends on units; group : (n,) 0 or 1, both present"""
    from sklearn.svm import LinearSVC

    center, spread = scale_of(X)
    weights = GROUP_COSTS[group_costs]
    machine = LinearSVC(C=cost, loss="hinge", dual="auto", max_iter=SVM_STEPS, random_state=seed, class_weight=weights)
    # The tree has checked rows and parameters; for few rows scikit-learn's checks take longer than the fit.
    with LIBLINEAR, warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit((X - center) / spread, group)
    return plane_of(machine, center, spread)
