"""Keys of jobs: digests of configuration, data, seed and fold; they exclude the environment of a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from oblique_cli.ground.nouns import AlgorithmSpec

# The content of a key begins with its format, which never changes, because stored results use it.
FORM = 2


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def base(content: Mapping[str, Any], dataset: str, algorithm: str) -> str:
    """Return a digest of the part of `content` (`jobs.content`) that determines an algorithm's folds on a data set.

    The number of repetitions is excluded: repetition 3 of 5 is repetition 3 of 10.
    """
    cv = {key: value for key, value in content["cv"].items() if key != "repeats"}
    (plain,) = [a for a in content["algorithms"] if a["id"] == algorithm]
    method = AlgorithmSpec(**plain).on(dataset)
    (spec,) = [d for d in content["datasets"] if d["name"] == dataset]
    how = [method.id, method.name, method.params, method.grid]
    how += [part for part in (method.prepare, content.get("code")) if part]  # newer than the first results
    data = [dataset, content["data"][dataset], spec["missing"], spec["encoding"]]
    return digest([FORM, content["seed"], cv, how, data, *([content["metrics"]] if "metrics" in content else [])])


def of_fold(base: str, repeat: int, fold: int) -> str:
    """Return the key of the job of one fold."""
    return digest([base, repeat, fold])


def of_tuning(base: str) -> str:
    """Return the key of the job that chooses parameters once for all folds."""
    return digest([base, "tuning"])
