"""Data sets of OpenML by number: fetched once, checked against OpenML's checksum, and cached with our checksum.

The cache holds the original ARFF file and a record of it with its SHA-256, which is checked on every later use.
The interface is https://www.openml.org/apis: `api/v1/json/data/N` describes a set and names its file, its target, and
the columns that are no features (row numbers, and those that its authors ignore).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oblique_cli.data import fetch, files
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.source import Source
from oblique_cli.data.plugin_datasets import Handed
from oblique_cli.data.text_table import Table
from oblique_cli.errors import ConfigError, DataError

ADDRESS = "https://api.openml.org"
ENVIRONMENT = "OBLIQUE_OPENML_URL"

# Fields of a record. "version" counts the sets of this name; every version has its number.
RECORD = ("number", "name", "version", "target", "left_out", "url", "sha256")


def path_of(number: int) -> Path:
    """Return the path of a set's cached file."""
    return files.cache_folder() / "openml" / f"{number}.arff"


def note_of(number: int) -> str:
    """Return the description of a fetched set, "" for any other."""
    record = _record(number)
    return "" if record is None else _note(record)


def load(number: int, target: str | None = None, offline: bool = False, task: str = "") -> Handed:
    """Return the set of this number; fetch it if it is not cached.

    target : column to predict, by default the one that OpenML names; task : the task of a numerical target

    Raises DataError: offline and not cached, unknown to OpenML, not reachable, damaged, or not a table."""
    where = f"OpenML {number}"
    path, record = path_of(number), _record(number)
    if record is None or not _is_good(path, record):
        aside = f"; the damaged {path.name} was moved aside" if path.is_file() and files.set_aside(path) else ""
        if offline:
            again = "run once without --offline"
            raise DataError(f"{where} is not in {path.parent}, and offline nothing is fetched{aside}; {again}")
        record = _fetched(number, path, where)
    return _read(path, record, target or record["target"], where, task)


def _is_good(path: Path, record: Mapping[str, Any]) -> bool:
    """Return whether the file exists and is the fetched one."""
    return path.is_file() and files.digest(path.read_bytes()) == record["sha256"]


def _record(number: int) -> dict[str, Any] | None:
    """Return the record of a fetched data set, None without a usable record."""
    try:
        record = json.loads(path_of(number).with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and set(record) == set(RECORD) else None


def _note(record: Mapping[str, Any]) -> str:
    return f"OpenML {record['number']}, {record['name']} version {record['version']}, sha256 {record['sha256'][:12]}..."


def _fetched(number: int, path: Path, where: str) -> dict[str, Any]:
    """Fetch a set and its description; return the record, which is written last."""
    base = (os.environ.get(ENVIRONMENT) or ADDRESS).rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise ConfigError(f"{ENVIRONMENT} must be a http or https address. Got {base!r}.")
    before = _record(number)
    with fetch.locked(path):
        if (now := _record(number)) is not None and _is_good(path, now):  # another process was faster
            return now
        about = _description(f"{base}/api/v1/json/data/{number}", where)
        url = about["url"]
        content = fetch.get(url, where)
        md5 = str(about.get("md5_checksum") or "")
        # OpenML's checksum detects damage of the download; ours detects later damage.
        if md5 and hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
            raise DataError(f"{where}: {url} is not the file that OpenML describes (md5 differs from {md5[:8]}...)")
        targets = _names(about.get("default_target_attribute"))
        record = {
            "number": number,
            "name": str(about.get("name", "")),
            "version": str(about.get("version", "")),
            "target": targets[0] if len(targets) == 1 else "",
            "left_out": sorted({*_names(about.get("row_id_attribute")), *_names(about.get("ignore_attribute"))}),
            "url": url,
            "sha256": files.digest(content),
        }
        if before is not None and before["sha256"] != record["sha256"]:
            old, new = before["sha256"][:8], record["sha256"][:8]
            raise DataError(
                f"{where}: OpenML sends another file than it did before (sha256 {new}... instead of {old}...); remove "
                f"{path.with_suffix('.json')} to take it"
            )
        files.write(path, content)
        files.write(path.with_suffix(".json"), (json.dumps(record, indent=1) + "\n").encode())
    return record


def _description(url: str, where: str) -> dict[str, Any]:
    """Return OpenML's description of a set."""
    content = fetch.get(url, where)
    try:
        about = json.loads(content)["data_set_description"]
        if not isinstance(about["url"], str) or not about["url"].startswith(("http://", "https://")):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{where}: {url} is no description of a data set") from None
    if str(about.get("format", "ARFF")).lower() not in ("arff", "sparse_arff"):
        raise DataError(f"{where} is kept as {about['format']}, and only ARFF can be read")
    return dict(about)


def _names(value: Any) -> list[str]:
    """Return a list of columns: OpenML gives a list, or a text with commas."""
    if value is None:
        return []
    return [name for part in (value if isinstance(value, list) else [value]) for name in str(part).split(",") if name]


def _read(path: Path, record: Mapping[str, Any], target: str, where: str, task: str) -> Handed:
    source = Source(where, path=path)
    with own_rows.opened(source) as opened:
        rows = list(opened.rows)
        header = opened.header
        declared = {name for name, kind in opened.kinds.items() if kind == "levels"}
    if not rows:
        raise DataError(f"{where} has no rows")
    if target not in header:
        what = f"has no column {target!r}" if target else "names no single column to predict"
        more = ", ..." if len(header) > 20 else ""
        raise DataError(f"{where} {what}; set target to one of its columns: {', '.join(header[:20])}{more}")
    positions = [j for j, name in enumerate(header) if name not in record["left_out"] or name == target]
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    cells = tuple(tuple("" if cell == "?" else cell for cell in columns[j]) for j in positions)
    names = tuple(header[j] for j in positions)
    table = Table(where, names, cells, tuple(line for line, _ in rows))
    qualitative = tuple(name for name in names if name in declared and name != target)
    kind = "classification" if target in declared else (task or "regression")
    return Handed(table, target, qualitative, kind, _note(record))
