"""Description of a run: the run, its sessions and their processes, and the changes that a resumed run may have."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.ground.nouns import Experiment

# The columns of a session, and those of them with JSON.
SESSION = ("run", "started", "content", "total", "argv", "environment", "presentation", "workers", "process")
PLAIN = ("content", "argv", "environment", "presentation", "process")
ABSENT = object()  # stands for the value of a missing key


@dataclass(frozen=True)
class Session:
    """One start of a run: {"pid", "host", "born"} of its process, {} if unknown, and the time of its last write.

    alive : None if the process is on another machine"""

    started: str
    process: Mapping[str, Any]
    beat: str
    alive: bool | None


@dataclass(frozen=True)
class Run:
    """Stored run: the number of its folds, and how many of them are done, failed or damaged.

    The other fields are from the latest session. writers : processes that may be storing folds now"""

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
        """Return the experiment of the run from the configuration of its latest session."""
        return Experiment.from_content(self.name, self.content, self.presentation)


def repeats_of(content: Mapping[str, Any]) -> int | None:
    """Return the number of repetitions of a run, None if it has no repetitions."""
    cv = content.get("cv")
    return cv.get("repeats") if isinstance(cv, Mapping) else None


def timestamp() -> str:
    """Return the UTC time to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def this_process() -> dict[str, Any]:
    """Return this process in the form that sessions store."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "born": _born(os.getpid())}


def _born(pid: int) -> str:
    """Return the start time of a process in ticks since boot, to detect a reused process number."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def is_alive(process: Mapping[str, Any]) -> bool | None:
    """Return whether the process of a session still runs; None if this machine cannot know."""
    if not process or process.get("host") != socket.gethostname():
        return None
    try:
        os.kill(process["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process exists and has another user
        pass
    return bool(_born(process["pid"]) == process["born"])


# ---- changes ---------------------------------------------------------------------------------------------------------


def refuse_changes(run: str, before: Any, now: Any) -> None:
    """Raise ConfigError with the first differences if a run's content does more than extend the stored content."""
    if not is_growth(before, now):
        raise ConfigError(
            f"the configuration changed since run {run!r} began: {cut_list(list(differences(before, now)), 4)}: use "
            "--fresh to start over, or another name to keep both (the key name: of the file, or --set name=...)."
        )


def is_growth(before: Any, now: Any) -> bool:
    """Return whether `now` adds only repetitions, data sets and algorithms, so that stored folds stay valid."""
    before, now = (json.loads(json.dumps(content)) for content in (before, now))
    for content in (before, now):
        if isinstance(content.get("cv"), dict):
            content["cv"].pop("repeats", None)
    for key in ("datasets", "algorithms", "data"):
        old, new = _by_name(before.get(key)), _by_name(now.get(key))
        if isinstance(old, dict) and isinstance(new, dict):
            before[key], now[key] = old, {name: thing for name, thing in new.items() if name in old}
    return bool(before == now)


def differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield "cv.repeats 10 -> 5" for each leaf that differs; lists of mappings are addressed by `id` or `name`."""
    before, now = _by_name(before), _by_name(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            yield from differences(before.get(key, ABSENT), now.get(key, ABSENT), f"{path}.{key}" if path else key)
    elif before != now:
        yield f"{path} {_short(before)} -> {_short(now)}"


def _by_name(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {item.get("id", item["name"]): item for item in value}
    return value


def _short(value: Any) -> str:
    """Return a value for an error message: mappings, long lists and digests shortened."""
    if value is ABSENT:
        return "(none)"
    if isinstance(value, dict):
        return "{...}"
    if isinstance(value, list) and len(value) > 4:
        return f"[{json.dumps(value[0])}, ..., {json.dumps(value[-1])}] ({len(value)} values)"
    if isinstance(value, str) and len(value) > 40:
        return f"{value[:8]}..."
    return json.dumps(value)


def refuse_other_data(run: str, here: Path, content: Any, there: Path, other: Any) -> None:
    """Raise ConfigError unless one of the contents of a run in two files extends the other; compare the data first."""
    data, other_data = content.get("data", {}), other.get("data", {})
    for name in data:
        if name in other_data and data[name] != other_data[name]:
            raise ConfigError(
                f"data set {name!r} of run {run!r} is not the same in {here} (digest {data[name][:8]}...) and in "
                f"{there} ({other_data[name][:8]}...): results on different data cannot be merged."
            )
    if not (is_growth(content, other) or is_growth(other, content)):
        raise ConfigError(
            f"run {run!r} in {there} was run with another configuration than in {here}: "
            f"{cut_list(list(differences(content, other)), 4)}."
        )


def larger(content: Any, other: Any) -> Any:
    """Return the larger of two contents of which one extends the other."""
    sizes = [
        (sum(len(each.get(key, ())) for key in ("datasets", "algorithms")), each.get("cv", {}).get("repeats", 0))
        for each in (content, other)
    ]
    return other if is_growth(content, other) and sizes[1] > sizes[0] else content
