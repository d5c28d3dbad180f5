"""`auto`: the smallest of several models among those that are as good as the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import seeds
from oblique_cli.errors import ConfigError, ObliqueError
from oblique_cli.estimators.encoding import fold_encoder, prepared
from oblique_cli.evaluation import metrics
from oblique_cli.experiments import running
from oblique_cli.experiments.running import Case
from oblique_cli.fitting.estimating import (
    Estimate,
    Step,
    cross_validated,
    division,
    folds_of,
    out_of_fold,
    tuning_pairs,
    unseen,
)
from oblique_cli.nouns import Fold
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset

Cases = Callable[["Dataset"], Mapping[str, Case]]


@dataclass(frozen=True)
class Size:
    """How large a model is: fewer leaves are smaller, and of as many leaves fewer coefficients.

    leaves        of the tree, of all trees of a forest; 0 for what is no tree, which is larger than any tree
    coefficients  that are not 0: of the hyperplanes, and of the linear models in leaves; a cut in one feature has one
    """

    leaves: int = 0
    coefficients: int = 0

    @classmethod
    def of(cls, estimator: Any) -> Size:
        """Return the size of a fitted estimator."""
        leaves = int(getattr(estimator, "n_leaves_", 0))
        tree: Any = getattr(estimator, "tree_", None)
        if isinstance(tree, Tree) or hasattr(estimator, "forest_"):
            return cls(leaves, int(metrics.non_zero(estimator, np.zeros((0, 0)))))
        in_leaves = int(np.count_nonzero(tree.coef[np.asarray(tree.left) < 0])) if hasattr(tree, "rss") else 0
        return cls(leaves, int(getattr(estimator, "n_nodes_", leaves)) - leaves + in_leaves)

    @property
    def key(self) -> tuple[float, int]:
        """What sizes are compared by."""
        return (self.leaves or np.inf, self.coefficients)


@dataclass(frozen=True)
class Candidate:
    """An algorithm in the comparison, by its id. size : of its model of all rows; failure : why it has no estimate"""

    algorithm: str
    estimate: Estimate | None
    size: Size
    failure: str = ""


@dataclass(frozen=True)
class Choice:
    """A comparison and its outcome: the smallest model whose loss is within one standard error of the least."""

    candidates: tuple[Candidate, ...]
    chosen: str

    @property
    def limit(self) -> float:
        """The largest loss that counts as good as the best."""
        best = min((c.estimate for c in self.candidates if c.estimate), key=lambda e: e.loss)
        return best.loss + best.loss_error

    def plain(self, task: str) -> list[dict[str, Any]]:
        """Return the table for a model file and JSON."""
        return [
            {
                "algorithm": c.algorithm,
                "leaves": c.size.leaves,
                "coefficients": c.size.coefficients,
                **({"failure": c.failure} if c.estimate is None else c.estimate.plain(task)),
                "chosen": c.algorithm == self.chosen,
            }
            for c in self.candidates
        ]


def choose(cases: Mapping[str, Case], folds: int, seed: int, step: Step = unseen) -> Choice:
    """Compare algorithms on the same folds and choose one; equal sizes go to the lesser loss, then to the first.

    cases : by id
    ConfigError if none could be fitted
    """
    candidates = []
    for name, case in cases.items():
        try:
            estimate, size = cross_validated(case, folds, seed, step), _size(case, folds, seed)
            candidates.append(Candidate(name, estimate, size))
        except (ObliqueError, ValueError, FloatingPointError) as error:
            candidates.append(Candidate(name, None, Size(), running.first_line(error)))
    good = [c for c in candidates if c.estimate]
    if not good:
        raise ConfigError(f"none of {', '.join(cases)} could be fitted ({candidates[0].failure}).")
    limit = Choice(tuple(candidates), "").limit
    within = [(c.size.key, c.estimate.loss, i) for i, c in enumerate(good) if c.estimate and c.estimate.loss <= limit]
    return Choice(tuple(candidates), good[min(within)[2]].algorithm)


def _size(case: Case, folds: int, seed: int) -> Size:
    return Size.of(fit_to_all(case, folds, seed)[0])


def fit_to_all(case: Case, folds: int, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return the estimator fitted to all rows, the encoder fitted with it (or None), and what a grid chose for it.

    Stochasticity: the fit has the seed that `oblique tree` gives it.
    """
    dataset, chosen = case.dataset, {}
    if case.spec.grid:
        pairs = tuning_pairs(dataset, folds, seed)
        chosen = running.tune(case, pairs, seeds.integer(seed, dataset.name, "tuning"))[0]
    encoder = fold_encoder(dataset, case.policy)
    X = dataset.X if encoder is None else np.ascontiguousarray(encoder.fit_transform(dataset.X), dtype=np.float64)
    made = case.algorithm.make(seeds.integer(seed, dataset.name, "tree"), **{**case.spec.params, **chosen})
    estimator = prepared(made, dataset, case.policy)
    return estimator.fit(X, dataset.y, **running.weights_of(case, estimator)), encoder, chosen


def nested_estimate(dataset: Dataset, cases: Cases, folds: int, seed: int, step: Step = unseen) -> Estimate:
    """Return the estimate of the whole procedure: in each training set the comparison is made anew, and its choice
    fitted; the test rows of a fold have no part in either."""
    cv = division(dataset, folds, tuned=True)
    if not any(case.spec.grid for case in cases(dataset).values()):
        cv = replace(cv, scheme="ordinary")  # without the rows by which a grid would be searched

    def predicted(fold: Fold, number: int) -> NDArray[Any]:
        inner = seeds.integer(seed, dataset.name, "auto", number)
        chosen = choose(cases(part(dataset, fold.train)), folds, inner, step).chosen
        job = seeds.integer(seed, dataset.name, "job", 0, number)
        return running.predictions(cases(dataset)[chosen], fold, job)

    return Estimate.of(dataset, out_of_fold(dataset, folds_of(dataset, cv, seed), predicted), cv.folds, nested=True)


def part(dataset: Dataset, rows: NDArray[np.intp]) -> Dataset:
    """Return some rows of a data set as one of their own."""
    groups, weights = (None if each is None else each[rows] for each in (dataset.groups, dataset.weights))
    X, y = np.ascontiguousarray(dataset.X[rows]), np.ascontiguousarray(dataset.y[rows])
    return replace(dataset, X=X, y=y, split=None, groups=groups, weights=weights)
