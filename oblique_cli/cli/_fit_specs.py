"""What `oblique fit` is to fit: the data, and the specifications of the algorithms that are compared."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._fitting import full_key
from oblique_cli.cli._own import TREATMENTS, OwnOptions, is_own, looked_at, refuse_strays
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.own.front import Columns
    from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

AUTO = "auto"
CLASS_WEIGHT = "algorithm.class_weight"
ORDER = "algorithm.monotonic_cst"


@dataclass(frozen=True)
class Params:
    """The parameters of `oblique fit`."""

    data: str
    options: OwnOptions
    weights: str
    algorithm: str
    overrides: tuple[str, ...]
    seconds: float
    metric: str | None
    monotone: tuple[str, ...]
    threshold: str | None
    coverage: float | None
    guarantee: str
    calibration: str | None
    readable: bool
    tune: bool
    folds: int | None
    seed: int
    output: str | None
    report: str | None
    as_json: bool
    precision: int
    memory: int | None
    scratch: str | None
    jobs: int | str | None
    scheduler: str | None
    path: bool
    path_figure: str | None
    data_dir: str | None
    offline: bool


@dataclass(frozen=True, eq=False)
class Task:
    """The data, their specification, those of the algorithms, and the columns of a user's file."""

    dataset: Dataset
    policy: DatasetSpec
    specs: Sequence[AlgorithmSpec]
    columns: Columns | None


def params_of(algorithm: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return what --set says of an algorithm. ConfigError for a key of anything else"""
    from oblique_cli import config

    keyed = [full_key(text) for text in overrides]
    for text in keyed:
        if not text.startswith("algorithm."):
            raise ConfigError(f"--set {text} is not for a table that is larger than --memory.")
    plain = {"version": 1, "dataset": {"name": "iris"}, "algorithm": {"name": algorithm}}
    return dict(config.from_mapping(plain, "fit", keyed, where="oblique fit").algorithms[0].params)


def task_of(params: Params) -> Task:
    """Read the data, and return what is compared on them."""
    from oblique_cli import config
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS

    options, overrides = params.options.taking_groups(params.overrides)
    algorithm, keyed = params.algorithm, [full_key(text) for text in overrides]
    if algorithm != AUTO:
        ALGORITHMS[algorithm]  # UnknownName, before a file is read
    about_data = [text for text in keyed if not text.startswith("algorithm.")]
    dataset: Dataset | None = None
    columns: Columns | None = None
    if is_own(params.data):
        dataset_spec, dataset, columns = looked_at(params.data, options, about_data, "oblique fit", params.weights)
        key = {**options.dataset_key(params.data), "target": dataset_spec.target, "task": columns.task}
    else:
        refuse_strays(options, "a file of your own, not with a data set, which knows its columns")
        if params.weights:
            raise click.UsageError("--weights goes with a file of your own, not with a data set, which has none")
        key = {"name": params.data, **TREATMENTS}

    def parsed(entry: Mapping[str, Any], texts: list[str]) -> tuple[DatasetSpec, AlgorithmSpec]:
        plain = {"version": 1, "dataset": key, "algorithm": dict(entry), "cv": {"scheme": "nested"}}  # may have a grid
        experiment = config.from_mapping(plain, "fit", texts, where="oblique fit")
        return experiment.datasets[0], experiment.algorithms[0]

    if dataset is None:
        first, _ = parsed({"name": "hhcart_a" if algorithm == AUTO else algorithm}, about_data)
        dataset = catalogue.load(first, params.data_dir, params.offline)
    if params.monotone:
        keyed.append(_order(params.monotone, dataset))
    if algorithm != AUTO:
        _refuse_unmet(algorithm, keyed, params.monotone)
        policy, spec = parsed({"name": algorithm}, keyed)
        return Task(dataset, policy, [spec], columns)
    entries = _entries(keyed, dataset.task, params)
    names = tuple(dict.fromkeys(entry["name"] for entry in entries))
    of_algorithm = [text for text in keyed if text.startswith("algorithm.")]
    takers = {text: [name for name in names if _key(text) in ALGORITHMS[name].parameters] for text in of_algorithm}
    for text, taking in takers.items():
        if not taking:
            raise ConfigError(f"none of the algorithms of auto has a parameter {_key(text)!r} ({', '.join(names)}).")
    pairs = [
        parsed(entry, about_data + [text for text in of_algorithm if entry["name"] in takers[text]])
        for entry in entries
    ]
    return Task(dataset, pairs[0][0], [spec for _, spec in pairs], columns)


def _refuse_unmet(algorithm: str, keyed: Sequence[str], monotone: Sequence[str]) -> None:
    """Raise ConfigError for class weights or an order that an algorithm cannot use."""
    from oblique_cli.estimators.algorithms import ALGORITHMS

    parameters = ALGORITHMS[algorithm].parameters
    if _weighted(keyed) and "class_weight" not in parameters:
        raise ConfigError(f"{algorithm} takes no class weights; take a tree such as hhgdt, or leave them out.")
    if monotone and "monotonic_cst" not in parameters:
        raise ConfigError(
            f"{algorithm} keeps no order of its answers; take a tree such as hhcart_a, or leave --monotone out."
        )


def _entries(keyed: Sequence[str], task: str, params: Params) -> tuple[Mapping[str, Any], ...]:
    """Return the entries of auto that can do what is set."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.fitting.candidates import candidates

    entries = candidates(task)
    if params.readable:
        entries += candidates(f"{task}_readable")
    needed = {"class_weight"} if _weighted(keyed) else set()
    if needed and task == "regression":
        raise ConfigError("class_weight is for classes, and this target is of numbers; leave it out.")
    if params.monotone:
        needed |= {"monotonic_cst"}
    return tuple(entry for entry in entries if needed <= ALGORITHMS[entry["name"]].parameters.keys())


def _weighted(keyed: Sequence[str]) -> bool:
    return any(text.startswith(f"{CLASS_WEIGHT}=") for text in keyed)


def _order(monotone: tuple[str, ...], dataset: Dataset) -> str:
    """The override that says what --monotone does."""
    from oblique_cli.models.verifying.questions import signed_column

    signs: dict[str, int] = {}
    for text in monotone:
        name, sign = signed_column(text, dataset.feature_names)
        if signs.setdefault(name, sign) != sign:
            raise ConfigError(f"--monotone has column {name!r} in both directions.")
    return f"{ORDER}={json.dumps(signs, ensure_ascii=False)}"


def _key(override: str) -> str:
    return override.partition("=")[0].split(".")[1]
