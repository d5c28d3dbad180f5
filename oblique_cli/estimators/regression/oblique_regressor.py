"""scikit-learn estimator of regression trees of hyperplanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

import oblique_cli.proposers  # noqa: F401  (registers them)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.checked_rows import checked_numbers
from oblique_cli.estimators.monotonic import ALLOWED, meaning, signs_of
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.oblique.groups import Growth
from oblique_cli.estimators.regression.tree_regressor import DividedTreeRegressor, left_out
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import LEAST_ROWS, Choice, Integer, Optional, Real, rows_of
from oblique_cli.ground.nodes import ranges_of
from oblique_cli.ground.row_groups import Groups
from oblique_cli.ground.seeds import integer
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.pruning import RuleParameters, chosen_alpha, fixed_alpha
from oblique_cli.tree.refining import REFINEMENTS
from oblique_cli.tree.refining_equations import FOLDS, refined
from oblique_cli.tree.residual_signs import Settings, grow
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.structure import Tree

LEAVES = ("constant", "linear")
PRUNED = ("cv", "none")
NO_REFINEMENT = REFINEMENTS[0]


class ObliqueTreeRegressor(DividedTreeRegressor, kw_only=True):
    """A regression tree of hyperplanes that a heuristic for classes proposes, beyond the papers.

    At a node, the rows above the node's own model are one class and the others are another; the heuristic proposes
    directions for these two classes, HHCART by reflecting along the eigenvectors of each. Of all cuts along all
    directions, the cut is taken after which the models of both sides have the least residual sum of squares.

    If y has k columns, one tree predicts all of them: a leaf has k numbers. The residual sum of a cut is over all
    outputs in their given units, so scale outputs of different units first. Rows are above the node's model if their
    residuals are positive along the first principal component of the residuals. `refine`, `monotonic_cst` and
    `leaf_residuals` are for one output.

    Attributes
    ----------
    tree_ : Tree
    refinement_ : Refined, with refine "tao"
    n_features_in_, n_outputs_, n_leaves_, n_nodes_, depth_ : int

    The order of the training rows does not matter."""

    proposer: str = parameter(
        default="hhcart_a",
        allowed=Choice(PROPOSERS),
        kw_only=False,
        help="Name of the heuristic (`oblique list algorithms`), with its default parameters.",
    )
    leaves: str = parameter(
        default="constant",
        allowed=Choice(LEAVES),
        help="Model of a leaf: the mean of its rows, or a least-squares model. Cuts are scored by the same model.",
    )
    min_samples_leaf: float | None = parameter(
        default=None,
        allowed=Optional(LEAST_ROWS),
        help="Least rows of a leaf; None for 5, of linear leaves at least 2 (p + 1). A value below 1 is a share of the "
        "rows, rounded up.",
    )
    max_depth: int | None = as_in(Growth, "max_depth")
    max_leaf_nodes: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Most leaves, grown best-first: the leaf whose split has the largest decrease of the residual sum is "
        "split next. None for no limit.",
    )
    pruning: str = parameter(
        default="cv",
        allowed=Choice(PRUNED),
        help='"cv" is minimal cost-complexity pruning by cross-validation of the training rows (Breiman et al. 1984).',
    )
    pruning_folds: int = as_in(RuleParameters, "pruning_folds")
    standard_errors: float = parameter(
        default=1.0,
        allowed=Real(0.0),
        help='c of "cv": the smallest tree within c standard errors of the least error is taken.',
    )
    refine: str = parameter(
        default="none",
        allowed=Choice(REFINEMENTS),
        help='"tao" refines the tree as a whole by alternating optimization (Carreira-Perpinan & Tavallali 2018), at '
        "the penalty that 5-fold cross-validation of the training rows chooses.",
    )
    monotonic_cst: Sequence[int] | Mapping[Any, int] | None = parameter(
        default=None, allowed=ALLOWED, help=meaning("the predicted number")
    )
    random_state: Any = parameter(
        default=None, help='Draws the folds of "cv" and of "tao", and what a heuristic draws.'
    )

    def _numbers(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        for_one = self._for_one_output()
        rows, targets = checked_numbers(self, X, y, several=True, column_warns=for_one is not None)
        if targets.ndim > 1 and for_one is not None:
            name, other = for_one
            # The class of a named algorithm may have fixed it.
            remedy = f"set {name} to {other!r}, or " if name in self.get_params(deep=False) else ""
            raise ConfigError(
                f"{name} of {type(self).__name__} is for one output, and y has {targets.shape[1]} columns; {remedy}fit "
                "a tree to each column."
            )
        return rows, targets

    def _grown(self, rows: Array, targets: Array, groups: Groups | None) -> Tree:
        seed = int(check_random_state(self.random_state).randint(2**31))
        settings = self._settings(*rows.shape)
        if settings.signs is not None and self.refine != "none":
            raise ConfigError(
                f"{ORDER} of {type(self).__name__} is not kept with refine {self.refine!r}; set refine to 'none'."
            )
        proposer = PROPOSERS[self.proposer]()

        def grown(train: NDArray[np.intp]) -> Tree:
            tree_seed = integer(seed, "tree", 0)
            return grow(np.ascontiguousarray(rows[train]), targets[train], proposer, settings, tree_seed)

        def pruned(train: NDArray[np.intp]) -> Tree:
            tree = grown(train)
            if self.pruning == "none":
                return tree
            own_groups = None if groups is None else groups[train]
            parts = left_out(len(train), self.pruning_folds, seed, "pruning folds", own_groups)
            some = np.ascontiguousarray(rows[train]), targets[train]
            errors = float(self.standard_errors)
            alpha = chosen_alpha(tree, *some, parts, lambda inner: grown(train[inner]), errors, own_groups)
            return fixed_alpha(tree, alpha)

        every = np.arange(len(rows))
        tree = pruned(every)
        vars(self).pop("refinement_", None)
        if self.refine == "tao":
            parts = left_out(len(every), FOLDS, seed, "refinement folds", groups)
            self.refinement_ = refined(tree, rows, targets, settings, parts, pruned)
            tree = self.refinement_.tree
        self._ranges = ranges_of(rows)
        return tree

    def _for_one_output(self) -> tuple[str, Any] | None:
        """Return a set parameter that allows single outputs only, with its required value; None without."""
        if self.refine != NO_REFINEMENT:
            return "refine", NO_REFINEMENT
        if self.monotonic_cst is not None:
            return ORDER, None
        return ("leaf_residuals", False) if self.leaf_residuals else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._for_one_output() is None
        return tags

    def _settings(self, n: int, p: int) -> Settings:
        linear = self.leaves == "linear"
        least = self.min_samples_leaf or (max(5, 2 * (p + 1)) if linear else 5)
        return Settings(int(rows_of(least, n)), self.max_depth, linear, self.max_leaf_nodes, signs_of(self))
