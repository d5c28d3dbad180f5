"""One estimator fitted to all rows of a data set: what `oblique tree` and `oblique spectrum` look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._own import ONE_TREE, OwnOptions, is_own, looked_at, pruned, refuse_strays
from oblique_cli.cli._starting import load_scikit_learn
from oblique_cli.errors import DataError

if TYPE_CHECKING:
    from oblique_cli.data.columns import Columns
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.nouns import AlgorithmSpec, DatasetSpec


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator and what it was fitted to.

    X : rows as the estimator saw them; encoder : what made X from the rows of the data set, None if X is those rows
    columns : how a file of the user's own was read, None for a set of the catalogue
    notes : what was done unasked to data of the user's own, and to its tree: sentences
    """

    dataset: Dataset
    spec: AlgorithmSpec
    encoder: Any
    X: Any
    estimator: Any
    columns: Columns | None = None
    notes: tuple[str, ...] = ()


def fit_to_all(
    name: str | None,
    csv: str | None,
    target: str | None,
    algorithm: str | None,
    overrides: tuple[str, ...],
    seed: int,
    data_dir: str | None,
    offline: bool,
    where: str,
    suits: Callable[[str], None],
    own: OwnOptions | None = None,
) -> Fitted:
    """Fit an algorithm to all rows of the data set `name`, or of a file of the user's own.

    name : of a data set, or a file; csv : a file, whatever its name looks like
    algorithm : None for a tree that suits the data
    where : the command that asks; suits : raises ConfigError for an algorithm that the command has no use for
    own : how a file is read; `target` is the one of them that a command may have as an option of its own
    """
    own = own or OwnOptions(target=target)
    if (name is None) == (csv is None):
        raise click.UsageError("give either the name of a data set (oblique data list) or a file of your own")
    if csv is None and name is not None and is_own(name):
        csv = name
    if csv is None:
        refuse_strays(own, "a file of your own, not with a data set, which knows its columns")

    load_scikit_learn()
    from oblique_cli import config, seeds
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import fold_encoder, own_labels, prepared
    from oblique_cli.fitting.pruning import how_pruned

    full = [full_key(text) for text in overrides]
    columns = None
    if csv is None:
        plain: dict[str, Any] = {"dataset": {"name": name}, "algorithm": algorithm or ONE_TREE["classification"]}
    else:
        asked, looked, columns = looked_at(csv, own, full, where)
        key = {**own.dataset_key(csv), "target": asked.target, "task": columns.task}
        plain = {"dataset": key, "algorithm": pruned(algorithm or ONE_TREE[columns.task])}
    experiment = config.from_mapping({"version": 1, **plain}, "tree", full, where=where)
    policy: DatasetSpec = experiment.datasets[0]
    spec: AlgorithmSpec = experiment.algorithms[0]
    suits(spec.name)
    task = ALGORITHMS[spec.name].family.task
    dataset = looked if csv is not None else catalogue.load(policy, data_dir, offline, task)
    if dataset.task != task:
        predicts = "numbers" if task == "regression" else "classes"
        raise DataError(f"data set {dataset.name!r} is for {dataset.task}, and {spec.name} predicts {predicts}.")
    encoder = fold_encoder(dataset, policy)
    X = dataset.X if encoder is None else encoder.fit_transform(dataset.X)
    random_state = seeds.integer(seed, dataset.name if csv is None else seeds.OWN, "tree")
    estimator = ALGORITHMS[spec.name].make(random_state=random_state, **spec.params)
    with own_labels(dataset):
        fitted = prepared(estimator, dataset, policy).fit(X, dataset.y)
    how = how_pruned(spec)
    notes = (*dataset.notes, *((f"{how}; --set pruning=none leaves it whole.",) if how else ()))
    return Fitted(dataset, spec, encoder, X, fitted, columns, notes if columns else ())


def full_key(override: str) -> str:
    """Return "epsilon=0.1" as the key of a configuration that has one algorithm and one data set."""
    key = override.partition("=")[0]
    if "." in key:
        return override
    from oblique_cli.config.keys import DATASET, LISTS, READING, READING_LISTS

    return f"{'dataset' if key in {*DATASET, *LISTS, *READING, *READING_LISTS} else 'algorithm'}.{override}"
