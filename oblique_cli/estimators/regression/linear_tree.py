"""scikit-learn estimator of linear model trees chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from oblique_cli.estimators.oblique.groups import Growth
from oblique_cli.estimators.regression.tree_regressor import DividedTreeRegressor, left_out
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import LEAST_ROWS, Choice, Either, Integer, Optional, Real, Text, rows_of
from oblique_cli.ground.row_groups import Groups
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.linear_trees import CUTS, PENALTIES, Limits, chosen_tree
from oblique_cli.tree.structure import Tree
from oblique_cli.tree.truncation import ALL

SEVERAL, CHOSEN = "several", "cv"


class LinearTreeRegressor(DividedTreeRegressor, kw_only=True):
    """A small regression tree whose nodes go on from the linear model of their parent, beyond the papers.

    Every node has a ridge regression of what the model of its parent leaves over. Trees are grown by three ways to cut,
    along features and along the model of the node, and pruned by cost-complexity with the errors of these models.
    Cross-validation inside the training rows chooses the way to cut, the size and the penalty. A single leaf, which is
    ridge regression, is among what it chooses from.

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
    leaf_penalty: float | str = parameter(
        default=CHOSEN,
        allowed=Either(Real(0.0, open_low=True), Text(CHOSEN, f"'{CHOSEN}'")),
        help="Ridge penalty on the change that a node makes to its parent's model, in rows, for standardized features. "
        '"cv" chooses from 300, 100, 30, 10, 3, 1 and 0.3.',
    )
    folds: int = parameter(
        default=5, allowed=Integer(2), help="Folds of the cross-validation. Each grows and prunes its own trees."
    )
    doubling_price: float = parameter(
        default=0.01,
        allowed=Real(0.0),
        help="Least decrease of the squared error for doubling the leaves in that comparison, as a share.",
    )
    min_samples_leaf: float = parameter(
        default=10,
        allowed=LEAST_ROWS,
        help="Least rows on either side of a cut. A value below 1 is a share of the rows, rounded up.",
    )
    max_depth: int | None = replace(as_in(Growth, "max_depth"), default=8)
    max_leaf_nodes: int | None = parameter(
        default=40,
        allowed=Optional(Integer(1)),
        help="Most leaves before pruning: the leaf whose cut explains most is cut next. None for no limit.",
    )
    truncate: str = parameter(default=ALL)
    random_state: Any = parameter(default=None, help="Draws the folds.")

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.choice_ = chosen_tree(
            rows,
            targets,
            CUTS if self.base == SEVERAL else (self.base,),
            PENALTIES if isinstance(self.leaf_penalty, str) else (float(self.leaf_penalty),),
            Limits(int(rows_of(self.min_samples_leaf, len(rows))), self.max_depth, self.max_leaf_nodes),
            left_out(len(rows), self.folds, seed, "linear folds", groups),
            truncate=self.truncate,
            doubling_price=self.doubling_price,
        )
        return self.choice_.tree


LinearModelTreeRegressor = LinearTreeRegressor  # former name, for pickles
