"""The ensembles of Zhang & Suganthan (2014): random and rotation forests, and their MPSVM variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.base import SHARED, ForestClassifier
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real

BASES = ("raf", "rof", "rrof", "drf")
REGULARIZATIONS = ("tikhonov", "axis", "null", "none")
SCALINGS = ("range", "deviation", "none")

MPSVM_OPTIONS: Mapping[str, Constraint] = {
    "delta": Real(0.0, open_low=True),
    "group_size": Integer(1),
    "scaling": Choice(SCALINGS),
}


class MPSVMForestClassifier(ForestClassifier):
    """RaF, RoF, RRoF and their MPSVM variants (Zhang & Suganthan 2014).

    At a node of an MPSVM tree the classes are grouped into two hyper-classes by the Bhattacharyya distance, each of two
    clustering hyperplanes lies close to one of them and far from the other, and the rows are split by the better of the
    planes' two bisectors. Where all rows fall on one side of both, the best axis-parallel split is taken. Trees are
    grown until their leaves are pure.

    Parameters
    ----------
    base : {"raf", "rof", "rrof", "drf"}, default "raf"
        Random forest: bootstrap samples, `max_features` features at each node. Rotation forest: each tree sees all
        rows, all features at each node, in features rotated by principal components of groups. Random rotation forest:
        `max_features` of the rotated features at each node. Double random forest (Han, Kim & Lee 2020; oblique in
        Ganaie et al. 2022): each tree sees all rows, and the split of a node with more than a tenth of them is chosen
        on a bootstrap sample of the node's rows, which then all follow it.
    regularization : {"tikhonov", "axis", "null", "none"}, default "tikhonov"
        What is done where the rows of a hyper-class do not span the features drawn: "tikhonov" adds `delta` to the
        diagonal of its moments (equation 11); "axis" grows axis-parallel splits from there down; "null" uses the null
        space, as the geometric decision tree does. "none" is the ensemble without MPSVM, of axis-parallel splits only.
    n_estimators : int, default 50
        Number of trees; `n_trees` in the paper.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default "auto"
        Features drawn at each node, `mtry` in the paper: a number, a share, or all (None), as in scikit-learn. "auto"
        is what the paper takes, the square root of p rounded to the nearest, and all with base "rof", which takes
        "auto" and None only. "sqrt" is rounded down.
    min_samples_leaf : int, default 1
        An impure node of this many rows or fewer is a leaf; rows drawn twice count twice. The limit is the paper's
        `minleaf`: unlike scikit-learn's it does not forbid a larger node to have a smaller child.
    max_depth : int or None, default None
        Longest path from the root to a leaf; None for no limit.
    delta : float, default 0.01
        What "tikhonov" adds, in the units of the features, as in the paper. It mends covariances of classes too.
    group_size : int, default 3
        Features of a group that is rotated; of more than p, one group of all.
    scaling : {"range", "deviation", "none"}, default "range"
        What features are divided by before the principal components of a group are sought, over all training rows.
        With "none" the components follow the features of the largest units. The rotated features, and with them
        `delta`, are in these units.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True for "raf", False for the others.
    voting : {"majority", "mean"}, default "majority"
        Whether a tree votes for one class or gives each class its share of the leaf.
    probabilities : {"counts", "laplace", "m_estimate", "shrinkage"}, default "counts"
        What a leaf gives each class: "counts" is what `voting` says. By the others, as in `ObliqueTreeClassifier`, the
        probabilities of the leaves are averaged, whatever `voting` is, and the class of the largest mean is predicted
        (docs/probabilities.md).
    probability_strength : float or "oob", default 1
        How much, in units of the least sample weight. "oob" takes the strength of least log loss on rows by the trees
        that did not draw them.
    oob_score : bool, default False
        Whether to score each row by the trees that did not draw it.
    warm_start : bool, default False
        Whether `fit` keeps the trees it has and adds those up to `n_estimators`.
    n_jobs : int or None, default None
        Threads; None is 1, -1 all processors. The forest is the same for any number.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays
    classes_ : (C,) class labels
    n_features_in_ : int
    feature_importances_ : (p,)
    probability_strength_ : float, in the unit of the counts of trees, where `probabilities` is not "counts"
    leaf_probabilities_ : (leaves of all trees, C) what `probabilities` gives them, where that is not "counts"
    oob_score_ : float, accuracy over the rows that some tree did not draw; with `oob_score`
    oob_votes_ : (n, C) votes of the trees that did not draw a row, all 0 for one that all have drawn; with `oob_score`
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`. Everything else is drawn from streams named after it, the
    number of the tree, and what is drawn: the bootstrap sample, the groups, the sample of each group, the features of
    each node.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "base": Choice(BASES),
        "regularization": Choice(REGULARIZATIONS),
        **SHARED,
        **MPSVM_OPTIONS,
    }

    def __init__(
        self,
        base: str = "raf",
        regularization: str = "tikhonov",
        *,
        n_estimators: int = 50,
        max_features: int | float | str | None = "auto",
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        delta: float = 0.01,
        group_size: int = 3,
        scaling: str = "range",
        bootstrap: bool | None = None,
        voting: str = "majority",
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.regularization = regularization
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.delta = delta
        self.group_size = group_size
        self.scaling = scaling
        self.bootstrap = bootstrap
        self.voting = voting
        self.probabilities = probabilities
        self.probability_strength = probability_strength
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _draws_rows(self) -> bool:
        return self.base == "raf" if self.bootstrap is None else self.bootstrap

    def _options(self, p: int) -> dict[str, Any]:
        if self.base == "rof" and self.max_features not in ("auto", None):
            raise ConfigError(
                f"max_features of {type(self).__name__} must be None with base 'rof', which searches all features. "
                f"Got {self.max_features!r}; base 'rrof' draws features."
            )
        options: dict[str, Any] = {
            "node_bootstrap": self.base == "drf",
            "group_size": 0 if self.base in ("raf", "drf") else min(self.group_size, p),
            "scaling": self.scaling,
        }
        if self.base == "rof":
            options["mtry"] = 0
        if self.regularization == "none":
            return options | {"split": "axis"}
        return options | {"split": "mpsvm", "regularization": self.regularization, "delta": float(self.delta)}
