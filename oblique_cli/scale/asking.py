"""Answers to the requests of a growing tree on one machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from oblique_cli.scale.passes import Answer, Fetched, Finish, ask, together
from oblique_cli.scale.store import Store


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
