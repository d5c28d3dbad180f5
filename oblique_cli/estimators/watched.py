"""Progress of long fits: lines by `verbose`, and callbacks of scikit-learn (from 1.9)."""

from __future__ import annotations

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
            step, begun = 1 if self.verbose > 1 else max(1, -(-total // LINES)), time.perf_counter()

            def line(number: int) -> None:
                if number % step == 0 or number == total:
                    seconds = time.perf_counter() - begun
                    print(f"{type(self).__name__}: {number} of {total} trees, {seconds:.1f} s", flush=True)

            reports.append(line)
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
