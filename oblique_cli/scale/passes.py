"""Requests of a pass to some chunks, the combination of several answers, and the answers of one machine (`Here`).

An answer is a dictionary of arrays. Answers of any chunks, combined in any order, equal the answer of all their rows
to the bit: counts and exact sums are added, extremes compared, rows concatenated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import oblique_cli._core as _core
from oblique_cli.scale.store import Rows, Store, parts_of_levels

Answer = dict[str, Any]

ADD, LARGER, SMALLER, JOIN = "add", "larger", "smaller", "join"
HOW = {  # rules for combining the arrays of answers
    **dict.fromkeys(("rows", "weight", "tables", "high_sums", "low_sums", "left", "counts", "seen", "bytes_read"), ADD),
    **dict.fromkeys(("heaviest", "high", "largest", "below", "squares", "part_high"), LARGER),
    **dict.fromkeys(("low", "least", "above", "smallest", "part_low"), SMALLER),
    **dict.fromkeys(("entry", "code", "z", "found_weight", "slot", "X", "y", "w"), JOIN),
}
FETCHED = ("entry", "code", "z", "found_weight")  # of a row of a cell


def together(answers: Sequence[Answer]) -> Answer:
    """Return the answer of all rows from those of parts of them; modifies the first."""
    first, *others = answers
    for other in others:
        for name, value in other.items():
            how, mine = HOW[name], first[name]
            if how == ADD:
                mine += value
            elif how == LARGER:
                np.maximum(mine, value, out=mine)
            elif how == SMALLER:
                np.minimum(mine, value, out=mine)
            else:
                mine.extend(value)
    return first


@dataclass(frozen=True)
class Finish:
    """Open nodes to finish in memory: the rows to fetch, and the options of growth.

    request  of the pass `fetch`: the slots of the level, or -1
    rows     of each slot of the request
    options  of `_core.grow`, of each slot"""

    level: int
    request: Mapping[str, Any]
    rows: Sequence[int]
    family: str
    options: Sequence[Mapping[str, Any]]


class Fetched:
    """The rows of some open nodes, for growing the trees below.

    fetched : an answer to `fetch` that has all rows of these slots of the request"""

    def __init__(self, store: Store, some: Finish, fetched: Answer, slots: Sequence[int]) -> None:
        def parts_of(name: str) -> list[Any]:
            return [part for _, part in sorted(fetched.pop(name), key=lambda pair: int(pair[0]))]

        self._store, self._some = store, some
        of_slots, self._parts = parts_of("slot"), {name: parts_of(name) for name in ("X", "y", "w")}
        # Rows of a chunk are in the order of their slots.
        self._ends = [np.searchsorted(of_chunk, np.arange(-1, max(slots) + 1), "right") for of_chunk in of_slots]

    def room(self, slots: Sequence[int]) -> Any:
        """Return memory for the rows of any single slot among `slots`."""
        return np.empty((max(self._some.rows[slot] for slot in slots), self._store.n_features))

    def grow(
        self, slot: int, room: Any, pool: Executor | None = None, threads: int = 1, stop: Any = None
    ) -> dict[str, Any]:
        """Return the tree of a slot, whose rows are put into `room`.

        pool : threads that concatenate the rows; as many threads grow the tree
        stop : signal that ends the growth, see `_core.grow`"""
        chosen = [slice(end[slot], end[slot + 1]) for end in self._ends]

        def column(name: str) -> Any:
            return np.concatenate([part[some] for part, some in zip(self._parts[name], chosen, strict=True)])

        y, w = column("y"), column("w") if self._parts["w"] else None
        X = _one_below_another(self._parts["X"], chosen, room, pool, threads)
        some, store = self._some, self._store
        options, levels = dict(some.options[slot]), parts_of_levels(store.levels)
        return _core.grow(X, y, w, store.n_classes, some.family, options, levels, threads, stop)


def _one_below_another(
    parts: Sequence[Any], chosen: Sequence[slice], room: Any, pool: Executor | None, threads: int
) -> Any:
    """Copy the chosen rows of some parts to the first rows of room, and return these rows."""
    first = np.concatenate([[0], np.cumsum([some.stop - some.start for some in chosen])])

    def copy(some: range) -> None:
        for i in some:
            room[first[i] : first[i + 1]] = parts[i][chosen[i]]

    shares = [range(len(parts) * i // threads, len(parts) * (i + 1) // threads) for i in range(threads)]
    for _ in map(copy, shares) if pool is None else pool.map(copy, shares):
        pass
    return room[: first[-1]]


def ask(store: Store, chunks: Iterable[int], kind: str, level: int, request: Mapping[str, Any]) -> Answer:
    """Return the answer of some chunks, each read once, to a request of a kind (ANSWERS, ADDED_TO); {} for none."""
    answer: Answer = {}
    for chunk in chunks:
        rows = store.read(chunk, store.room)
        places = store.places(level, chunk, rows)
        if kind in ADDED_TO:
            ADDED_TO[kind](store, rows, places, request, answer)
        else:
            part = ANSWERS[kind](store, chunk, level, rows, places, request)
            answer = together([answer, part]) if answer else part
    return answer


def _block(store: Store, rows: Rows, slots: Any, n_slots: int, scores: Any = None) -> _core.Block:
    levels, room = parts_of_levels(store.levels), store.room.doubles("block", rows.columns.size)
    return _core.Block(rows.columns, rows.codes, slots, rows.weights, n_slots, store.n_classes, levels, scores, room)


def _block_of(store: Store, rows: Rows, places: Any, request: Mapping[str, Any]) -> _core.Block:
    """Return the block of this request from the places at its level. request["slots"] : place -> slot, or -1"""
    of_place = np.append(request["slots"], np.int32(-1)).astype(np.int32)
    slots = of_place.take(places, mode="wrap")  # place -1 is the last
    return _block(store, rows, slots, request["n_slots"], request.get("scores"))


def _boxes(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    return _boxes_of(_block(store, rows, places, request["n_slots"]), store, request["n_slots"])


def _boxes_of(block: _core.Block, store: Store, n_slots: int) -> Answer:
    c, p = store.n_classes, store.n_features
    width = sum(store.levels) + sum(count > 0 for count in store.levels)
    answer = {
        "rows": np.zeros((n_slots, c), np.int64),
        "weight": np.zeros((n_slots, c)),
        "heaviest": np.zeros((n_slots, c)),
        "low": np.full((n_slots, c, p), np.inf),
        "high": np.full((n_slots, c, p), -np.inf),
        "tables": np.zeros((n_slots, c, width)),
    }
    block.add_boxes(*answer.values())
    return answer


def _route(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    n = request["n_slots"]
    following = np.full(len(places), -1, np.int32)
    answer = {"below": np.full(n, -np.inf), "above": np.full(n, np.inf)}
    _block_of(store, rows, places, request).route(
        request["normals"], request["thresholds"], request["left"], request["right"], following, *answer.values()
    )
    store.keep_places(level + 1, chunk, following)
    n_next = request["n_next"]
    return {**answer, **_boxes_of(_block(store, rows, following, n_next), store, n_next)}


def _moments(
    add: Callable[..., None], names: Sequence[str], store: Store, chunk: int, level: int, rows: Rows, places: Any,
    request: Mapping[str, Any],
) -> Answer:  # fmt: skip
    """Return the exact sums that `add`, a method of blocks, adds up with the arrays `names` of the request."""
    shape = (request["n_slots"], store.n_classes, (store.n_features + 1) * (store.n_features + 2) // 2)
    answer = {"high_sums": np.zeros(shape, np.int64), "low_sums": np.zeros(shape, np.int64)}
    add(_block_of(store, rows, places, request), *(request[name] for name in names), *answer.values())
    return answer


def _squares(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    answer = {"squares": np.zeros((request["n_slots"], store.n_classes))}
    block = _block_of(store, rows, places, request)
    block.raise_squares(request["mean"], request["inverse"], request["factor"], answer["squares"])
    return answer


def _left(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    answer = {"left": np.zeros((*request["thresholds"].shape, store.n_classes))}
    _block_of(store, rows, places, request).add_left(request["normals"], request["thresholds"], answer["left"])
    return answer


def _histograms(store: Store, rows: Rows, places: Any, request: Mapping[str, Any], answer: Answer) -> None:
    n, n_bins = len(request["low"]), request["n_bins"]
    if not answer:
        answer["counts"] = _table(store, (n, store.n_classes, n_bins))
        answer |= {"least": np.full(n, np.inf), "largest": np.full(n, -np.inf)}
    _block_of(store, rows, places, request).add_histograms(
        request["first_space"],
        request["u"],
        request["place"],
        request["low"],
        request["scale"],
        n_bins,
        *counted_or_weighed(answer["counts"]),
        answer["least"],
        answer["largest"],
    )


def _table(store: Store, shape: int | tuple[int, ...]) -> Any:
    return np.zeros(shape, np.float64 if store.weighted else np.uint32)


def counted_or_weighed(table: Any) -> tuple[Any, Any]:
    """Return a table of counts as the first of two, one of weights as the second; the other is None."""
    return (None, table) if table.dtype == np.float64 else (table, None)


def _look(store: Store, rows: Rows, places: Any, request: Mapping[str, Any], answer: Answer) -> None:
    parts = int(request["first_part"][-1])
    if not answer:
        answer["counts"] = _table(store, parts * store.n_classes)
        answer |= {"part_low": np.full(parts, np.inf), "part_high": np.full(parts, -np.inf)}
        answer |= {"smallest": np.full(len(request["bin"]), np.inf), **{name: [] for name in FETCHED}}
    names = ("first_space", "u", "place", "low", "scale", "n_bins", "direction", "bin", "after", "from", "to")
    arguments = [request[name] for name in (*names, "origin", "step", "first_part")]
    tables = [*counted_or_weighed(answer["counts"]), answer["part_low"], answer["part_high"], answer["smallest"]]
    fetched = _block_of(store, rows, places, request).look(*(arguments + tables))
    for name, part in zip(FETCHED, fetched, strict=True):
        answer[name].append(part)


def _fetch(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    # By slot, so that the rows of a slot are copied in one piece. Their order does not change the tree, but table order
    # makes runs comparable.
    of_place = np.ascontiguousarray(request["slots"], np.int32)
    slots, X, y, w = _core.rows_of_slots(rows.columns, rows.codes, rows.weights, places, of_place, request["n_slots"])
    return {"slot": [(chunk, slots)], "X": [(chunk, X)], "y": [(chunk, y)], "w": [] if w is None else [(chunk, w)]}


def _part(store: Store, chunk: int, level: int, rows: Rows, places: Any, request: Mapping[str, Any]) -> Answer:
    """Return misclassified weight, or number if `counted`, of pruning or test rows, by member of a pruning sequence."""
    chosen = rows.parts == request["part"]
    wrong = np.zeros(len(request["alphas"]))
    seen = np.zeros(1)
    if chosen.any():
        X = np.ascontiguousarray(rows.columns[:, chosen].T)
        w = None if rows.weights is None or request.get("counted") else rows.weights[chosen]
        tree = request["tree"]
        wrong += tree.walker.sequence_errors(
            request["node_alpha"], tree.labels, request["alphas"], X, np.ascontiguousarray(rows.codes[chosen]), w
        )
        seen[0] = len(X) if w is None else w.sum()
    return {"left": wrong, "seen": seen}


ANSWERS: Mapping[str, Callable[..., Answer]] = {
    "boxes": _boxes,
    "route": _route,
    "moments": partial(_moments, _core.Block.add_moments, ("center", "inverse", "unit")),
    "squares": _squares,
    "unit_moments": partial(_moments, _core.Block.add_unit_moments, ("mean", "inverse", "factor", "least", "unit")),
    "left": _left,  # the compiled heuristics request it
    "fetch": _fetch,
    "part": _part,
}
# Tables larger than a chunk: chunks are added to them in place.
ADDED_TO: Mapping[str, Callable[..., None]] = {"histograms": _histograms, "look": _look}


# ---- answers of one machine ------------------------------------------------------------------------------------------


@dataclass
class Here:
    """This process as asker. threads : number of threads that read and count chunks; it does not affect the answer"""

    store: Store
    threads: int = 1

    def __post_init__(self) -> None:
        # Threads persist between passes, and so does each thread's memory for chunks.
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""
        chunks = range(len(self.store.sizes))
        if self._pool is None or len(chunks) < 2:
            return ask(self.store, chunks, kind, level, request)
        # A thread that finishes a chunk takes the next one, so none waits for more than the last chunk of another.
        waiting = deque(chunks)
        threads = range(min(self.threads, len(chunks)))
        parts = [self._pool.submit(ask, self.store, _taken(waiting), kind, level, request) for _ in threads]
        try:
            wait(parts, return_when=FIRST_EXCEPTION)
        finally:
            waiting.clear()  # after an error no thread begins another chunk
            wait(parts)
        return together([answer for part in parts if (answer := part.result())])

    @property
    def workers(self) -> int:
        """One, because threads share memory."""
        return 1

    @property
    def copies(self) -> int:
        """One table per thread."""
        return self.threads

    def finish(self, some: Finish) -> list[dict[str, Any]]:
        """Return the trees below some nodes, grown by all threads together or one per thread, whichever is faster."""
        fetched = Fetched(self.store, some, self.ask("fetch", some.level, some.request), range(len(some.rows)))
        shared, alone = together_or_alone(some.rows, self.threads)
        trees: dict[int, dict[str, Any]] = {}
        if shared:
            room = fetched.room(shared)
            for slot in shared:
                trees[slot] = fetched.grow(slot, room, self._pool, self.threads)
            del room
        if self._pool is None:
            room = fetched.room(alone)
            return [fetched.grow(slot, room) for slot in range(len(some.rows))]
        waiting, stop = deque(alone), np.zeros(1, np.uint8)

        def grow_some() -> None:
            room = None
            for slot in _taken(waiting):
                room = fetched.room([slot]) if room is None else room  # the first one is the largest
                trees[slot] = fetched.grow(slot, room, stop=stop)

        parts = [self._pool.submit(grow_some) for _ in range(self.threads)]
        try:
            done, _ = wait(parts, return_when=FIRST_EXCEPTION)
            for part in done:
                part.result()
        finally:
            # After an error or Ctrl-C no thread begins or continues a tree.
            waiting.clear()
            stop[0] = 1
            wait(parts)
        return [trees[slot] for slot in range(len(some.rows))]


# Throughput of all threads on one tree, relative to one tree per thread.
WORTH_OF_SHARING = 0.8


def together_or_alone(rows: Sequence[int], threads: int) -> tuple[list[int], list[int]]:
    """Return the nodes for all threads together, and the nodes for single threads, both largest first.
    Threads that take the largest node left end at about the same time, unless few are left. rows : of each node"""
    order = sorted(range(len(rows)), key=lambda slot: (-rows[slot], slot))

    def seconds(shared: int) -> float:
        loads = [0.0] * threads
        for slot in order[shared:]:
            loads[loads.index(min(loads))] += rows[slot]
        return sum(rows[slot] for slot in order[:shared]) / (WORTH_OF_SHARING * threads) + max(loads)

    shared = min(range(min(threads, len(order)) + 1), key=seconds) if threads > 1 else 0
    return order[:shared], order[shared:]


def _taken(waiting: deque[int]) -> Iterator[int]:
    """Yield the waiting chunks or nodes, each to one thread only, until none is left."""
    while True:
        try:
            taken = waiting.popleft()  # only one thread gets it
        except IndexError:
            return
        yield taken
