"""`Checkpoint`: the tree so far and its open nodes on the disk, so that a fit resumes after its last complete level."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from oblique_cli.errors import DataError
from oblique_cli.scale.growing import STATS, Plan, State
from oblique_cli.scale.store import Store, writing

T = TypeVar("T")

# Arrays of a tree by their names in the core: their names in a file; `tree_children` holds both left and right.
ARRAYS = {
    "weights": "tree_coef",
    "thresholds": "tree_threshold",
    "gains": "tree_gain",
    "level_scores": "tree_level_scores",
    "counts": "tree_counts",
    "n_rows": "tree_n_rows",
}


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint in a file, which is replaced atomically after every level."""

    path: Path

    def save(self, state: State, plan: Plan) -> None:
        """Write a state."""
        tree = state.grower.arrays()
        arrays = {ARRAYS[name]: value for name, value in tree.items() if name in ARRAYS}
        arrays["tree_children"] = np.stack([tree["left"], tree["right"]], axis=1).astype(np.int64)
        arrays |= {f"stats_{name}": value for name, value in state.stats.items()}
        arrays["nodes"] = state.grower.open
        arrays["level"] = np.array(state.level)
        arrays["plan"] = np.array(digest_of(plan))
        with writing(self.path) as stream:
            np.savez(stream, **arrays)

    def load(self, store: Store, plan: Plan) -> State | None:
        """Return the saved state, None if there is none. DataError if it belongs to another fit."""

        def state(arrays: dict[str, Any]) -> State:
            tree = {name: arrays[in_file] for name, in_file in ARRAYS.items()}
            left, right = arrays["tree_children"].T.astype(np.int32)
            grower = plan.grower(store)
            grower.resume(tree | {"left": left.copy(), "right": right.copy()}, arrays["nodes"])
            stats = {name: arrays[f"stats_{name}"] for name in STATS if f"stats_{name}" in arrays}
            return State(grower, int(arrays["level"]), stats)

        return stored(self.path, "plan", digest_of(plan), state, "not a state of a fit ({}); remove it to begin anew")


def stored(path: Path, key: str, digest: str, build: Callable[[dict[str, Any]], T], fault: str) -> T | None:
    """Return the content of a fit's file, None without it; DataError for a damaged file, or the file of another fit.

    key, digest : array of the file that identifies the fit, and its value; fault : sentence with {} for a reason
    """
    if not path.exists():
        return None
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if str(arrays.pop(key)) != digest:
            raise DataError(f"{path}: is of a fit with other parameters; give the same ones, or name another --scratch")
        return build(arrays)
    except DataError:
        raise
    except Exception as error:  # an archive may be damaged in many ways
        raise DataError(f"{path}: {fault.format(str(error).partition(chr(10))[0])}") from None


def digest_of(plan: Plan) -> str:
    """Return a digest of everything in a plan that determines the tree."""
    facts: dict[str, Any] = {
        "heuristic": plan.family,
        "options": plan.proposer.native_options(),
        "criterion": plan.criterion,
        "stopping": [plan.stopping.min_parent, plan.stopping.epsilon, plan.stopping.max_depth],
        "min_leaf": plan.min_leaf,
        "ties": plan.ties,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
