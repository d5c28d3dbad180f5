"""scikit-learn estimator of logistic model trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oblique_cli.estimators.missing_values import LEARN
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.estimators.oblique.groups import Columns, Growth
from oblique_cli.estimators.oblique.refined import MULTIWAY, Starts, TAOClassifier
from oblique_cli.estimators.oblique.top_down import Start
from oblique_cli.estimators.oblique.training import Draws, Training
from oblique_cli.ground.constraints import Boolean, Choice, Choices, Constraint, Either, Integer, Optional, Real, Text
from oblique_cli.parameters import parameter
from oblique_cli.tree.leaf_models import TERMS
from oblique_cli.tree.logistic_trees import (
    LOGIT_BOOST,
    MODELS,
    PENALTIES,
    Comparison,
    How,
    LogisticChoice,
    LogisticFold,
    ModelRows,
    boosting_steps,
    choose,
)
from oblique_cli.tree.pruning import PRICED_ROWS, price_of
from oblique_cli.tree.refining import REFINEMENTS, PlaneSpace, Settings
from oblique_cli.tree.structure import Tree

AUTO, AUTO_TERMS = "auto", 10  # of max_terms
LIMITS = ("criterion", "min_parent", "min_samples_leaf", "min_weight_fraction_leaf", "max_depth", "max_leaf_nodes")
SEVERAL = ("axis_parallel", "hhgdt", "fdt", "cline")


def ridge_paths(penalty: float | str, squares: bool, pairs: bool = False) -> list[list[How]]:
    """Return a path of ridge penalties for models of features, one with squares, and one with `pairs` too."""
    path = PENALTIES if isinstance(penalty, str) else (float(penalty),)
    return [[How(each, terms=terms) for each in path] for terms in TERMS[: 1 + squares + (squares and pairs)]]


class LogisticTreeClassifier(
    TAOClassifier,
    Growth,
    kw_only=True,
    takes=(
        *(*LIMITS, "base", "leaf_penalty", "refine", "n_penalties", "folds", "surrogate", "max_sweeps"),
        *("class_weight", *Columns.parameters, "n_jobs", "random_state"),
    ),
):
    """A small tree of hyperplanes with a linear-logistic model in every leaf (after Landwehr, Hall & Frank 2005).

    Trees are grown by several heuristics. Every node gets a linear model of the classes that starts from the model of
    its parent, and a tree is pruned by cost-complexity with the errors of these models. Cross-validation inside the
    training rows chooses the heuristic, the size and the penalty of the models. A single leaf, which is logistic
    regression, is one of the candidates. With ``refine="tao"`` cross-validation may also choose a tree that was refined
    as a whole, with models in its leaves (tree alternating optimization).

    Attributes
    ----------
    tree_, levels_, fill_values_, classes_, n_features_in_, n_leaves_, n_nodes_, depth_
        As in `ObliqueTreeClassifier`; ``tree_.leaf_models`` has the models.
    refinement_ : LogisticChoice
        All trees that cross-validation compared, what was chosen, and the run of refinement if there was one. Model
        files leave it out.

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; it seeds the folds and the draws of each start."""

    starts: ClassVar[Starts] = Starts({"several": SEVERAL, "multiway": MULTIWAY})
    words: ClassVar[Mapping[str, Constraint]] = {"base": Choices(starts)}

    base: Any = parameter(
        default="several",
        kw_only=False,
        help="How trees are grown: a heuristic by name, whose tree is grown without pruning down to `min_parent`; an "
        'unfitted estimator with parameters of its own; "random_4", "random_5" or "random_6", a complete tree of '
        'random hyperplanes. Cross-validation chooses from a list. "several" is axis_parallel, hhgdt, fdt and '
        'cline, without those that cannot use the features at hand; "multiway" is that of '
        "`TAOClassifier`.",
    )
    models: str = parameter(
        default="ridge",
        allowed=Choice(MODELS),
        help='How the models of nodes are fitted: "ridge" penalizes the squares of what a node adds to the scores of '
        'its parent; "logit_boost" adds steps of LogitBoost, each a regression on one feature, as in the paper.',
    )
    leaf_penalty: float | str = parameter(
        default="cv",
        allowed=Either(Real(0.0, open_low=True), Text("cv", "'cv'")),
        help='The penalty of "ridge", in rows, for standardized features. A row is one of the lightest weight, leaving '
        'out rows that are so light that together they hold less than 1 % of all weight. "cv" chooses from 100, '
        "30, 10, 3, 1 and 0.3.",
    )
    steps: int | str = parameter(
        default="cv",
        allowed=Either(Integer(0), Text("cv", "'cv'")),
        help='Steps of "logit_boost" at every node. "cv" chooses them once, at the root, up to 200 (section 5.2 of the '
        "paper).",
    )
    squares: bool = parameter(
        default=True,
        allowed=Boolean(),
        help='Whether models of "ridge" may have a term for the square of each feature as well, taken at most 3 '
        "standard deviations from its mean; cross-validation chooses between models with them and without.",
    )
    products: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Whether models with squares may have terms for products of two features as well.",
    )
    hinges: bool | str = parameter(
        default=AUTO,
        allowed=Either(Boolean(), Text(AUTO, f"'{AUTO}'")),
        help="Whether models with squares may have terms max(0, x - t) and max(0, t - x) as well, t a quantile of the "
        'training rows; of these and of products at most 60 are compared. "auto" is true above 1,000 rows.',
    )
    refine: str = parameter(
        default="none",
        allowed=Choice(REFINEMENTS),
        help="Whether the two starts that are best once pruned are refined as well, the models in their leaves "
        '(docs/pruning.md); with "ridge" models only.',
    )
    n_penalties: int = parameter(
        default=6, allowed=Integer(1), help="Number of penalties on hyperplanes on the path of refinement."
    )
    folds: int = parameter(
        default=5,
        allowed=Integer(2),
        help="Folds of the cross-validation. Each grows and prunes its own trees, and refines them.",
    )
    min_parent: float = parameter(default=10)
    max_depth: int | None = parameter(default=10)
    log_loss_weight: float = parameter(
        default=0.5,
        allowed=Real(0.0),
        help="Weight of the log loss beside the misclassified share when cross-validation compares trees. Errors of "
        "small sets are coarse; the log loss distinguishes trees with equal errors.",
    )
    doubling_price: float | str = parameter(
        default=AUTO,
        allowed=Either(Real(0.0), Text(AUTO, f"'{AUTO}'")),
        help="Least gain for doubling the leaves in that comparison, in error or its equivalent in log loss. "
        '"auto" is 0.01 up to 1,000 rows, and 0.01 sqrt(1000 / n) for n > 1,000 rows, as standard errors fall. With 0 '
        "a tree of a hundred leaves replaces one of ten for any gain.",
    )
    max_terms: int | str | None = parameter(  # type: ignore[assignment]  # of models in leaves, not of planes
        default=AUTO,
        allowed=Optional(Either(Integer(1), Text(AUTO, f"'{AUTO}'"))),
        help='Largest number of terms of a class in "ridge" models: the same terms in all leaves, selected one after '
        "another by the decrease of the training loss; then the models are fitted again. A number always "
        f'holds. "auto" is {AUTO_TERMS}, unless models of all terms have a lower loss by more than '
        "`all_terms_price`, in the same tree and on the same folds. None is all terms.",
    )
    all_terms_price: float = parameter(
        default=0.005,
        allowed=Real(0.0),
        help='Least gain of models with all terms in that comparison, with max_terms "auto": half a point of error, or '
        "its equivalent in log loss.",
    )
    n_jobs: int | None = parameter(
        default=None,
        help="Threads of growth and refinement: None is 1, -1 all processors. Any number gives the same tree.",
    )

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with LogitBoost, or None."""
        if self.models != LOGIT_BOOST:
            return None
        if self.refine != "none":
            return f"refine of {owner} needs models 'ridge'. Got {self.models!r}; set refine to 'none'."
        if not isinstance(self.max_terms, int):
            return None
        return (
            f"max_terms of {owner} needs models 'ridge'. Got {self.models!r}; limit steps, each of which adds at most "
            "one term a class, or set models to 'ridge'."
        )

    def _of_named(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in (*LIMITS, "n_jobs")}

    def _best(self, starts: list[Start], growing: Training, draws: Draws) -> Tree:
        self.refinement_ = self._chosen(starts, growing, draws)
        tree: Tree = self.refinement_.tree
        return tree

    def _chosen(self, starts: Sequence[Start], rows: Training, draws: Draws) -> LogisticChoice:
        n_classes, levels, missing = len(self.classes_), self._level_counts(), self._gaps == LEARN

        def prepared(part: Training) -> tuple[ModelRows, PlaneSpace]:
            arguments = (part.X, part.codes, n_classes, part.weights, levels)
            return ModelRows(*arguments, products=self.products, hinges=hinges), PlaneSpace(*arguments)

        hinges = len(rows.X) > PRICED_ROWS if isinstance(self.hinges, str) else self.hinges
        models, space = prepared(rows)
        folds = []
        if len(rows.X) > 1:
            for part, left_out, fold_draws in draws.folds(rows, self.folds, "logistic"):
                of_part = prepared(part)
                trees = [start.tree(part, of_part[1], fold_draws, missing) for start in starts]
                folds.append(LogisticFold(*of_part, left_out, trees))
        if self.models == LOGIT_BOOST:
            steps = self.steps
            hows = [[How(None, boosting_steps((f.rows, f.test) for f in folds) if isinstance(steps, str) else steps)]]
        else:
            hows = ridge_paths(self.leaf_penalty, self.squares, self.products or hinges)
        settings = None
        if self.refine != "none":
            settings = Settings(self.surrogate, self.max_sweeps, threads=threads_of(self))
        grow = [lambda start=start: start.tree(rows, space, draws, missing) for start in starts]
        comparison = Comparison(
            settings,
            self.n_penalties,
            self.log_loss_weight,
            price_of(self.doubling_price, len(rows.X)),
            max_terms=AUTO_TERMS if isinstance(self.max_terms, str) else self.max_terms,
            all_terms_price=self.all_terms_price if isinstance(self.max_terms, str) else None,
        )
        return choose(models, space, grow, folds, hows, comparison)


LogisticModelTreeClassifier = LogisticTreeClassifier  # former name, for pickles
