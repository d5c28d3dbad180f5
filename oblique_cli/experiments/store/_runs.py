"""The description of a run: the run, its sessions, and the processes of the sessions."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oblique_cli.ground.nouns import Experiment

# The columns of a session, and those of them that are JSON.
SESSION = ("run", "started", "content", "total", "argv", "environment", "presentation", "workers", "process")
PLAIN = ("content", "argv", "environment", "presentation")


@dataclass(frozen=True)
class Session:
    """One start of a run: the process, the time, and whether the process still works.

    process   {"pid", "host", "born"}: the process that stores the folds; {} if it is not recorded
    beat      when the process last stored something, UTC
    ended     when it was done, "" if that is not recorded
    alive     None if only another machine knows
    """

    id: int
    started: str
    argv: list[str]
    workers: int
    process: Mapping[str, Any]
    beat: str
    ended: str
    alive: bool | None


@dataclass(frozen=True)
class Run:
    """One run as the store knows it: how many folds it has, and how many of them are done or failed.

    created       when it was begun, UTC
    argv          the latest command line
    environment   versions and machine of the latest session
    presentation  what decides the looks of its table but no result: title, published tables
    workers       processors of the latest session
    writers       sessions that are not over: processes that may be storing folds now
    damaged       rows that are not what was stored
    """

    name: str
    content: Mapping[str, Any]
    total: int
    done: int
    failed: int
    created: str
    argv: list[str]
    environment: Mapping[str, Any]
    presentation: Mapping[str, Any]
    workers: int = 1
    writers: tuple[Session, ...] = ()
    damaged: int = 0

    @property
    def experiment(self) -> Experiment:
        """The experiment that the run is of, as its latest session configured it."""
        return Experiment.from_content(self.name, self.content, self.presentation)


def repeats_of(content: Mapping[str, Any]) -> int | None:
    """How many repetitions a run asks for, None if it has none to count."""
    cv = content.get("cv")
    return cv.get("repeats") if isinstance(cv, Mapping) else None


def timestamp() -> str:
    """Return the time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def this_process() -> dict[str, Any]:
    """Return the process of this session as it is stored."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "born": _born(os.getpid())}


def _born(pid: int) -> str:
    """When a process was started, in ticks since the machine was, so that a number used again is not taken for it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def is_alive(process: Mapping[str, Any]) -> bool | None:
    """Whether the process of a session still runs; None if this machine cannot know."""
    if not process or process.get("host") != socket.gethostname():
        return None
    try:
        os.kill(process["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:  # there is one, and it is somebody else's
        pass
    return bool(_born(process["pid"]) == process["born"])
