"""One contestant in a process of its own: fits one tree and prints what it took as JSON.

Usage: python -m benchmarks.scale.contestant NAME FILE DEPTH MEMORY WORKERS SCRATCH ROWS_OF_TEST FEATURES TABLE TREES
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.peak import peak
from benchmarks.scale.data import BLOCK, MADE, real, rows

FIRST_TEST_BLOCK = 1_000_000  # far beyond those of the table


def codes_of(labels: Any) -> Any:
    """Return the codes of labels: of "no" and "yes", or of "c000", "c001", ..."""
    if labels[0][0] == "c":
        return np.array([int(label[1:]) for label in labels], np.int32)
    return (labels == "yes").astype(np.int32)


def blocks(path: str) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of the file, block by block."""
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):  # of BLOCK rows
        *columns, y = file.read_row_group(group).combine_chunks().columns
        yield np.column_stack([c.to_numpy() for c in columns]), codes_of(np.array(y.to_pylist()))


def whole(path: str) -> tuple[Any, Any]:
    """Return all rows, without a second copy on the way."""
    n, p = pq.read_metadata(path).num_rows, pq.read_metadata(path).num_columns - 1
    X, y, at = np.empty((n, p)), np.empty(n, np.int32), 0
    for some, labels in blocks(path):
        X[at : at + len(some)], y[at : at + len(some)] = some, labels
        at += len(some)
    return X, y


Predict = Callable[[Any], Any]


def disk(algorithm: str, **options: Any) -> Callable[..., tuple[Predict, dict[str, Any]]]:
    """Ours, from the disk; a forest has `trees` and no pruning."""

    def fit(
        path: str, depth: int, memory: int, workers: int, scratch: str, trees: int
    ) -> tuple[Predict, dict[str, Any]]:
        from oblique_cli.scale import fit_from_disk
        from oblique_cli.scale.disk_tables import parquet_table

        of_kind = {"n_estimators": trees} if algorithm.endswith(("forest", "boosting")) else {"pruning": "none"}
        if algorithm != "oblique_boosting":
            of_kind["criterion"] = "gini"
        before = time.perf_counter()
        table = parquet_table(path, "y")
        looked = time.perf_counter() - before
        fit = fit_from_disk.fit(
            table, algorithm, {"max_depth": depth, **of_kind, **options},
            memory=memory, threads=workers, scratch=scratch,
        )  # fmt: skip
        growing = sum(level.seconds for level in fit.levels)
        estimator = fit.estimator
        facts = {
            "levels": [asdict(level) for level in fit.levels],
            "bytes_read": fit.bytes_read,
            "look": looked,
            "grow": growing,
            "leaves": int(estimator.n_leaves_),
        }
        return lambda X: codes_of(estimator.predict(X)), facts

    return fit


def dask(algorithm: str) -> Callable[..., tuple[Predict, dict[str, Any]]]:
    """Ours, by workers of Dask on this machine."""

    def fit(path: str, depth: int, memory: int, workers: int, scratch: str, *_: Any) -> tuple[Predict, dict[str, Any]]:
        from oblique_cli.scale import fit_from_disk
        from oblique_cli.scale.disk_tables import parquet_table
        from oblique_cli.scale.workers import workers_of

        with workers_of(None, workers) as company:
            fit = fit_from_disk.fit(
                parquet_table(path, "y"), algorithm, {"pruning": "none", "max_depth": depth, "criterion": "gini"},
                memory=memory, scratch=scratch, asker=company,
            )  # fmt: skip
        growing = sum(level.seconds for level in fit.levels)
        estimator = fit.estimator
        return lambda X: codes_of(estimator.predict(X)), {"grow": growing, "leaves": estimator.n_leaves_}

    return fit


def memory(algorithm: str) -> Callable[..., tuple[Predict, dict[str, Any]]]:
    """Ours, in memory."""

    def fit(path: str, depth: int, *_: Any) -> tuple[Predict, dict[str, Any]]:
        from oblique_cli.estimators.algorithms import make

        X, y = whole(path)
        before = time.perf_counter()
        tree = make(algorithm, max_depth=depth, criterion="gini", pruning="none").fit(X, y)
        return tree.predict, {"grow": time.perf_counter() - before, "leaves": tree.n_leaves_}

    return fit


def scikit_learn(path: str, depth: int, *_: Any) -> tuple[Predict, dict[str, Any]]:
    """scikit-learn's axis-parallel tree, exact, in memory."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = whole(path)
    before = time.perf_counter()
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    return tree.predict, {"grow": time.perf_counter() - before, "leaves": int(tree.get_n_leaves())}


def lightgbm(path: str, depth: int, *_: Any) -> tuple[Predict, dict[str, Any]]:
    """LightGBM: one tree, features in at most 255 bins of one byte each, read block by block."""
    import lightgbm as lgb

    class Read(lgb.Sequence):  # type: ignore[misc]
        batch_size = BLOCK

        def __init__(self, some: Any) -> None:
            self.some = some

        def __getitem__(self, at: Any) -> Any:
            return self.some[at]

        def __len__(self) -> int:
            return len(self.some)

    # Sequences want random access: a map of the rows on the disk.
    held = Path(path).with_suffix(".f64")
    n, p = pq.read_metadata(path).num_rows, pq.read_metadata(path).num_columns - 1
    X, y, at = np.memmap(held, np.float64, "w+", shape=(n, p)), np.empty(n, np.int32), 0
    for some, labels in blocks(path):
        X[at : at + len(some)], y[at : at + len(some)] = some, labels
        at += len(some)
    before = time.perf_counter()
    model = lgb.train(
        {
            "objective": "binary", "max_depth": depth, "num_leaves": 2**depth, "num_threads": 1, "verbose": -1,
            "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "learning_rate": 1.0,
        },
        lgb.Dataset(Read(X), y),
        1,
    )  # fmt: skip
    held.unlink()
    return lambda Z: (model.predict(Z) > 0.5).astype(int), {"grow": time.perf_counter() - before}


def xgboost(path: str, depth: int, memory: int, workers: int, scratch: str, *_: Any) -> tuple[Predict, dict[str, Any]]:
    """XGBoost: one tree, external memory, features in at most 256 bins."""
    import xgboost as xgb

    class Read(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self.source = blocks(path)
            super().__init__(cache_prefix=str(Path(scratch) / "xgboost"))

        def next(self, input_data: Any) -> bool:
            result = next(self.source, None)
            if result is not None:
                input_data(data=result[0], label=result[1])
            return result is not None

        def reset(self) -> None:
            self.source = blocks(path)

    before = time.perf_counter()
    rows_ = xgb.ExtMemQuantileDMatrix(Read(), max_bin=256)
    params = {"max_depth": depth, "tree_method": "hist", "objective": "binary:logistic", "nthread": 1, "eta": 1.0}
    model = xgb.train({**params, "min_child_weight": 0}, rows_, 1)
    return lambda Z: (model.predict(xgb.DMatrix(Z)) > 0.5).astype(int), {"grow": time.perf_counter() - before}


def ydf(**options: Any) -> Callable[..., tuple[Predict, dict[str, Any]]]:
    """YDF: trees with sparse oblique splits, exact, in memory; a forest unless `options` say how many trees."""

    def fit(
        path: str, depth: int, memory: int, workers: int, scratch: str, trees: int
    ) -> tuple[Predict, dict[str, Any]]:
        import ydf as y_d_f

        X, y = whole(path)
        data = {f"x{j}": X[:, j].astype(np.float32) for j in range(X.shape[1])} | {"y": y}
        del X
        y_d_f.verbose(0)
        before = time.perf_counter()
        learner = y_d_f.RandomForestLearner(
            "y", max_depth=depth + 1, split_axis="SPARSE_OBLIQUE", num_threads=1, compute_oob_performances=False,
            random_seed=1, min_examples=1, **{"num_trees": trees, **options},
        )  # fmt: skip
        model = learner.train(data)

        def predict(Z: Any) -> Any:
            return (model.predict({f"x{j}": Z[:, j].astype(np.float32) for j in range(Z.shape[1])}) > 0.5).astype(int)

        return predict, {"grow": time.perf_counter() - before}

    return fit


ROUNDS = 100  # of boosting


def forest(algorithm: str) -> Callable[..., tuple[Predict, dict[str, Any]]]:
    """A forest of ours, in memory."""

    def fit(
        path: str, depth: int, memory: int, workers: int, scratch: str, trees: int
    ) -> tuple[Predict, dict[str, Any]]:
        from oblique_cli.estimators.algorithms import make

        X, y = whole(path)
        before = time.perf_counter()
        model = make(algorithm, n_estimators=trees, max_depth=depth, random_state=1).fit(X, y)
        return model.predict, {"grow": time.perf_counter() - before}

    return fit


def random_forest(
    path: str, depth: int, memory: int, workers: int, scratch: str, trees: int
) -> tuple[Predict, dict[str, Any]]:
    """scikit-learn's random forest, in memory."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = whole(path)
    before = time.perf_counter()
    model = RandomForestClassifier(trees, max_depth=depth, random_state=1, n_jobs=1).fit(X, y)
    return model.predict, {"grow": time.perf_counter() - before}


def boosted(path: str, *_: Any) -> tuple[Predict, dict[str, Any]]:
    """LightGBM: boosting with its defaults, in memory."""
    import lightgbm as lgb

    X, y = whole(path)
    before = time.perf_counter()
    settings = {"objective": "binary", "num_threads": 1, "verbose": -1}
    model = lgb.train(settings, lgb.Dataset(X, y), ROUNDS)
    return lambda Z: (model.predict(Z) > 0.5).astype(int), {"grow": time.perf_counter() - before}


CONTESTANTS: dict[str, Callable[..., tuple[Predict, dict[str, Any]]]] = {
    "HHCART(D) from disk": disk("hhcart_d"),
    "HHCART(D) in memory": memory("hhcart_d"),
    "HHCART(D) by Dask": dask("hhcart_d"),
    "HHCART(A) from disk": disk("hhcart_a"),
    "HHCART(A) in memory": memory("hhcart_a"),
    "axis-parallel from disk": disk("axis_parallel"),
    "axis-parallel in memory": memory("axis_parallel"),
    "scikit-learn": scikit_learn,
    "LightGBM": lightgbm,
    "XGBoost, external memory": xgboost,
    "YDF, sparse oblique": ydf(num_trees=1, bootstrap_training_dataset=False, num_candidate_attributes_ratio=1.0),
    "HHCART(D) forest from disk": disk(
        "bagged_forest", proposer="hhcart_d", max_features=None, max_features_per_tree=0.5
    ),
    "HHGDT forest from disk": disk("hhgdt_forest", max_features=None, max_features_per_tree=0.5),
    "boosting from disk": disk("oblique_boosting"),
    "HHGDT forest": forest("hhgdt_forest"),
    "MPRaF-P forest": forest("mpraf_p"),
    "random forest": random_forest,
    "YDF, oblique forest": ydf(),
    "LightGBM, boosted": boosted,
}


def main() -> None:
    """Fit what the command line asks for."""
    name, path, depth, memory_, workers, scratch, n_test, p, table, trees = sys.argv[1:]
    before, spent = time.perf_counter(), time.process_time()
    predict, facts = CONTESTANTS[name](path, int(depth), int(memory_), int(workers), scratch, int(trees))
    total = {"seconds": time.perf_counter() - before, "cpu": time.process_time() - spent}
    results = {**facts, **total, "peak": peak()}
    X, y = rows(FIRST_TEST_BLOCK, int(n_test), int(p), 1) if table == MADE else real(table)[2:]
    print(json.dumps({**results, "right": float((predict(X) == y).mean())}))


if __name__ == "__main__":
    main()
