"""Workers of Dask that answer the requests of a growing tree. They all see the folder of the store under one name."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, DataError, ObliqueError
from oblique_cli.experiments.cluster import Cluster
from oblique_cli.scale.partition import cut
from oblique_cli.scale.passes import Answer, ask, together
from oblique_cli.scale.store import Store

TASKS_A_WORKER = 4  # so that a slow worker holds up a quarter of its share only
FAN_IN = 4  # answers that are put together at a time
RETRIES = 3

_stores: dict[str, Store] = {}  # of this worker


def answered(path: str, chunks: Sequence[int], kind: str, level: int, request: Mapping[str, Any]) -> Answer:
    """Answer a request for some chunks; runs on a worker. Asked again, it gives the same answer and files."""
    store = _stores.get(path)
    if store is None:
        store = _stores[path] = Store.open(path)
    before = store.bytes_read
    answer = ask(store, chunks, kind, level, request)
    answer["bytes_read"] = np.array([store.bytes_read - before])
    return answer


def joined(answers: list[Answer]) -> Answer:
    """Put answers together; runs on a worker, and leaves the answers as they are, since Dask may ask again."""
    return together([copy.deepcopy(answers[0]), *answers[1:]])


def as_it_is(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request, once for all tasks that share it; runs on a worker."""
    return request


def grown(job: tuple[Any, ...]) -> dict[str, Any]:
    """Grow the tree below a node; runs on a worker."""
    return _core.grow(*job)


@dataclass
class Workers:
    """Those of a cluster. bytes_sent : of requests and answers, as far as this process and workers exchange them."""

    client: Any
    store: Store
    lost: type[BaseException] = RuntimeError
    bytes_sent: int = 0

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""
        with self._faults():
            workers = max(1, len(self.client.ncores()))
        chunks = range(len(self.store.sizes))
        parts: list[Mapping[str, Any]] = [request]
        row_parts = workers
        if kind == "histograms":
            cells = len(request["low"]) * self.store.n_classes * request["n_bins"]
            rows = self.store.n_rows * self.store.bytes_of_row
            chosen = cut(workers, len(chunks), len(request["low"]), rows, 4.0 * cells)
            row_parts, parts = chosen.rows, _by_directions(request, chosen.directions)
        number = min(len(chunks), TASKS_A_WORKER * row_parts)
        blocks = [chunks[len(chunks) * i // number : len(chunks) * (i + 1) // number] for i in range(number)]
        with self._faults():
            found = [self._together(blocks, kind, level, part) for part in parts]
            answers = self.client.gather(found)
        answer = answers[0] if len(answers) == 1 else _side_by_side(answers)
        self.store.bytes_read += int(answer.pop("bytes_read").sum())
        self.bytes_sent += sum(np.asarray(v).nbytes for v in answer.values() if isinstance(v, np.ndarray)) * number
        return answer

    def _together(self, blocks: list[range], kind: str, level: int, request: Mapping[str, Any]) -> Any:
        # What a task gives can be made again when a worker is lost; what is scattered cannot.
        shared = self.client.submit(as_it_is, dict(request), pure=False, retries=RETRIES)
        path = str(self.store.path)
        futures = [
            self.client.submit(answered, path, list(block), kind, level, shared, pure=False, retries=RETRIES)
            for block in blocks
        ]
        while len(futures) > 1:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self.client.submit(joined, group, pure=False, retries=RETRIES) for group in groups]
        return futures[0]

    def finish(self, jobs: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
        """Return the trees below nodes whose rows are at hand: one task a node."""
        with self._faults():
            futures = [self.client.submit(grown, job, pure=False, retries=RETRIES) for job in jobs]
            found: list[dict[str, Any]] = self.client.gather(futures)
            return found

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        from concurrent.futures import CancelledError

        try:
            yield
        except ObliqueError:
            raise
        except self.lost as error:
            raise ConfigError(
                f"workers of Dask died again and again ({str(error).splitlines()[0]}); give them more memory, or the "
                "fit a smaller --memory."
            ) from None
        except (OSError, TimeoutError, CancelledError) as error:
            raise DataError(
                f"{self.store.path.parent}: the Dask scheduler is gone ({type(error).__name__}); start it again, and "
                "the same command goes on from the last level if --scratch names this folder"
            ) from None


def _by_directions(request: Mapping[str, Any], parts: int) -> list[Mapping[str, Any]]:
    """A request for histograms cut into some for a part of the directions each."""
    n = len(request["low"])
    found: list[Mapping[str, Any]] = []
    for i in range(parts):
        first, last = n * i // parts, n * (i + 1) // parts
        place = np.asarray(request["place"])
        mine = np.where((place >= first) & (place < last), place - first, -1)
        found.append({**request, "place": mine, **{k: request[k][first:last].copy() for k in ("low", "scale")}})
    return found


def _side_by_side(answers: Sequence[Answer]) -> Answer:
    names = ("counts", "least", "largest", "bytes_read")
    return {name: np.concatenate([answer[name] for answer in answers]) for name in names}


@dataclass(frozen=True)
class Company:
    """The workers of a cluster, for any store."""

    client: Any
    lost: type[BaseException]

    def __call__(self, store: Store) -> Workers:
        """Return them at work on a store, whose folder they see under its absolute name."""
        return Workers(self.client, Store.open(Path(store.path).absolute()), self.lost)


@contextlib.contextmanager
def workers_of(address: str | None, n_workers: int = 1) -> Iterator[Company]:
    """Give the workers of the scheduler at an address, or those of a cluster of its own here.

    ConfigError if Dask is not installed, or nobody answers.
    """
    with _cluster(address, n_workers) as cluster:
        yield Company(cluster.client, cluster.lost)


@contextlib.contextmanager
def forests_on(address: str | None, n_workers: int = 1) -> Iterator[None]:
    """Let the forests that are fitted inside grow on workers, as in `workers_of`."""
    from concurrent.futures import CancelledError

    with _cluster(address, n_workers) as cluster:
        try:
            with cluster.config():
                yield
        except cluster.lost as error:
            raise ConfigError(
                f"workers of Dask died again and again ({str(error).splitlines()[0]}); give them more memory, or take "
                "fewer of them."
            ) from None
        except (OSError, TimeoutError, CancelledError) as error:
            raise DataError(
                f"the Dask scheduler is gone ({type(error).__name__}); start it again, and run the same command again"
            ) from None


@contextlib.contextmanager
def _cluster(address: str | None, n_workers: int) -> Iterator[Cluster]:
    try:
        from distributed import LocalCluster
    except ImportError:
        raise ConfigError("--scheduler needs Dask: pip install 'oblique-trees[dask]'") from None
    with contextlib.ExitStack() as stack:
        if address is None:
            local = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
            stack.enter_context(local)
            address = local.scheduler_address
        cluster = Cluster(address)
        stack.callback(cluster.close)
        yield cluster
