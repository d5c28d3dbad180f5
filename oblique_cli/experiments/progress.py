"""Progress of a command: one live line on a terminal, plain lines elsewhere, always on standard error.

A live line fits the width and shows the remaining time, at the rate of the latest steps unless the part has a better
estimate. Elsewhere (a log, a pipe, TERM=dumb) a plain line appears every ten seconds. Failures are shown at once.

For work without steps and for long steps, a thread updates the line (`Progress.watched`). The compiled core
releases the interpreter lock, and the readers of tables release it often.
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

REDRAW_SECONDS = 0.1
PLAIN_SECONDS = 10.0
BEAT_SECONDS = 1.0  # between updates by the thread
RECENT = 200  # number of steps for the rate
SHOWN_FAILURES = 10  # per part; if everything fails, further messages add nothing


class Progress:
    """Display of the steps of successive parts: `begin`, `step` for each, `end`; or `doing` without steps.

    closing : show the duration of each part; clock : seconds, for the rate"""

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
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"  # redraw one line
        self._color = self._live and not os.environ.get("NO_COLOR")
        self._drawn = 0  # width of the live line on the screen
        self._lock = threading.RLock()  # for all output: the thread of `watched` prints too
        self._doing = ""
        self.begin("", 0)

    def begin(
        self,
        title: str,
        total: int,
        done: int = 0,
        unit: str = "folds",
        remaining: Callable[[float], str] | None = None,
    ) -> None:
        """Start a part of `total` steps, `done` of which are already complete.

        remaining : seconds since the latest step -> the remaining time as text, instead of the rate of the steps"""
        with self._lock:
            self._title, self._total, self._done, self._unit = title, total, done, unit
            self._remaining = remaining
            self._failed = 0
            self._label = ""
            self._started = self._shown_at = self._clock()
            self._recent: deque[float] = deque([self._started], maxlen=RECENT + 1)
            if title and not self._quiet:
                resumed = f", resumed: {done} done" if done else ""
                self._line(f"{title}: {total} {unit}{resumed}")

    def doing(self, what: str) -> None:
        """Show the current activity of work without steps: "reading my.csv"."""
        with self._lock:
            self._doing, self._label, self._total = what, "", 0
            self._started = self._clock()

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
            with self._lock:
                self._clear()

    def beat(self) -> None:
        """Show the progress during a long step, if nothing was shown for a while."""
        with self._lock:
            now = self._clock()
            since = now - self._shown_at
            if self._quiet or since < (BEAT_SECONDS if self._live else PLAIN_SECONDS):
                return
            so_far = duration(now - self._started)
            if not self._live:
                self._line(self._counted() if self._total else f"{self._doing}, {so_far}")
            elif self._total:
                self._redraw(self._label or self._doing or self._title, f"{so_far} so far")
            else:
                self._redraw(f"{self._doing}, {so_far}")
            self._shown_at = now

    def step(self, label: str, failure: str = "") -> None:
        """Count a step as done. label : its name; failure : its error message, empty for success"""
        with self._lock:
            now = self._clock()
            self._done += 1
            self._total = max(self._total, self._done) if self._total else 0  # `total` may be an estimate
            self._label = label
            self._recent.append(now)
            if failure:
                self._failed += 1
                if self._failed <= SHOWN_FAILURES:
                    self._line(self._red(f"! {label} failed: {failure}"))
                if self._failed == SHOWN_FAILURES + 1:
                    self._line(self._red("! more failures follow and are only counted"))
            if self._quiet:
                return
            since = now - self._shown_at
            if self._live and (since >= REDRAW_SECONDS or not self._drawn):
                self._redraw(label)
                self._shown_at = now
            elif not self._live and since >= PLAIN_SECONDS and self._done < self._total:
                self._line(self._counted())
                self._shown_at = now

    def note(self, text: str) -> None:
        """Show a line of text, above the live line if there is one."""
        with self._lock:
            self._line(text)

    def remark(self, text: str) -> None:
        """Show a line of text that a quiet run omits."""
        if not self._quiet:
            self.note(text)

    def end(self) -> None:
        """End the part: remove the live line and, if `closing`, show the duration."""
        with self._lock:
            if self._closing and not self._quiet and self._total:
                failed = f", {self._failed} failed" if self._failed else ""
                seconds = duration(self._clock() - self._started)
                self._line(f"{self._title}: {self._done} of {self._total} {self._unit} in {seconds}{failed}")
            else:
                self._clear()
            self._total, self._label = 0, ""

    def _parts(self) -> list[str]:
        """Return counts, share, rate, remaining time and failures, as far as they are known."""
        if not self._total:
            return []
        parts = [f"{self._done}/{self._total}", f"{100 * self._done // self._total} %"]
        span = self._recent[-1] - self._recent[0]
        if self._remaining is not None:
            parts += filter(None, [self._remaining(self._clock() - self._recent[-1])])
        elif span > 0:
            rate = (len(self._recent) - 1) / span
            parts += [f"{rate:.3g}/s", f"left {duration((self._total - self._done) / rate)}"]
        if self._failed:
            parts.append(f"failed {self._failed}")
        return parts

    def _counted(self) -> str:
        return f"{self._title or self._doing}: {'  '.join(self._parts())}"

    def _redraw(self, label: str, so_far: str = "") -> None:
        parts = [*self._parts(), so_far] if so_far else self._parts()
        # Show the first text that fits, from the longest to the bare counts. The last column stays free, because some
        # terminals wrap when that column is written.
        columns = shutil.get_terminal_size().columns - 1
        shorter = ["  ".join(parts), "  ".join([*parts[:2], *parts[3:]]), parts[0]] if parts else [label]
        texts = ["  ".join([label, *parts]), *shorter]
        text = next((t for t in texts if len(t) <= columns), texts[-1][: max(columns, 0)])
        self._write("\r" + text.ljust(min(self._drawn, columns)))
        self._drawn = len(text)

    def _line(self, text: str) -> None:
        self._clear()
        self._write(text + "\n")

    def _clear(self) -> None:
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")
            self._drawn = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _red(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self._color else text


def duration(seconds: float) -> str:
    """Return a readable duration: "0.4 s", "5:41", "2:05:41"."""
    if seconds < 9.95:  # 9.95 would be printed as 10.0
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
