"""Which changed configurations a run may go on with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError


def refuse_changes(run: str, before: Any, now: Any) -> None:
    """Raise ConfigError with the first differences if a run's content is no growth of the stored one."""
    changes = list(differences(before, now))
    if changes and not is_growth(before, now):
        more = f" and {len(changes) - 4} more" if len(changes) > 4 else ""
        raise ConfigError(
            f"the configuration changed since run {run!r} began: {', '.join(changes[:4])}{more}: use --fresh to start "
            "over, or another name to keep both (the key name: of the file, or --set name=...)."
        )


def is_growth(before: Any, now: Any) -> bool:
    """Whether every stored fold that `now` asks for is still the fold it was, since keys of jobs leave the rest out.

    That is so if repetitions differ, or data sets and algorithms were added.
    """
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
        for key in [*before, *(key for key in now if key not in before)]:
            where = f"{path}.{key}" if path else key
            if key not in now:
                yield f"{where} {_short(before[key])} -> (none)"
            elif key not in before:
                yield f"{where} (none) -> {_short(now[key])}"
            else:
                yield from differences(before[key], now[key], where)
    elif before != now:
        yield f"{path} {_short(before)} -> {_short(now)}"


def _by_name(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {item.get("id", item["name"]): item for item in value}
    return value


def _short(value: Any) -> str:
    """A value as a reader of an error message wants it: mappings, long lists and digests cut."""
    if isinstance(value, dict):
        return "{...}"
    if isinstance(value, list) and len(value) > 4:
        return f"[{json.dumps(value[0])}, ..., {json.dumps(value[-1])}] ({len(value)} values)"
    if isinstance(value, str) and len(value) > 40:
        return f"{value[:8]}..."
    return json.dumps(value)


def refuse_other_data(run: str, here: Path, mine: str, there: Path, theirs: str) -> None:
    """Raise ConfigError if the contents of a run in two files are no growth of each other, above all in their data."""
    content, other_content = json.loads(mine), json.loads(theirs)
    ours, others = content.get("data", {}), other_content.get("data", {})
    for name in ours:
        if name in others and ours[name] != others[name]:
            raise ConfigError(
                f"data set {name!r} of run {run!r} is not the same in {here} (digest {ours[name][:8]}...) and in "
                f"{there} ({others[name][:8]}...): results on different data cannot be merged."
            )
    if not (is_growth(content, other_content) or is_growth(other_content, content)):
        changes = list(differences(content, other_content))
        more = f" and {len(changes) - 4} more" if len(changes) > 4 else ""
        raise ConfigError(
            f"run {run!r} in {there} was run with another configuration than in {here}: {', '.join(changes[:4])}{more}."
        )


def larger(mine: str, theirs: str) -> str:
    """Return the content, of two of which one is a growth of the other, that asks for more."""
    content, other_content = json.loads(mine), json.loads(theirs)
    return theirs if is_growth(content, other_content) and _size(other_content) > _size(content) else mine


def _size(content: Any) -> tuple[int, int]:
    lists = sum(len(content.get(key, ())) for key in ("datasets", "algorithms"))
    return lists, content.get("cv", {}).get("repeats", 0)
