"""Progress of long fits: lines by `verbose`, and callbacks of scikit-learn (from 1.9)."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from oblique_cli.ground.constraints import Integer
from oblique_cli.parameters import CALLBACKS, Declared, parameter

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in without callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Return the method unchanged."""
        return method


EVERY = 0.05  # seconds between two checks of progress
LINES = 10  # number of lines for verbose=1


class Watched(CallbackSupportMixin, Declared, kw_only=True):
    """Estimator whose fit consists of many tasks and reports how many are finished."""

    verbose: int = parameter(
        default=0,
        allowed=Integer(0),
        help="1 prints at most ten lines about how many trees are grown, 2 one for each tree. Callbacks of "
        "scikit-learn, as from `set_callbacks(ProgressBar())`, are told of each tree.",
    )

    def _watched(self, total: int, finished: Callable[[], int], work: Callable[[], Any]) -> Any:
        """Return the result of `work`; while it runs, a thread reports how many of `total` trees are `finished`."""
        reports: list[Callable[[int], None]] = []
        if self.verbose:
            reports.append(_Lines(type(self).__name__, total, every_tree=self.verbose > 1))
        if not getattr(self, CALLBACKS, None):
            return _reported(finished, work, reports)
        return _under_callbacks(self, total, finished, work, reports)


@with_callbacks
def _under_callbacks(
    estimator: Any,
    total: int,
    finished: Callable[[], int],
    work: Callable[[], Any],
    reports: list[Callable[[int], None]],
) -> Any:
    """Run the work as a task of callbacks, with a subtask for every tree."""
    context = estimator._init_callback_context(max_subtasks=total)
    context.call_on_fit_task_begin(estimator=estimator)

    def tell(number: int) -> None:
        tree = context.subcontext(task_name="tree")
        tree.call_on_fit_task_begin(estimator=estimator)
        tree.call_on_fit_task_end(estimator=estimator)

    result = _reported(finished, work, [*reports, tell])
    context.call_on_fit_task_end(estimator=estimator)
    return result


def _reported(finished: Callable[[], int], work: Callable[[], Any], reports: list[Callable[[int], None]]) -> Any:
    """Run the work, and pass every finished tree's number to each report, from 1 on, in order."""
    if not reports:
        return work()
    failed: list[Exception] = []
    ended, done = threading.Event(), 0

    def catch_up() -> None:
        nonlocal done
        while done < finished():
            done += 1
            for report in reports:
                report(done)

    def watch() -> None:
        try:
            while not ended.wait(EVERY):
                catch_up()
        except Exception as error:  # from a callback: raised again in the thread of the fit
            failed.append(error)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        result = work()
    finally:
        ended.set()
        watcher.join()
    if failed:
        raise failed[0]
    catch_up()
    return result


class _Lines:
    """Progress printer: number of grown trees and elapsed time."""

    def __init__(self, owner: str, total: int, every_tree: bool) -> None:
        self._owner, self._total = owner, total
        self._step = 1 if every_tree else max(1, -(-total // LINES))
        self._begun = time.perf_counter()

    def __call__(self, number: int) -> None:
        if number % self._step == 0 or number == self._total:
            seconds = time.perf_counter() - self._begun
            sys.stdout.write(f"{self._owner}: {number} of {self._total} trees, {seconds:.1f} s\n")
            sys.stdout.flush()
