"""scikit-learn estimator of tree alternating optimization."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.estimators.oblique.groups import Columns, Leaves, Refinement
from oblique_cli.estimators.oblique.heuristics import classifier_of
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier, Start
from oblique_cli.estimators.oblique.training import Draws, Training
from oblique_cli.ground.constraints import Choices, Constraint, check
from oblique_cli.ground.registry import close_matches
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.structure import Tree

RANDOM = {"random_4": 4, "random_5": 5, "random_6": 6}  # complete trees of random hyperplanes, by depth
MULTIWAY = ("hhgdt", "fdt", "quest", "cline", "axis_parallel", *RANDOM)
SEED_PRUNING: Mapping[str, Any] = {"pruning": "cv", "pruning_folds": 5}  # of a start given by its name
# Parameters that act on row weights, which a start receives, or on a finished tree, which a start is not.
OF_THE_RESULT = ("class_weight", *Leaves.parameters)


class Starts:
    """Allowed names of `base`. groups : names of several, without heuristics that cannot use the present features"""

    def __init__(self, groups: Mapping[str, Sequence[str]]) -> None:
        self.groups = groups

    def __contains__(self, name: object) -> bool:
        return name in PROPOSERS or name in RANDOM or name in self.groups

    def __iter__(self) -> Any:
        return iter([*PROPOSERS, *RANDOM, *self.groups])

    def __len__(self) -> int:
        return len(list(iter(self)))


STARTS = Starts({"multiway": MULTIWAY})


class TAOClassifier(
    Refinement,
    ObliqueTreeClassifier,
    kw_only=True,
    takes=(*Refinement.parameters, "class_weight", *Columns.parameters, *Leaves.parameters, "n_jobs", "random_state"),
):
    """A tree of hyperplanes, grown by a heuristic and then optimized as a whole (Carreira-Perpinan & Tavallali 2018).

    Tree alternating optimization visits the nodes from the deepest to the root in repeated sweeps. At each node it
    searches the hyperplane with which the tree misclassifies the fewest training rows while all other nodes stay fixed.
    Only rows that exactly one of the two branches classifies correctly matter; each prefers that branch. Candidates are
    hyperplanes of l1-penalized logistic regressions, the best cut of each feature, and sending all rows to one side.
    The candidate with the least objective is taken: the misclassified share of the weight plus `penalty` times the sum
    of |w|_1 over all nodes, with |w|_2 = 1 and standardized features. It never rises. Nodes that save less than their
    penalty are removed, so the tree also becomes smaller.

    Attributes
    ----------
    tree_, levels_, fill_values_, classes_, n_features_in_, n_leaves_, n_nodes_, depth_
        As in `ObliqueTreeClassifier`. Gains are decreases of the Gini impurity.
    refinement_ : Refined
        ``start``, the tree before; ``path``, the trees and runs of rising penalties, of which the last is `tree_`;
        ``penalties`` and ``chosen``, the candidates of cross-validation and their errors. A run has the
        objective after every update of a node. Model files leave it out.

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; it seeds the folds, the draws of each start and the random
    trees."""

    words: ClassVar[Mapping[str, Constraint]] = {"base": Choices(STARTS)}
    needs_pruning_rows: ClassVar[bool] = False
    starts: ClassVar[Starts] = STARTS

    base: Any = parameter(
        default="hhgdt",
        kw_only=False,
        help="The tree to refine: a heuristic by name, whose tree is pruned by 5-fold cross-validation first; an "
        'unfitted estimator such as ``HHCARTClassifier(pruning="cv")``, with its own parameters; "random_4", '
        '"random_5" or "random_6", a complete tree of random hyperplanes of that depth. Of a list, the '
        'cross-validation that chooses the penalty chooses the start as well. "multiway" is hhgdt, fdt, quest, cline, '
        "axis_parallel and the three random trees; those that cannot use the features at hand are left out.",
    )
    n_jobs: int | None = parameter(
        default=None,
        help="Threads that share the nodes of one depth: None is 1, -1 all processors. Any number gives the same tree.",
    )

    def fit(  # type: ignore[override]  # no rows are kept from growth
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> TAOClassifier:
        """Grow the starts, choose among them, and refine the tree.

        X : (n, p) finite numbers (and NaN as `missing` allows), anything in qualitative columns; y : (n,) labels
        sample_weight : (n,) non-negative, rows of weight 0 are ignored
        groups : (n,) group of each row: cross-validation keeps groups together. None for independent rows"""
        owner = type(self).__name__
        check(self.get_params(deep=False), self.constraints, owner)
        if message := self.clash(owner):
            raise ConfigError(message)
        threads_of(self)  # raises for 0
        bases = self._bases()
        rows, labels = self._training_rows(X, y)
        growing, _, draws = self._divided(rows, labels, sample_weight, None, groups)
        self._keep(self._best(self._starts(bases), growing, draws), growing.X)
        return self

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for incompatible parameters, or None."""
        return None

    def _best(self, starts: list[Start], growing: Training, draws: Draws) -> Tree:
        """Return the refined tree of the best start, and store the results of the choice."""
        self.refinement_: Any = self._refined(starts, growing, draws, self)

        def tree_of(part: Training, part_draws: Draws) -> Tree:
            return self._refined(starts, part, part_draws, self).tree

        return self._finished(self.refinement_.tree, growing, draws, tree_of)

    def _bases(self) -> list[tuple[Any, bool]]:
        """Return the bases in `base`, each with whether it is optional; ConfigError for any other value."""
        owner = type(self).__name__
        listed = list(self.base) if isinstance(self.base, list | tuple) else [self.base]
        bases: list[tuple[Any, bool]] = []
        for base in listed:
            if isinstance(base, str) and base in self.starts.groups:
                bases += [(name, True) for name in self.starts.groups[base]]
            else:
                bases.append((base, False))
        for base, _ in bases:
            if isinstance(base, str):
                if base not in self.starts:
                    raise ConfigError(
                        f"base of {owner} must be one of its starts. Got {base!r}.{close_matches(base, self.starts)}"
                    )
            elif not isinstance(base, ObliqueTreeClassifier) or isinstance(base, TAOClassifier):
                raise ConfigError(
                    f"base of {owner} must be a name, an ObliqueTreeClassifier or a list of these. Got {base!r}."
                )
            elif base.needs_pruning_rows:
                raise ConfigError(
                    f"base of {owner} must prune without rows of its own. Got pruning {base.pruning!r}; set it to 'cv'."
                )
            else:
                defaults = inspect.signature(type(base)).parameters
                for name in OF_THE_RESULT:
                    if (value := getattr(base, name)) != defaults[name].default:
                        raise ConfigError(
                            f"{name}={value!r} of the base of {owner} has no effect: only its tree is "
                            f"refined; set {name} of {owner} instead."
                        )
        if not bases:
            raise ConfigError(f"base of {owner} must name at least one start. Got an empty list.")
        return bases

    def _of_named(self) -> Mapping[str, Any]:
        return SEED_PRUNING

    def _starts(self, bases: Sequence[tuple[Any, bool]]) -> list[Start]:
        starts = []
        for base, optional in bases:
            if isinstance(base, str) and base in RANDOM:
                starts.append(Start(None, depth=RANDOM[base]))
                continue
            if isinstance(base, str):
                estimator = classifier_of(base)(**PROPOSERS[base].member_defaults, **self._of_named())
            else:
                estimator = clone(base)
            estimator.set_params(missing=self._gaps, refine="none")
            proposer = estimator._checked_proposer()
            if optional and self.levels_ and proposer.quantitative:
                continue
            estimator.classes_, estimator.levels_, estimator._gaps = self.classes_, self.levels_, self._gaps
            estimator._refuse_levels(proposer)
            estimator.n_features_in_ = self.n_features_in_
            starts.append(Start(estimator, proposer))
        return starts

    def _limits(self, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        raise ConfigError(f"{type(self).__name__} has no path over max_misrate; its base has.")


RefinedTreeClassifier = TAOClassifier  # former name, for pickles
