"""Fit of one algorithm or `auto` to a data set: estimate, fit to all rows, and the `Model` with facts on its fit."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from oblique_cli import __version__
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.errors import ConfigError, DataError, ObliqueError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.conformal_limits import CROSS
from oblique_cli.estimators.default_pruning import pruned_spec
from oblique_cli.estimators.encoding import ColumnEncoder, encoded_names, own_labels
from oblique_cli.estimators.monotonic import FlatResponse
from oblique_cli.estimators.oblique.heuristics import LIMIT
from oblique_cli.evaluation.metrics import Undefined, n_terms
from oblique_cli.experiments.environment import environment
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.budget import Budget, cost_of
from oblique_cli.fitting.calibrating import Promise, guaranteed, training_rows
from oblique_cli.fitting.choosing import Choice, Size, choose, estimated, fit_to_all, part, planned, ranked
from oblique_cli.fitting.estimating import Estimate, FoldFit, Validated, cross_validated, details
from oblique_cli.fitting.goals import AUTO, Answers, Goal
from oblique_cli.fitting.tree_sizes import Sized, has_sizes, is_cut, refuse_without, sizes
from oblique_cli.ground import seeds
from oblique_cli.ground.column_values import ColumnValues
from oblique_cli.ground.nodes import pairs_of
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec
from oblique_cli.models.explaining.importance import Importances, importances_of
from oblique_cli.models.explaining.shapes import MOST_SHAPES, shapes_of
from oblique_cli.models.model import Model, Threshold
from oblique_cli.models.serialize import Fitted
from oblique_cli.tree.reading import Units
from oblique_cli.tree.sparse import Light
from oblique_cli.tree.structure import of_classes

RATES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # of misclassification, for a node to become a leaf
# Default grids of --tune: the first one whose parameters the algorithm has.
GRIDS: tuple[Mapping[str, tuple[Any, ...]], ...] = (
    {"epsilon": RATES},
    {LIMIT: RATES},
    {"cost": (0.125, 1.0, 8.0, 64.0), "width": (0.01, 0.1, 1.0)},
    {"cost": (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0)},
    {"beta": (0.6, 0.7, 0.8, 0.9, 1.0)},
    {"n_neighbors": (1, 3, 5, 9, 15)},
    {"min_node_percent": (1.0, 2.0, 5.0, 10.0, 20.0)},
    {"min_samples_leaf": (1, 2, 5, 10, 20)},
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Fitted model, its estimate, and the comparison if there was one.

    chosen : parameters by a grid; X : training rows as the estimator received them; rows : their row numbers
    tree, tree_X : the best single tree, fitted to all rows, if the model is not a single tree, and its rows
    fold_models : the fits of the folds of the estimate that predict all rows which the model predicts
    """

    model: Model
    estimate: Estimate
    choice: Choice | None
    chosen: Mapping[str, Any]
    case: Case
    X: np.ndarray
    goal: Goal
    budget: Budget
    rows: np.ndarray
    tree: Model | None = None
    tree_X: np.ndarray | None = None
    path: tuple[Sized, ...] = ()
    warnings: tuple[str, ...] = ()
    fold_models: tuple[Model, ...] = ()

    def with_curves(self, rows: np.ndarray) -> Outcome:
        """Return the outcome with curves of the model, and of the fold models, along the most important columns.

        rows : (n, p) training rows as the model reads them
        """
        counted = Importances.from_plain(self.model.facts.get("importances"))
        names = () if counted is None else counted.largest(MOST_SHAPES, self.model.feature_names)
        shapes = shapes_of(self.model, rows, names, None, self.fold_models)
        facts = {**self.model.facts, "curves": [shape.plain() for shape in shapes]}
        return replace(self, model=replace(self.model, facts=facts))


def tuned_spec(spec: AlgorithmSpec) -> AlgorithmSpec:
    """Return the algorithm with its grid or a default grid. Raise ConfigError without any."""
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
    folds: int | None = None,
    seed: int = 1,
    goal: Goal | None = None,
    budget: Budget | None = None,
    path: bool = False,
    promise: Promise | None = None,
) -> Outcome:
    """Estimate, then fit to all rows.

    policy   treatment of missing cells and levels
    specs    one algorithm, or several to choose from: the smallest model as good as the best. Trees are pruned by
             cross-validation unless a specification says otherwise (`pruned_spec`)
    columns  format of the table; without it the model reads tables with the columns of `dataset`
    folds    of every cross-validation; default 10, for several algorithms 5, and a single held-out part if the budget
             requires it
    goal     criterion of choices, pruning and the estimate; default: accuracy or the squared error
    budget   of work, which also reports each fit; None for no limit
    path     whether to include trees with splits of few features; ConfigError for an algorithm without a path
    promise  of sets or intervals, whose limits come from further fits; None for no guarantee
    Choices by grid, among algorithms or of a threshold are made inside each training set of the estimate, so the
    estimate is nested.

    Stochasticity: folds, choices and fits have seeds named after `seed` and the data set, independent of the file name.
    """
    goal = goal or Goal.usual(dataset.task)
    task = _Task(dataset, columns, policy, specs, folds, seed, goal, budget or Budget(None))
    task.check()
    promise = None if promise is None else promise.checked(dataset)
    if path and len(task.by_id) == 1:
        refuse_without(next(iter(task.by_id.values())))
    with own_labels(task.dataset):
        estimated = task.estimated()
        rows = training_rows(task.dataset, promise, seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FlatResponse)
            estimated, fitted = task.fitted_choice(estimated, rows)
        beside, choice = None, estimated.choice
        if (best := estimated.best_case) is not None and choice is not None and best is not estimated.case:
            beside = task.fitted(best)
            estimated = replace(estimated, choice=choice.with_written(best.spec.id, beside.estimator))
    estimate, answers = estimated.validated.estimate(goal), estimated.validated.answers
    warned = warnings_of(task.dataset, goal, answers, estimate)
    names = encoded_names(task.dataset, fitted.encoder)
    flat = [warning.message for warning in caught if isinstance(warning.message, FlatResponse)]
    warned += tuple(warning.message_for(str(names[warning.column])) for warning in flat)
    extra = {"on_new_rows": details(answers, task.dataset, goal.metric.name), "warnings": list(warned)}
    model = estimated.model(estimated.case, fitted, estimate, extra)
    of_folds = _fold_models(task, model, estimated.validated.fold_fits)
    if promise is not None:
        model = _guaranteed(task, estimated.case, model, promise)
    tree, tree_X = None, None
    if beside is not None and choice is not None and best is not None:
        assert choice.best_tree is not None and choice.best_tree.estimate is not None
        tree, tree_X = estimated.model(best, beside, choice.best_tree.estimate, {}), beside.X
    models = {id(estimated.case): model, id(best): model if tree is None else tree}
    steps = _path(task, estimated, models) if path else _cuts(task, best or estimated.case, models)
    how = (estimated.case, fitted.X, goal, task.budget, rows)
    return Outcome(model, estimate, estimated.choice, fitted.chosen, *how, tree, tree_X, steps, warned, of_folds)


def _fold_models(task: _Task, model: Model, fold_fits: Sequence[FoldFit]) -> tuple[Model, ...]:
    """Return the fits of the folds as models of the same table, if they predict all rows that `model` predicts.

    A fold whose training rows have no empty cell in a column may not have learned a side for empty cells.
    """

    def of_fold(fit: FoldFit) -> Model:
        encoder = filling(task.dataset, task.policy, fit.encoder, fit.train)
        return replace(model, fitted=Fitted.of(fit.estimator), encoder=encoder)

    with own_labels(task.dataset):
        models = [of_fold(fit) for fit in fold_fits]
    return tuple(each for each in models if each.may_be_empty >= model.may_be_empty)


def _guaranteed(task: _Task, case: Case, model: Model, promise: Promise) -> Model:
    """Return the model with its guarantee; all further fits use the chosen algorithm."""

    def fit_to(rows: Dataset, seed: int) -> Model:
        estimator, encoder, _ = fit_to_all(task.cases(rows)[case.spec.id], task.usual, seed, task.goal)
        task.budget.step(f"{case.spec.id} for the guarantee")
        return replace(model, fitted=Fitted.of(estimator), encoder=filling(rows, task.policy, encoder))

    with own_labels(task.dataset):
        return guaranteed(model, task.dataset, promise, task.usual, task.seed, fit_to)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Estimator fitted to all rows, its encoder, parameters by a grid, and X as the estimator received the rows."""

    estimator: Any
    encoder: ColumnEncoder | None
    chosen: Mapping[str, Any]
    X: np.ndarray


@dataclass(frozen=True, eq=False)
class _Task:
    """Data, algorithms and criteria of a fit. called : the data set with its original name; folds : set by the user"""

    called: Dataset
    columns: Columns | None
    policy: DatasetSpec
    specs: Sequence[AlgorithmSpec]
    folds: int | None
    seed: int
    goal: Goal
    budget: Budget

    @cached_property
    def dataset(self) -> Dataset:
        """Return the rows under the name that seeds use."""
        return self.called if self.columns is None else replace(self.called, name=seeds.OWN)

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """Return the algorithms on all rows, by id."""
        return self.cases(self.dataset)

    @property
    def usual(self) -> int:
        return self.folds or (FOLDS_OF_AUTO if len(self.specs) > 1 else FOLDS)

    def cases(self, rows: Dataset) -> dict[str, Case]:
        """Return the algorithms on some rows of the data set, by id."""
        specs = (pruned_spec(spec, self.called.n, self.called.groups is not None) for spec in self.specs)
        by = None if self.goal.is_usual else self.goal.metric
        return {spec.id: Case(rows, self.policy, spec, ALGORITHMS[spec.name], tune_metric=by) for spec in specs}

    def check(self) -> None:
        """Raise DataError if an algorithm's task is not that of the data, ConfigError for fewer groups than folds."""
        for case in self.by_id.values():
            if case.algorithm.family.task != self.dataset.task:
                predicts = "numbers" if case.algorithm.family.task == "regression" else "classes"
                name, task = self.called.name, self.dataset.task
                raise DataError(f"data set {name!r} is for {task}, and {case.spec.name} predicts {predicts}.")
        if self.called.groups is not None:
            number, least = len(np.unique(self.called.groups)), max(2, self.folds or 2)
            if number < least:
                advice = f"use --folds {number}" if number > 1 else "use a column with more, or leave --groups out"
                raise ConfigError(
                    f"data set {self.called.name!r} has {number} group{'s' * (number != 1)} in column "
                    f"{self.called.group_column!r}, and {least} folds by groups need {least}; {advice}."
                )

    def estimated(self) -> _Estimated:
        """Return out-of-fold predictions; all choices are repeated for each training set."""
        plan = planned(self.by_id, self.dataset.n, self.usual, self.budget)
        how = (self.usual, self.seed, self.goal)
        if len(self.by_id) == 1 and self.goal.threshold != AUTO:
            (case,) = self.by_id.values()
            validated = cross_validated(case, *how, self.budget.step, plan.held_out and self.folds is None)
            answers, threshold = self.goal.decided(validated.answers)
            return _Estimated(self, replace(validated, answers=answers), case, None, threshold)
        choice = None
        if not plan.held_out:
            choice = choose(self.dataset, self.cases, *how, self.budget, plan.work, plan.entrants)
        validated, first = estimated(self.dataset, self.cases, plan, *how, self.budget)
        choice = choice or first
        compared = choice if len(self.by_id) > 1 else None
        return _Estimated(self, validated, self.by_id[choice.chosen], compared, choice.threshold)

    def fitted_choice(self, estimated: _Estimated, rows: np.ndarray) -> tuple[_Estimated, _Fitted]:
        """Fit the chosen algorithm to `rows`; for a readable goal use the next one if its tree has no split."""
        cases = self.by_id if len(rows) == self.dataset.n else self.cases(part(self.dataset, rows))
        if estimated.choice is None:
            return estimated, self.fitted(cases[estimated.case.spec.id])
        for candidate in ranked(estimated.choice.last, self.goal):
            fitted = self.fitted(cases[candidate.algorithm])
            if not self.goal.readable or Size.of(fitted.estimator).leaves > 1:
                break
        name = candidate.algorithm
        choice = replace(estimated.choice, chosen=name).with_written(name, fitted.estimator)
        return replace(estimated, case=self.by_id[name], choice=choice), fitted

    def fitted(self, case: Case) -> _Fitted:
        """Fit an algorithm to all rows."""
        estimator, encoder, chosen = fit_to_all(case, self.usual, self.seed, self.goal)
        self.budget.step(f"{case.spec.id} on all rows")
        self.budget.counted += cost_of(case, case.dataset.n, self.usual)
        X = case.dataset.X if encoder is None else encoder.transform(case.dataset.X)
        return _Fitted(estimator, encoder, chosen, X)


def _path(task: _Task, estimated: _Estimated, models: Mapping[int, Model]) -> tuple[Sized, ...]:
    """Return the trees of all sizes of the chosen algorithm, or of the best compared algorithm that has them.

    models : models fitted to all rows, by the id() of their cases
    """
    ranked = [estimated.best_case] if estimated.best_case else []
    if estimated.choice is not None:
        losses = {c.algorithm: c.estimate.loss for c in estimated.choice.last if c.estimate}
        ranked += [task.by_id[name] for name in sorted(losses, key=losses.__getitem__)]
    case = next((candidate for candidate in [*ranked, *task.by_id.values()] if has_sizes(candidate)), None)
    return () if case is None else _sizes(task, case, models, few=True)


def _sizes(task: _Task, case: Case, models: Mapping[int, Model], few: bool) -> tuple[Sized, ...]:
    model = models.get(id(case))
    with own_labels(task.dataset):
        seed = seeds.integer(task.seed, task.dataset.name, "tree")
        return sizes(case, task.goal, seed, None if model is None else model.estimator.tree_, few)


def _cuts(task: _Task, case: Case, models: Mapping[int, Model]) -> tuple[Sized, ...]:
    """Return the prunings of a tree, () if they have no score or exceed the budget.

    Growing a tree in a few folds must take a small part of the budget, since pruning has grown it in ten folds.
    """
    pays = cost_of(case, case.dataset.n, 1) <= task.budget.work / 10 and not task.budget.cut
    if pays and is_cut(case, case.spec.params) and not case.spec.grid:
        with contextlib.suppress(ObliqueError, ValueError):
            return _sizes(task, case, models, few=False)
    return ()


FOLDS, FOLDS_OF_AUTO = 10, 5


def steps(n_algorithms: int, folds: int | None, promise: Promise | None = None) -> int:
    """Return the approximate number of fits: those of the estimate, and with a choice the comparison in each fold."""
    usual = folds or (FOLDS_OF_AUTO if n_algorithms > 1 else FOLDS)
    further = usual if promise is not None and promise.how == CROSS else 0
    return 1 + further + (usual if n_algorithms == 1 else usual + n_algorithms * usual * (1 + usual))


FEW_OF_CLASS, SMALL_SHARE = 10, 0.02  # limits of rows and share below which accuracy shows little about a class


def rare_classes(dataset: Dataset) -> dict[str, int]:
    """Return the classes with few rows, or a small share of the rows, with their numbers of rows."""
    if dataset.task == "regression":
        return {}
    counts = zip(dataset.classes, np.bincount(dataset.y, minlength=len(dataset.classes)).tolist(), strict=True)
    return {label: n for label, n in counts if n < FEW_OF_CLASS or n < SMALL_SHARE * dataset.n}


def warnings_of(dataset: Dataset, goal: Goal, answers: Answers, estimate: Estimate) -> tuple[str, ...]:
    """Return the warnings to print first: a model no better than a constant, and classes of few rows."""
    sentences = []
    # The predictions of a constant model for the same rows: the largest class with its share, or the mean.
    n = len(answers.y)
    if dataset.task == "regression":
        constant = replace(answers, predicted=np.full(n, float(dataset.y.mean())))
    else:
        shares = np.bincount(dataset.y, minlength=len(dataset.classes)) / dataset.n
        constant = replace(answers, predicted=np.full(n, int(shares.argmax())), shares=np.tile(shares, (n, 1)))
    try:
        useless = estimate.loss >= goal.measured(constant)[2]
    except Undefined:
        useless = False
    if useless:
        always = "the mean" if dataset.task == "regression" else repr(dataset.classes[int(constant.predicted[0])])
        sentences.append(f"This model is no better than always saying {always}, by {goal.metric.title}.")
    if rare := rare_classes(dataset):
        some = ", ".join(f"{label!r} {n} row{'s' if n != 1 else ''}" for label, n in list(rare.items())[:5])
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        sentences.append(
            f"Few rows of some classes ({some}{more}): the share of right answers says little of them, look at the "
            "recalls; --metric balanced_accuracy and --set class_weight=balanced make them count."
        )
    return tuple(sentences)


@dataclass(frozen=True, eq=False)
class _Estimated:
    """Result of the estimate: out-of-fold predictions, a case to fit to all rows, its choice and threshold."""

    task: _Task
    validated: Validated
    case: Case
    choice: Choice | None
    threshold: float | None

    @property
    def best_case(self) -> Case | None:
        """Return the best single tree of a comparison."""
        best = self.choice.best_tree if self.choice else None
        return None if best is None else self.task.by_id[best.algorithm]

    def model(self, case: Case, fitted: _Fitted, estimate: Estimate, extra: Mapping[str, Any]) -> Model:
        """Return the model of an estimator that is fitted to all rows."""
        dataset, encoder, threshold = self.task.called, fitted.encoder, None
        if self.threshold is not None:
            threshold = Threshold(dataset.classes[self.task.goal.positive], self.threshold)
        model = Model.of(
            fitted.estimator,
            algorithm=case.spec.name,
            classes=dataset.classes,
            feature_names=dataset.feature_names,
            encoder=filling(dataset, self.task.policy, encoder),
            columns=self.task.columns or columns_of(dataset),
            facts={**self._facts(case.spec.name, fitted, estimate, encoded_names(dataset, encoder)), **extra},
            threshold=threshold,
        )
        counted = importances_of(model, dataset.X, dataset.y)
        importances = {} if counted is None else {"importances": counted.plain()}
        return replace(model, facts={**model.facts, **importances})

    def _facts(self, algorithm: str, fitted: _Fitted, estimate: Estimate, seen: Sequence[str]) -> dict[str, Any]:
        """Return the facts of a fit for the model file. seen : names of the estimator's input columns"""
        dataset, estimator = self.task.called, fitted.estimator
        tree = getattr(estimator, "tree_", None)
        levels, p = getattr(estimator, "levels_", {}), fitted.X.shape[1]
        rows = estimator.tree_rows(fitted.X) if of_classes(tree) or levels else fitted.X
        units = Units.deviations(rows, [len(levels.get(j, ())) for j in range(p)] if levels else ())
        facts: dict[str, Any] = {
            "title": ALGORITHMS[algorithm].title,
            "data": dataset.name,
            "data_digest": f"sha256:{dataset.digest}",
            "rows": len(fitted.X),
            "seed": self.task.seed,
            "metric": self.task.goal.metric.name,
            "estimate": estimate.plain(),
            "leaves": int(getattr(estimator, "n_leaves_", 0)),
            "n_terms": n_terms(estimator),
            "depth": int(getattr(estimator, "depth_", 0)),
            "chosen": dict(fitted.chosen),
            "notes": list(dataset.notes),
            "budget": self.task.budget.plain(),
            "units": units.to_plain(),
            **({"sparse": Light.of(tree, rows, pairs_of(seen)).to_plain()} if of_classes(tree) else {}),
            "whole_numbers": whole_numbers(dataset),
            "cells": cells_of(dataset),
            "versions": {"oblique-trees": __version__, **environment()["packages"]},
        }
        if dataset.task == "classification":
            counts = np.bincount(dataset.y, minlength=len(dataset.classes)).tolist()
            facts["class_counts"] = dict(zip(dataset.classes, counts, strict=True))
        if dataset.groups is not None:
            facts["groups"] = {"column": dataset.group_column, "number": len(np.unique(dataset.groups))}
        if self.choice is not None:
            facts["compared"] = self.choice.plain()
        return facts


def whole_numbers(dataset: Dataset) -> list[str]:
    """Return the names of the columns that contain only integers."""
    names = []
    for j, name in enumerate(dataset.feature_names):
        values = dataset.X[:, j][~np.isnan(dataset.X[:, j])]
        if j not in dataset.levels and len(values) and (values == np.round(values)).all():
            names.append(name)
    return names


def cells_of(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """Return missing cells of each column, minimum, maximum and histogram of numbers, and the count of levels."""
    cells: dict[str, dict[str, Any]] = {}
    for j, name in enumerate(dataset.feature_names):
        known = dataset.X[:, j][~np.isnan(dataset.X[:, j])]
        cells[name] = {"missing": dataset.n - len(known)}
        if j in dataset.levels:
            cells[name]["levels"] = len(np.unique(known))
        elif (values := ColumnValues.of(known)) is not None:
            cells[name] |= values.plain()
    return cells


def filling(
    dataset: Dataset, policy: DatasetSpec, encoder: ColumnEncoder | None, train: np.ndarray | slice = slice(None)
) -> ColumnEncoder | None:
    """Return the encoder with values for empty cells, even if no training row had one: medians, most frequent levels.

    train : numbers of the training rows

    For trees that score levels themselves nothing is added, since they use columns in their original order.
    """
    if policy.missing != "impute" or (encoder is None and dataset.qualitative):
        return encoder
    indicators = encoder is not None and encoder.levels is not None
    return ColumnEncoder.of(dataset, dataset.X[train], fill=True, indicators=indicators)


def columns_of(dataset: Dataset) -> Columns:
    """Return the format of a CSV file with the columns of a data set: its features by name, and the target."""
    listed = [
        Column(name, "levels", levels=dataset.levels[j]) if j in dataset.levels else Column(name, "number")
        for j, name in enumerate(dataset.feature_names)
    ]
    target = "class" if dataset.task == "classification" else "target"
    while target in dataset.feature_names:
        target += "_"
    return Columns((*listed, Column(target, "target")), target, dataset.task, dataset.classes)
