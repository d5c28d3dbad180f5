"""scikit-learn estimator of linear model trees chosen by cross-validation."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from oblique_cli.estimators.oblique.groups import Growth
from oblique_cli.estimators.regression.tree_regressor import DividedTreeRegressor, left_out
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import LEAST_ROWS, Boolean, Choice, Either, Integer, Optional, Real, Text, rows_of
from oblique_cli.ground.row_groups import Groups
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.linear_trees import CUTS, PENALTIES, Limits, chosen_tree
from oblique_cli.tree.pruning import price_of
from oblique_cli.tree.structure import Tree

SEVERAL, CHOSEN, AUTO = "several", "cv", "auto"
LEAST, FURTHER_LEAST = 10, (40, 4)  # rows of a leaf that cross-validation chooses from
ENOUGH_ROWS = 1000  # up to these rows there is no further choice
LEAVES, ROWS_OF_A_LEAF = (40, 200), 50


class LinearTreeRegressor(DividedTreeRegressor, kw_only=True):
    """A small regression tree whose nodes continue the linear model of their parent, beyond the papers.

    Every node fits a ridge regression to the residuals of its parent's model. Trees are grown by three kinds of cuts,
    along features and along the model of the node, and pruned by cost-complexity with the errors of these models.
    Cross-validation inside the training rows chooses the kind of cut, the size, the least rows of a leaf, the penalty
    and whether models have products and hinges. A single leaf, which is ridge regression, is one of the candidates.

    Attributes
    ----------
    tree_ : Tree
    choice_ : LinearChoice
        All trees that cross-validation compared, and what was chosen. Model files leave it out.
    n_features_in_, n_leaves_, n_nodes_, depth_ : int

    The order of the training rows does not matter."""

    base: str = parameter(
        default=SEVERAL,
        allowed=Choice((SEVERAL, *CUTS)),
        kw_only=False,
        help='Fit on either side of a cut: "bends" fits a line to the residuals of the node\'s model, "steps" a mean '
        'to them, "means" a mean to the target, as in CART. With "several" cross-validation chooses.',
    )
    products: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether models may have terms for products of two features, and squares, as well.",
    )
    hinges: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether models may have terms max(0, x - t) and max(0, t - x) as well, t a quantile of the training "
        "rows; of these and of products at most 24 are chosen, the same in all nodes. A tree with such terms has at "
        "most 100 terms, or one leaf.",
    )
    leaf_penalty: float | str = parameter(
        default=CHOSEN,
        allowed=Either(Real(0.0, open_low=True), Text(CHOSEN, f"'{CHOSEN}'")),
        help="Ridge penalty on the change that a node makes to its parent's model, in rows, for standardized features. "
        '"cv" chooses from 300, 100, 30, 10, 3, 1 and 0.3.',
    )
    folds: int = parameter(
        default=5, allowed=Integer(2), help="Folds of the cross-validation. Each grows and prunes its own trees."
    )
    doubling_price: float | str = parameter(
        default=AUTO,
        allowed=Either(Real(0.0), Text(AUTO, f"'{AUTO}'")),
        help="Least decrease of the squared error for doubling the leaves, or the terms of a model, in that "
        'comparison, as a share. "auto" is 0.01 up to 1,000 rows, and 0.01 sqrt(1000 / n) for n > 1,000 rows.',
    )
    min_samples_leaf: float | str = parameter(
        default=CHOSEN,
        allowed=Either(LEAST_ROWS, Text(CHOSEN, f"'{CHOSEN}'")),
        help="Least rows on either side of a cut. A value below 1 is a share of the rows, rounded up. "
        f'"cv" is {LEAST}; for more than {ENOUGH_ROWS:,} rows it chooses from {", ".join(map(str, FURTHER_LEAST))} '
        "too, with the best fit of the cuts.",
    )
    max_depth: int | None = as_in(Growth, "max_depth")
    max_leaf_nodes: int | str | None = parameter(
        default=AUTO,
        allowed=Optional(Either(Integer(1), Text(AUTO, f"'{AUTO}'"))),
        help="Most leaves before pruning: the leaf whose cut explains most is cut next. None for no limit. "
        f'"auto" is a leaf for each {ROWS_OF_A_LEAF} rows, between {LEAVES[0]} and {LEAVES[1]}.',
    )
    random_state: Any = parameter(default=None, help="Draws the folds.")

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        seed, n = int(check_random_state(self.random_state).randint(2**31)), len(rows)
        least, most = self.min_samples_leaf, self.max_leaf_nodes
        if isinstance(most, str):
            most = min(max(LEAVES[0], n // ROWS_OF_A_LEAF), LEAVES[1])
        further = FURTHER_LEAST if isinstance(least, str) and n > ENOUGH_ROWS else ()
        self.choice_ = chosen_tree(
            rows,
            targets,
            CUTS if self.base == SEVERAL else (self.base,),
            PENALTIES if isinstance(self.leaf_penalty, str) else (float(self.leaf_penalty),),
            Limits(LEAST if isinstance(least, str) else int(rows_of(least, n)), self.max_depth, most, further),
            left_out(n, self.folds, seed, "linear folds", groups),
            truncate=self.truncate,
            doubling_price=price_of(self.doubling_price, n),
            products=self.products,
            hinges=self.hinges,
        )
        return self.choice_.tree


LinearModelTreeRegressor = LinearTreeRegressor  # former name, for pickles
