"""Ctrl-C is served in the middle of compiled work. Without that, each of these fits would go on for half a minute."""

from __future__ import annotations

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


def seconds_to_stop(work: Callable[[], Any], after: float = 0.6) -> float:
    """How long work goes on after a signal; the work must not end before it."""
    sent = 0.0

    def handler(number: int, frame: object) -> None:
        nonlocal sent
        raise Interrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        sent = time.monotonic() + after
        signal.setitimer(signal.ITIMER_REAL, after)
        with pytest.raises(Interrupt):
            work()
        return time.monotonic() - sent
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


WORK: dict[str, Callable[[], Any]] = {
    "search": lambda: make("hhcart_a").fit(*table(60_000, 60, 10)),
    "search by several threads": lambda: make("hhcart_a").set_params(n_jobs=3).fit(*table(60_000, 60, 10)),
    "moments": lambda: make("gdt").fit(*table(3000, 1500)),
    "one decomposition": lambda: make("hhcart_d").fit(*table(4200, 4000)),
    "span": lambda: make("hhgdt").fit(*table(1800, 20_000)),
    "climb": lambda: make("oc1", restarts=1000).fit(*table(5000, 20)),
    "sweeps": lambda: make("oc1_lc").fit(*table(60_000, 40)),
    "forest": lambda: make("rrof", n_estimators=2000).fit(*table(20_000, 20)),
    "forest of planes": lambda: make("mprof_n", n_estimators=20).fit(*table(60, 1500)),
    "forest of reflections": lambda: make("hhcart_forest", n_estimators=2000).fit(*table(20_000, 20)),
    "regions": lambda: make("pathfinder").fit(*table(3000, 60)),
    "taxonomy": lambda: SupervisedTaxonomy().fit(*table(7000, 5, 2)),
    "avalanche": lambda: AvalancheClustering().fit(table(9000, 5)[0]),
    "representatives": lambda: make("supervised_clustering_edit").fit(*table(3000, 5)),
}


@pytest.mark.parametrize("name", WORK)
def test_a_signal_ends_the_work_soon(name):
    assert seconds_to_stop(WORK[name]) < 4.0  # a second, and what other processes take of this one


def test_threads_of_a_forest_end_with_it():
    def work() -> None:
        make("rrof", n_estimators=2000).set_params(n_jobs=3).fit(*table(20_000, 20))

    before = threading.active_count()
    assert seconds_to_stop(work) < 4.0
    assert threading.active_count() == before
    # And the next fit is as good as any.
    X, y = table(200, 4)
    assert make("rrof", n_estimators=5, random_state=0).fit(X, y).predict(X).shape == (200,)


def test_threads_of_a_tree_end_with_it():
    before = threading.active_count()
    assert seconds_to_stop(lambda: make("hhcart_a").set_params(n_jobs=2).fit(*table(60_000, 60, 10))) < 4.0
    assert threading.active_count() == before


def test_the_detector_can_fire():
    # A function of the standard library that looks for no signals: the handler runs when it is over.
    assert seconds_to_stop(lambda: hashlib.pbkdf2_hmac("sha512", b"", b"", 4_000_000), after=0.05) > 0.5
