"""One data set, one algorithm or `auto`: estimate, fit to all rows, and the `Model` that says how it came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli import __version__, seeds
from oblique_cli.data.columns import Column, Columns
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.encoding import encoded_names, own_labels
from oblique_cli.experiments.environment import environment
from oblique_cli.experiments.running import Case
from oblique_cli.fitting.choosing import Choice, choose, fit_to_all, nested_estimate
from oblique_cli.fitting.estimating import Estimate, Step, cross_validated, unseen
from oblique_cli.fitting.pruning import LIMIT, pruned_spec
from oblique_cli.models.encoder import ColumnEncoder
from oblique_cli.models.model import Model
from oblique_cli.nodes import pairs_of
from oblique_cli.nouns import AlgorithmSpec, DatasetSpec
from oblique_cli.tree.reading import Units
from oblique_cli.tree.sparse import Light
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset

# What --tune searches where no grid is given: the first parameters that the algorithm has.
GRIDS: tuple[Mapping[str, tuple[Any, ...]], ...] = (
    {"epsilon": (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)},
    {LIMIT: (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)},
    {"cost": (0.125, 1.0, 8.0, 64.0), "width": (0.01, 0.1, 1.0)},
    {"cost": (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0)},
    {"beta": (0.6, 0.7, 0.8, 0.9, 1.0)},
    {"n_neighbors": (1, 3, 5, 9, 15)},
    {"min_node_percent": (1.0, 2.0, 5.0, 10.0, 20.0)},
    {"min_samples_leaf": (1, 2, 5, 10, 20)},
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model, its estimate, and the comparison if there was one.

    chosen : parameters by a grid; X : training rows as the estimator saw them
    """

    model: Model
    estimate: Estimate
    choice: Choice | None
    chosen: Mapping[str, Any]
    case: Case
    X: np.ndarray


def tuned_spec(spec: AlgorithmSpec) -> AlgorithmSpec:
    """Return the algorithm with a grid to choose parameters from; its own, if it has one. ConfigError without any."""
    if spec.grid:
        return spec
    table = ALGORITHMS[spec.name].parameters
    for grid in GRIDS:
        if grid.keys() <= table.keys() and not grid.keys() & spec.params.keys():
            return replace(spec, grid=dict(grid))
    raise ConfigError(
        f"--tune has no parameters to try for {spec.name}; give some, as in --set 'max_depth={{grid: [2, 4, 8]}}'."
    )


def fit(
    dataset: Dataset,
    policy: DatasetSpec,
    specs: Sequence[AlgorithmSpec],
    *,
    columns: Columns | None = None,
    tune: bool = False,
    folds: int = 10,
    seed: int = 1,
    step: Step = unseen,
) -> Outcome:
    """Estimate by cross-validation, then fit to all rows.

    policy   what is done to missing cells and levels
    specs    one algorithm, or several to choose from: the smallest tree as good as the best. Trees are pruned by
             cross-validation unless a specification says otherwise (`pruned_spec`)
    columns  how the table was read; without it the model reads tables with the columns of `dataset`
    tune     choose parameters, from the grid of a specification or one of `GRIDS`
    folds    of every cross-validation
    step     called for each fold that is done, `steps` of them where there are rows enough for all folds
    A choice by grid or among algorithms is made inside each training set of the estimate, so the estimate is nested.

    Stochasticity: folds, choices and fits have seeds named after `seed` and the data set, whatever the name of a file.
    """
    prepared_specs = [pruned_spec(tuned_spec(spec) if tune else spec, dataset.n) for spec in specs]

    def cases(of: Dataset) -> dict[str, Case]:
        return {spec.id: Case(of, policy, spec, ALGORITHMS[spec.name]) for spec in prepared_specs}

    called, dataset = dataset, dataset if columns is None else replace(dataset, name=seeds.OWN)
    own = cases(dataset)
    for case in own.values():
        if case.algorithm.family.task != dataset.task:
            predicts = "numbers" if case.algorithm.family.task == "regression" else "classes"
            raise DataError(
                f"data set {called.name!r} is for {dataset.task}, and {case.spec.name} predicts {predicts}."
            )
    choice = None
    with own_labels(dataset):
        if len(own) > 1:
            choice = choose(own, folds, seed, step)
            case = own[choice.chosen]
            estimate = nested_estimate(dataset, cases, folds, seed, step)
        else:
            (case,) = own.values()
            estimate = cross_validated(case, folds, seed, step)
        estimator, encoder, chosen = fit_to_all(case, folds, seed)
    X = dataset.X if encoder is None else np.ascontiguousarray(encoder.transform(dataset.X), dtype=np.float64)
    model = Model.of(
        estimator,
        algorithm=case.spec.name,
        classes=dataset.classes,
        feature_names=dataset.feature_names,
        encoder=filling(dataset, policy, encoder),
        columns=columns or columns_of(dataset),
        facts=_facts(
            case.spec.name, called, estimate, choice, chosen, seed, estimator, X, encoded_names(dataset, encoder)
        ),
    )
    return Outcome(model, estimate, choice, chosen, case, X)


def steps(n_algorithms: int, folds: int) -> int:
    """Return how many folds a fit takes: those of its estimate, and with a choice those of a comparison in each."""
    return folds if n_algorithms == 1 else n_algorithms * folds * (1 + folds)


def _facts(
    algorithm: str,
    dataset: Dataset,
    estimate: Estimate,
    choice: Choice | None,
    chosen: Any,
    seed: int,
    estimator: Any,
    X: np.ndarray,
    seen: Sequence[str],
) -> dict[str, Any]:
    """What a model file says of a fit. X, seen : training rows as the estimator saw them, and names of their columns"""
    tree = getattr(estimator, "tree_", None)
    rows = estimator.tree_rows(X) if isinstance(tree, Tree) else X
    units = Units.deviations(rows, tree.levels if isinstance(tree, Tree) else ())
    facts: dict[str, Any] = {
        "title": ALGORITHMS[algorithm].title,
        "data": dataset.name,
        "data_digest": f"sha256:{dataset.digest}",
        "rows": dataset.n,
        "seed": seed,
        "estimate": estimate.plain(dataset.task),
        "leaves": int(getattr(estimator, "n_leaves_", 0)),
        "depth": int(getattr(estimator, "depth_", 0)),
        "chosen": dict(chosen),
        "notes": list(dataset.notes),
        "units": units.to_plain(),
        **({"sparse": Light.of(tree, rows, pairs_of(seen)).to_plain()} if isinstance(tree, Tree) else {}),
        "whole_numbers": whole_numbers(dataset),
        "versions": {"oblique-trees": __version__, **environment()["packages"]},
    }
    if dataset.task == "classification":
        counts = np.bincount(dataset.y, minlength=len(dataset.classes)).tolist()
        facts["class_counts"] = dict(zip(dataset.classes, counts, strict=True))
    if choice is not None:
        facts["compared"] = choice.plain(dataset.task)
    return facts


def whole_numbers(dataset: Dataset) -> list[str]:
    """Return the names of the columns whose numbers are all whole, for whoever proposes other numbers."""
    found = []
    for j, name in enumerate(dataset.feature_names):
        values = dataset.X[:, j][~np.isnan(dataset.X[:, j])]
        if j not in dataset.levels and len(values) and (values == np.round(values)).all():
            found.append(name)
    return found


def filling(dataset: Dataset, policy: DatasetSpec, encoder: Any) -> ColumnEncoder | None:
    """Return the encoder with something to put into empty cells, even if no training row had one.

    Under missing "impute" new rows may lack what training rows have: quantitative columns get their median, qualitative
    ones their most frequent level. Complete rows are encoded as before. A tree that scores levels itself takes columns
    in their own order, so there nothing is added.
    """
    own = None if encoder is None else ColumnEncoder.of(encoder)
    if (
        policy.missing != "impute"
        or (own is None and dataset.qualitative)
        or (own is not None and own.medians is not None)
    ):
        return own
    if own is None:
        nothing = np.zeros(0, np.int64)
        own = ColumnEncoder(dataset.p, np.arange(dataset.p, dtype=np.int64), None, nothing, None, None)
    usual = []
    for j in own.qualitative.tolist():
        codes, counts = np.unique(dataset.X[:, j], return_counts=True)
        usual.append(codes[np.argmax(counts)])
    medians = np.median(dataset.X[:, own.quantitative], axis=0)
    return replace(own, medians=medians, usual=np.array(usual, dtype=np.float64))


def columns_of(dataset: Dataset) -> Columns:
    """Return how a CSV file with the columns of a data set is read: its features by name, and the target."""
    listed = [
        Column(name, "levels", levels=dataset.levels[j]) if j in dataset.levels else Column(name, "number")
        for j, name in enumerate(dataset.feature_names)
    ]
    target = "class" if dataset.task == "classification" else "target"
    while target in dataset.feature_names:
        target += "_"
    return Columns((*listed, Column(target, "target")), target, dataset.task, dataset.classes)
