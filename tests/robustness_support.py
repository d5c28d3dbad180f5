"""What the tests of robustness share: how long they attack, rows to fit on, and what an algorithm made of them.

OBLIQUE_SOAK=1, as `make soak` sets it, attacks longer; 0.1 a tenth of that.
"""

from __future__ import annotations

import inspect
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from contracts import QUICK

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, make

Case = TypeVar("Case")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes more than so many seconds of this process's own work, however busy the machine is."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


SOAK = float(os.environ.get("OBLIQUE_SOAK") or 0)


def many(sample: int, soak: int) -> int:
    """How many cases: few in every run of the tests, many in a soak."""
    return max(sample, round(SOAK * soak))


def some(cases: Sequence[Case], sample: int, seed: str) -> list[Case]:
    """Those of `cases` to try: a random sample in every run of the tests, all in a soak."""
    return random.Random(seed).sample(cases, min(len(cases), many(sample, len(cases))))


NAMES = sorted(ALGORITHMS)
REGRESSION = {name for name in NAMES if ALGORITHMS[name].family.task == "regression"}
# Smaller than the defaults where these take seconds.
PARAMETERS: dict[str, dict[str, Any]] = {
    **QUICK,
    **{name: {"pruning_folds": 2} for name in REGRESSION if "pruning_folds" in ALGORITHMS[name].parameters},
    "supervised_clustering_edit": {"restarts": 1},
    "tao": {"n_penalties": 4, "folds": 2},
    "logistic_tree": {"n_penalties": 2, "folds": 2},
    "lmt": {"folds": 2},
    "hhbut": {"max_components": 2},
    "butif_svm": {"max_components": 2},
}

DISCRETE = {name for name in NAMES if "discrete" in ALGORITHMS[name].family.growth}
NUMERIC = [name for name in NAMES if name not in DISCRETE]  # those that take numbers as they are
WEIGHTED = [name for name in NAMES if "sample_weight" in inspect.signature(make(name).fit).parameters]


def small_parameters(name: str) -> dict[str, Any]:
    """Those parameters of an algorithm that make it quick."""
    known = ALGORITHMS[name].parameters
    return {key: value for key, value in {"n_estimators": 5, **PARAMETERS.get(name, {})}.items() if key in known}


def estimator(name: str, **more: Any) -> Any:
    """An unfitted estimator of an algorithm, small."""
    return make(name, random_state=0, **{**small_parameters(name), **more})


def rows(name: str, n: int = 40, p: int = 3, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows that the algorithm can learn from, and their labels or values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if name in DISCRETE:
        X = np.floor(3 * rng.uniform(size=(n, p)))
    if name in REGRESSION:
        return X, 2 * X[:, 0] + np.abs(X[:, -1])
    y = (np.argsort(np.argsort(X[:, 0] + 0.5 * X[:, -1] + 0.3 * rng.normal(size=n))) * n_classes) // max(n, 1)
    return X, y.astype(np.int64)


def learned(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    test: np.ndarray | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    **fit: Any,
) -> np.ndarray | str:
    """What a fit predicts for `test` (the training rows by default), or the sentence by which it refused them.

    Whatever is wrong in itself fails here: a traceback that is no refusal, NaN, shares that are no shares.
    """
    test = X if test is None else test
    try:
        model = estimator(name, **parameters).fit(X, y, **fit)
        predicted = np.asarray(model.predict(test))
    except (ConfigError, DataError) as error:
        assert "\n" not in str(error)
        return str(error)
    assert predicted.shape == (len(test),)
    if name in REGRESSION:
        assert np.isfinite(predicted).all()
    else:
        assert np.isin(predicted, np.append(y, getattr(model, "reject_label", y[:1]))).all()
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(test)
        assert np.isfinite(shares).all() and (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
    return predicted
