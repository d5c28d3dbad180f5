"""Groups of parameters of a tree: growth, pruning, leaves, refinement, columns, and running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oblique_cli.estimators.monotonic import ALLOWED, meaning
from oblique_cli.estimators.n_jobs import N_JOBS
from oblique_cli.ground.constraints import (
    Boolean,
    Choice,
    ClassWeight,
    CountOrShare,
    Either,
    FeatureCount,
    Integer,
    Optional,
    Real,
    Text,
)
from oblique_cli.parameters import Declared, parameter
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.probabilities import AUTO, CV, DIRICHLET, RULES
from oblique_cli.tree.pruning import PRUNINGS, PruningRule, RuleParameters
from oblique_cli.tree.refining import REFINEMENTS, SURROGATES, Settings

NO_MODELS = "none"
NO_REFINEMENT = REFINEMENTS[0]


class Growth(Declared, kw_only=True):
    """Split search and split criterion."""

    criterion: str = parameter(
        default="twoing",
        allowed=Choice(CRITERIA),
        help='Score of a split (thesis 1.6). With "sum_minority" a node that no single split improves is a leaf.',
    )
    min_parent: float = parameter(
        default=2,
        allowed=Real(0.0),
        help="A node is split only if it weighs more than this. Rows weigh 1; with sample weights the unit is the "
        "smallest positive weight, so that weight 2 is a doubled row and scaling all weights changes nothing.",
    )
    min_samples_split: int | float | None = parameter(
        default=None,
        allowed=Optional(CountOrShare(2)),
        help="A node is split only if it weighs at least this, in the unit of `min_parent`, whose place it takes: a "
        "number, or a share of the rows that the tree is grown on, rounded up. None is the limit of `min_parent`.",
    )
    max_misrate: float = parameter(
        default=0.0,
        allowed=Real(0.0, 1.0, open_high=True),
        help="A node is split only if its misclassification rate is above this: MisRate of HHCART, epsilon of GDT and "
        "HHGDT.",
    )
    misrate_of: str = parameter(
        default="node",
        allowed=Choice(("node", "parent")),
        help='Weight by which the misclassified weight is divided: that of the node or of its parent. With "parent" a '
        "node is a leaf if it misclassifies few rows compared with its parent's size, and the root is always split. "
        "This gives the tree sizes that Manwani & Sastry (2012) print (docs/reproduction.md), though their text "
        "defines the other.",
    )
    max_depth: int | None = parameter(
        default=None, allowed=Optional(Integer(0)), help="Longest path from the root to a leaf; None for no limit."
    )
    max_leaf_nodes: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Largest number of leaves, grown best-first as in scikit-learn: the leaf whose split has the largest "
        "decrease of impurity, times its weight, is split next. Splits do not depend on that order, so a limit that is "
        "not reached changes nothing. None for no limit.",
    )
    max_terms: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Largest number of features with a nonzero coefficient in a split; a qualitative column is one. If a "
        "split has more, the half of its features that moves rows least is removed and the heuristic searches again "
        "(Brodley and Utgoff 1995); the best axis-parallel split replaces the result if it is as good. None for no "
        "limit. See docs/pruning.md.",
    )
    min_samples_leaf: float = parameter(
        default=1,
        allowed=Real(0.0, open_low=True),
        also="min_leaf",
        help="Least weight of a child, in the unit of `min_parent`: rows, where they weigh the same. A value below 1 "
        "is a share of the rows that the tree is grown on, rounded up. `min_leaf` in results.",
    )
    min_weight_fraction_leaf: float = parameter(
        default=0.0,
        allowed=Real(0.0, 0.5),
        help="Least weight of a child as a share of the weight of all rows that the tree is grown on. Unlike "
        "`min_samples_leaf` it does not depend on the smallest weight, so it is the one to use with very unequal "
        "class weights.",
    )
    min_impurity_decrease: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0)),
        help='Least decrease of impurity of a split, times the node\'s share of the weight; with "gini" and "entropy" '
        "as in scikit-learn. With 0 a node that no cut improves, as in an exclusive or, is split at the middle of a "
        "feature. None takes only splits that improve the criterion.",
    )
    max_features: int | float | str | None = parameter(
        default=None,
        allowed=Optional(FeatureCount()),
        help='Features drawn at each node for the heuristic: a number, a share, or a rule ("auto" is the square root, '
        "rounded). Where these have no split, all features are searched. Such trees grow in the reference engine. "
        "None for all.",
    )
    class_weight: str | Mapping[Any, float] | None = parameter(
        default=None,
        allowed=Optional(ClassWeight()),
        help="Weights of classes, as in scikit-learn: they multiply `sample_weight` in growth and in pruning. "
        '"balanced" gives a class of n_k among n rows n / (C n_k); a dict maps labels to weights, those it does '
        "not name weigh 1. The lightest row is then the unit of `min_parent` and `min_samples_leaf`: with weights "
        "1 and 5 a node of two heavy rows weighs 10. Shares of `predict_proba` are shares of the weight.",
    )
    ties: str = parameter(
        default="tolerant",
        allowed=Choice(("tolerant", "strict")),
        help='"tolerant" takes projections within 1e-9 of the node\'s scale as equal, and the first of all splits '
        'whose score is within 1e-9 of the best; "strict" compares bits. Ties decide tree sizes on data of few '
        "distinct values.",
    )
    polish: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether the hyperplane found at a node is perturbed as OC1 does, its coefficients one at a time and then "
        "along random directions, and replaced by the result if that splits better (Murthy et al. 1994, with the "
        'defaults of "oc1"). A node that weighs at most twice the number of features keeps its split. Quantitative '
        "features only.",
    )
    split_cost: float = parameter(
        default=0.0,
        allowed=Real(0.0),
        help="c of a preference for axes: a split with k non-zero coefficients of p has to beat the best axis-parallel "
        "split of the node by more than c (k - 1) / p of the node's impurity; otherwise the axis-parallel split is "
        'used. Impurity is the gain of a cut into pure sides by the criterion; with "twoing" half of Gini\'s.',
    )
    monotonic_cst: Sequence[int] | Mapping[Any, int] | None = parameter(
        default=None, allowed=ALLOWED, help=meaning("the share of the second of two classes")
    )


class Pruning(RuleParameters, kw_only=True):
    """Pruning of a grown tree."""

    pruning: str | PruningRule = parameter(
        default="none",
        allowed=Choice(PRUNINGS),
        help="A name in `oblique_cli.tree.pruning.PRUNINGS`, or an instance with parameters of its own. "
        '"cost_complexity", "critical_value" and "reduced_error" choose on held-out rows: `pruning_rows` of `fit`, or '
        'a random `pruning_fraction`. "cv" chooses the complexity by `pruning_folds`-fold cross-validation of the '
        'training rows. "pessimistic", "ccp_alpha", "minimum_error" and "description_length" need no further rows. To '
        'the last two and to "pessimistic" a row of weight 2 is two rows.',
    )
    pruning_fraction: float = parameter(
        default=0.1,
        allowed=Real(0.0, 1.0, open_low=True, open_high=True),
        help='Share of the training rows that "cost_complexity", "critical_value" and "reduced_error" hold out.',
    )
    path: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether to store trees of all sizes: `path_` has the alpha, leaves, terms and cross-validated accuracy "
        'of every pruned subtree, and ``at(k)`` is the fitted tree of each. The folds are those of "cv", or '
        "`pruning_folds` further trees; the tree is the same as without.",
    )


class Leaves(Declared, kw_only=True):
    """Predictions of the leaves of a finished tree."""

    probabilities: str = parameter(
        default=DIRICHLET,
        allowed=Choice(RULES),
        help='Probabilities of a leaf: class shares of its training rows, unchanged ("counts"), or shrunk towards '
        "equal shares (dirichlet, laplace), the shares of the root (m-estimate), or those of the nodes above "
        "(hierarchical shrinkage, Agarwal et al. 2022). Predicted classes stay the most frequent of a leaf. See "
        "docs/guarantees.md.",
    )
    probability_strength: float | str = parameter(
        default=AUTO,
        allowed=Either(Real(0.0), Choice((AUTO, CV))),
        help='Strength of that smoothing, in the unit of `min_parent`: rows of all classes together that "dirichlet" '
        'adds, rows of each class that "laplace" adds, the weight of the root\'s shares in rows, or the lambda of '
        'shrinkage. "auto" is 5 for "dirichlet" and 1 for the others; "cv" takes the strength of least log loss '
        "in a 5-fold cross-validation of the training rows, pruning included.",
    )
    leaf_models: str = parameter(
        default="none",
        allowed=Choice((NO_MODELS, "logistic")),
        help='"logistic" fits a multinomial logistic regression in each leaf that starts from the leaf\'s '
        "probabilities (logistic model trees, Landwehr et al. 2005, simplified). It also decides the predicted class. "
        "Qualitative columns are ignored.",
    )
    leaf_penalty: float | str = parameter(
        default="cv",
        allowed=Either(Real(0.0, open_low=True), Text("cv", "'cv'")),
        help='Ridge penalty of logistic leaf models, in rows, for standardized features. "cv" takes the one of least '
        "log loss, as `probability_strength` does.",
    )


class Refinement(Declared, kw_only=True):
    """Refinement of a tree by tree alternating optimization (docs/pruning.md)."""

    penalty: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0)),
        help="Penalty on |w|_1, as a share of the training weight; a split on one feature has |w|_1 = 1. None chooses "
        "it by cross-validation from a geometric path, between the weight of one row and the share of the rows outside "
        "the largest class. The tree of each penalty is the start of the next one.",
    )
    n_penalties: int = parameter(default=12, allowed=Integer(1), help="Number of penalties on that path.")
    folds: int = parameter(
        default=5,
        allowed=Integer(2),
        help="Folds of the cross-validation of the penalty. Each grows, prunes and refines its own trees.",
    )
    standard_errors: float = parameter(
        default=0.0,
        allowed=Real(0.0),
        help="c of the rule that takes the fewest non-zero coefficients within c standard errors of the best.",
    )
    surrogate: str = parameter(
        default="logistic", allowed=Choice(SURROGATES), help="Loss whose penalized minima are proposed as hyperplanes."
    )
    split_leaves: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Whether a leaf is divided, between its two most frequent classes, where that lowers the objective. "
        "Without it the tree keeps the shape of its start or a part of it, as in the paper.",
    )
    max_sweeps: int = parameter(
        default=40,
        allowed=Integer(1),
        help="Largest number of passes over all nodes at one penalty; a run that needs more counts as not converged.",
    )

    def settings(self, threads: int, growth: Growth | None = None) -> Settings:
        """Return the settings of a run. growth : limits that the refined tree obeys as well"""
        most_leaves, most_terms = (growth.max_leaf_nodes, growth.max_terms) if growth else (None, None)
        divides = self.split_leaves and most_leaves is None
        return Settings(self.surrogate, self.max_sweeps, split_leaves=divides, threads=threads, max_terms=most_terms)


class Columns(Declared, kw_only=True):
    """Qualitative columns and missing values."""

    qualitative: Any = parameter(
        default="auto",
        help="Columns whose values are levels without an order: at every node a level is replaced by its CRIMCOORD, "
        'the score that tells the classes there apart best (thesis 3.7). "auto" takes the columns of a '
        "DataFrame that hold objects, categories, strings or booleans; arrays have none. A list names columns or "
        "counts them from 0. Levels are learned in `fit`; one that a node's training rows did not show, one never "
        "seen and a missing value score 0.",
    )
    missing: str = parameter(
        default="auto",
        allowed=Choice(("auto", "error", "impute", "learn")),
        help='What to do with NaN in quantitative columns. "auto" learns where the rows of `fit` are a DataFrame with '
        'NaN, and refuses it otherwise, as beside `monotonic_cst`. "error" refuses it. "impute" puts the median of the '
        'rows that the tree is grown on (for "cv" of all of them), in weights if there are any. "learn" sends a row '
        "that lacks a value which the hyperplane of a node uses to the side that scored better there, and to the "
        "heavier child where no training row lacked one; see `tree_.missing_left` and docs/own_data.md. Rows "
        "with NaN are not grown on by the native engine.",
    )
    max_levels: int = parameter(default=1000, allowed=Integer(1), help="Most levels a qualitative column may have.")


class Running(Declared, kw_only=True):
    """Engine, number of threads, and random state of a fit."""

    engine: str = parameter(
        default="auto",
        allowed=Choice(("auto", "native", "reference")),
        help='"native" grows the tree in the compiled core, "reference" calls the proposer at every node; "auto" is '
        "native where the heuristic has native growth. Both give the same tree.",
    )
    n_jobs: int | None = parameter(
        default=None,
        allowed=N_JOBS,
        help="Threads for growth by the native engine and for prediction: None for one, -1 for all processors, -2 for "
        "all but one. The tree and its predictions are the same for any number.",
    )
    random_state: Any = parameter(default=None, help="What is drawn: see the notes.")
