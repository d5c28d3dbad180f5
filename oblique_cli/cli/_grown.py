"""Trees that a command has grown, on their way to a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from oblique_cli.cli._fitting import Fitted
    from oblique_cli.experiments.regrowing import Regrown
    from oblique_cli.models.explaining.importance import Importances
    from oblique_cli.models.showing import Shown


def of_fit(fitted: Fitted, target: str) -> Shown:
    """Return the tree that was fitted to all rows of a data set."""
    notes = tuple(line for line in (fitted.dataset.note, *fitted.notes) if line)
    target = fitted.columns.target if fitted.columns is not None else target
    return _of_estimator(
        fitted.estimator,
        fitted.dataset,
        fitted.encoder,
        fitted.spec,
        fitted.spec.params,
        fitted.X,
        fitted.dataset.y,
        target,
        notes,
    )


def of_run(fold: Regrown) -> Shown:
    """Return the tree of a stored fold, grown again."""
    row = fold.row
    chosen = ", ".join(f"{name} {value}" for name, value in row.chosen.items())
    if fold.case.algorithm.family.task == "regression":
        tested = f"RMSE {row.measures.get('rmse', float('nan')):.4g} on its {row.n_test} test rows"
    else:
        tested = f"{row.n_correct} of its {row.n_test} test rows right"
    remark = f"fold {row.fold} of repetition {row.repeat}, {tested}{f'; chosen: {chosen}' if chosen else ''}"
    return _of_estimator(
        fold.estimator,
        fold.dataset,
        fold.encoder,
        fold.case.spec,
        {**fold.case.spec.params, **row.chosen},
        fold.X,
        fold.y,
        fold.case.policy.target or "target",
        (remark,),
    )


def _of_estimator(
    estimator: Any,
    dataset: Any,
    encoder: Any,
    spec: Any,
    params: Mapping[str, Any],
    X: Any,
    y: Any,
    target: str,
    remarks: tuple[str, ...],
) -> Shown:
    """The tree of an estimator. X, y : its training rows, X as the encoder made them"""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import encoded_levels, encoded_names
    from oblique_cli.models.explaining.importance import importances_of
    from oblique_cli.models.model import Model
    from oblique_cli.models.showing import Shown, known

    if not ALGORITHMS[spec.name].family.makes_tree:
        raise ConfigError(f"algorithm {spec.name!r} makes no tree to show: choose another one (oblique list).")
    features = list(encoded_names(dataset, encoder))
    classes, y = known(dataset.classes, getattr(estimator, "classes_", None), y)
    levels = encoded_levels(dataset, estimator)
    values = estimator.value_names() if hasattr(estimator, "value_names") else []
    document = {
        "algorithm": spec.name,
        "parameters": {**ALGORITHMS[spec.name].defaults, **ALGORITHMS[spec.name].current(params)},
        "dataset": dataset.name,
        "features": features,
        "classes": classes,
        **({"level_names": levels} if levels else {}),
        **({"value_names": values} if values else {}),
    }
    title = f"{ALGORITHMS[spec.name].title} on {dataset.name}"

    def importances() -> Importances | None:
        model = Model.of(estimator, algorithm=spec.name, feature_names=tuple(dataset.feature_names), encoder=encoder)
        return importances_of(model, dataset.X)

    return Shown(
        title,
        estimator.tree_,
        features,
        classes,
        levels,
        target,
        X,
        y,
        remarks,
        document,
        None,
        lambda: estimator,
        source=(dataset.feature_names, dataset.levels, encoder),
        make_importances=importances,
    )
