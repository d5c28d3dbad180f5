"""Composition of a configuration: finding the file, `extends`, `--set`, and the paths in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from oblique_cli.data.own.source import divided
from oblique_cli.errors import ConfigError
from oblique_cli.ground import resources
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.strict_yaml import MAX_DEPTH, Place, Problems, YamlSource, YamlValue, parse, read, shown

# Singular and plural keys; the program only uses the list.
PLURAL = {"dataset": "datasets", "algorithm": "algorithms"}
MAX_CHAIN = 20
SET = "--set "  # start of the source of a value from the command line


def bundled() -> list[str]:
    """Return the names of the bundled configurations, such as "bupa_hhgdt"."""
    folder = resources.folder("configs")
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


def resolve(name: str | Path) -> Path:
    """Return the file of a configuration: the path `name`, else the bundled file, "configs/bupa_hhgdt.yaml"."""
    short = str(name).removeprefix("configs/").removesuffix(".yaml")
    candidates = [Path(name), resources.folder("configs") / f"{short}.yaml"]
    for path in candidates:
        try:
            if path.is_file():
                return path.resolve()
        except OSError:  # the name is too long for the file system
            pass
    known = bundled()
    hint = close_matches(short[:80], known) or f" Bundled: {', '.join(known)}."
    raise ConfigError(f"no configuration {shown(str(name))}: neither a file nor the name of a bundled one.{hint}")


def project_root(path: Path) -> Path:
    """Return the folder that paths in the configuration `path` may not leave: the parent of the folder `configs` that
    the file is in, else the current folder, or the folder of the file."""
    for folder in path.parents:
        if folder.name == "configs":
            return folder.parent
    here = Path.cwd()
    return here if path.is_relative_to(here) else path.parent


def compose(path: Path, overrides: Iterable[str], root: Path | None, problems: Problems) -> YamlValue:
    """Return the mapping in a file merged over its bases (not outside `root`) and changed by `overrides`."""
    tree = _with_bases(path, root, problems, ())
    apply(tree, overrides, problems)
    return tree


def apply(tree: YamlValue, overrides: Iterable[str], problems: Problems) -> None:
    """Normalize a configuration and apply `overrides` ("key=value")."""
    use_lists(tree, problems)
    for override in overrides:
        _override(tree, override, problems)


def located(
    value: YamlValue, root: Path | None, problems: Problems, *, folder: bool = False, data: bool = False
) -> Path | None:
    """Return the file (or folder) of a text, or None after noting that it leaves `root` or does not exist.

    data : whether it is a file of data
    A path is relative to the folder of its file. A path of the command line is relative to the current folder and may
    lead anywhere."""
    file = value.place.source.path
    name = shown(value.data)
    try:
        path: Path = ((file.parent if file else Path.cwd()) / value.data).resolve()
        if file and root and not path.is_relative_to(root):
            message = f"{name} lies outside the project folder {root}; move it inside, or run with --allow-outside."
        elif path.is_dir() if folder else divided(str(path))[0].is_file():
            return path
        else:
            problems.add(value.place, f"there is no {'folder' if folder else 'file'} {name}.", of_data=data)
            return None
    except (OSError, ValueError, RuntimeError):  # too long for the file system, or a cycle of links
        message = f"{name} is not a path."
    problems.add(value.place, message)
    return None


def use_lists(tree: YamlValue, problems: Problems) -> None:
    """Convert data sets and algorithms of a configuration to lists of mappings."""
    for singular, plural in PLURAL.items():
        if singular in tree.data and plural in tree.data:
            problems.add(tree.data[plural].key, f"give either '{singular}' or '{plural}', not both.")
            del tree.data[singular]
        elif singular in tree.data:
            value = tree.data.pop(singular)
            tree.data[plural] = YamlValue([value], value.place, value.key)
        if plural in tree.data and isinstance(tree.data[plural].data, list):
            tree.data[plural].data[:] = [
                YamlValue({"name": item}, item.place, item.key) if isinstance(item.data, str) else item
                for item in tree.data[plural].data
            ]


def _with_bases(path: Path, root: Path | None, problems: Problems, chain: tuple[Path, ...]) -> YamlValue:
    """Return the mapping in `path` merged over the files that it extends; `chain` : the files that led here"""
    here = Path.cwd()
    name = path.relative_to(here) if path.is_relative_to(here) else path
    value = parse(read(path, str(name), problems), problems)
    if not isinstance(value.data, dict):
        raise problems.stop(value.place, f"a configuration is a mapping of keys to values. Got {value.shown()}.")
    extends = value.data.pop("extends", None)
    if extends is None:
        return value
    if not isinstance(extends.data, str):
        raise problems.stop(extends.place, f"extends must be the path of one file. Got {extends.shown()}.")
    base = located(extends, root, problems)
    if base is None:
        raise problems.error()
    chain = (*chain, path)
    if base in chain or len(chain) > MAX_CHAIN:
        fault = "comes back to a file that extends this one" if base in chain else f"goes on for over {MAX_CHAIN} files"
        raise problems.stop(extends.place, f"extends {shown(extends.data)} {fault}.")
    below = _with_bases(base, root, problems, chain)
    below.data.pop("name", None)  # the name of a base is not inherited
    for pair in PLURAL.items():
        if any(key in value.data for key in pair):  # `dataset` in this file replaces `datasets` of the base
            for key in set(pair) - set(value.data):
                below.data.pop(key, None)
    return _merged(below, value)


def _merged(below: YamlValue, above: YamlValue) -> YamlValue:
    """Return `above` merged over `below`, its new keys last (`is_from_below`); lists and scalars replace as a whole."""
    if not isinstance(below.data, dict) or not isinstance(above.data, dict):
        return above
    entries = dict(below.data)
    for key, value in above.data.items():
        entries[key] = _merged(entries.pop(key), value) if key in entries else value
    return YamlValue(entries, above.place, above.key)


def _override(tree: YamlValue, override: str, problems: Problems) -> None:
    """Apply "key.key=value" to `tree`. Numbers are indices of lists; `algorithm.x` is x of the only algorithm."""
    name = f"{SET}{override[:120]}"
    place = Place(YamlSource(name, ""))
    key, equals, text = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts) or len(parts) > MAX_DEPTH:
        problems.add(place, "must be KEY=VALUE, as in cv.repeats=2.")
        return
    value = YamlValue(parse(YamlSource(name, text), problems).data, place, place)
    many = PLURAL.get(parts[0], "")
    if many and len(parts) == 1:
        tree.data.pop(many, None)
    elif many:
        count = len(tree.data[many].data) if many in tree.data and isinstance(tree.data[many].data, list) else 0
        if count != 1:
            problems.add(place, f"there are {count} {many}; say which, as in {many}.0.{parts[1]}.")
            return
        parts[:1] = [many, "0"]
    try:
        _put(tree, parts, value)
    except LookupError as error:
        problems.add(place, str(error.args[0]))
    use_lists(tree, problems)


def _put(at: YamlValue, parts: list[str], value: YamlValue) -> None:
    """Store `value` below `at`, with new mappings on the path; raise LookupError with the reason if impossible."""
    part, *rest = parts
    key: Any = part
    if isinstance(at.data, list):
        key = int(part[:9]) if part.isdecimal() else len(at.data)
        if key >= len(at.data):
            raise LookupError(f"the list of {len(at.data)} has no item {shown(part)}; items are counted from 0.")
    elif not isinstance(at.data, dict):
        raise LookupError(f"{at.shown()} has no key {shown(part)}.")
    elif rest:
        at.data.setdefault(part, YamlValue({}, value.place, value.place))
    if rest:
        _put(at.data[key], rest, value)
    elif isinstance(at.data, dict):
        at.data.pop(key, None)
        at.data[key] = value
    else:
        at.data[key] = value


def is_from_below(entries: Mapping[str, YamlValue], key: str, other: str) -> bool:
    """Return whether `key` comes from a base of the file, or of the --set, that sets `other`."""
    if key not in entries or other not in entries:
        return False
    order, source = list(entries), entries[key].key.source
    is_nearest = source.name.startswith(SET) or source is entries[other].key.source
    return not is_nearest and order.index(key) < order.index(other)
