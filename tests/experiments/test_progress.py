"""Progress lines, on a terminal and elsewhere, against a clock that the test moves."""

import contextlib
import io
import threading

import pytest

from oblique_cli.experiments import progress as module
from oblique_cli.experiments.progress import SHOWN_FAILURES, Progress, duration


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Clock()


def begun(clock, stream, name, total, done=0, **options):
    """A stream, and progress that has begun on it."""
    out = stream()
    progress = Progress(out, clock=clock, width=80, **options)
    progress.begin(name, total, done=done)
    return out, progress


def steps(progress, clock, n, seconds=1.0, failure=""):
    for i in range(n):
        clock.now += seconds
        progress.step(f"bupa/gdt r0 f{i}", failure)


def screen(text):
    """What a terminal shows in the end: a carriage return goes back, later characters cover earlier ones."""
    shown = []
    for line in text.split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        shown.append("".join(cells).rstrip())
    return shown


def test_elsewhere_a_plain_line_appears_every_tenth_of_the_way(clock):
    out, progress = begun(clock, io.StringIO, "chapter3", 200)
    steps(progress, clock, 200, seconds=0.1)
    progress.end()
    lines = out.getvalue().splitlines()
    assert lines[0] == "chapter3: 200 folds"
    assert lines[1] == "chapter3: 20/200  10 %  10/s  left 0:18"
    assert lines[5] == "chapter3: 100/200  50 %  10/s  left 0:10"
    assert len(lines) == 1 + 9 + 1
    assert lines[-1] == "chapter3: 200 of 200 folds in 0:20"
    assert "\r" not in out.getvalue() and "\x1b" not in out.getvalue()


def test_elsewhere_slow_work_shows_a_line_every_ten_seconds(clock):
    out, progress = begun(clock, io.StringIO, "letters", 100)
    steps(progress, clock, 6, seconds=4)
    assert out.getvalue().splitlines()[1:] == [
        "letters: 3/100  3 %  0.25/s  left 6:28",
        "letters: 6/100  6 %  0.25/s  left 6:16",
    ]


def test_a_terminal_has_one_line_redrawn_in_place(clock):
    out, progress = begun(clock, Terminal, "chapter3", 6000, done=2310)
    steps(progress, clock, 100, seconds=0.5)
    assert screen(out.getvalue()) == [
        "chapter3: 6000 folds, resumed: 2310 done",
        "bupa/gdt r0 f99  2410/6000  40 %  2/s  left 29:55",
    ]
    progress.end()
    assert screen(out.getvalue())[1:] == ["chapter3: 2410 of 6000 folds in 0:50", ""]


def test_a_terminal_is_not_redrawn_more_often_than_eyes_follow(clock):
    out, progress = begun(clock, Terminal, "chapter3", 6000)
    steps(progress, clock, 1000, seconds=0.001)
    assert 9 <= out.getvalue().count("\r") <= 12


@pytest.mark.parametrize("width", [80, 45, 40, 25, 12, 6, 2])
def test_the_live_line_fits_the_terminal(clock, width):
    out = Terminal()
    progress = Progress(out, clock=clock, width=width)
    progress.begin("", 6000)
    steps(progress, clock, 50)
    drawn = [part for part in out.getvalue().split("\r") if part]
    assert max(len(part) for part in drawn) < width
    if width >= 12:
        assert "50/6000" in drawn[-1]


def test_the_time_left_follows_the_latest_folds(clock):
    out, progress = begun(clock, Terminal, "chapter3", 1000)
    steps(progress, clock, 100, seconds=10)
    steps(progress, clock, 300, seconds=0.5)
    assert "2/s  left 5:00" in screen(out.getvalue())[-1]


def test_folds_that_were_done_before_do_not_count_for_the_rate(clock):
    out, progress = begun(clock, io.StringIO, "chapter3", 100, done=50)
    steps(progress, clock, 10)
    assert out.getvalue().splitlines()[-1] == "chapter3: 60/100  60 %  1/s  left 0:40"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_failure_is_shown_at_once(clock, stream, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = stream()
    progress = Progress(out, clock=clock, width=80)
    progress.begin("chapter3", 6000)
    steps(progress, clock, 1)
    progress.step("vehicle/gdt r2 f3", "LinAlgError: singular matrix")
    assert "! vehicle/gdt r2 f3 failed: LinAlgError: singular matrix" in screen(out.getvalue())
    progress.end()
    assert screen(out.getvalue())[-2] == "chapter3: 2 of 6000 folds in 1.0 s, 1 failed"


def test_when_everything_fails_the_lines_stop_and_the_count_goes_on(clock):
    out, progress = begun(clock, io.StringIO, "chapter3", 1000)
    steps(progress, clock, 50, failure="ValueError: no")
    progress.end()
    lines = out.getvalue().splitlines()
    assert sum("ValueError" in line for line in lines) == SHOWN_FAILURES
    assert "! more failures follow and are only counted" in lines
    assert lines[-1].endswith("50 failed")


def test_quiet_shows_failures_and_nothing_else(clock):
    for out in (io.StringIO(), Terminal()):
        progress = Progress(out, quiet=True, live=False, clock=clock)
        progress.begin("chapter3", 10)
        steps(progress, clock, 5, seconds=60)
        progress.step("wine/gdt r0 f6", "ValueError: no")
        progress.end()
        assert out.getvalue() == "! wine/gdt r0 f6 failed: ValueError: no\n"


def test_the_closing_line_can_be_left_to_the_caller(clock):
    out, progress = begun(clock, Terminal, "chapter3", 10, closing=False)
    steps(progress, clock, 10)
    progress.end()
    assert screen(out.getvalue()) == ["chapter3: 10 folds", ""]


@pytest.mark.parametrize(("no_color", "expected"), [("", True), ("1", False)])
def test_color_is_for_terminals_that_want_it(clock, monkeypatch, no_color, expected):
    monkeypatch.setenv("NO_COLOR", no_color)
    out, progress = begun(clock, Terminal, "wine", 10)
    progress.step("wine/gdt r0 f6", "ValueError: no")
    assert ("\x1b[31m" in out.getvalue()) == expected


def test_a_terminal_that_cannot_go_back_gets_plain_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    out, progress = begun(clock, Terminal, "chapter3", 10)
    steps(progress, clock, 10)
    assert "\r" not in out.getvalue() and "\x1b" not in out.getvalue()


def test_a_note_stands_above_the_live_line(clock):
    out, progress = begun(clock, Terminal, "chapter3", 10)
    steps(progress, clock, 2)
    progress.note("stopping after the folds in hand (again to stop now)")
    steps(progress, clock, 1)
    assert screen(out.getvalue())[1:] == [
        "stopping after the folds in hand (again to stop now)",
        "bupa/gdt r0 f0  3/10  30 %  1/s  left 7.0 s",
    ]


def test_durations_read_as_people_say_them():
    assert [duration(s) for s in (0.04, 9.94, 59.6, 341, 7541)] == ["0.0 s", "9.9 s", "1:00", "5:41", "2:05:41"]


def beats(progress, clock, n, seconds=1.0):
    for _ in range(n):
        clock.now += seconds
        progress.beat()


def test_work_without_steps_says_on_a_terminal_what_goes_on_and_for_how_long(clock):
    out = Terminal()
    progress = Progress(out, closing=False, clock=clock, width=80)
    progress.doing("reading my.csv")
    clock.now += 0.5
    progress.beat()
    assert out.getvalue() == ""
    beats(progress, clock, 3)
    assert screen(out.getvalue()) == ["reading my.csv, 3.5 s"]
    progress.doing("growing the tree")
    beats(progress, clock, 1)
    assert screen(out.getvalue()) == ["growing the tree, 1.0 s"]


def test_elsewhere_work_without_steps_is_a_line_every_ten_seconds_and_none_before(clock):
    out = io.StringIO()
    progress = Progress(out, brief=True, closing=False, clock=clock)
    progress.doing("reading my.csv")
    beats(progress, clock, 4)
    progress.doing("growing the tree")
    beats(progress, clock, 5)
    assert out.getvalue() == ""
    beats(progress, clock, 13)
    assert out.getvalue().splitlines() == ["growing the tree, 6.0 s", "growing the tree, 0:16"]


def test_a_long_step_is_not_silent(clock):
    live, plain = Terminal(), io.StringIO()
    for out in (live, plain):
        progress = Progress(out, clock=clock, width=80)
        progress.begin("chapter3", 10)
        steps(progress, clock, 1)
        beats(progress, clock, 12)
    assert screen(live.getvalue())[1:] == ["bupa/gdt r0 f0  1/10  10 %  1/s  left 9.0 s  0:13 so far"]
    assert plain.getvalue().splitlines() == ["chapter3: 10 folds"] + ["chapter3: 1/10  10 %  1/s  left 9.0 s"] * 2


def test_a_brief_command_has_no_line_for_each_tenth_of_the_way(clock):
    out = io.StringIO()
    progress = Progress(out, brief=True, closing=False, clock=clock)
    progress.doing("fitting")
    progress.begin("", 10)
    steps(progress, clock, 9)
    assert out.getvalue() == ""
    steps(progress, clock, 1, seconds=2)
    assert out.getvalue() == ""
    progress.begin("", 10)
    steps(progress, clock, 5, seconds=3)
    assert out.getvalue() == "fitting: 4/10  40 %  0.333/s  left 0:18\n"


def test_a_total_that_was_guessed_too_small_is_passed_without_a_share_above_all(clock):
    out, progress = begun(clock, Terminal, "", 2, closing=False)
    steps(progress, clock, 3)
    assert screen(out.getvalue()) == ["bupa/gdt r0 f2  3/3  100 %  1/s  left 0.0 s"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_thread_watches_until_the_work_is_done_and_leaves_no_line(clock, monkeypatch, fails):
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.001)
    out = Terminal()
    progress = Progress(out, closing=False, clock=clock, width=80)
    threads = threading.active_count()
    with contextlib.suppress(ValueError), progress.watched("reading my.csv"):
        while "\rreading my.csv, " not in out.getvalue():  # until the thread has looked
            clock.now += 1
        if fails:
            raise ValueError
    assert screen(out.getvalue()) == [""]
    assert threading.active_count() == threads


def test_quiet_work_has_no_thread(clock):
    out = Terminal()
    progress = Progress(out, quiet=True, clock=clock)
    threads = threading.active_count()
    with progress.watched("reading my.csv"):
        assert threading.active_count() == threads
        beats(progress, clock, 30)
    assert out.getvalue() == ""
