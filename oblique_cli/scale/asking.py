"""Who answers the requests of a growing tree, on one machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from oblique_cli.scale.passes import Answer, Finish, ask, together
from oblique_cli.scale.store import Store


@dataclass
class Here:
    """This process. threads : that read and count chunks side by side; the answer is the same for any number"""

    store: Store
    threads: int = 1

    def __post_init__(self) -> None:
        # Threads live from pass to pass, and with them the memory that each of them reads chunks into.
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""
        chunks = range(len(self.store.sizes))
        if self._pool is None or len(chunks) < 2:
            return ask(self.store, chunks, kind, level, request)
        # Whoever is done with a chunk takes the next one, so that nobody waits for more than the last chunk of another.
        waiting = deque(chunks)
        threads = range(min(self.threads, len(chunks)))
        parts = [self._pool.submit(ask, self.store, _taken(waiting), kind, level, request) for _ in threads]
        try:
            wait(parts, return_when=FIRST_EXCEPTION)
        finally:
            waiting.clear()  # after an error nobody begins another chunk
            wait(parts)
        return together([answer for part in parts if (answer := part.result())])

    @property
    def workers(self) -> int:
        """One: threads share its memory."""
        return 1

    @property
    def copies(self) -> int:
        """One table a thread."""
        return self.threads

    def finish(self, some: Finish) -> list[dict[str, Any]]:
        """Return the trees below some nodes. Threads share each of them, so that nodes need not be alike."""
        found = self.ask("fetch", some.level, some.request)
        trees = some.trees(self.store, found, range(len(some.rows)), self._pool, self.threads)
        return [grow(n_threads=self.threads) for _, grow in trees]


def _taken(waiting: deque[int]) -> Iterator[int]:
    """Yield chunks that nobody else has taken, until none is left."""
    while True:
        try:
            chunk = waiting.popleft()  # one of two threads gets it
        except IndexError:
            return
        yield chunk
