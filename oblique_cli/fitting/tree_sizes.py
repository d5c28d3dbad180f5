"""Trees of all sizes of a fit: the weakest-link sequence, scored on held-out rows by a metric (Breiman et al. 1984,
section 3.4.2). Pruning by a metric chooses one of them, `oblique fit` shows all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, TOP_DOWN
from oblique_cli.estimators.default_pruning import BY_CV
from oblique_cli.estimators.oblique.training import shuffled_folds
from oblique_cli.evaluation.metrics import Undefined
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.goals import Answers, Goal
from oblique_cli.ground import seeds
from oblique_cli.tree.pruning import cost_complexity_path
from oblique_cli.tree.structure import Tree

FOLDS = 5
AT_A_COMPLEXITY: Mapping[str, Any] = {"pruning": "ccp_alpha", "standard_errors": 0.0}  # chosen by `cuts`
MOST_CUTS = 25  # trees to compare, evenly spaced in the sequence
FEW = (1, 2, 3)  # features per split that are tried in addition to the fit's setting


@dataclass(frozen=True)
class Sized:
    """Tree of the sequence.

    alpha : its complexity; leaves, terms : of the tree of all rows; score, error, loss : on held-out rows
    algorithm : its name; max_terms : of its splits, None for any
    chosen : whether it is the fitted tree; best : whether no tree with at most its terms has an equal or better score
    """

    alpha: float
    leaves: int
    terms: int
    score: float
    error: float
    loss: float
    algorithm: str = ""
    max_terms: int | None = None
    chosen: bool = False
    best: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        plain = asdict(self)
        del plain["loss"]
        return {"n_terms": plain.pop("terms"), **plain}


def is_cut(case: Case, params: Mapping[str, Any]) -> bool:
    """Return whether pruning by cross-validation cuts the trees of an algorithm."""
    return ALGORITHMS[case.spec.name].family is TOP_DOWN and params.get("pruning") == BY_CV["pruning"]


def cut_to_goal(
    case: Case, train: NDArray[np.intp], goal: Goal, params: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Return parameters that prune an algorithm's tree by a metric; {} if it is pruned by errors, or not at all.

    The smallest tree whose loss is within `standard_errors` of the least is chosen. If the metric has no value on the
    rows of the folds, the tree is pruned by errors.
    """
    if (goal.is_usual and goal.threshold is None) or not is_cut(case, params):
        return {}
    try:
        steps = cuts(case, train, goal.pruning, params, seed)
    except Undefined:
        return {}
    best = min(steps, key=lambda cut: cut.loss)
    limit = best.loss + float(params.get("standard_errors", 0.0)) * best.error
    alpha = max(cut.alpha for cut in steps if cut.loss <= limit + 1e-12)
    return {**AT_A_COMPLEXITY, "ccp_alpha": alpha}


def cuts(case: Case, train: NDArray[np.intp], goal: Goal, params: Mapping[str, Any], seed: int) -> list[Sized]:
    """Return the trees of the weakest-link sequence with their scores on held-out rows.

    The trees of the folds are pruned at the geometric mean of neighboring complexities of the tree of all rows.
    """
    whole = {key: value for key, value in params.items() if key not in ("standard_errors", "pruning_folds")}
    whole["pruning"] = "none"
    unpruned = replace(case, spec=replace(case.spec, params=whole, grid={}))

    def grown(rows: NDArray[np.intp], number: int) -> tuple[Any, Any]:
        return fits.fit_on(unpruned, rows, rows[:0], seeds.integer(seed, "cuts", number), {})

    tree = grown(train, 0)[0].tree_
    path = cost_complexity_path(tree)
    between = path.between
    picked = np.unique(np.linspace(0, len(between) - 1, min(MOST_CUTS, len(between))).round().astype(np.intp))
    parts: list[list[Answers]] = [[] for _ in picked]
    for number, (grow_on, test_on) in enumerate(_folds(case, train, seed)):
        estimator, encoder = grown(grow_on, number + 1)
        X = estimator.tree_rows(fits.columns_of(case, encoder, test_on))
        for k, answers in enumerate(_answers(case, estimator, X, test_on, between[picked])):
            parts[k].append(answers)
    members = []
    for k, some in zip(picked.tolist(), parts, strict=True):
        answers = goal.decided(Answers.together(some))[0]
        alpha = (
            float(max(between[k], path.alphas[k], 0.0))
            if k + 1 < len(between)
            else float(max(path.alphas[-1], 0.0)) + 1.0
        )
        score, error, loss, loss_error = goal.measured(answers)
        size = int(path.n_leaves[k]), path.member(tree, k).n_terms
        members.append(Sized(alpha, *size, score, loss_error if error else 0.0, loss))
    return members


def has_sizes(case: Case) -> bool:
    """Return whether the trees of an algorithm are grown top-down by a single heuristic."""
    return ALGORITHMS[case.spec.name].family is TOP_DOWN


def refuse_without(case: Case) -> None:
    """Raise ConfigError for an algorithm without a path of sizes, or with tuned parameters."""
    if not has_sizes(case):
        raise ConfigError(
            f"{case.spec.name} has no path of sizes; trees of one heuristic have, such as hhcart_a or fdt."
        )
    if case.spec.grid:
        raise ConfigError("a path of sizes goes without a grid; leave out --tune, or give one value.")


def sizes(case: Case, goal: Goal, seed: int, fitted: Any, few: bool) -> tuple[Sized, ...]:
    """Return the trees of a fit, by the terms of their splits and from the largest; ConfigError without a path.

    fitted : the tree of all rows, which is marked; few : whether to also grow trees with splits of few features
    """
    refuse_without(case)
    max_terms = case.spec.params.get("max_terms")
    limits = [max_terms]
    if few and max_terms is None:
        made = case.algorithm.make(random_state=0, **case.spec.params)
        if made._checked_proposer().combines:  # splits may combine several features
            limits += [limit for limit in FEW if limit < case.dataset.p]
    steps: list[Sized] = []
    for limit in limits:
        params = {**case.spec.params, "max_terms": limit} if limit else case.spec.params
        members = cuts(case, np.arange(case.dataset.n), goal, params, seed)
        # Of several trees with equal complexity, use the smallest, as pruning at this complexity does.
        last = {step.alpha: replace(step, algorithm=case.spec.name, max_terms=limit) for step in members}
        steps += [last[alpha] for alpha in sorted(last)]
    size = (fitted.n_leaves, fitted.n_terms) if isinstance(fitted, Tree) else None
    best, least = set[int](), np.inf
    for step in sorted(steps, key=lambda step: (step.terms, step.loss)):
        if step.loss < least:
            least = step.loss
            best.add(id(step))
    return tuple(
        replace(step, chosen=step.max_terms == max_terms and (step.leaves, step.terms) == size, best=id(step) in best)
        for step in steps
    )


def _folds(case: Case, train: NDArray[np.intp], seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if len(train) < 2:
        raise ConfigError("a tree is cut by a metric on two rows or more.")
    groups = None if case.dataset.groups is None else case.dataset.groups[train]
    folds_seed = seeds.integer(seed, "cut folds")
    for grow_on, test_on in shuffled_folds(len(train), min(FOLDS, len(train)), folds_seed, groups):
        yield train[grow_on], train[test_on]


def _answers(case: Case, estimator: Any, X: Any, rows: Any, alphas: NDArray[np.float64]) -> Iterator[Answers]:
    tree: Tree = estimator.tree_
    path, n = cost_complexity_path(tree), len(case.dataset.classes)
    known = np.asarray(estimator.classes_, dtype=np.intp)
    for alpha in alphas:
        cut = tree.collapse(path.node_alpha <= alpha)
        at = cut.apply(X)
        shares = np.zeros((len(at), n))
        shares[:, known] = cut.shares_at(at)
        yield Answers.of(case.dataset, rows, known[cut.labels[at]], shares, n)
