"""Parameters of `oblique fit`, its data, and the specifications of the algorithms to compare."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._fitting import full_key
from oblique_cli.cli._own import TREATMENTS, OwnOptions, is_own, looked_at, refuse_strays, symbolic
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.own.front import Columns
    from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

AUTO = "auto"
CLASS_WEIGHT = "algorithm.class_weight"
ORDER = "algorithm.monotonic_cst"


class Amount(declare.OptionType):
    """Number with a unit, such as 2m or 1GiB. units : unit -> factor; least : smallest amount, and its type"""

    def __init__(self, name: str, units: Mapping[str, int], least: float, fault: str) -> None:
        self.name, self.units, self.least, self.fault = name, units, least, fault

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the amount in the unit of factor 1."""
        if not isinstance(value, str):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value.lower())
        amount = type(self.least)(float(match[1]) * self.units.get(match[2], 0)) if match else 0
        if amount < self.least:
            self.fail(f"{value!r} is no {self.fault}", param, ctx)
        return amount


TIME = Amount("TIME", {"": 1, "s": 1, "m": 60, "h": 3600}, 1.0, "time of a second or more, such as 30s, 2m or 1h.")
POWERS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
SIZE = Amount(
    "SIZE", {f"{unit}{b}": n for unit, n in POWERS.items() for b in ("", "b")}, 10**6,
    "size in bytes from 1MB up, such as 512MB or 1GiB.",
)  # fmt: skip


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique fit`."""

    data: str = declare.argument(shell_complete=declare.complete_dataset_or_file)
    options: OwnOptions = declare.group(OwnOptions)
    weights: str = declare.option(
        "--weights", "Own data: column of non-negative weights of rows in the fit.", metavar="COLUMN", default=""
    )
    algorithm: str = declare.option(
        "--algorithm",
        "Algorithm (oblique list algorithms).",
        metavar="auto|NAME",
        default=AUTO,
        shell_complete=declare.complete_algorithm,
    )
    overrides: tuple[str, ...] = declare.changes("max_depth=3, missing=drop or 'min_samples_leaf={grid: [1, 5, 20]}'")
    seconds: float = declare.option(
        "--time",
        "Budget of the comparison and of the estimate: 30s, 2m, 1h. Counted by rows and columns, not by the clock.",
        type=TIME,
        default="40s",
    )
    metric: str | None = declare.metric(
        "--metric",
        "Decides choice, pruning and estimate: a metric (oblique list metrics), recall:CLASS or cost:FILE, a CSV "
        "of costs.  [default: accuracy, or rmse]",
    )
    monotone: tuple[str, ...] = declare.option(
        "--monotone",
        "The answer may only rise, or fall, with it: the number, or the share of the last of two classes.",
        multiple=True,
        metavar="COLUMN[:+|-]",
    )
    threshold: str | None = declare.option(
        "--threshold",
        "Two classes: say the one of fewer rows (or of recall:CLASS) from this share of it on.",
        metavar="auto|SHARE",
    )
    coverage: float | None = declare.option(
        "--coverage", "Sets or intervals that hold the truth for this share of new rows.", metavar="SHARE", type=float
    )
    guarantee: str = declare.option(
        "--guarantee",
        "With --coverage: lac, aps, class or leaf; of numbers absolute, normalized or quantile.  [default: lac, "
        "or absolute]",
        metavar="NAME",
        default="",
    )
    calibration: str | None = declare.option(
        "--calibration",
        "With --coverage: limits by cross-validation, or by a quarter of the rows, kept for it.  [default: cross]",
        type=click.Choice(("cross", "split")),
    )
    readable: bool = declare.flag("--readable", "auto: the smallest tree with a split within one standard error.")
    tune: bool = declare.flag("--tune", "Choose parameters by cross-validation, from a usual grid without --set.")
    folds: int | None = declare.option(
        "--folds", "Of cross-validation.  [default: 10, of auto 5]", type=click.IntRange(2, 100)
    )
    seed: int = declare.seed(1)
    output: str | None = declare.file("-o", "--output", help="Write the model to FILE, a *.json.")
    report: str | None = declare.file(
        "--report", help="Write a model card, one HTML page, to FILE (docs/explaining.md)."
    )
    as_json: bool = declare.AS_JSON
    precision: int = declare.precision("Digits of the tree.")
    memory: int | None = declare.option(
        "--memory",
        "Grow from the disk if a Parquet or .npy file would take more, as in 1GB (docs/scale.md).",
        type=SIZE,
    )
    scratch: str | None = declare.option(
        "--scratch", "With --memory: where the copy of the rows goes.  [default: temporary]", metavar="FOLDER"
    )
    jobs: int | str | None = declare.option(
        "-j",
        "--jobs",
        "Processors, or workers, at work on one model.  [default: auto; with --memory or --scheduler 1]",
        metavar="N|auto",
        type=declare.Jobs(),
    )
    scheduler: str | None = declare.option(
        "--scheduler",
        "Workers of Dask do the work: on a forest, or on a tree of a table beyond --memory.",
        metavar="local|ADDRESS",
    )
    path: bool = declare.flag("--path", "Show trees of all sizes: terms, leaves, what each does on other rows.")
    path_figure: str | None = declare.file(
        "--path-figure", help="Draw the path of sizes to FILE, a *.svg, *.pdf or *.png."
    )
    data_dir: str | None = declare.DATA_DIR
    offline: bool = declare.OFFLINE


@dataclass(frozen=True, eq=False)
class Task:
    """Data, their specification, the specifications of the algorithms, and the columns of a user's file."""

    dataset: Dataset
    policy: DatasetSpec
    specs: Sequence[AlgorithmSpec]
    columns: Columns | None


def params_of(algorithm: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of an algorithm from --set; raise ConfigError for any other key."""
    from oblique_cli import config

    keyed = [full_key(text) for text in overrides]
    for text in keyed:
        if not text.startswith("algorithm."):
            raise ConfigError(f"--set {text} is not for a table that is larger than --memory.")
    plain = {"version": 1, "dataset": {"name": "iris"}, "algorithm": {"name": algorithm}}
    return dict(config.from_mapping(plain, "fit", keyed, where="oblique fit").algorithms[0].params)


def task_of(params: Params) -> Task:
    """Return the task: the data, and the algorithms to compare on them."""
    from oblique_cli import config
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS

    options, overrides = params.options.taking_groups(params.overrides)
    algorithm, keyed = params.algorithm, [full_key(text) for text in overrides]
    if algorithm != AUTO:
        ALGORITHMS[algorithm]  # raises UnknownName before a file is read
    about_data = [text for text in keyed if not text.startswith("algorithm.")]
    dataset: Dataset | None = None
    columns: Columns | None = None
    if is_own(params.data):
        key, dataset, columns = looked_at(params.data, options, about_data, "oblique fit", params.weights)
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
        from oblique_cli.models.verifying.questions import signed_column

        signs: dict[str, int] = {}
        for text in params.monotone:
            name, sign = signed_column(text, dataset.feature_names)
            if signs.setdefault(name, sign) != sign:
                raise ConfigError(f"--monotone has column {name!r} in both directions.")
        keyed.append(f"{ORDER}={json.dumps(signs, ensure_ascii=False)}")
    if algorithm != AUTO:
        _refuse_unmet(algorithm, keyed, params.monotone)
        policy, spec = symbolic(dataset, *parsed({"name": algorithm}, keyed), keyed)
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
    """Raise ConfigError for class weights or monotone constraints that an algorithm does not support."""
    from oblique_cli.estimators.algorithms import ALGORITHMS

    parameters = ALGORITHMS[algorithm].parameters
    if _weighted(keyed) and "class_weight" not in parameters:
        raise ConfigError(f"{algorithm} takes no class weights; take a tree such as hhgdt, or leave them out.")
    if monotone and "monotonic_cst" not in parameters:
        raise ConfigError(
            f"{algorithm} keeps no order of its answers; take a tree such as hhcart_a, or leave --monotone out."
        )


def _entries(keyed: Sequence[str], task: str, params: Params) -> tuple[Mapping[str, Any], ...]:
    """Return the candidates of `auto` that support the options."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.fitting.budget import candidates

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


def _key(override: str) -> str:
    return override.partition("=")[0].split(".")[1]
