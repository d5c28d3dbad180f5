"""Who answers the requests of a growing tree, on one machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import oblique_cli._core as _core
from oblique_cli.scale.passes import Answer, ask, together
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

    def finish(self, jobs: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
        """Return the trees below nodes whose rows are at hand."""
        if self.threads == 1:
            return [_core.grow(*job) for job in jobs]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda job: _core.grow(*job), jobs))
