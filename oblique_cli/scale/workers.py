"""Dask workers that answer the requests of a growing tree. The folder of the store has the same name on all of them.

A pass is divided among the workers by rows, by directions, or both (thesis 4.1.3.1 and 4.2). Parts r of the rows need
tables of all directions from each, parts d of the directions read all rows, r * d = workers: rows_bytes * d /
(workers * DISK) + table_bytes / d * ceil(log2(r)) / NETWORK beside the counting itself."""

from __future__ import annotations

import contextlib
import copy
import logging
import math
import operator
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError, DataError, ObliqueError
from oblique_cli.experiments.cluster import Cluster
from oblique_cli.scale.passes import Answer, Fetched, Finish, ask, together
from oblique_cli.scale.store import MANIFEST, Store

TASKS_A_WORKER = 2  # so that a slow worker delays only half of its share; more tasks would cost more to distribute
FAN_IN = 4  # answers to combine at a time
RETRIES = 3
SMALL_REQUEST = 1 << 16  # bytes; a larger request is sent to a worker once, as a separate step
MOST_FETCHING = 32  # groups of nodes, and blocks of rows for them, unless there are more workers
DISK = 500e6  # bytes per second that a worker reads
NETWORK = 100e6  # bytes per second of a transferred table

_stores: dict[Folder, Store] = {}  # of this worker


@dataclass(frozen=True)
class Cut:
    """Numbers of parts of the rows and of the directions."""

    rows: int
    directions: int

    def seconds(self, rows_bytes: float, table_bytes: float) -> float:
        """Return the seconds of a pass without counting, for rows and tables of these sizes."""
        steps = math.ceil(math.log2(self.rows))
        return rows_bytes / (self.rows * DISK) + table_bytes / self.directions * steps / NETWORK


def cut(workers: int, chunks: int, directions: int, rows_bytes: float, table_bytes: float) -> Cut:
    """Return the cheapest cut for some workers; among equals the cut with more parts of the rows."""
    divisors = (d for d in range(1, max(1, min(workers, directions)) + 1) if workers % d == 0)
    cuts = [Cut(workers // d, d) for d in divisors if workers // d <= chunks]
    return min(cuts, key=lambda each: each.seconds(rows_bytes, table_bytes), default=Cut(min(workers, chunks), 1))


@dataclass(frozen=True)
class Folder:
    """Folder of a store, and a checksum that differs from that of an earlier fit under the same name."""

    path: str
    checksum: int

    @classmethod
    def of(cls, store: Store) -> Folder:
        return cls(str(store.path), zlib.crc32((store.path / MANIFEST).read_bytes()))

    def store(self) -> Store:
        """Return the store; this worker's checks of it remain valid."""
        if self not in _stores:
            _stores.clear()
            _stores[self] = Store.open(self.path)
        return _stores[self]


def answered(of: Folder, chunks: Sequence[int], kind: str, level: int, request: Mapping[str, Any]) -> Answer:
    """Answer a request for some chunks; runs on a worker. Repeated calls give the same answer and files."""
    store = of.store()
    before = store.bytes_read
    answer = ask(store, chunks, kind, level, request)
    answer["bytes_read"] = np.array([store.bytes_read - before])
    return answer


def joined(answers: list[Answer]) -> Answer:
    """Combine answers without modifying them: Dask may request them again, and on this side they are read-only."""
    return together([copy.deepcopy(answers[0]), *answers[1:]])


def as_it_is(request: Any) -> Any:
    """Return a request, once for all tasks that share it; runs on a worker."""
    return request


def fetched(of: Folder, chunks: Sequence[int], some: Finish, group_of: Any, n_groups: int) -> list[Answer]:
    """Return the rows of some chunks by group of nodes; runs on a worker. group_of : (slots,)"""
    answer = answered(of, chunks, "fetch", some.level, some.request)
    groups: list[Answer] = []
    for group in range(n_groups):
        picked: Answer = {"slot": [], "X": [], "y": [], "w": []}
        for i, (chunk, slots) in enumerate(answer["slot"]):
            mine = np.flatnonzero(group_of[slots] == group)
            picked["slot"].append((chunk, slots[mine]))
            for name in ("X", "y", "w"):
                if answer[name]:
                    picked[name].append((chunk, answer[name][i][1][mine]))
        groups.append(picked)
    groups[0]["bytes_read"] = answer["bytes_read"]
    return groups


def grown(of: Folder, pieces: list[Answer], some: Finish, slots: Sequence[int]) -> tuple[list[Any], int]:
    """Return the trees below a group of nodes, and the bytes read for its rows; runs on a worker."""
    answers: Answer = {name: [part for piece in pieces for part in piece[name]] for name in ("slot", "X", "y", "w")}
    bytes_read = sum(int(piece["bytes_read"].sum()) for piece in pieces if "bytes_read" in piece)
    fetched = Fetched(of.store(), some, answers, slots)
    room = fetched.room(slots)
    return [(slot, fetched.grow(slot, room)) for slot in slots], bytes_read


@dataclass
class Workers:
    """Workers of a cluster."""

    client: Any
    store: Store
    lost: type[BaseException] = RuntimeError

    @property
    def workers(self) -> int:
        """Number of workers, at least one."""
        return len(self._addresses())

    @property
    def copies(self) -> int:
        """Number of tables of a worker that combines answers, including their sum."""
        return FAN_IN + 1

    def ask(self, kind: str, level: int, request: Mapping[str, Any]) -> Answer:
        """Return the answer of all chunks."""
        addresses = self._addresses()
        n_chunks = len(self.store.sizes)
        parts: list[Mapping[str, Any]] = [request]
        row_parts = len(addresses)
        if kind == "histograms":
            cells = len(request["low"]) * self.store.n_classes * request["n_bins"]
            rows = self.store.n_rows * self.store.bytes_of_row
            chosen = cut(len(addresses), n_chunks, len(request["low"]), rows, 4.0 * cells)
            row_parts, parts = chosen.rows, _by_directions(request, chosen.directions)
        number = min(n_chunks, TASKS_A_WORKER * row_parts)
        with self._faults():
            pending = [
                self._blocks(addresses[i :: len(parts)], number, answered, kind, level, self._shared(part))
                for i, part in enumerate(parts)
            ]
            answers = [joined(some) for some in self.client.gather([self._few(futures) for futures in pending])]
        answer = answers[0]
        if len(answers) > 1:
            names = ("counts", "least", "largest", "bytes_read")
            answer = {name: np.concatenate([part_answer[name] for part_answer in answers]) for name in names}
        self.store.bytes_read += int(answer.pop("bytes_read").sum())
        return answer

    def _addresses(self) -> list[str]:
        """Return the addresses of the workers, always in the same order."""
        with self._faults():
            return sorted(self.client.ncores()) or [""]

    def _shared(self, request: Mapping[str, Any]) -> Any:
        """Return a request for several tasks: unchanged if small, else the result of one task that all share."""
        plain = all(isinstance(value, np.ndarray | int) for value in request.values())
        if plain and sum(np.asarray(value).nbytes for value in request.values()) <= SMALL_REQUEST:
            return request
        # The result of a task can be recomputed when a worker is lost; scattered data cannot.
        return self.client.submit(as_it_is, dict(request), pure=False, retries=RETRIES)

    def _blocks(self, addresses: Sequence[str], number: int, what: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return futures of what(folder, chunks, *arguments) for `number` blocks of chunks. Each worker gets the same
        chunks in every pass, which are in its file cache and checked; others may take them if it is overloaded."""
        n_chunks, folder = len(self.store.sizes), Folder.of(self.store)
        blocks = [list(range(n_chunks * i // number, n_chunks * (i + 1) // number)) for i in range(number)]
        of_worker: dict[str, list[list[int]]] = {}
        for i, block in enumerate(blocks):
            of_worker.setdefault(addresses[i * len(addresses) // number] if addresses else "", []).append(block)
        futures = []
        for address, mine in of_worker.items():
            where = {"workers": [address], "allow_other_workers": True} if address else {}
            same = [[value] * len(mine) for value in arguments]
            futures += self.client.map(what, [folder] * len(mine), mine, *same, pure=False, retries=RETRIES, **where)
        return futures

    def _few(self, futures: list[Any]) -> list[Any]:
        """Combine answers on workers until few enough are left to combine here."""
        while len(futures) > FAN_IN:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self.client.submit(joined, group, pure=False, retries=RETRIES) for group in groups]
        return futures

    def finish(self, some: Finish) -> list[dict[str, Any]]:
        """Return the trees below some nodes: one task per group of nodes, whose rows go from worker to worker."""
        addresses = self._addresses()
        most = max(len(addresses), min(TASKS_A_WORKER * len(addresses), MOST_FETCHING))
        slots = range(len(some.rows))
        groups: list[list[int]] = [[] for _ in range(min(len(slots), most))]
        loads = [0] * len(groups)
        group_of = np.zeros(len(slots), np.int64)
        for slot in sorted(slots, key=lambda slot: -some.rows[slot]):  # to the group with the least work so far
            group_of[slot] = lightest = loads.index(min(loads))
            groups[lightest].append(slot)
            loads[lightest] += some.rows[slot]
        number = min(len(self.store.sizes), most)
        folder, submit = Folder.of(self.store), partial(self.client.submit, pure=False, retries=RETRIES)
        with self._faults():
            shared = submit(as_it_is, some)
            blocks = self._blocks(addresses, number, fetched, shared, group_of, len(groups))
            futures = []
            for i, address in _evenly(loads, addresses):
                # Picked on the worker, so that only the rows of this group are transferred.
                pieces = self.client.map(operator.getitem, blocks, [i] * number, pure=False, retries=RETRIES)
                # The worker is fixed, since Dask, which knows no loads, may send the two largest groups to one worker.
                where = {"workers": [address], "allow_other_workers": True} if address else {}
                futures.append(submit(grown, folder, pieces, shared, groups[i], **where))
            trees: dict[int, dict[str, Any]] = {}
            for of_group, bytes_read in self.client.gather(futures):
                trees.update(of_group)
                self.store.bytes_read += bytes_read
        return [trees[slot] for slot in slots]

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        from concurrent.futures import CancelledError

        try:
            yield
        except ObliqueError:
            raise
        except self.lost as error:
            raise _died(error, "the fit a smaller --memory") from None
        except (OSError, TimeoutError, CancelledError) as error:
            raise DataError(
                f"{self.store.path.parent}: the Dask scheduler is gone ({type(error).__name__}); start it again, and "
                "the same command goes on from the last level if --scratch names this folder"
            ) from None


def _evenly(loads: Sequence[int], workers: Sequence[str]) -> list[tuple[int, str]]:
    """Return the worker of each load, the largest loads first, each to the worker with the least load so far."""
    held = [0] * len(workers)
    assignments = []
    for i in sorted(range(len(loads)), key=lambda i: -loads[i]):
        at = held.index(min(held))
        held[at] += loads[i]
        assignments.append((i, workers[at]))
    return assignments


def _by_directions(request: Mapping[str, Any], parts: int) -> list[Mapping[str, Any]]:
    """Return a request for histograms, divided into requests for parts of the directions."""
    n = len(request["low"])
    requests: list[Mapping[str, Any]] = []
    for i in range(parts):
        first, last = n * i // parts, n * (i + 1) // parts
        place = np.asarray(request["place"])
        mine = np.where((place >= first) & (place < last), place - first, -1)
        requests.append({**request, "place": mine, **{k: request[k][first:last].copy() for k in ("low", "scale")}})
    return requests


def _died(error: BaseException, remedy: str) -> ConfigError:
    reason = str(error).splitlines()[0]
    return ConfigError(f"workers of Dask died again and again ({reason}); give them more memory, or {remedy}.")


@dataclass(frozen=True)
class Company:
    """Workers of a cluster, for any store."""

    client: Any
    lost: type[BaseException]

    def __call__(self, store: Store) -> Workers:
        """Return the workers for a store, whose folder they access by its absolute name."""
        store.path = Path(store.path).absolute()
        return Workers(self.client, store, self.lost)


@contextlib.contextmanager
def workers_of(address: str | None, n_workers: int = 1) -> Iterator[Company]:
    """Yield the workers of the scheduler at an address, or of a new local cluster; ConfigError without Dask
    or scheduler."""
    with _cluster(address, n_workers) as cluster:
        yield Company(cluster.client, cluster.lost)


@contextlib.contextmanager
def forests_on(address: str | None, n_workers: int = 1) -> Iterator[None]:
    """Grow forests fitted in this context on workers, as in `workers_of`."""
    from concurrent.futures import CancelledError

    with _cluster(address, n_workers) as cluster:
        try:
            with cluster.config():
                yield
        except cluster.lost as error:
            raise _died(error, "take fewer of them") from None
        except (OSError, TimeoutError, CancelledError) as error:
            if cluster.answers():  # then the error comes from the fit
                raise
            raise DataError(
                f"the Dask scheduler is gone ({type(error).__name__}); start it again, and run the same command again"
            ) from None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Show errors once, at the caller: Dask also logs the errors that it raises, with tracebacks."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _cluster(address: str | None, n_workers: int) -> Iterator[Cluster]:
    try:
        from distributed import LocalCluster
    except ImportError:
        raise ConfigError("--scheduler needs Dask: pip install 'oblique-trees[dask]'") from None
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        if address is None:
            local = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
            stack.enter_context(local)
            address = local.scheduler_address
        cluster = Cluster(address)
        stack.callback(cluster.close)
        yield cluster
