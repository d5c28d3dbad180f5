"""What holds for all tests: data sets that may not be bundled are there for those only that ask for them; a browser."""

import os
import sys

# The processes of xdist have the processors between them. Threads of BLAS and OpenMP in each would wait for one another
# by spinning, which takes several times as long as what they compute. Read when NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import functools
import gc
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from browser_support import NoBrowser, launched, opened
from checkout_support import checkout
from cli_support import call, finished, finished_folder, forking
from hypothesis import given, settings, strategies
from sklearn.base import BaseEstimator

from oblique_cli.data import Entry, catalogue, files

__all__ = ["call", "checkout", "finished", "finished_folder", "forking", "opened"]

# No test looks at the clock: what is slow here may only be a busy machine. Every run draws other examples.
settings.register_profile("oblique", deadline=None, max_examples=20)
settings.load_profile("oblique")

# The names of the parameters of a class, which scikit-learn reads from its constructor at each `get_params`: two fifths
# of the time of `check_estimator`.
BaseEstimator._get_param_names = classmethod(functools.cache(BaseEstimator._get_param_names.__func__))

AT_HAND = (files.DATA_DIRECTORY, files.CACHE)

# Where among the files and folders of its folder, or among the arguments, something lies
PLACE = pytest.StashKey[int]()
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the tests, with asserts rewritten, as bytecode even where Python writes none: twenty seconds a process.

    What has been collected stays to the end, so that searches for garbage may pass it by.
    """
    without_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = without_bytecode
        # The first example makes Hypothesis's generator, whose referrers older versions search: `freeze` hides them.
        given(strategies.none())(lambda value: None)()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let every other process of xdist begin at the last file: each finds what the others have kept."""
    report = yield
    if isinstance(collector, (pytest.Session, pytest.Dir)):
        for place, node in enumerate(report.result):
            node.stash[PLACE] = place
        if WORKER and int(WORKER.removeprefix("gw")) % 2:
            report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that a sample leaves out as long, and skip tests of data sets that are not here.

    A test marked `unbundled("seeds", ...)` needs these sets in OBLIQUE_DATA or in the cache. Tests are in the same
    order in all processes of xdist.
    """
    if WORKER:
        items.sort(key=lambda item: [node.stash.get(PLACE, 0) for node in item.listchain()])
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in cases.values():
        quick = [item for item in group if not item.get_closest_marker("long")]
        if sample := group[0].get_closest_marker("sample"):
            quick = [quick[place * len(quick) // sample.args[0]] for place in range(sample.args[0]) if quick]
            for item in {*group}.difference(quick):
                item.add_marker(pytest.mark.long)
        if (covered := group[0].get_closest_marker("covered")) and not float(os.environ.get("OBLIQUE_SOAK") or 0):
            SOAKED.update({*group}.difference(covering(group, quick, covered.args[0])))
    if left := [item for item in items if item in SOAKED]:
        items[:] = [item for item in items if item not in SOAKED]
        left[0].config.hook.pytest_deselected(items=left)
    for item in items:
        entries = [catalogue.entry(name) for mark in item.iter_markers("unbundled") for name in mark.args]
        if any(entry.bundled or entry.generated for entry in entries):
            raise pytest.UsageError(f"{item.nodeid}: the marker unbundled is for sets that are not bundled")
        if missing := [entry for entry in entries if catalogue.whereabouts(entry) not in AT_HAND]:
            item.add_marker(pytest.mark.skip(reason=reason(missing)))


def covering(group: list[pytest.Item], quick: list[pytest.Item], times: int) -> set[pytest.Item]:
    """Cases of a product, the quick ones among them, that hold each value of each argument `times` times."""

    def values(item: pytest.Item) -> list[tuple[str, str]]:
        return [(name, repr(value)) for name, value in item.callspec.params.items()]

    chosen, held = {*quick}, Counter(value for item in quick for value in values(item))
    cases = sorted(group, key=lambda item: zlib.crc32(item.nodeid.encode()))
    for worth in range(len(cases[0].callspec.params), 0, -1):
        for item in cases:
            if item not in chosen and sum(held[value] < times for value in values(item)) >= worth:
                chosen.add(item)
                held.update(values(item))
    return chosen


def reason(missing: list[Entry]) -> str:
    """Say which sets a test needs, and how to get them."""
    names = ", ".join(entry.name for entry in missing)
    needed = ", ".join(file.name for entry in missing for file in entry.files.values())
    fetched = " ".join(entry.name for entry in missing if entry.recipe)
    fetch = f"run `oblique data fetch {fetched}`, or " if fetched else ""
    return f"needs {names}, which may not be bundled: {fetch}put {needed} into a folder and set {files.ENVIRONMENT}"


LEFT_OUT = pytest.StashKey[int]()
SOAKED: set[pytest.Item] = set()


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the long tests that a choice of markers leaves out; processes of xdist tell the one that began them."""
    if items:
        config, long = items[0].config, sum(item.get_closest_marker("long") is not None for item in {*items} - SOAKED)
        config.stash[LEFT_OUT] = config.stash.get(LEFT_OUT, 0) + long


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the count over where this is a process of xdist."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the count from a process of xdist: each of them has collected all tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many long tests did not run."""
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{count} long tests were left out: `make test-long` runs them, .ci/run does too")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window; a machine without one skips the test."""
    with ExitStack() as stack:
        try:
            result = stack.enter_context(launched())
        except NoBrowser as why:
            pytest.skip(str(why))
        yield result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hide OBLIQUE_DATA from a test without the marker, so that it fails here as it would on a machine without it.

    What a test draws without a seed (scikit-learn's estimators with `random_state=None`) is the same every time.
    """
    np.random.seed(zlib.crc32(item.nodeid.encode()))
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("unbundled") is None:
            patch.delenv(files.ENVIRONMENT, raising=False)
        return (yield)
