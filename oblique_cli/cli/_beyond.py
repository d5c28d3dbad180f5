"""`oblique fit` of a table that is larger than memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._common import note
from oblique_cli.cli._fit_specs import AUTO, Params, params_of
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from oblique_cli.models.model import Model

# Bytes of memory per cell of a table: its text and its number, and the copies made during growth.
CELL_BYTES = 120
TEXT_FACTOR = 12  # the same per byte of CSV
FEATURES_OF_A_FOREST = {"max_features": None, "max_features_per_tree": 0.5}


def is_beyond(data: str, memory: int | None) -> bool:
    """Return whether growth reads the rows from disk: for Parquet or .npy files larger than `memory`.

    Raise ConfigError for any other file larger than `memory`.
    """
    if memory is None or not Path(data).is_file():
        return False
    if data.lower().endswith(".npy"):
        from oblique_cli.data.npy import table_of

        return int(table_of(data, data).size) * CELL_BYTES > memory
    if not data.lower().endswith((".parquet", ".pq")):
        from oblique_cli.data.own.source import stem

        if Path(data).stat().st_size * TEXT_FACTOR > memory:
            refusal = f"{data} would take more than --memory, and only Parquet and .npy are grown from the disk; "
            name = f"{stem(data)}.parquet"
            raise ConfigError(refusal + f"run `oblique data convert {data} {name}` and fit that.")
        return False
    from oblique_cli.scale.disk_tables import takes

    cells = takes(data)
    return cells is not None and cells * CELL_BYTES > memory


def fit_beyond(params: Params) -> tuple[Model, str, tuple[str, ...], Any]:
    """Fit to a table larger than memory; return the model, its title, remarks on the fit, and the fitted estimator."""
    assert params.memory is not None
    _refuse_unmet(params)
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.experiments.running import count_workers
    from oblique_cli.scale import fit_from_disk
    from oblique_cli.scale.disk_tables import Division

    algorithm, table = params.algorithm, _table(params)
    settings = params_of(algorithm, params.overrides)
    settings = {**_usual(algorithm, settings), **settings}
    reporting: dict[str, Any] = {}
    if sys.stderr.isatty():
        reporting["say"] = lambda progress: note(str(progress))
    workers = count_workers(params.jobs or 1)
    with _workers(params.scheduler, workers) as asker:
        fitted = fit_from_disk.fit(
            table,
            algorithm,
            settings,
            memory=params.memory,
            scratch=params.scratch,
            threads=workers,
            asker=asker,
            division=Division(prune=0.1, test=0.1, seed=params.seed),
            **reporting,
        )
    model = fit_from_disk.model_of(fitted, table, algorithm, params.seed)
    title = f"{ALGORITHMS[algorithm].title} on {model.facts['data']}"
    return model, title, remarks(fitted, table), fitted


def _refuse_unmet(params: Params) -> None:
    """Raise an error for options that do not work with a table larger than memory."""
    once = "a table larger than --memory is fitted once"
    if params.report:
        raise click.UsageError(f"--report shows an estimate by folds; {once}")
    if params.path or params.path_figure:
        raise click.UsageError(f"--path grows trees many times; {once}")
    if params.metric or params.threshold or params.coverage or params.monotone or params.options.groups:
        raise click.UsageError(
            "--metric, --threshold, --coverage, --monotone and --groups are for tables in memory; leave out --memory, "
            "or them"
        )
    if params.tune or params.folds:
        raise click.UsageError(f"{'--tune' if params.tune else '--folds'} fits many times; {once}")
    options = params.options
    if params.algorithm == AUTO:
        raise ConfigError(
            "auto compares algorithms on folds of a table in memory; for one larger than --memory say which, as in "
            "--algorithm hhcart_d."
        )
    if options.target is None:
        raise ConfigError(f"{params.data}: which column is to be predicted? Say it with --target.")
    unused = [name for name in options.typed_names if name not in ("--target", "--drop", "--features", "--task")]
    if unused or options.task == "regression":
        what = "--task regression" if options.task == "regression" else unused[0]
        raise ConfigError(
            f"{what} is not for a table that is larger than --memory, which is read as it is, for classes."
        )


def _table(params: Params) -> Any:
    """Return the table of a Parquet or .npy file."""
    from oblique_cli.cli._own import with_arrays
    from oblique_cli.scale.disk_tables import npy_table, parquet_table

    options, weights, beside = with_arrays(params.data, params.options, params.weights)
    assert options.target is not None
    columns: dict[str, Any] = {"weight": weights, "drop": options.drop, "features": options.features}
    if params.data.lower().endswith(".npy"):
        return npy_table(params.data, options.target, beside=beside, **columns)
    return parquet_table(params.data, options.target, **columns)


def _usual(algorithm: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the default parameters for a table larger than memory."""
    from oblique_cli.estimators.algorithms import ALGORITHMS, BOOSTED

    known = ALGORITHMS[algorithm]
    current = known.current(params)
    if known.family is BOOSTED:
        return {}
    if "max_features_per_tree" in known.parameters:  # drawn once per tree, without reading rows
        return {} if {"max_features", "max_features_per_tree"} & current.keys() else FEATURES_OF_A_FOREST
    return {} if "pruning" in current else {"pruning": "cost_complexity", "standard_errors": 1.0}


def _workers(scheduler: str | None, workers: int) -> Any:
    if scheduler is None:
        return contextlib.nullcontext()
    from oblique_cli.scale.workers import workers_of

    return workers_of(None if scheduler == "local" else scheduler, workers)


def refuse_one_tree(algorithm: str) -> None:
    """Raise a usage error for an algorithm that cannot distribute its work to workers."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.forest.base import ForestClassifier

    forests = [name for name, known in ALGORITHMS.items() if issubclass(known.estimator, ForestClassifier)]
    if algorithm not in forests:
        ALGORITHMS[algorithm] if algorithm != "auto" else None  # raise UnknownName first
        raise click.UsageError(
            "--scheduler is for the trees of a forest, such as hhgdt_forest, or for a table that takes more than "
            "--memory; --jobs without it are threads of this process, for any algorithm"
        )


@contextlib.contextmanager
def at_work(scheduler: str | None, workers: int) -> Iterator[None]:
    """Fit with `workers` threads of this process or workers of a scheduler; with one thread, change nothing."""
    if scheduler is not None:
        from oblique_cli.scale.workers import forests_on

        with forests_on(None if scheduler == "local" else scheduler, workers):
            yield
    elif workers > 1:
        from oblique_cli.estimators.n_jobs import threads

        with threads(workers):
            yield
    else:
        yield


def remarks(fitted: Any, table: Any) -> tuple[str, ...]:
    """Return sentences on the test error and on the memory and passes over the data."""
    lines = []
    if fitted.tested:
        share = fitted.right / fitted.tested
        error = (share * (1 - share) / fitted.tested) ** 0.5
        lines.append(
            f"On new rows: {100 * share:.2f} % right, standard error {100 * error:.2f} points ({fitted.tested} rows "
            "kept from the fit)."
        )
    lines.append(
        f"Always saying {str(table.classes[int(table.counts.argmax())])!r}: "
        f"{100 * table.counts.max() / table.counts.sum():.1f} % right."
    )
    if table.dropped:
        lines.append(f"{table.dropped} rows have no class{' or no weight' if table.weight else ''} and were left out.")
    grown = f"Grown from the disk within {fitted.memory / 1e6:.0f} MB"
    if hasattr(fitted.estimator, "tree_"):
        lines.append(f"{grown}; the tree in memory would be the same.")
    elif hasattr(fitted.estimator, "baseline_"):
        how = "drawn anew every few trees" if len(fitted.levels) > 1 else "all there are, so as in memory"
        trees = f"{fitted.estimator.n_estimators_} trees on {fitted.levels[-1].rows} rows at a time"
        lines.append(f"{grown}: {trees}, {how}.")
    else:
        share = fitted.estimator.max_features_per_tree
        drawn = "all features" if share is None else f"its features once (max_features_per_tree {share})"
        lines.append(f"{grown}: {fitted.estimator.n_estimators} trees. Each drew {drawn}, and its rows as in memory.")
    return tuple(lines)
