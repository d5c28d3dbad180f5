"""Progress lines, on a terminal and elsewhere, against a clock that the test moves."""

import contextlib
import io
import threading
from collections import Counter
from dataclasses import replace

import pytest
from store_support import row

from oblique_cli.experiments import progress as module
from oblique_cli.experiments.progress import SHOWN_FAILURES, Progress, duration
from oblique_cli.experiments.remaining_time import Remaining, roughly


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Shown:
    """Progress on a stream, with a clock."""

    def __init__(self, stream, total=0, name="chapter3", done=0, **options):
        self.out, self.now = stream(), 0.0
        self.progress = Progress(self.out, clock=lambda: self.now, **options)
        if total:
            self.progress.begin(name, total, done=done)

    def steps(self, n, seconds=1.0, failure=""):
        for i in range(n):
            self.now += seconds
            self.progress.step(f"bupa/gdt r0 f{i}", failure)

    def beats(self, n, seconds=1.0):
        for _ in range(n):
            self.now += seconds
            self.progress.beat()

    @property
    def lines(self):
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
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_elsewhere_a_plain_line_appears_every_ten_seconds(monkeypatch, stream):
    monkeypatch.setenv("TERM", "dumb")  # a terminal that cannot go back
    shown = Shown(stream, 200)
    shown.steps(200, seconds=0.125)
    shown.progress.end()
    assert shown.lines == [
        "chapter3: 200 folds",
        "chapter3: 80/200  40 %  8/s  left 0:15",
        "chapter3: 160/200  80 %  8/s  left 5.0 s",
        "chapter3: 200 of 200 folds in 0:25",
        "",
    ]
    assert "\r" not in shown.out.getvalue() and "\x1b" not in shown.out.getvalue()


def test_earlier_folds_do_not_count_for_the_rate():
    shown = Shown(io.StringIO, 200, done=100)
    shown.steps(6, seconds=4)
    assert shown.lines == [
        "chapter3: 200 folds, resumed: 100 done",
        "chapter3: 103/200  51 %  0.25/s  left 6:28",
        "chapter3: 106/200  53 %  0.25/s  left 6:16",
        "",
    ]


@pytest.mark.parametrize("closing", [True, False])
def test_a_terminal_has_one_line_redrawn_in_place_below_notes(closing):
    shown = Shown(Terminal, 6000, done=2310, closing=closing)
    shown.steps(99, seconds=0.5)
    shown.progress.note("stopping after the folds in hand (again to stop now)")
    shown.steps(1, seconds=0.5)
    before = ["chapter3: 6000 folds, resumed: 2310 done", "stopping after the folds in hand (again to stop now)"]
    assert shown.lines == [*before, "bupa/gdt r0 f0  2410/6000  40 %  2/s  left 29:55"]
    shown.progress.end()
    assert shown.lines == [*before, *(["chapter3: 2410 of 6000 folds in 0:50"] if closing else []), ""]


def test_a_terminal_is_not_redrawn_more_often_than_eyes_follow():
    shown = Shown(Terminal, 6000)
    shown.steps(1000, seconds=0.001)
    assert 9 <= shown.out.getvalue().count("\r") <= 12


@pytest.mark.parametrize("width", [80, 45, 40, 25, 12, 6, 2])
def test_the_live_line_fits_the_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = Shown(Terminal, 6000, name="")
    shown.steps(50)
    drawn = [part for part in shown.out.getvalue().split("\r") if part]
    assert max(map(len, drawn)) < width and (width < 12 or "50/6000" in drawn[-1])


def test_the_time_left_follows_the_latest_folds_and_a_total_that_was_guessed_too_small_is_passed():
    shown = Shown(Terminal, 1000)
    shown.steps(100, seconds=10)
    shown.steps(300, seconds=0.5)
    assert "2/s  left 5:00" in shown.lines[-1]
    shown = Shown(Terminal, 2, name="", closing=False)
    shown.steps(3)
    assert shown.lines == ["bupa/gdt r0 f2  3/3  100 %  1/s  left 0.0 s"]


@pytest.mark.parametrize(("stream", "no_color"), [(io.StringIO, ""), (Terminal, ""), (Terminal, "1")])
def test_failures_are_shown_at_once_until_there_are_too_many(monkeypatch, stream, no_color):
    monkeypatch.setenv("NO_COLOR", no_color)
    shown = Shown(stream, 1000)
    shown.steps(1)
    shown.steps(50, failure="ValueError: no")
    text = shown.out.getvalue()
    assert text.count("! bupa/gdt r0 f") == SHOWN_FAILURES == text.count(" failed: ValueError: no")
    assert "! more failures follow and are only counted" in text
    assert ("\x1b[31m" in text) == (stream is Terminal and not no_color)
    shown.progress.end()
    assert shown.lines[-2] == "chapter3: 51 of 1000 folds in 0:51, 50 failed"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet_shows_failures_and_nothing_else_and_has_no_thread(monkeypatch, stream):
    monkeypatch.setenv("NO_COLOR", "1")
    shown, threads = Shown(stream, 10, quiet=True), threading.active_count()
    with shown.progress.watched("reading my.csv"):
        assert threading.active_count() == threads
        shown.beats(30)
    shown.steps(5, seconds=60)
    shown.steps(1, failure="ValueError: no")
    shown.progress.end()
    assert shown.out.getvalue() == "! bupa/gdt r0 f0 failed: ValueError: no\n"


def test_durations_read_as_people_say_them():
    assert [duration(s) for s in (0.04, 9.94, 59.6, 341, 7541)] == ["0.0 s", "9.9 s", "1:00", "5:41", "2:05:41"]


def test_work_without_steps_says_on_a_terminal_what_goes_on_and_for_how_long():
    shown = Shown(Terminal, closing=False)
    shown.progress.doing("reading my.csv")
    shown.beats(1, seconds=0.5)
    assert shown.out.getvalue() == ""
    shown.beats(3)
    assert shown.lines == ["reading my.csv, 3.5 s"]
    shown.progress.doing("growing the tree")
    shown.beats(1)
    assert shown.lines == ["growing the tree, 1.0 s"]


def test_elsewhere_work_without_steps_is_a_line_every_ten_seconds():
    shown = Shown(io.StringIO, closing=False)
    shown.progress.doing("reading my.csv")
    shown.beats(4)
    shown.progress.doing("growing the tree")
    shown.beats(5)
    assert shown.out.getvalue() == ""
    shown.beats(13)
    assert shown.lines == ["growing the tree, 6.0 s", "growing the tree, 0:16", ""]

    shown = Shown(io.StringIO, closing=False)
    shown.progress.doing("fitting")
    shown.progress.begin("", 10)
    shown.steps(9)
    shown.steps(1, seconds=2)
    assert shown.out.getvalue() == ""
    shown.progress.begin("", 10)
    shown.steps(5, seconds=3)
    assert shown.out.getvalue() == "fitting: 4/10  40 %  0.333/s  left 0:18\n"


def test_a_long_step_is_not_silent():
    live, plain = Shown(Terminal, 10), Shown(io.StringIO, 10)
    for shown in (live, plain):
        shown.steps(1)
        shown.beats(12)
    assert live.lines[1:] == ["bupa/gdt r0 f0  1/10  10 %  1/s  left 9.0 s  0:13 so far"]
    assert plain.lines == ["chapter3: 10 folds", "chapter3: 1/10  10 %  1/s  left 9.0 s", ""]


@pytest.mark.parametrize("fails", [False, True])
def test_a_thread_watches_until_the_work_is_done_and_leaves_no_line(monkeypatch, fails):
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.001)
    shown, threads = Shown(Terminal, closing=False), threading.active_count()
    with contextlib.suppress(ValueError), shown.progress.watched("reading my.csv"):
        while "\rreading my.csv, " not in shown.out.getvalue():  # until the thread has looked
            shown.now += 1
        if fails:
            raise ValueError
    assert shown.lines == [""] and threading.active_count() == threads


def remaining(left, costs=None, comparable=(), workers=1):
    return Remaining(Counter(left), costs or {}, frozenset(comparable), workers)


def finished(data, algorithm, seconds):
    return replace(
        row(0), dataset=data, algorithm=algorithm, tune_seconds=0.0, fit_seconds=seconds, predict_seconds=0.0
    )


def test_the_remaining_time_is_at_least_that_of_measured_pairs_until_every_pair_has_a_fold():
    left = {("small", "a"): 10, ("large", "a"): 10, ("large", "b"): 10}
    costs = {("small", "a"): 0.1, ("large", "a"): 5.0, ("large", "b"): 10.0}
    time_left = remaining(left, costs, comparable=("a", "b"))
    assert time_left.text() == "left perhaps 3 min"  # 1 + 50 + 100 s by the costs alone
    time_left.add(finished("small", "a", 0.2))
    assert time_left.text() == "left at least 2 s, perhaps 4 min"  # 0.2 * 50^0.8 s a fold, and twice the costs
    time_left.add(finished("large", "a", 20.0))
    assert time_left.text() == "left at least 3 min, perhaps 8 min"
    time_left.add(finished("large", "b", 60.0))
    assert time_left.text() == "left about 12 min" and time_left.text(since=120) == "left about 10 min"


@pytest.mark.parametrize(
    ("costs", "comparable", "says"),
    [({}, (), "left at least 45 s"), ({("s", "a"): 1.0, ("l", "a"): 4.0}, (), "left at least 45 s, perhaps 3 min")],
)
def test_an_unlisted_algorithm_is_scaled_only_from_itself(costs, comparable, says):
    time_left = remaining({("s", "a"): 10, ("l", "a"): 10}, costs, comparable)
    assert time_left.text() == ""
    time_left.add(finished("s", "a", 5.0))
    assert time_left.text() == says


def test_progress_shows_the_remaining_time_of_unequal_folds():
    shown = Shown(io.StringIO)
    folds = [("small", 1.0)] * 10 + [("large", 100.0)] * 10
    time_left = remaining(Counter((name, "a") for name, _ in folds), {("small", "a"): 1.0, ("large", "a"): 300.0})
    shown.progress.begin("unequal", 20, remaining=time_left.text)
    for name, seconds in folds:
        shown.now += seconds
        time_left.add(finished(name, "a", seconds))
        shown.progress.step(name)
    assert "unequal: 10/20  50 %  left perhaps 16 min" in shown.lines  # 1000 s remain
    assert "unequal: 11/20  55 %  left about 15 min" in shown.lines


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.2, "1 s"), (9.4, "9 s"), (43, "45 s"), (58, "1 min"), (1320, "22 min"), (5399, "90 min"), (12_600, "3.5 h")],
)
def test_rough_durations_have_no_more_digits_than_an_estimate_has(seconds, says):
    assert roughly(seconds) == says
