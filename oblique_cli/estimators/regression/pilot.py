"""scikit-learn estimator of PILOT."""

from __future__ import annotations

from oblique_cli.estimators.regression.tree_regressor import TreeRegressor
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import LEAST_ROWS, Integer, Real, rows_of
from oblique_cli.ground.row_groups import Groups
from oblique_cli.parameters import parameter
from oblique_cli.tree.pilot_models import Settings, grow
from oblique_cli.tree.structure import Tree


class PILOTRegressor(TreeRegressor, kw_only=True):
    """A linear model tree that is grown by boosting models of one feature (Raymaekers et al. 2024).

    At a node, a constant, a line, a cut with a constant on each side, a line that bends and a line on each side of a
    cut are fitted to the residuals, each on its best feature, and the model of least BIC is taken. After a line the
    same node continues. There is no pruning, and the equation of a leaf is the sum of the models on its path.

    Attributes
    ----------
    tree_ : Tree
    n_features_in_, n_leaves_, n_nodes_, depth_ : int

    Nothing is drawn at random, and the order of the training rows does not matter."""

    min_fit: int = parameter(default=10, allowed=Integer(1), help="A node of fewer rows gets no further model.")
    min_samples_leaf: float = parameter(
        default=5,
        allowed=LEAST_ROWS,
        help="Least rows on either side of a cut. A value below 1 is a share of the rows, rounded up.",
    )
    max_depth: int = parameter(
        default=12, allowed=Integer(0), help="Most cuts on the way to a leaf; lines without a cut do not count."
    )
    max_models: int = parameter(
        default=100, allowed=Integer(0), help="Most models on the way to a leaf, lines without a cut among them."
    )
    min_values: int = parameter(
        default=5,
        allowed=Integer(2),
        help="Distinct values of a feature that a slope needs, on either side of a cut. Features of fewer, such as "
        "indicators of levels, are cut into constants.",
    )
    min_improvement_percent: float = parameter(
        default=0,
        allowed=Real(0.0, 100.0),
        help="Least decrease of the residual sum of squares, in percent, by a line without a cut; a line below it is "
        "the last model of its leaf. 0 leaves it to the BIC.",
    )

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        settings = Settings(
            self.min_fit,
            int(rows_of(self.min_samples_leaf, len(rows))),
            self.max_depth,
            self.max_models,
            self.min_values,
            self.min_improvement_percent / 100,
        )
        return grow(rows, targets, settings)
