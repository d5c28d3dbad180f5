"""Fitting of the estimator that `oblique tree` and `oblique spectrum` show: on all rows, or of a stored fold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, working
from oblique_cli.cli._own import ONE_TREE, OwnOptions, is_own, looked_at, refuse_strays, symbolic
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.later import Later

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.own.front import Columns
    from oblique_cli.experiments.progress import Progress
    from oblique_cli.experiments.regrowing import Regrown
    from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec
    from oblique_cli.models.explaining.importance import Importances
    from oblique_cli.models.showing import Shown


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted estimator with its training data.

    X, y : training rows as the estimator received them; encoder : that encoded the rows of the data set as X, None if X
    is not encoded
    notes : sentences on automatic changes to the user's data and tree, or on how the fold was tested
    """

    dataset: Dataset
    spec: AlgorithmSpec
    encoder: Any
    X: Any
    y: Any
    estimator: Any
    target: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """Algorithm and data to fit; each command has its help texts for name, algorithm and overrides.

    name : a data set or a file; csv : a file of any name; algorithm : None to choose a tree that suits the data
    """

    name: str | None = declare.argument(required=False, shell_complete=declare.complete_dataset_or_file)
    csv: str | None = declare.CSV
    algorithm: str | None = declare.option("--algorithm", metavar="NAME", shell_complete=declare.complete_algorithm)
    overrides: tuple[str, ...] = declare.changes("")
    seed: int = declare.seed(1)
    options: OwnOptions = declare.group(OwnOptions)
    data_dir: str | None = declare.DATA_DIR
    offline: bool = declare.OFFLINE


def load_scikit_learn() -> None:
    """Import the parts of scikit-learn that all estimators need, without scipy.stats and pandas.

    `import sklearn.base` loads scipy.stats for `scipy.stats.mode`, and pandas, if installed, for data frames.
    Both take half of the time of `oblique tree` for a small table.
    """
    if "sklearn.base" in sys.modules:
        return
    if "scipy.stats" not in sys.modules:
        sys.modules["scipy.stats"] = Later("scipy.stats")
    without = "pandas" not in sys.modules
    if without:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # Python's way to say that there is none
    try:
        import_module("sklearn.base")
    finally:
        if without:
            del sys.modules["pandas"]


def fit_to_all(request: Request, where: str, suits: Callable[[str], None]) -> Fitted:
    """Fit an algorithm to all rows of a data set or of a user's file.

    where : the command, for messages; suits : raises ConfigError for an algorithm that the command cannot use
    """
    csv, name = request.csv, request.name
    if (name is None) == (csv is None):
        raise click.UsageError("give either the name of a data set (oblique data list) or a file of your own")
    if csv is None and name is not None and is_own(name):
        csv = name
    if csv is None:
        refuse_strays(request.options, "a file of your own, not with a data set, which knows its columns")

    with working(f"reading {called(name or '-' if csv is None else csv)}") as progress:
        load_scikit_learn()
        dataset, policy, spec, columns = _read(request, csv, where, suits)
        return _fitted(progress, request, dataset, policy, spec, columns)


def _read(
    request: Request, csv: str | None, where: str, suits: Callable[[str], None]
) -> tuple[Dataset, DatasetSpec, AlgorithmSpec, Columns | None]:
    """Return the data, their specification, that of the algorithm, and the columns of a user's file."""
    from oblique_cli import config
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS

    options, overrides = request.options.taking_groups(request.overrides)
    full, columns = [full_key(text) for text in overrides], None
    if csv is None:
        plain: dict[str, Any] = {
            "dataset": {"name": request.name},
            "algorithm": request.algorithm or ONE_TREE["classification"],
        }
    else:
        key, looked, columns = looked_at(csv, options, full, where)
        plain = {"dataset": key, "algorithm": request.algorithm or ONE_TREE[columns.task]}
    experiment = config.from_mapping({"version": 1, **plain}, "tree", full, where=where)
    policy, spec = experiment.datasets[0], experiment.algorithms[0]
    suits(spec.name)
    task = ALGORITHMS[spec.name].family.task
    dataset = looked if csv is not None else catalogue.load(policy, request.data_dir, request.offline, task)
    if dataset.task != task:
        predicts = "numbers" if task == "regression" else "classes"
        raise DataError(f"data set {dataset.name!r} is for {dataset.task}, and {spec.name} predicts {predicts}.")
    return dataset, *(symbolic(dataset, policy, spec, full) if csv is not None else (policy, spec)), columns


def _fitted(
    progress: Progress,
    request: Request,
    dataset: Dataset,
    policy: DatasetSpec,
    spec: AlgorithmSpec,
    columns: Columns | None,
) -> Fitted:
    """Return the estimator fitted to all rows; the tree of a user's file is pruned."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.default_pruning import how_pruned, pruned_spec, whole_tree
    from oblique_cli.estimators.encoding import fold_encoder, own_labels, prepared
    from oblique_cli.experiments.fits import Case, fit_arguments
    from oblique_cli.fitting.budget import AROUND_SECONDS, TREE_SECONDS, affordable_tree
    from oblique_cli.ground import seeds

    encoder = fold_encoder(dataset, policy, dataset.X)
    X = dataset.X if encoder is None else encoder.transform(dataset.X)
    notes = [dataset.note] if dataset.note else []
    if columns is not None:
        spec = pruned_spec(spec, len(X), dataset.groups is not None)
        notes += dataset.notes
        if request.algorithm is None:
            n, p = X.shape
            name, usual, seconds = affordable_tree(spec, 1, n, p, len(dataset.classes) or 1)
            usual, seconds = usual + AROUND_SECONDS * n * p, seconds + AROUND_SECONDS * n * p
            if name != spec.name:
                titles = [ALGORITHMS[each].title for each in (name, spec.name)]
                notes.append(
                    f"{titles[0]}, about {seconds:.0f} s of CPU, as {titles[1]} would take {usual:.0f} s on {n:,} rows "
                    f"of {p} columns; --algorithm {spec.name} grows that."
                )
                progress.remark(notes[-1])
                spec = replace(spec, name=name)
            elif seconds > TREE_SECONDS:
                progress.remark(f"{ALGORITHMS[name].title} takes about {seconds:.0f} s of CPU on this table.")
        if how := how_pruned(spec):
            notes.append(f"{how}; --set {whole_tree(spec)} leaves it whole.")
    random_state = seeds.integer(request.seed, dataset.name if columns is None else seeds.OWN, "tree")
    estimator = ALGORITHMS[spec.name].make(random_state=random_state, **spec.params)
    progress.doing("growing the tree")
    with own_labels(dataset, encoder):
        ready = prepared(estimator, dataset, policy)
        fitted = ready.fit(X, dataset.y, **fit_arguments(Case(dataset, policy, spec, ALGORITHMS[spec.name]), ready))
    target = "target" if columns is None else columns.target
    return Fitted(dataset, spec, encoder, X, dataset.y, fitted, target, tuple(notes))


def fitted_again(fold: Regrown) -> Fitted:
    """Return the refitted estimator of a stored fold."""
    row, spec = fold.row, fold.case.spec
    chosen = ", ".join(f"{name} {value}" for name, value in row.chosen.items())
    if fold.case.algorithm.family.task == "regression":
        tested = f"RMSE {row.measures.get('rmse', float('nan')):.4g} on its {row.n_test} test rows"
    else:
        tested = f"{row.n_correct} of its {row.n_test} test rows right"
    remark = f"fold {row.fold} of repetition {row.repeat}, {tested}{f'; chosen: {chosen}' if chosen else ''}"
    spec = replace(spec, params={**spec.params, **row.chosen})
    target = fold.case.policy.target or "target"
    return Fitted(fold.dataset, spec, fold.encoder, fold.X, fold.y, fold.estimator, target, (remark,))


def makes_tree(algorithm: str) -> None:
    """Raise ConfigError for an algorithm that does not produce a tree."""
    from oblique_cli.estimators.algorithms import ALGORITHMS

    if not ALGORITHMS[algorithm].family.makes_tree:
        raise ConfigError(f"algorithm {algorithm!r} makes no tree to show: choose another one (oblique list).")


def shown_tree(fitted: Fitted) -> Shown:
    """Return the tree of an estimator; raise ConfigError if it is not a tree."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import encoded_levels, encoded_names
    from oblique_cli.models.explaining.importance import importances_of
    from oblique_cli.models.model import Model
    from oblique_cli.models.showing import Shown, known

    estimator, dataset, encoder, algorithm = fitted.estimator, fitted.dataset, fitted.encoder, fitted.spec.name
    makes_tree(algorithm)
    features = list(encoded_names(dataset, encoder))
    classes, y = known(dataset.classes, getattr(estimator, "classes_", None), fitted.y)
    levels = encoded_levels(dataset, estimator)
    values = estimator.value_names() if hasattr(estimator, "value_names") else []
    document = {
        "algorithm": algorithm,
        "parameters": {**ALGORITHMS[algorithm].defaults, **ALGORITHMS[algorithm].current(fitted.spec.params)},
        "dataset": dataset.name,
        "features": features,
        "classes": classes,
        **({"level_names": levels} if levels else {}),
        **({"value_names": values} if values else {}),
    }

    def importances() -> Importances | None:
        model = Model.of(estimator, algorithm=algorithm, feature_names=tuple(dataset.feature_names), encoder=encoder)
        return importances_of(model, dataset.X)

    return Shown(
        f"{ALGORITHMS[algorithm].title} on {dataset.name}",
        estimator.tree_,
        features,
        classes,
        levels,
        fitted.target,
        fitted.X,
        y,
        fitted.notes,
        document,
        None,
        lambda: estimator,
        source=(dataset.feature_names, dataset.levels, encoder),
        make_importances=importances,
    )


def full_key(override: str) -> str:
    """Return "epsilon=0.1" as a key of a configuration with one algorithm and one data set."""
    key = override.partition("=")[0]
    if "." in key:
        return override
    from oblique_cli.config.keys import DATASET, LISTS, READING, READING_LISTS

    return f"{'dataset' if key in {*DATASET, *LISTS, *READING, *READING_LISTS} else 'algorithm'}.{override}"
