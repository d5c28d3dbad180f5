"""One estimator fitted to all rows of a data set: what `oblique tree` and `oblique spectrum` look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._common import own_data
from oblique_cli.errors import DataError

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.nouns import AlgorithmSpec, DatasetSpec


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator and what it was fitted to.

    X : rows as the estimator saw them; encoder : what made X from the rows of the data set, None if X is those rows
    """

    dataset: Dataset
    spec: AlgorithmSpec
    encoder: Any
    X: Any
    estimator: Any


def fit_to_all(
    name: str | None,
    csv: str | None,
    target: str | None,
    algorithm: str,
    overrides: tuple[str, ...],
    seed: int,
    data_dir: str | None,
    offline: bool,
    where: str,
    suits: Callable[[str], None],
) -> Fitted:
    """Fit an algorithm to all rows of the data set `name`, or of a CSV file.

    where : the command that asks; suits : raises ConfigError for an algorithm that the command has no use for
    """
    if (name is None) == (csv is None):
        raise click.UsageError("give either the name of a data set (oblique data list) or --csv")
    if (csv is None) != (target is None):
        raise click.UsageError("--csv and --target, the name of its class column, go together")
    dataset_key = own_data(csv, target) if csv and target else {"name": name}

    from oblique_cli import config, seeds
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import fold_encoder, own_labels, prepared

    plain = {"version": 1, "dataset": dataset_key, "algorithm": {"name": algorithm}}
    stem = Path(csv).stem if csv else "tree"
    experiment = config.from_mapping(plain, stem, [_full(text) for text in overrides], where=where)
    policy: DatasetSpec = experiment.datasets[0]
    spec: AlgorithmSpec = experiment.algorithms[0]
    suits(spec.name)
    task = ALGORITHMS[spec.name].family.task
    dataset = catalogue.load(policy, data_dir, offline, task)
    if dataset.task != task:
        predicts = "numbers" if task == "regression" else "classes"
        raise DataError(f"data set {dataset.name!r} is for {dataset.task}, and {spec.name} predicts {predicts}.")
    encoder = fold_encoder(dataset, policy)
    X = dataset.X if encoder is None else encoder.fit_transform(dataset.X)
    random_state = seeds.integer(seed, dataset.name, "tree")
    estimator = ALGORITHMS[spec.name].make(random_state=random_state, **spec.params)
    with own_labels(dataset):
        return Fitted(dataset, spec, encoder, X, prepared(estimator, dataset, policy).fit(X, dataset.y))


def _full(override: str) -> str:
    """Return "epsilon=0.1" as the key of a configuration that has one algorithm and one data set."""
    key = override.partition("=")[0]
    if "." in key:
        return override
    return f"{'dataset' if key in ('missing', 'encoding', 'qualitative') else 'algorithm'}.{override}"
