"""A tree grown level by level from rows in chunks: the tree of `tree.growing` on all rows at once, in every array."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.scale import directions
from oblique_cli.scale.directions import AXES, COVARIANCES, NEEDS, UNIT_ROWS, Slot
from oblique_cli.scale.passes import FETCHED, Answer, Finish, counted_or_weighed
from oblique_cli.scale.store import Store
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree, TreeBuilder

Array = NDArray[np.float64]

KEPT_ROW_BYTES = 120  # of a row of a bin that is looked into, while rows of all chunks are put in order
FEW_ROWS = 0.25  # of the rows of a node: so many are fetched rather than counted once more, which takes a pass


class Asker(Protocol):
    """Who answers requests: this process, its threads, or workers elsewhere."""

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""

    @property
    def workers(self) -> int:
        """How many have `Plan.memory` of their own: one for the threads of this process."""

    @property
    def copies(self) -> int:
        """How many tables one of them holds at a time while answers are put together."""

    def finish(self, some: Finish) -> list[dict[str, Any]]:
        """Return the trees below some nodes, by their slots in the request."""


@dataclass(frozen=True)
class Plan:
    """What to grow, and in how much memory.

    memory    bytes that rows and histograms may take
    seed      of the tree; the heuristics here draw nothing
    finish_rows  rows from which on a node is no longer finished in memory; decided by `memory` if None
    """

    proposer: Proposer
    criterion: str = "gini"
    stopping: Stopping = field(default_factory=Stopping)
    min_leaf: float = 1.0
    ties: str = "tolerant"
    memory: int = 1 << 30
    seed: int = 0
    finish_rows: int | None = None

    @property
    def family(self) -> str:
        """The native family. ConfigError for a heuristic that needs all rows of a node at once."""
        native = self.proposer.native
        if native is None or native not in NEEDS:
            raise ConfigError(
                f"{type(self.proposer).__name__} needs all rows of a node at once and cannot be grown from a table "
                f"larger than memory; {', '.join(sorted(NEEDS))} can."
            )
        return native

    def in_memory_rows(self, store: Store, workers: int = 1) -> tuple[int, int]:
        """Return up to how many rows a node is finished in memory, and how many rows all nodes at work may have.

        With several workers a node is no more than the share of one, so that they work side by side. Smaller ones would
        even out better, and take more passes over all rows.

        A row takes two copies of its features and about nine numbers more. Nodes of up to `exact_sums_above` rows
        have to be finished so, because their sums are those of rows in a canonical order. ConfigError if memory is too
        small for that.
        """
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
    """What a level took, for `--verbose` and benchmarks."""

    level: int
    nodes: int
    passes: int = 0
    seconds: float = 0.0
    finished: int = 0


@dataclass
class Grown:
    """A tree, and what growing it took."""

    tree: Tree
    levels: list[Level] = field(default_factory=list)


@dataclass
class State:
    """All there is between two levels: the tree so far, and its open nodes by the slots of `level`.

    stats : by slot of the level, as the pass `boxes` gives them
    """

    builder: TreeBuilder
    level: int
    nodes: list[tuple[int, int]]  # of each slot: node, depth
    stats: Answer


def grow(
    asker: Asker, store: Store, plan: Plan, checkpoint: Any = None, say: Callable[[Level], None] = lambda _: None
) -> Grown:
    """Grow a tree on the rows of a store that are meant for growing.

    checkpoint : a `Checkpoint` to go on from and to write after every level, or None
    say : called with every level that is done
    """
    grower = _Grower(asker, store, plan)
    state = checkpoint.load(store, plan) if checkpoint is not None else None
    if state is None:
        stats = asker.ask("boxes", 0, {"n_slots": 1})
        if not stats["rows"].sum():
            raise ConfigError("there must be rows to grow a tree on. All are kept for pruning or for the test.")
        builder = TreeBuilder(store.n_features, store.n_classes, store.levels or None)
        root = builder.add(stats["weight"][0], int(stats["rows"][0].sum()))
        state = State(builder, 0, [(root, 0)], stats)
    done: list[Level] = []
    while state.nodes:
        before = time.perf_counter()
        grower.passes = grower.finished = 0
        level = Level(state.level, len(state.nodes))
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
    return Grown(state.builder.finish(), done)


class _Grower:
    def __init__(self, asker: Asker, store: Store, plan: Plan) -> None:
        self.store, self.plan, self._asker = store, plan, asker
        self.family = plan.family
        self.need = NEEDS[self.family]
        self.options = plan.proposer.native_options()
        self.in_memory, self.rows_at_once = plan.in_memory_rows(store, asker.workers)
        self.strict = plan.ties == "strict"
        self.count_bytes = 8 if store.weighted else 4  # of a cell of a histogram
        self.passes = self.finished = 0

    def _ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        self.passes += 1
        return self._asker.ask(kind, level, request)

    def _search(self, of_class: Array) -> _core.SlotSearch:
        return _core.SlotSearch(self.plan.criterion, self.strict, float(self.plan.min_leaf), of_class)

    def advance(self, state: State) -> State:
        """Finish the small nodes of a level, split the large ones, and return what the next level begins with."""
        small: list[int] = []
        large: list[int] = []
        for slot, (_, depth) in enumerate(state.nodes):
            if self.plan.stopping.is_leaf(state.stats["weight"][slot], depth):
                continue
            rows = int(state.stats["rows"][slot].sum())
            if rows < 2 or (state.stats["rows"][slot] > 0).sum() < 2:
                continue
            (small if rows <= self.in_memory else large).append(slot)
        self._finish(state, small)
        slots = [self._slot(state, slot) for slot in large]
        splits: list[tuple[Array, float, float, bool] | None] = []
        if slots:
            splits = self._splits(state, slots, large)
        return self._divide(state, slots, large, splits)

    # ---- small nodes -------------------------------------------------------------------------------------------------

    def _finish(self, state: State, small: list[int]) -> None:
        """Grow the trees below nodes that fit into memory, as many nodes at once as do."""
        rows_of = [int(state.stats["rows"][slot].sum()) for slot in small]
        at = 0
        while at < len(small):
            end, total = at, 0
            while end < len(small) and (end == at or total + rows_of[end] <= self.rows_at_once):
                total += rows_of[end]
                end += 1
            batch = small[at:end]
            place = np.full(len(state.nodes), -1, np.int32)
            place[batch] = np.arange(len(batch), dtype=np.int32)
            request = {"slots": place, "n_slots": len(batch)}
            options = [self._options(state.nodes[slot][1]) for slot in batch]
            self.passes += 1
            some = Finish(state.level, request, rows_of[at:end], self.family, options)
            for slot, arrays in zip(batch, self._asker.finish(some), strict=True):
                _graft(state.builder, state.nodes[slot][0], arrays)
            self.finished += len(batch)
            at = end

    def _options(self, depth: int) -> dict[str, Any]:
        """What `_core.grow` takes for a node at a depth."""
        plan = self.plan
        return {
            "criterion": plan.criterion,
            "min_parent": float(plan.stopping.min_parent),
            "max_misrate": float(plan.stopping.max_misrate),
            "max_depth": -1 if plan.stopping.max_depth is None else int(plan.stopping.max_depth) - depth,
            "min_leaf": float(plan.min_leaf),
            "strict_ties": self.strict,
            "polish": False,
            "split_cost": 0.0,
            "exhaustive": False,
            "seed": plan.seed,
            **self.options,
        }

    # ---- large nodes -------------------------------------------------------------------------------------------------

    def _slot(self, state: State, slot: int) -> Slot:
        stats = state.stats
        found = Slot(
            *state.nodes[slot],
            stats["rows"][slot],
            stats["weight"][slot],
            stats["heaviest"][slot],
            stats["low"][slot].copy(),
            stats["high"][slot].copy(),
            np.zeros(sum(self.store.levels)),
        )
        directions.scored_slot(found, stats["tables"][slot], self.store.levels)
        return found

    def _splits(
        self, state: State, slots: list[Slot], large: list[int]
    ) -> list[tuple[Array, float, float, bool] | None]:
        """The split of each slot: normal, threshold, gain, whether the threshold is final; None for a leaf."""
        place = np.full(len(state.nodes), -1, np.int32)
        place[large] = np.arange(len(large), dtype=np.int32)
        base = self._base(place, slots)
        self._find_spaces(state.level, base, slots)
        if self.family == "gdt":
            return [self._given(slot) for slot in slots]
        splits: list[tuple[Array, float, float, bool] | None] = [None] * len(slots)
        for some in self._batches(slots):
            of_some = np.full(len(state.nodes), -1, np.int32)
            of_some[[large[i] for i in some]] = np.arange(len(some), dtype=np.int32)
            chosen = [slots[i] for i in some]
            found = self._searched(state.level, self._base(of_some, chosen), chosen)
            for i, split in zip(some, found, strict=True):
                splits[i] = split
        return splits

    def _base(self, place: Any, slots: list[Slot]) -> dict[str, Any]:
        base: dict[str, Any] = {"slots": place, "n_slots": len(slots)}
        if any(self.store.levels):
            base["scores"] = np.stack([slot.scores for slot in slots])
        return base

    def _find_spaces(self, level: int, base: dict[str, Any], slots: list[Slot]) -> None:
        store, options, p = self.store, self.options, self.store.n_features
        if self.need == AXES:
            for slot in slots:
                slot.spaces = directions.original(p)
            return
        for slot in slots:
            directions.frame(slot, self.need)
        center, inverse = (np.stack([getattr(slot, name) for slot in slots]) for name in ("center", "inverse"))
        unit = np.stack([slot.unit(store.weighted) for slot in slots])
        sums = self._ask("moments", level, {**base, "center": center, "inverse": inverse, "unit": unit})
        for i, slot in enumerate(slots):
            slot.high_sums, slot.low_sums = sums["high_sums"][i], sums["low_sums"][i]
        if self.need == COVARIANCES:
            for slot in slots:
                slot.spaces = directions.of_covariances(slot, options, store.weighted, self.family == "hhcart_d")
        elif self.need == UNIT_ROWS:
            means = np.stack(
                [
                    [slot.mean(k, store.weighted) if slot.rows[k] else np.zeros(p) for k in range(store.n_classes)]
                    for slot in slots
                ]
            )
            factor = np.array([slot.factor() for slot in slots])
            request = {**base, "mean": means, "inverse": inverse, "factor": factor}
            squares = self._ask("squares", level, request)["squares"]
            least = 1e-9 * np.sqrt(squares)
            found = self._ask("unit_moments", level, {**request, "least": least, "unit": unit})
            for i, slot in enumerate(slots):
                sums_of = (found["high_sums"][i], found["low_sums"][i])
                slot.spaces = directions.of_unit_rows(slot, sums_of, options, store.weighted)
        else:
            self._find_bisectors(level, base, slots)

    def _find_bisectors(self, level: int, base: dict[str, Any], slots: list[Slot]) -> None:
        p = self.store.n_features
        normals, thresholds = np.zeros((len(slots), 2, p)), np.full((len(slots), 2), np.nan)
        for i, slot in enumerate(slots):
            slot.planes = directions.bisectors(slot, self.store.weighted, self.strict)
            for k, (w, t) in enumerate(slot.planes):
                normals[i, k], thresholds[i, k] = w, t
        if np.isnan(thresholds).all():
            return
        left = self._ask("left", level, {**base, "normals": normals, "thresholds": thresholds})["left"]
        for slot, of_slot in zip(slots, left, strict=True):
            if not slot.planes:
                continue
            best = directions.better(slot, of_slot, self._search, self.options["bisector_by_super_classes"])
            slot.planes = (slot.planes[best],)
            slot.left = of_slot[best]
            if self.family == "hhgdt":
                normal = np.asarray(_core.oriented(slot.planes[0][0], self.options["sign"]))
                slot.spaces = directions.reflected([normal[None]], self.options, p)

    def _given(self, slot: Slot) -> tuple[Array, float, float, bool] | None:
        """The split of GDT: its bisector, offset and all."""
        if not slot.planes:
            return None
        (w, t), present = slot.planes[0], slot.present
        search = self._search(np.ascontiguousarray(slot.weight[present]))
        assert slot.left is not None
        left = np.ascontiguousarray(slot.left[present])
        search.offer_cut(0, t, left, float(self.plan.min_leaf))
        winner = search.winner()
        return None if winner is None else (w, t, float(winner[2]), True)

    def _batches(self, slots: list[Slot]) -> list[list[int]]:
        """Slots that have directions, as many at once as there is room for their histograms."""
        room = int(self.plan.memory * 0.25) // (self._asker.copies * self.count_bytes)
        cells = [0 if s.spaces is None else s.spaces.size * self.store.n_classes for s in slots]
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

    def _searched(
        self, level: int, base: dict[str, Any], slots: list[Slot]
    ) -> list[tuple[Array, float, float, bool] | None]:
        """The best cut of each slot among the axes of its spaces, by histograms and the bins that can still win."""
        request, searches, first = self._histograms(level, base, slots)
        open_slots = list(range(len(slots)))
        of_part = self._asker.copies * (self.count_bytes * self.store.n_classes + 16)
        while open_slots:
            room = self.plan.memory * 0.3 / len(open_slots)
            wanted = [
                searches[i].wanted(room, KEPT_ROW_BYTES, of_part, FEW_ROWS * float(slots[i].rows.sum()))
                for i in open_slots
            ]
            open_slots = [i for i, cells in zip(open_slots, wanted, strict=True) if len(cells[0])]
            wanted = [cells for cells in wanted if len(cells[0])]
            if not open_slots:
                break
            names = ("direction", "bin", "after", "from", "to", "origin", "step", "parts")
            cells = {name: np.concatenate([each[k] for each in wanted]) for k, name in enumerate(names)}
            cells["direction"] += np.repeat(first[open_slots], [len(each[0]) for each in wanted])
            cells["first_part"] = np.concatenate([[0], np.cumsum(cells.pop("parts"))]).astype(np.int64)
            # Directions of which nothing is wanted need not be projected.
            is_wanted = np.append(np.zeros(len(request["low"]), np.bool_), False)
            is_wanted[cells["direction"]] = True
            place = np.where(is_wanted[request["place"]], request["place"], -1)
            found = self._ask("look", level, {**request, "place": place, **cells})
            self._take([searches[i] for i in open_slots], [len(each[0]) for each in wanted], cells["first_part"], found)
        return [self._winner(slot, search) for slot, search in zip(slots, searches, strict=True)]

    def _histograms(
        self, level: int, base: dict[str, Any], slots: list[Slot]
    ) -> tuple[dict[str, Any], list[_core.SlotSearch], NDArray[np.int64]]:
        """The request, a search for each slot, and the number of its first direction."""
        n_bins = self.n_bins
        orders, places, lows, highs, of_slots, at = [], [], [], [], [], 0
        for slot in slots:
            assert slot.spaces is not None
            of_slots.append(slot.spaces)
            order = _searched_axes(slot.spaces)
            place = np.full(slot.spaces.size, -1, np.int64)
            place[order] = at + np.arange(len(order))
            at += len(order)
            by_class = self.need in (COVARIANCES, UNIT_ROWS)
            low, high = directions.predicted_ranges(slot, slot.spaces, self.store.weighted, by_class)
            orders.append(order)
            places.append(place)
            lows.append(low[order])
            highs.append(high[order])
        low, high = np.concatenate(lows), np.concatenate(highs)
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.where(high > low, n_bins / (high - low), 0.0)
        request = {
            **base,
            "first_space": np.concatenate([[0], np.cumsum([len(spaces) for spaces in of_slots])]).astype(np.int64),
            "u": np.ascontiguousarray(np.vstack(of_slots)),
            "place": np.concatenate(places),
            "low": low,
            "scale": np.where(np.isfinite(scale), scale, 0.0),
            "n_bins": n_bins,
        }
        found = self._ask("histograms", level, request)
        searches: list[_core.SlotSearch] = []
        start = 0
        for slot, order in zip(slots, orders, strict=True):
            end = start + len(order)
            search = self._search(np.ascontiguousarray(slot.weight[slot.present]))
            low, high = (np.ascontiguousarray(side) for side in slot.box)
            gaps = np.asarray(_core.distinct_gaps(of_slots[len(searches)], low, high))[order]
            search.begin(
                order,
                slot.present.astype(np.int32),
                *counted_or_weighed(found["counts"][start:end]),
                found["least"][start:end],
                found["largest"][start:end],
                request["low"][start:end],
                request["scale"][start:end],
                gaps,
                self.store.n_classes,
                n_bins,
                int(slot.rows.sum()),
            )
            searches.append(search)
            start = end
        first = np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64)
        return request, searches, first

    def _take(
        self, searches: list[_core.SlotSearch], cells: list[int], first_part: NDArray[np.int64], found: Answer
    ) -> None:
        """Give searches the answers to what they wanted, each so many cells."""
        rows = {name: np.concatenate(found[name]) for name in FETCHED}
        order = np.argsort(rows["entry"], kind="stable")  # those of a chunk are in order already
        rows = {name: each[order] for name, each in rows.items()}
        at = np.concatenate([[0], np.cumsum(cells)])
        of_rows, of_parts = np.searchsorted(rows["entry"], at), first_part[at]
        for i, search in enumerate(searches):
            here, parts = slice(of_rows[i], of_rows[i + 1]), slice(of_parts[i], of_parts[i + 1])
            counts = found["counts"][of_parts[i] * self.store.n_classes : of_parts[i + 1] * self.store.n_classes]
            search.take(
                rows["entry"][here] - np.int32(at[i]),
                rows["code"][here],
                rows["z"][here],
                rows["found_weight"][here],
                *counted_or_weighed(counts),
                found["part_low"][parts],
                found["part_high"][parts],
                found["smallest"][at[i] : at[i + 1]],
            )

    def _winner(self, slot: Slot, search: _core.SlotSearch) -> tuple[Array, float, float, bool] | None:
        winner = search.winner()
        if winner is None:
            return None
        order, threshold, gain = winner
        assert slot.spaces is not None
        space, axis = divmod(int(order), self.store.n_features)
        u = slot.spaces[space]
        normal = np.zeros(len(u))
        normal[axis] = 1.0
        if u[axis] != 0.0:
            normal -= 2.0 * u * u[axis]
        return normal, float(threshold), float(gain), False

    # ---- the next level ----------------------------------------------------------------------------------------------

    def _divide(
        self, state: State, slots: list[Slot], large: list[int], splits: list[tuple[Array, float, float, bool] | None]
    ) -> State:
        """Send the rows of split nodes to their children, and count them there."""
        done = [i for i, split in enumerate(splits) if split is not None]
        if not done:
            return State(state.builder, state.level + 1, [], {})
        place = np.full(len(state.nodes), -1, np.int32)
        place[[large[i] for i in done]] = np.arange(len(done), dtype=np.int32)
        chosen = [split for split in splits if split is not None]
        numbers = np.arange(len(done), dtype=np.int32)
        request = {
            **self._base(place, [slots[i] for i in done]),
            "normals": np.stack([split[0] for split in chosen]),
            "thresholds": np.array([split[1] for split in chosen]),
            "left": 2 * numbers,
            "right": 2 * numbers + 1,
            "n_next": 2 * len(done),
        }
        stats = self._ask("route", state.level, request)
        nodes, kept = [], []
        for i, (which, (normal, threshold, gain, given)) in enumerate(zip(done, chosen, strict=True)):
            slot = slots[which]
            below, above = float(stats["below"][i]), float(stats["above"][i])
            if not (np.isfinite(below) and np.isfinite(above)):
                continue  # one side is empty: a leaf
            if not given:
                threshold = middle_of_gap(below, above)
            children = []
            for side in (2 * i, 2 * i + 1):
                children.append(state.builder.add(stats["weight"][side], int(stats["rows"][side].sum())))
                nodes.append((children[-1], slot.depth + 1))
                kept.append(side)
            state.builder.split(slot.node, normal, threshold, gain, children[0], children[1], slot.scores)
        stats = {name: stats[name] for name in ("rows", "weight", "heaviest", "low", "high", "tables")}
        if len(kept) < 2 * len(done):  # slots stay as the rows have them; those of leaves hold no node
            by_side = dict(zip(kept, nodes, strict=True))
            for side in set(range(2 * len(done))) - set(kept):
                stats["rows"][side] = 0
                stats["weight"][side] = 0.0
            nodes = [by_side.get(side, (-1, 0)) for side in range(2 * len(done))]
        return State(state.builder, state.level + 1, nodes, stats)


def middle_of_gap(low: float, high: float) -> float:
    """Return the middle of two numbers, or the lower one where the middle rounds to the upper."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


def _searched_axes(spaces: Array) -> NDArray[np.int64]:
    """Places of the directions that are searched: an axis that several spaces share only once."""
    k, p = spaces.shape
    stays = spaces == 0.0
    first = np.where(stays, np.cumsum(stays, axis=0) == 1, True)
    return np.flatnonzero(first.reshape(k * p)).astype(np.int64)


def _graft(builder: TreeBuilder, node: int, arrays: Mapping[str, Any]) -> None:
    """Put a tree that was grown in memory in the place of a node."""
    left, right = np.asarray(arrays["left"]), np.asarray(arrays["right"])
    ids = [node]
    counts, n_rows = np.asarray(arrays["counts"]), np.asarray(arrays["n_rows"])
    for i in range(1, len(left)):
        ids.append(builder.add(counts[i], int(n_rows[i])))
    for i in np.flatnonzero(left >= 0).tolist():
        builder.split(
            ids[i],
            np.asarray(arrays["weights"])[i],
            float(arrays["thresholds"][i]),
            float(arrays["gains"][i]),
            ids[left[i]],
            ids[right[i]],
            np.asarray(arrays["level_scores"])[i],
        )
