"""Progress lines, on a terminal and elsewhere, against a clock that the test moves."""

import contextlib
import io
import threading

import pytest

from oblique_cli.experiments import progress as module
from oblique_cli.experiments.progress import SHOWN_FAILURES, Progress, duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Shown:
    """Progress on a stream with a clock."""

    def __init__(self, stream, **options):
        self.out, self.now = stream(), 0.0
        self.progress = Progress(self.out, clock=lambda: self.now, **options)

    def steps(self, n, seconds=1.0, failure=""):
        for i in range(n):
            self.now += seconds
            self.progress.step(f"bupa/gdt r0 f{i}", failure)

    def beats(self, n, seconds=1.0):
        for _ in range(n):
            self.now += seconds
            self.progress.beat()

    @property
    def screen(self):
        """What a terminal shows in the end: a carriage return goes back, later characters cover earlier ones."""
        lines = []
        for line in self.out.getvalue().split("\n"):
            cells = []
            for part in line.split("\r"):
                cells[: len(part)] = part
            lines.append("".join(cells).rstrip())
        return lines


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def begun(stream, total, done=0, **options):
    shown = Shown(stream, **options)
    shown.progress.begin("chapter3", total, done=done)
    return shown


@pytest.mark.parametrize("dumb", [False, True])
def test_elsewhere_a_plain_line_appears_every_ten_seconds(monkeypatch, dumb):
    if dumb:
        monkeypatch.setenv("TERM", "dumb")
    shown = begun(Terminal if dumb else io.StringIO, 100, done=50)
    shown.steps(6, seconds=4)
    shown.progress.end()
    assert shown.out.getvalue().splitlines() == [
        "chapter3: 100 folds, resumed: 50 done",
        "53/100, bupa/gdt r0 f2, chapter3, 0:12, left 3:08",
        "56/100, bupa/gdt r0 f5, chapter3, 0:24, left 2:56",
        "chapter3: 56 of 100 folds in 0:24",
    ]
    assert "\r" not in shown.out.getvalue()


def test_a_terminal_has_one_line_redrawn_in_place_and_notes_above():
    shown = begun(Terminal, 6000, done=2310)
    shown.steps(99, seconds=0.5)
    shown.progress.note("stopping after the folds in hand")
    shown.steps(1, seconds=0.5)
    assert shown.screen[1:] == [
        "stopping after the folds in hand",
        "2410/6000, bupa/gdt r0 f0, chapter3, 0:50, left 29:55",
    ]
    shown.progress.end()
    assert shown.screen[2:] == ["chapter3: 2410 of 6000 folds in 0:50", ""]


def test_a_terminal_is_not_redrawn_more_often_than_eyes_follow():
    shown = begun(Terminal, 6000)
    shown.steps(1000, seconds=0.001)
    assert 8 <= shown.out.getvalue().count("\r") <= 12


@pytest.mark.parametrize("width", [80, 25, 12, 2])
def test_the_live_line_fits_the_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = begun(Terminal, 6000, closing=False)
    shown.steps(50)
    drawn = [part for part in shown.out.getvalue().split("\r")[1:] if part]
    assert max(map(len, drawn)) < width and drawn[-1].startswith("50/6000"[: width - 1])


def test_the_time_left_follows_the_latest_folds():
    shown = begun(Terminal, 1000)
    shown.steps(100, seconds=10)
    shown.steps(300, seconds=0.5)
    assert "left 5:00" in shown.screen[-1]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_failures_are_shown_at_once_until_there_are_too_many(stream):
    shown = begun(stream, 1000)
    shown.steps(50, failure="ValueError: no")
    assert sum("ValueError" in line for line in shown.screen) == SHOWN_FAILURES
    assert "! bupa/gdt r0 f0 failed: ValueError: no" in shown.screen
    assert "! more failures follow and are only counted" in shown.screen
    shown.progress.end()
    assert shown.screen[-2].endswith("50 failed")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet_shows_failures_and_nothing_else_and_has_no_thread(stream):
    threads = threading.active_count()
    shown = begun(stream, 10, quiet=True)
    with shown.progress.watched("reading my.csv"):
        assert threading.active_count() == threads
        shown.steps(5, seconds=60)
        shown.beats(30)
    shown.steps(1, failure="ValueError: no")
    shown.progress.end()
    assert shown.out.getvalue() == "! bupa/gdt r0 f0 failed: ValueError: no\n"


def test_durations_read_as_people_say_them():
    assert [duration(s) for s in (0.04, 9.94, 59.6, 341, 7541)] == ["0.0 s", "9.9 s", "1:00", "5:41", "2:05:41"]


@pytest.mark.parametrize(("stream", "before", "after"), [(Terminal, 0.05, 1), (io.StringIO, 9, 10)])
def test_work_without_steps_says_what_goes_on_and_for_how_long(stream, before, after):
    shown = Shown(stream, closing=False)
    shown.progress.doing("reading my.csv")
    shown.beats(1, seconds=before)
    assert shown.out.getvalue() == ""
    shown.progress.doing("growing the tree")
    shown.beats(1, seconds=after)
    assert shown.screen[0] == f"growing the tree, {duration(after)}"


def test_a_long_step_is_not_silent():
    for stream, expected in ((Terminal, "0:13"), (io.StringIO, "0:10")):
        shown = begun(stream, 10)
        shown.steps(1)
        shown.beats(12)
        assert shown.screen[1] == f"1/10, bupa/gdt r0 f0, chapter3, {expected}, left 9.0 s"


def test_a_part_without_a_title_has_that_of_the_work_and_a_total_may_be_too_small():
    shown = Shown(Terminal, closing=False)
    shown.progress.doing("fitting")
    shown.progress.begin("", 2)
    shown.steps(3)
    assert shown.screen == ["3/3, bupa/gdt r0 f2, fitting, 3.0 s, left 0.0 s"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_thread_watches_until_the_work_is_done_and_leaves_no_line(monkeypatch, fails):
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.001)
    shown, threads = Shown(Terminal, closing=False), threading.active_count()
    with contextlib.suppress(ValueError), shown.progress.watched("reading my.csv"):
        while "\rreading my.csv, " not in shown.out.getvalue():  # until the thread has looked
            shown.now += 1
        if fails:
            raise ValueError
    assert shown.screen == [""] and threading.active_count() == threads
