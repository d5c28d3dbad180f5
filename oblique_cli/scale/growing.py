"""Level-by-level growth of a tree from rows in chunks; it equals the tree of `tree.growing` in every array.

A `Checkpoint` is the tree so far and its open nodes on the disk, so that a fit resumes after its last complete level.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.arrays import Array
from oblique_cli.scale.passes import FETCHED, Answer, Finish, counted_or_weighed
from oblique_cli.scale.store import Store, parts_of_levels, writing
from oblique_cli.tree.growing import growth_options, tree_of
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

T = TypeVar("T")

BIN_ROW_BYTES = 120  # of a row of an examined bin, while rows of all chunks are sorted
STATS = ("rows", "weight", "heaviest", "low", "high", "tables")  # of the pass `boxes`
FEW_ROWS = 0.25  # share of a node's rows up to which they are fetched instead of counted again, which takes a pass


class Asker(Protocol):
    """Source of answers to requests: this process, its threads, or workers elsewhere."""

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""

    @property
    def workers(self) -> int:
        """Return the number of processes with `Plan.memory` each: one for the threads of this process."""

    @property
    def copies(self) -> int:
        """Return the number of tables that a worker holds at a time while answers are combined."""

    def finish(self, some: Finish) -> list[dict[str, Any]]:
        """Return the trees below some nodes, by their slots in the request."""


@dataclass(frozen=True)
class Plan:
    """Parameters of growth, and the memory limit.

    memory    bytes for rows and histograms
    finish_rows  largest rows of a node finished in memory; derived from `memory` if None"""

    proposer: Proposer
    criterion: str = "gini"
    stopping: Stopping = field(default_factory=Stopping)
    min_leaf: float = 1.0
    ties: str = "tolerant"
    memory: int = 1 << 30
    finish_rows: int | None = None

    @property
    def family(self) -> str:
        """The native family. ConfigError for a heuristic that needs all rows of a node at once."""
        native = self.proposer.native_family()
        if native is None or native not in _core.from_sums():
            raise ConfigError(
                f"{type(self.proposer).__name__} needs all rows of a node at once and cannot be grown from a table "
                f"larger than memory; {', '.join(_core.from_sums())} can."
            )
        return native

    def grower(self, store: Store) -> _core.LevelGrower:
        """Return the grower of the tree, which uses the answers of passes over a store."""
        return _core.LevelGrower(
            store.n_features,
            store.n_classes,
            sum(store.levels),
            float(self.stopping.min_parent),
            float(self.stopping.epsilon),
            -1 if self.stopping.max_depth is None else int(self.stopping.max_depth),
        )

    def in_memory_rows(self, store: Store, workers: int = 1) -> tuple[int, int]:
        """Return the most rows of a node that is finished in memory, and of all such nodes at a time; with several
        workers a node has at most the share of one. Nodes of up to `exact_sums_above` rows must be finished in memory,
        because their sums use a canonical order of rows; ConfigError if memory is too small for that."""
        row = 16 * store.n_features + 72 + (16 if store.weighted else 0)
        fitting = int(self.memory * 0.4) // row
        least = min(_core.exact_sums_above(), store.n_rows)
        if fitting < least:
            need = least * row / 0.4
            raise ConfigError(
                f"--memory {self.memory / 1e6:.0f} MB is too small: a table of {store.n_features} features needs at "
                f"least {need / 1e6:.0f} MB, because nodes of up to {least} rows are finished in memory."
            )
        whole = max(fitting if self.finish_rows is None else self.finish_rows, least)
        if workers == 1 or self.finish_rows is not None:
            return whole, whole
        return max(least, min(whole, store.n_rows // workers)), whole * workers


@dataclass
class Level:
    """Nodes, passes and seconds of a level of growth."""

    level: int
    nodes: int
    passes: int = 0
    seconds: float = 0.0
    finished: int = 0

    def __str__(self) -> str:
        return (
            f"level {self.level}: {self.nodes} nodes, {self.finished} finished in memory, {self.passes} passes, "
            f"{self.seconds:.1f} s"
        )


@dataclass
class Grown:
    """A tree and the statistics of its growth."""

    tree: Tree
    levels: list[Level] = field(default_factory=list)


@dataclass
class State:
    """State between two levels: the tree so far and its open nodes, by the slots of `level`.

    stats : by slot of the level, from the pass `boxes`"""

    grower: _core.LevelGrower
    level: int
    stats: Answer


@dataclass
class Slot:
    """An open node whose rows stay in their blocks.

    node : the search for its split, with the results of the passes over its rows
    directions : searched directions of the node, from `_core.BlockNode.directions`"""

    rows: int
    node: _core.BlockNode
    directions: tuple[Array, NDArray[np.int64], Array, Array] | None = None


Split = tuple[Array, float, float, bool]  # normal, threshold, gain, whether the threshold is final


def grow(
    asker: Asker,
    store: Store,
    plan: Plan,
    checkpoint: Checkpoint | None = None,
    say: Callable[[Level], None] = lambda _: None,
) -> Grown:
    """Grow a tree on the growth rows of a store. checkpoint : a `Checkpoint` to resume from and to write after every
    level, or None; say : called after every level"""
    grower = _Grower(asker, store, plan)
    state = checkpoint.load(store, plan) if checkpoint is not None else None
    if state is None:
        stats = asker.ask("boxes", 0, {"n_slots": 1})
        stats = {name: stats[name] for name in STATS}
        if not stats["rows"].sum():
            raise ConfigError("there must be rows to grow a tree on. All are kept for pruning or for the test.")
        state = State(plan.grower(store), 0, stats)
        state.grower.begin(stats["rows"], stats["weight"])
    done: list[Level] = []
    while len(state.grower.open):
        before = time.perf_counter()
        grower.passes = grower.finished = 0
        level = Level(state.level, len(state.grower.open))
        state = grower.advance(state)
        level.passes, level.finished = grower.passes, grower.finished
        level.seconds = time.perf_counter() - before
        done.append(level)
        say(level)
        if checkpoint is not None:
            checkpoint.save(state, plan)
        if state.level >= 2:
            store.forget_level(state.level - 2)
    store.forget_level(state.level - 1)
    store.forget_level(state.level)
    return Grown(tree_of(state.grower.finish(), store.levels or None), done)


class _Grower:
    def __init__(self, asker: Asker, store: Store, plan: Plan) -> None:
        self.store, self.plan, self._asker = store, plan, asker
        self.family = plan.family
        self.options = plan.proposer.native_options()
        self.in_memory, self.rows_at_once = plan.in_memory_rows(store, asker.workers)
        self.count_bytes = 8 if store.weighted else 4  # of a cell of a histogram
        self.passes = self.finished = 0

    def _ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        self.passes += 1
        return self._asker.ask(kind, level, request)

    def advance(self, state: State) -> State:
        """Finish the small nodes of a level, split the large ones, and return the state of the next level."""
        stats, self.depths = state.stats, state.grower.open[:, 1].tolist()
        batches, large = state.grower.work(stats["rows"], stats["weight"], self.in_memory, self.rows_at_once)
        for batch in batches:
            self._finish(state, batch)
        slots = [self._slot(state, slot) for slot in large.tolist()]
        return self._divide(state, slots, large, self._splits(state, slots, large) if slots else [])

    def _place(self, some: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the index in `some` of every slot of the level, -1 for the others."""
        place = np.full(len(self.depths), -1, np.int32)
        place[some] = np.arange(len(some), dtype=np.int32)
        return place

    # ---- small nodes -------------------------------------------------------------------------------------------------

    def _finish(self, state: State, batch: NDArray[np.int32]) -> None:
        """Grow the trees below nodes that fit into memory together."""
        rows = [int(state.stats["rows"][slot].sum()) for slot in batch]
        request = {"slots": self._place(batch), "n_slots": len(batch)}
        options = [self._options(self.depths[slot]) for slot in batch]
        self.passes += 1
        some = Finish(state.level, request, rows, self.family, options)
        for slot, arrays in zip(batch.tolist(), self._asker.finish(some), strict=True):
            state.grower.graft(slot, arrays)
        self.finished += len(batch)

    def _options(self, depth: int) -> dict[str, Any]:
        """Return the options of `_core.grow` for a node at a depth."""
        plan = self.plan
        most = plan.stopping.max_depth
        # Leaves are pruned after growth.
        stopping = replace(plan.stopping, max_depth=None if most is None else most - depth, max_leaf_nodes=None)
        return growth_options(plan.criterion, stopping, plan.min_leaf, plan.ties, 0) | self.options

    # ---- large nodes -------------------------------------------------------------------------------------------------

    def _slot(self, state: State, slot: int) -> Slot:
        stats, store = state.stats, self.store
        facts = {name: stats[name][slot] for name in STATS}
        options, levels = self._options(self.depths[slot]), parts_of_levels(store.levels)
        node = _core.BlockNode(self.family, options, **facts, levels=levels, weighted=store.weighted)
        return Slot(int(facts["rows"].sum()), node)

    def _splits(self, state: State, slots: list[Slot], large: NDArray[np.int32]) -> list[Split | None]:
        """Return the split of each slot, None for a leaf."""

        def base(some: Sequence[int]) -> dict[str, Any]:
            return self._base(self._place(large[list(some)]), [slots[i] for i in some])

        every = base(range(len(slots)))
        while kind := max(slot.node.wants for slot in slots):  # sums that the heuristic needs, pass by pass
            requests = [slot.node.request() for slot in slots]
            request = {name: np.stack([each[name] for each in requests]) for name in requests[0]}
            answer = self._ask(kind, state.level, {**every, **request})
            for i, slot in enumerate(slots):
                slot.node.take({name: value[i] for name, value in answer.items() if name != "bytes_read"})
        for slot in slots:
            slot.directions = slot.node.directions()
        for some in self._batches(slots):
            self._search(state.level, base(some), [slots[i] for i in some])
        return [slot.node.split() for slot in slots]

    def _base(self, place: Any, slots: list[Slot]) -> dict[str, Any]:
        base: dict[str, Any] = {"slots": place, "n_slots": len(slots)}
        if any(self.store.levels):
            base["scores"] = np.stack([slot.node.scores for slot in slots])
        return base

    def _batches(self, slots: list[Slot]) -> list[list[int]]:
        """Return batches of slots with directions, as large as memory for their histograms allows."""
        room = int(self.plan.memory * 0.25) // (self._asker.copies * self.count_bytes)
        cells = [0 if s.directions is None else s.directions[0].size * self.store.n_classes for s in slots]
        self.n_bins = 256
        while self.n_bins > 32 and max(cells) * self.n_bins > room:
            self.n_bins //= 2
        batches: list[list[int]] = []
        total = room + 1
        for i, size in enumerate(cells):
            if size == 0:
                continue
            if total + size * self.n_bins > room:
                batches.append([])
                total = 0
            batches[-1].append(i)
            total += size * self.n_bins
        return batches

    def _search(self, level: int, base: dict[str, Any], slots: list[Slot]) -> None:
        """Find the best cut of each slot over its directions, by histograms and the bins that can still win."""
        request, first = self._histograms(level, base, slots)
        open_slots = list(range(len(slots)))
        of_part = self._asker.copies * (self.count_bytes * self.store.n_classes + 16)
        while open_slots:
            room = self.plan.memory * 0.3 / len(open_slots)
            wanted = [
                slots[i].node.wanted(room, BIN_ROW_BYTES, of_part, FEW_ROWS * float(slots[i].rows)) for i in open_slots
            ]
            open_slots = [i for i, cells in zip(open_slots, wanted, strict=True) if len(cells[0])]
            wanted = [cells for cells in wanted if len(cells[0])]
            if not open_slots:
                break
            names = ("direction", "bin", "after", "from", "to", "origin", "step", "parts")
            cells = {name: np.concatenate([each[k] for each in wanted]) for k, name in enumerate(names)}
            cells["direction"] += np.repeat(first[open_slots], [len(each[0]) for each in wanted])
            cells["first_part"] = np.concatenate([[0], np.cumsum(cells.pop("parts"))]).astype(np.int64)
            # Directions without requests need no projection.
            is_wanted = np.append(np.zeros(len(request["low"]), np.bool_), False)
            is_wanted[cells["direction"]] = True
            place = np.where(is_wanted[request["place"]], request["place"], -1)
            answer = self._ask("look", level, {**request, "place": place, **cells})
            self._take([slots[i] for i in open_slots], [len(each[0]) for each in wanted], cells["first_part"], answer)

    def _histograms(
        self, level: int, base: dict[str, Any], slots: list[Slot]
    ) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Return the request, and the number of the first direction of each slot, whose searches begin."""
        us, orders, lows, highs = zip(*(slot.directions for slot in slots if slot.directions), strict=True)
        first = np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64)
        places = [np.full(u.size, -1, np.int64) for u in us]
        for place, order, start in zip(places, orders, first.tolist(), strict=False):
            place[order] = start + np.arange(len(order))
        low, high = np.concatenate(lows), np.concatenate(highs)
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.where(high > low, self.n_bins / (high - low), 0.0)
        request = {
            **base,
            "first_space": np.concatenate([[0], np.cumsum([len(u) for u in us])]).astype(np.int64),
            "u": np.vstack(us),
            "place": np.concatenate(places),
            "low": low,
            "scale": np.where(np.isfinite(scale), scale, 0.0),
            "n_bins": self.n_bins,
        }
        answer = self._ask("histograms", level, request)
        for slot, start, end in zip(slots, first.tolist(), first[1:].tolist(), strict=False):
            slot.node.begin(
                *counted_or_weighed(answer["counts"][start:end]),
                answer["least"][start:end],
                answer["largest"][start:end],
                request["low"][start:end],
                request["scale"][start:end],
                self.n_bins,
            )
        return request, first

    def _take(self, slots: list[Slot], cells: list[int], first_part: NDArray[np.int64], answer: Answer) -> None:
        """Pass the answers to the slots that requested them, a number of cells each."""
        rows = {name: np.concatenate(answer[name]) for name in FETCHED}
        order = np.argsort(rows["entry"], kind="stable")  # those of a chunk are sorted already
        rows = {name: each[order] for name, each in rows.items()}
        at = np.concatenate([[0], np.cumsum(cells)])
        of_rows, of_parts = np.searchsorted(rows["entry"], at), first_part[at]
        for i, slot in enumerate(slots):
            here, parts = slice(of_rows[i], of_rows[i + 1]), slice(of_parts[i], of_parts[i + 1])
            counts = answer["counts"][of_parts[i] * self.store.n_classes : of_parts[i + 1] * self.store.n_classes]
            slot.node.take_cells(
                rows["entry"][here] - np.int32(at[i]),
                rows["code"][here],
                rows["z"][here],
                rows["found_weight"][here],
                *counted_or_weighed(counts),
                answer["part_low"][parts],
                answer["part_high"][parts],
                answer["smallest"][at[i] : at[i + 1]],
            )

    # ---- the next level ----------------------------------------------------------------------------------------------

    def _divide(self, state: State, slots: list[Slot], large: NDArray[np.int32], splits: list[Split | None]) -> State:
        """Send the rows of split nodes to their children, and count them there."""
        done = [i for i, split in enumerate(splits) if split is not None]
        chosen = [split for split in splits if split is not None]
        here, n_scores = large[done], sum(self.store.levels)
        scores = np.array([slots[i].node.scores for i in done]).reshape(len(done), n_scores)
        if done:
            numbers = np.arange(len(done), dtype=np.int32)
            request = {
                **self._base(self._place(here), [slots[i] for i in done]),
                "normals": np.stack([split[0] for split in chosen]),
                "thresholds": np.array([split[1] for split in chosen]),
                "left": 2 * numbers,
                "right": 2 * numbers + 1,
                "n_next": 2 * len(done),
            }
            stats = self._ask("route", state.level, request)
        else:
            nobody = np.empty((0, self.store.n_classes))
            stats = {"below": nobody[:, 0], "above": nobody[:, 0], "rows": nobody.astype(np.int64), "weight": nobody}
        state.grower.divide(here, chosen, scores, *(stats[name] for name in ("below", "above", "rows", "weight")))
        return State(state.grower, state.level + 1, {name: stats[name] for name in STATS if done})


# ---- checkpoints -----------------------------------------------------------------------------------------------------

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

    key, digest : array of the file that identifies the fit, and its value; fault : sentence with {} for a reason"""
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
