"""Progress of a command: one live line on a terminal, a plain line every ten seconds elsewhere, on standard error.

The remaining time is at the rate of the latest steps. Failures are shown at once. During long steps and work without
steps a thread updates the line (`Progress.watched`): the compiled core and the readers of tables release the
interpreter lock often.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TextIO

REDRAW_SECONDS, PLAIN_SECONDS = 0.1, 10.0  # between lines on a terminal and elsewhere
BEAT_SECONDS = 1.0  # between updates by the thread
RECENT = 200  # number of steps for the rate
SHOWN_FAILURES = 10  # per part; if everything fails, further messages add nothing


class Progress:
    """Display of the steps of successive parts: `begin`, `step` for each, `end`; or `doing` without steps.

    closing : show the duration of each part; clock : seconds
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        closing: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet, self._closing, self._clock = quiet, closing, clock
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0  # width of the live line on the screen
        self._lock = threading.RLock()  # for all output: the thread of `watched` prints too
        self._title = ""
        self.begin("", 0)

    def begin(self, title: str, total: int, done: int = 0, unit: str = "folds") -> None:
        """Start a part of `total` steps, `done` of which are already complete. title : "" for that of `doing`"""
        with self._lock:
            self._title, self._unit, self._label = title or self._title, unit, ""
            self._total, self._done, self._failed = total, done, 0
            self._started = self._shown_at = self._clock()
            self._recent: deque[float] = deque([self._started], maxlen=RECENT + 1)
            if title:
                self.remark(f"{title}: {total} {unit}" + (f", resumed: {done} done" if done else ""))

    def doing(self, what: str) -> None:
        """Show the current activity of work without steps: "reading my.csv"."""
        with self._lock:
            self._title, self._total, self._started = what, 0, self._clock()

    @contextlib.contextmanager
    def watched(self, doing: str = "") -> Iterator[Progress]:
        """Update the display every second from a thread during the work inside; then remove the live line."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(BEAT_SECONDS):
                self.beat()

        if doing:
            self.doing(doing)
        if self._quiet:
            yield self
            return
        thread = threading.Thread(target=watch, name="progress", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            done.set()
            thread.join()
            self._clear()

    def step(self, label: str, failure: str = "") -> None:
        """Count a step as done. label : its name; failure : its error message, empty for success"""
        with self._lock:
            self._done += 1
            self._total = max(self._total, self._done) if self._total else 0  # `total` may be an estimate
            self._label = label
            self._recent.append(self._clock())
            if failure:
                self._failed += 1
                if self._failed <= SHOWN_FAILURES:
                    self.note(f"! {label} failed: {failure}")
                elif self._failed == SHOWN_FAILURES + 1:
                    self.note("! more failures follow and are only counted")
            self.beat()

    def beat(self) -> None:
        """Show the progress, unless a line was shown shortly before."""
        with self._lock:
            now = self._clock()
            if self._quiet or now - self._shown_at < (REDRAW_SECONDS if self._live else PLAIN_SECONDS):
                return
            self._shown_at = now
            parts = [self._title, duration(now - self._started)]
            if self._total:
                failed = f" ({self._failed} failed)" if self._failed else ""
                parts = [f"{self._done}/{self._total}{failed}", self._label, *parts]
                if (span := self._recent[-1] - self._recent[0]) > 0:
                    parts.append(f"left {duration((self._total - self._done) * span / (len(self._recent) - 1))}")
            text = ", ".join(filter(None, parts))
            if not self._live:
                self._write(f"{text}\n")
                return
            # The last column stays free, because some terminals wrap when that column is written.
            text = text[: max(0, shutil.get_terminal_size().columns - 1)]
            self._write("\r" + text.ljust(self._drawn))
            self._drawn = len(text)

    def note(self, text: str) -> None:
        """Show a line of text, above the live line if there is one."""
        with self._lock:
            self._clear()
            self._write(f"{text}\n")

    def remark(self, text: str) -> None:
        """Show a line of text that a quiet run omits."""
        if not self._quiet:
            self.note(text)

    def end(self) -> None:
        """End the part: remove the live line and, if `closing`, show the duration."""
        with self._lock:
            self._clear()
            if self._closing and self._total:
                failed = f", {self._failed} failed" if self._failed else ""
                seconds = duration(self._clock() - self._started)
                self.remark(f"{self._title}: {self._done} of {self._total} {self._unit} in {seconds}{failed}")
            self._total = 0

    def _clear(self) -> None:
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")
            self._drawn = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def duration(seconds: float) -> str:
    """Return a readable duration: "0.4 s", "5:41", "2:05:41"."""
    if seconds < 9.95:  # 9.95 would be printed as 10.0
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
