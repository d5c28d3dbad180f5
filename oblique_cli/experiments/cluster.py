"""Folds on the workers of a Dask cluster, through joblib's Dask backend."""

from __future__ import annotations

import asyncio
import functools
import os
from contextlib import AbstractContextManager
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from oblique_cli.errors import ConfigError
from oblique_cli.experiments.environment import LIBRARIES, versions

SECONDS = 20.0  # timeout for the scheduler's answer and the first worker


class Cluster:
    """Connection to the scheduler at `address` ("tcp://host:8786") or of a scheduler file.

    Raise ConfigError without Dask, scheduler or workers, or if workers have other versions."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, KilledWorker
        except ImportError:
            raise ConfigError("backend dask needs Dask: pip install 'oblique-trees[dask]'") from None
        where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
        try:
            self.client = Client(**where, timeout=SECONDS, set_as_default=False)
            self.client.wait_for_workers(1, timeout=SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(
                f"no Dask scheduler with workers answers at {address!r} ({type(error).__name__}: {reason}); start one "
                "with `dask scheduler` and `dask worker`, and give its address, as in tcp://127.0.0.1:8786"
            ) from None
        self.lost = KilledWorker
        here = versions(LIBRARIES)
        for worker, there in self.client.run(versions, LIBRARIES).items():
            for name in LIBRARIES:
                if there.get(name) != here.get(name):
                    self.close()
                    raise ConfigError(
                        f"Dask worker {worker} has {name} {there.get(name, 'not installed')}, and this process has "
                        f"{here.get(name)}: results could differ; install the same version there."
                    )

    @property
    def processors(self) -> int:
        """Return the number of threads of all workers, at least 1."""
        return max(1, int(sum(self.client.ncores().values())))

    def config(self) -> AbstractContextManager[Any]:
        """Return the context in which joblib uses the cluster."""
        from joblib._dask import DaskDistributedBackend

        class Backend(DaskDistributedBackend):  # type: ignore[misc]
            """joblib's Dask backend that raises an error for a task whose workers died repeatedly; joblib 1.6 hangs."""

            async def _collect(self) -> None:
                while self._continue:
                    async for future, result in self.waiting_futures:
                        answer, callback = self._results.pop(future), self._callbacks.pop(future)
                        if future.status == "error":
                            answer.set_exception(result[1])
                            callback(_Failed(result[1]))
                        else:
                            answer.set_result(result)
                            callback(result)
                    await asyncio.sleep(0.01)

            def effective_n_jobs(self, n_jobs: int) -> int:
                # For a cluster of one thread, joblib would compute in this process.
                return max(2, int(super().effective_n_jobs(n_jobs)))

            def retrieve_result_callback(self, out: Any) -> Any:
                if isinstance(out, _Failed):
                    raise out.error
                return super().retrieve_result_callback(out)

        context: AbstractContextManager[Any] = joblib.parallel_config(Backend(client=self.client))
        return context

    def answers(self) -> bool:
        """Return whether the scheduler answers a request."""
        from concurrent.futures import CancelledError

        try:
            scheduler: Any = self.client.scheduler
            self.client.sync(scheduler.identity, callback_timeout=SECONDS)
        except (OSError, TimeoutError, CancelledError, ValueError):
            return False
        return True

    def close(self) -> None:
        """Close the connection; the cluster keeps running."""
        self.client.close()


class _Failed:
    """Error of a task, in place of its result."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


@functools.cache  # once per process
def one_thread() -> None:
    """Limit linear algebra to one thread in all threads of a worker."""
    threadpool_limits(1)
