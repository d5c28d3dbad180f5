# Written by `python -m tools.stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier
from oblique_cli.tree.pruning import PruningRule
from oblique_cli.tree.splitting import Proposer

# A heuristic that is added later has a class too.
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...

class AxisParallelClassifier(HeuristicTreeClassifier):
    """Axis-parallel: a top-down tree.

    The p original axes: the classical tree of Breiman et al. (1984), and the baseline of every oblique one.

    Source: Breiman et al. (1984); Wickramarachchi (2015), section 1.5.

    Parameters and attributes are those of `ObliqueTreeClassifier`.
    """
    def __init__(
        self,
        *,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class ClineClassifier(HeuristicTreeClassifier):
    """Cline: a top-down tree.

    The two heuristics of the Cline family that thesis 2.4 describes, and the better of both.

    Source: Amasyali & Ersoy (2008); Wickramarachchi (2015), section 2.4.

    Where the text is silent: distances are those of the features as they are; rows that occur in both classes are not
    a pair; of equally near pairs the first in lexicographic order counts; if the means are the same there is no
    discriminant and the normal is that of the pair. With more than two classes the largest is held against the rest, as
    for GDT. The papers build one tree for each pair of classes instead: scikit-learn's `OneVsOneClassifier` around this
    estimator does that.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    rule : one of 'mean', 'nearest_pair', 'best', default 'best'
        "mean" is the plane through the middle of the two means, at right angles to the line between them;
        "nearest_pair" goes through the middle of the two nearest rows of different classes; "best" keeps the one that
        the criterion prefers, the mean on a tie, as ClineMix keeps the best of its heuristics.
    normal : one of 'discriminant', 'pair', default 'discriminant'
        Of the nearest pair's plane. "discriminant" is the thesis' reading, at right angles to the line of the linear
        discriminant (Fisher's direction); "pair" is at right angles to the line between the two rows.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    rule: str
    normal: str
    def __init__(
        self,
        *,
        rule: str = "best",
        normal: str = "discriminant",
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class FDTClassifier(HeuristicTreeClassifier):
    """FDT: a top-down tree.

    Fisher's decision tree: project all rows on Fisher's direction and search the threshold along it (thesis 2.3).

    Source: López-Chau, Cervantes, López-García & Lamont (2013); Wickramarachchi (2015), section 2.3.

    Where the text is silent: with more than two classes the direction is that of the largest class against the rest
    and the threshold is searched over all classes. A singular within-class scatter is met through the eigenvectors of
    the scatter of all rows (`whiten`). Classes of equal means have no direction, which makes the node a leaf.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """
    def __init__(
        self,
        *,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class GDTClassifier(HeuristicTreeClassifier):
    """GDT: a top-down tree.

    Geometric decision tree, with the thesis' treatment of rank deficiency.

    Source: Manwani & Sastry (2012), section II; Wickramarachchi (2015), section 5.1, algorithm 7.

    A bisector that leaves one side empty, or has no normal, makes the node a leaf. The limit epsilon on the
    misclassification rate is tuned; there is no pruning (thesis 5.2).

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    epsilon : a number in [0, 1), default 0.05
        A node is split only if its misclassification rate is above this: MisRate of HHCART, epsilon of GDT and HHGDT.
    bisector_classes : one of 'all', 'super', default 'all'
        "all" keeps the bisector that splits all classes of the node better; "super" the one that splits the two
        super-classes better. With two classes both are equation 6 of Manwani & Sastry (2012).
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    epsilon: float
    bisector_classes: str
    def __init__(
        self,
        *,
        epsilon: float = 0.05,
        bisector_classes: str = "all",
        criterion: str = "gini",
        min_parent: float = 2,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class GainRatioClassifier(HeuristicTreeClassifier):
    """Gain ratio: a top-down tree.

    C4.5's choice among cuts of features: gain beside the information of the division itself.

    Source: Quinlan (1993), C4.5: Programs for Machine Learning.

    Each feature has its best cut by gain. Of the features whose cuts gain at least the average of all that have one,
    less 0.001, the one of the largest ratio is taken; of equal ones the first. The gain is that of the criterion,
    entropy in bits by default. The correction of release 8 for the number of cuts is left out.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'entropy'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """
    def __init__(
        self,
        *,
        criterion: str = "entropy",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class HHCARTClassifier(HeuristicTreeClassifier):
    """HHCART(A): a top-down tree.

    At every node, reflect along each eigenvector of each class and search all axes of each space.

    Source: Wickramarachchi (2015), section 3.5, algorithm 3.

    Classes with fewer than two distinct rows give no vector; if no class gives one, the original axes are searched
    (thesis 3.6).

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    tau : a number in [0, 2], default 0.05
        An eigenvector within this distance of a feature axis is not reflected (0.05 in the thesis).
    sign : one of 'negative', 'positive', default 'negative'
        Sign given to the first non-zero component of every eigenvector. The thesis leaves it open, and for p > 2 the p
        - 1 further axes of a reflection depend on it.
    eigenvalue_tolerance : a number in [0, 1), default 1e-10
        Eigenvalues at most this times the largest count as zero.
    reflections : one of 'one', 'both', default 'one'
        "both" reflects the opposite of every vector as well, at twice the cost (beyond the papers).
    shrinkage : true or false, default False
        Draw the covariance of a class of fewer than 5 p rows towards the diagonal of pooled variances, by l = 1 - rows
        / (5 p), see `geometry.shrunk` (beyond the papers).
    """

    tau: float
    sign: str
    eigenvalue_tolerance: float
    reflections: str
    shrinkage: bool
    def __init__(
        self,
        *,
        tau: float = 0.05,
        sign: str = "negative",
        eigenvalue_tolerance: float = 1e-10,
        reflections: str = "one",
        shrinkage: bool = False,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class HHCARTDClassifier(HeuristicTreeClassifier):
    """HHCART(D): a top-down tree.

    As HHCART(A), with the dominant eigenvector of each class only.

    Source: Wickramarachchi (2015), section 3.5, algorithm 3.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    tau : a number in [0, 2], default 0.05
        An eigenvector within this distance of a feature axis is not reflected (0.05 in the thesis).
    sign : one of 'negative', 'positive', default 'negative'
        Sign given to the first non-zero component of every eigenvector. The thesis leaves it open, and for p > 2 the p
        - 1 further axes of a reflection depend on it.
    eigenvalue_tolerance : a number in [0, 1), default 1e-10
        Eigenvalues at most this times the largest count as zero.
    reflections : one of 'one', 'both', default 'one'
        "both" reflects the opposite of every vector as well, at twice the cost (beyond the papers).
    shrinkage : true or false, default False
        Draw the covariance of a class of fewer than 5 p rows towards the diagonal of pooled variances, by l = 1 - rows
        / (5 p), see `geometry.shrunk` (beyond the papers).
    """

    tau: float
    sign: str
    eigenvalue_tolerance: float
    reflections: str
    shrinkage: bool
    def __init__(
        self,
        *,
        tau: float = 0.05,
        sign: str = "negative",
        eigenvalue_tolerance: float = 1e-10,
        reflections: str = "one",
        shrinkage: bool = False,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class HHCRVClassifier(HeuristicTreeClassifier):
    """HHCRV: a top-down tree.

    Reflect along the representative vector of each class: the main direction of its rows, each of unit length.

    Source: Wickramarachchi (2015), section 5.3, algorithm 9.

    Rows far from the class mean count as much as those near it, which makes the vector robust to outliers (thesis
    5.3). Classes with fewer than two distinct rows give no vector; if no class gives one, the original axes are
    searched, as in HHCART (thesis 3.6).

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    tau : a number in [0, 2], default 0.0
        A vector within this distance of a feature axis is not reflected (0 in the thesis).
    sign : one of 'negative', 'positive', default 'negative'
        Sign given to the first non-zero component of every vector, on which the further axes of a reflection depend.
    reflections : one of 'one', 'both', default 'one'
        "both" reflects the opposite of every vector as well, at twice the cost (beyond the papers).
    """

    tau: float
    sign: str
    reflections: str
    def __init__(
        self,
        *,
        tau: float = 0.0,
        sign: str = "negative",
        reflections: str = "one",
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class HHGDTClassifier(HeuristicTreeClassifier):
    """HHGDT: a top-down tree.

    Reflect along the normal of GDT's bisector and search all axes of that space with all classes.

    Source: Wickramarachchi (2015), section 5.1, algorithms 7 and 8.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    epsilon : a number in [0, 1), default 0.05
        A node is split only if its misclassification rate is above this: MisRate of HHCART, epsilon of GDT and HHGDT.
    tau : a number in [0, 2], default 0.0
        A normal within this distance of a feature axis is not reflected (0 in the thesis).
    sign : one of 'negative', 'positive', default 'negative'
        Sign given to the first non-zero component of the normal, on which the further axes of the reflection depend.
    bisector_classes : one of 'all', 'super', default 'all'
        "all" keeps the bisector that splits all classes of the node better; "super" the one that splits the majority
        from the rest better. With two classes both are the same.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    epsilon: float
    tau: float
    sign: str
    bisector_classes: str
    def __init__(
        self,
        *,
        epsilon: float = 0.05,
        tau: float = 0.0,
        sign: str = "negative",
        bisector_classes: str = "all",
        criterion: str = "gini",
        min_parent: float = 2,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class LogisticSplitClassifier(HeuristicTreeClassifier):
    """Logistic split: a top-down tree.

    Each class at the node against the rest by logistic regression, thresholds searched.

    Source: Truong (2009), Fast growing and interpretable oblique trees via logistic regression models.

    The ridge penalty keeps coefficients finite where a plane tells a class apart without error. Only the direction is
    kept: the threshold is the best of all along it, for all classes. A class of the same mean as the rest gives none;
    where no class gives one the node is a leaf.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    cost : a number in [1e-06, 1e+06], default 1.0
        C of |w|^2 / 2 + C sum_i v_i L(y_i (w z_i + b)) over standard scores z at the node, v being the weights of rows
        and L the loss. A smaller cost draws the direction towards that between the class means.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    cost: float
    def __init__(
        self,
        *,
        cost: float = 1.0,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class OC1APClassifier(HeuristicTreeClassifier):
    """OC1-AP: a top-down tree.

    Axis-parallel splits under OC1's conventions, criterion and least node size.

    Source: Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    min_parent : a number in [0, inf), default 1
        A node is split only if it weighs more than this. Rows weigh 1; with sample weights the unit is the smallest
        positive weight, so that weight 2 is a doubled row and scaling all weights changes nothing.
    """
    def __init__(
        self,
        *,
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class OC1Classifier(HeuristicTreeClassifier):
    """OC1: a top-down tree.

    Perturb coefficients until nothing improves, jump in random directions, and start again elsewhere.

    Source: Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33; Wickramarachchi (2015), section 2.2, algorithm 2.

    Decisions where the article is silent: `core/heuristic/climbing/oc1_climb.hpp`. Deterministic for a random_state.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    restarts : a whole number from 0 to 1000000, default 20
        Starting hyperplanes, the first of them the best axis-parallel split and the others random. 0 leaves the
        axis-parallel split.
    jumps : a whole number from 0 to 1000000, default 5
        Random directions tried before a restart is over; one that improves the split allows as many again.
    order : one of 'sequential', 'best', 'r50', default 'sequential'
        "sequential" perturbs the coefficients in turn until none changes, "best" the one that gains most until it does
        not change, "r50" fifty drawn at random.
    stagnation : a number in [0, 1], default 1.0
        Probability of taking a step that changes nothing; it falls by a tenth with every one that is taken and is
        restored by an improvement.
    standardization : one of 'range', 'none', default 'range'
        Unit of a feature at the node for random hyperplanes and directions, its "range"; "none" draws coefficients for
        features as they are, so that those of small range hardly take part.
    search : one of 'faithful', 'exact', default 'faithful'
        "faithful" splits the steps of all rows like a feature and then scores the hyperplane, as published; "exact"
        scores the hyperplane at every step. They differ where a feature has both signs or zeros.
    min_parent : a number in [0, inf), default 1
        A node is split only if it weighs more than this. Rows weigh 1; with sample weights the unit is the smallest
        positive weight, so that weight 2 is a doubled row and scaling all weights changes nothing.
    """

    restarts: int
    jumps: int
    order: str
    stagnation: float
    standardization: str
    search: str
    def __init__(
        self,
        *,
        restarts: int = 20,
        jumps: int = 5,
        order: str = "sequential",
        stagnation: float = 1.0,
        standardization: str = "range",
        search: str = "faithful",
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class OC1LCClassifier(HeuristicTreeClassifier):
    """OC1-LC: a top-down tree.

    The linear combinations of CART, one deterministic climb from the axis-parallel split.

    Source: Breiman et al. (1984), section 5.2; Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33.

    For each feature the best of three steps is taken, those of gamma -0.25, 0 and 0.25, then the threshold is searched.
    Nothing is drawn at random. docs/oc1_readings.md measures other readings than the defaults.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    sweep_tol : a number in [0, inf), default 0.001
        A sweep over all features that gains less than this, in units of the criterion, is the last.
    backward_elimination : true or false, default False
        Whether features whose loss costs less than a fifth of what the most important one's would are dropped and the
        climb repeated, as Breiman et al. do; the published tables of OC1-LC are without it.
    standardization : one of 'deviation', 'range', 'none', default 'deviation'
        Unit of a feature at the node, its "deviation" or its "range", both about the mean; "none" leaves features as
        they are.
    rows_per_feature : a number in [0, inf), default 2.0
        Nodes of at most this weight per feature get the axis-parallel split.
    min_parent : a number in [0, inf), default 1
        A node is split only if it weighs more than this. Rows weigh 1; with sample weights the unit is the smallest
        positive weight, so that weight 2 is a doubled row and scaling all weights changes nothing.
    """

    sweep_tol: float
    backward_elimination: bool
    standardization: str
    rows_per_feature: float
    def __init__(
        self,
        *,
        sweep_tol: float = 0.001,
        backward_elimination: bool = False,
        standardization: str = "deviation",
        rows_per_feature: float = 2.0,
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class QUESTClassifier(HeuristicTreeClassifier):
    """QUEST: a top-down tree.

    QUEST with linear combination splits, estimated priors and unit costs (thesis 2.3 and 3.9.3).

    Source: Loh & Shih (1997); Wickramarachchi (2015), sections 2.3 and 3.9.3.

    Classes are grouped into two super-classes by 2-means clustering of their means. The thesis gives no more; decided
    here: the clustering starts from the two most distant means, a class halfway between goes to the first group, and
    distances are those of the principal components scaled to unit variance, so that nothing depends on the units of
    features. Components are those of all rows of the node, not of the pooled classes: the direction is the same if
    both have full rank, and a direction without any variance inside the classes is kept. Of the two roots of the
    quadratic equation the one nearer to the first mean is taken (it is the nearer one to the second mean too). The cut
    is halfway between the means if there is no real root, if a super-class has no variance, or if the root leaves a
    side empty. Super-classes of equal means have no direction, which makes the node a leaf.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    split_point : one of 'qda', 'search', default 'qda'
        "qda" cuts where the normal densities of the projected super-classes, weighted by their shares, are equal;
        "search" searches the threshold over all classes.
    eigenvalue_tolerance : a number in [0, 1), default 1e-10
        Principal components with eigenvalues at most this times the largest are left out.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    split_point: str
    eigenvalue_tolerance: float
    def __init__(
        self,
        *,
        split_point: str = "qda",
        eigenvalue_tolerance: float = 1e-10,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class SADTClassifier(HeuristicTreeClassifier):
    """SADT: a top-down tree.

    Change one random coefficient by U(-0.5, 0.5) at a time; accept what is worse by d with probability exp(-d / T).

    Source: Heath, Kasif & Salzberg (1993); Wickramarachchi (2015), section 2.2.

    Thesis 2.2 leaves the schedule, the end and the coordinates open. Decided here: features have mean 0 and variance 1
    at the node, so that a change of 0.5 means the same for all of them; the start is the plane through the mean with
    all coefficients 1, which is parallel to no axis; features that are constant at the node keep the coefficient 0; the
    offset is one of the coefficients; an empty side scores 0; the best plane of the whole walk counts, offset and all.

    The random numbers of a node do not depend on its rows, so neither their order nor doubled rows change anything.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    temperature : a number in [0, inf), default 0.01
        T at the start, in units of the score of a perfect split (one that cuts off a whole class).
    cooling : a number in (0, 1], default 0.995
        Factor on T after every step.
    patience : a whole number, at least 1, default 1000
        Steps without a new best plane after which the search ends.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    temperature: float
    cooling: float
    patience: int
    def __init__(
        self,
        *,
        temperature: float = 0.01,
        cooling: float = 0.995,
        patience: int = 1000,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class SVMSplitClassifier(HeuristicTreeClassifier):
    """SVM split: a top-down tree.

    Each class at the node against the rest by a linear support vector machine, thresholds searched.

    Source: Bennett & Blue (1998), support vector machines in decision trees; Fan et al. (2008).

    The loss is the squared hinge, which the solver of the core minimizes to the bit alike in every run; the bias is
    free and not penalized. Only the direction is kept: the threshold is the best of all along it, for all classes. A
    class that no direction tells from the rest (equal means, with rows on both sides) gives none; where no class gives
    one the node is a leaf.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    cost : a number in [1e-06, 1e+06], default 1.0
        C of |w|^2 / 2 + C sum_i v_i L(y_i (w z_i + b)) over standard scores z at the node, v being the weights of rows
        and L the loss. A smaller cost draws the direction towards that between the class means.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    cost: float
    def __init__(
        self,
        *,
        cost: float = 1.0,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...

class UnionClassifier(HeuristicTreeClassifier):
    """Union: a top-down tree.

    At every node the best split of all that several heuristics propose.

    Source: beyond the papers; different planes at one node as in Katuwal, Suganthan & Zhang (2020).

    One rule decides: the greatest gain by the criterion of the tree. A direction without an offset is worth its best
    threshold; a plane that a member gives with its offset (GDT, Cline, QUEST, OC1) is worth what it divides as it is.
    Of equal gains, by the tie rule of every search, the one that stands first wins: that of the earlier member. A
    member without a proposal leaves the node to the others; the node is a leaf if no member has one.

    The tree grows in the compiled core where all members do. A member that draws random numbers draws what it would
    draw alone with the same seed of the tree.

    Further parameters and attributes are those of `ObliqueTreeClassifier`.

    Parameters
    ----------
    proposers : a list of heuristics, names or mappings such as {name: hhgdt, tau: 0.1}, default ('fdt', 'hhgdt')
        The members, in the order in which ties are settled: registered names, mappings of a name and parameters such as
        {"name": "hhgdt", "tau": 0.1}, or instances.
    criterion : one of 'gini', 'entropy', 'twoing', 'max_minority', 'sum_minority', default 'gini'
        Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.
    """

    proposers: Sequence[str | Mapping[str, Any] | Proposer]
    def __init__(
        self,
        *,
        proposers: Sequence[str | Mapping[str, Any] | Proposer] = ("fdt", "hhgdt"),
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        polish: bool = False,
        split_cost: float = 0.0,
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        pruning_repeats: int = 1,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        prior_weight: float = 2.0,
        tree_weight: float = 0.25,
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        leaf_models: str = "none",
        leaf_penalty: float | str = "cv",
        refine: str = "none",
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None: ...
