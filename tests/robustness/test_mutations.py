"""Damaged configurations and CSV files: a result, or a sentence; never a traceback, a hang or a full memory."""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from robustness_support import at_most, counted, damaged, many, seeded

from oblique_cli import config
from oblique_cli.config import composing
from oblique_cli.data.own.source import content_of
from oblique_cli.data.text_table import parse
from oblique_cli.errors import ObliqueError
from oblique_cli.ground import resources

MOST_SECONDS = 5.0
MOST_BYTES = 1 << 30
BLOCK = 50  # files of one test


def survives(read: Callable[[], object]) -> bool:
    """Whether a file was read, not refused. Fails for anything but these two, and for work that takes too long."""
    with at_most(MOST_SECONDS):
        try:
            read()
            return True
        except ObliqueError as error:
            assert str(error) and "\0" not in str(error) and "\x1b" not in str(error)
            return False


def within_memory(work: Callable[[], object]) -> None:
    tracemalloc.start()
    try:
        work()
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


def cases(kind: str, first: int, texts: list[bytes]) -> Iterator[bytes]:
    """The damaged files of a block, the same whenever it is run."""
    for number in range(first, first + BLOCK):
        rng = seeded(f"{kind} {number}")
        yield damaged(rng, rng.choice(texts))


@pytest.mark.sample(3)
@pytest.mark.parametrize("first", range(0, many(500, 10_000), BLOCK))
def test_a_damaged_configuration_is_read_or_refused(first, tmp_path):
    texts = [(resources.folder("configs") / f"{name}.yaml").read_bytes() for name in composing.bundled()]
    path = tmp_path / "damaged.yaml"
    with counted("configurations") as counts:
        for content in cases("configuration", first, texts):
            path.write_bytes(content)
            counts["cases"] += 1
            counts["refused"] += not survives(lambda: config.load(path))


@pytest.mark.sample(2)
@pytest.mark.parametrize("first", range(0, many(300, 2000), BLOCK))
def test_a_damaged_table_is_read_or_refused(first, tmp_path):
    folder = resources.folder("datasets")
    texts = [(folder / name).read_bytes()[:20_000] for name in ("iris.csv", "bupa.csv", "statlog_heart.csv")]
    path = tmp_path / "damaged.csv"
    with counted("bundled tables") as counts:
        for content in cases("table", first, texts):
            path.write_bytes(content)
            counts["cases"] += 1
            counts["refused"] += not survives(lambda: parse(content_of(path), "the table"))


@pytest.mark.long
def test_a_block_of_either_takes_little_memory(tmp_path):
    within_memory(lambda: test_a_damaged_configuration_is_read_or_refused(0, tmp_path))
    within_memory(lambda: test_a_damaged_table_is_read_or_refused(0, tmp_path))


def test_damage_is_done_and_files_are_still_read_at_times(tmp_path):
    text = (resources.folder("datasets") / "iris.csv").read_bytes()
    path = Path(tmp_path / "damaged.csv")
    taken = []
    for content in cases("table", 0, [text]):
        path.write_bytes(content)
        taken.append(survives(lambda: parse(content_of(path), "the table")))
    assert 3 < sum(taken) < len(taken) - 3


def test_the_detectors_can_fire(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        survives(lambda: 1 / 0)
    ticks = iter([0.0, 6.0])
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    with pytest.raises(AssertionError):
        survives(lambda: None)
    monkeypatch.setitem(globals(), "MOST_BYTES", 1000)
    with pytest.raises(AssertionError):
        within_memory(lambda: bytearray(10_000))
