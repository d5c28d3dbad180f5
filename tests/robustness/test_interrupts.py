"""Ctrl-C is served in the middle of compiled work. Without that, each of these fits would go on for half a minute."""

import hashlib
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oblique_cli.estimators.algorithms import make
from oblique_cli.papers.hierarchy.taxonomy_estimators import AvalancheClustering, SupervisedTaxonomy

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")


class Interrupt(Exception):
    """What the handler of the signal raises, as Python's own raises KeyboardInterrupt."""


def table(n: int, p: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, p)), rng.integers(n_classes, size=n)


def work_to_stop(work: Callable[..., Any], *arguments: Any, after: float = 0.3) -> float:
    """How many seconds this process still works after a signal; the work must not end before it.

    The signal comes after that much work, and seconds of work are counted, not those of a clock: a busy machine delays
    both alike.
    """
    sent = 0.0

    def handler(number: int, frame: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGPROF, handler)
    try:
        sent = time.process_time() + after
        signal.setitimer(signal.ITIMER_PROF, after)
        with pytest.raises(Interrupt):
            work(*arguments)
        return time.process_time() - sent
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def fit(name: str, n_jobs: int | None = None, **parameters: Any) -> Callable[..., Any]:
    """The fit of an algorithm."""
    model = make(name, **parameters)
    return (model.set_params(n_jobs=n_jobs) if n_jobs else model).fit


# What works, and the sizes of its table.
WORK: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "search": (fit("hhcart_a"), (60_000, 60, 10)),
    "search by several threads": (fit("hhcart_a", 3), (60_000, 60, 10)),
    "moments": (fit("gdt"), (3000, 1500)),
    "one decomposition": (fit("hhcart_d"), (4200, 4000)),
    "span": (fit("hhgdt"), (1800, 20_000)),
    "climb": (fit("oc1", restarts=1000), (5000, 20)),
    "sweeps": (fit("oc1_lc"), (60_000, 40)),
    "forest": (fit("rrof", n_estimators=2000), (20_000, 20)),
    "forest of planes": (fit("mprof_n", n_estimators=20), (60, 1500)),
    "forest of reflections": (fit("hhcart_forest", n_estimators=2000), (20_000, 20)),
    "regions": (fit("pathfinder"), (3000, 60)),
    "taxonomy": (SupervisedTaxonomy().fit, (7000, 5, 2)),
    "avalanche": (lambda X, y: AvalancheClustering().fit(X), (9000, 5)),
    "representatives": (fit("supervised_clustering_edit"), (3000, 5)),
}
MOST = 4.0  # seconds of work: a tenth of one at a time, by several threads, and what slower machines take


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", WORK)
def test_a_signal_ends_the_work_soon(name):
    work, sizes = WORK[name]
    assert work_to_stop(work, *table(*sizes)) < MOST


def test_threads_of_a_forest_end_with_it():
    before = threading.active_count()
    assert work_to_stop(fit("rrof", 3, n_estimators=2000), *table(20_000, 20)) < MOST
    assert threading.active_count() == before
    # And the next fit is as good as any.
    X, y = table(200, 4)
    assert make("rrof", n_estimators=5, random_state=0).fit(X, y).predict(X).shape == (200,)


def test_threads_of_a_tree_end_with_it():
    before = threading.active_count()
    assert work_to_stop(fit("hhcart_a", 2), *table(60_000, 60, 10)) < MOST
    assert threading.active_count() == before


@pytest.mark.long
def test_the_detector_can_fire():
    # A function of the standard library that looks for no signals: the handler runs when it is over.
    assert work_to_stop(hashlib.pbkdf2_hmac, "sha512", b"", b"", 2_000_000, after=0.05) > 0.3
