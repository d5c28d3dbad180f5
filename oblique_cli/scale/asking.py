"""Who answers the requests of a growing tree, on one machine."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from oblique_cli.scale.passes import Answer, Finish, ask, together
from oblique_cli.scale.store import Store


@dataclass
class Here:
    """This process. threads : that read and count chunks side by side; the answer is the same for any number"""

    store: Store
    threads: int = 1

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""
        chunks = range(len(self.store.sizes))
        if self.threads == 1 or len(chunks) < 2:
            return ask(self.store, chunks, kind, level, request)
        parts = [chunks[i :: self.threads] for i in range(min(self.threads, len(chunks)))]
        with ThreadPoolExecutor(len(parts)) as pool:
            return together(list(pool.map(lambda some: ask(self.store, some, kind, level, request), parts)))

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
        trees = [grow(n_threads=self.threads) for _, grow in some.trees(self.store, found, range(len(some.rows)))]
        return trees
