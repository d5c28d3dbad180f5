"""The table of the benchmark: made-up rows, the same for a seed, written block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

BLOCK = 100_000


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
