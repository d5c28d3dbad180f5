"""The house as a picture: rooms of the package, and rooms of its core, by floors, drawn from what they import.

A room is a folder or a module right below the package. It stands one floor above the highest room that it imports from,
so a line always leads down. A line that others imply is left out: where a imports b and b imports c, no line says that
a imports c as well.

python -m tools.rooms rooms.svg     # or the documentation's own, by `make docs`
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

ROOT = "oblique_cli"
PACKAGE = Path(__file__).resolve().parent.parent / ROOT
CORE = PACKAGE / "core"

# Sizes of the picture, in pixels. A letter of the font is at most LETTER wide.
LETTER, BOX, GAP, FLOOR, MARGIN, TITLE = 7.4, 26, 14, 62, 24, 34
SWEEPS = 24

STYLE = """\
text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif; }
text, .title { fill: #1f2933; }
.title { font-weight: 600; }
.page { fill: #ffffff; }
.room { fill: #e8eef4; stroke: #52667a; }
.line { fill: none; stroke: #8a9bab; stroke-width: 1.2; }
@media screen and (prefers-color-scheme: dark) {
text, .title { fill: #e4e9ee; }
.page { fill: #1b2127; }
.room { fill: #2c3844; stroke: #8fa3b5; }
.line { stroke: #6d7f90; }
}
"""


def modules() -> list[Path]:
    """Return all modules, as paths below the package."""
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """Return the folder or the module that a file is in, as a name without a suffix."""
    return path.parts[0] if len(path.parts) > 1 else path.stem


def walk_executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node that can run: names imported under TYPE_CHECKING serve annotations only."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"):
                waiting.append(child)


@cache
def imports(path: Path) -> set[str]:
    """Return dotted names of all that a module imports, anywhere in it; `from a import b` counts as a.b."""
    results: set[str] = set()
    for node in walk_executed(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            results |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            results |= {f"{node.module}.{alias.name}" for alias in node.names}
    return results


def includes(path: Path) -> list[str]:
    """Return what a file of the core includes from the core, as paths below it."""
    return re.findall(r'^#include "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)


def rooms() -> dict[str, set[str]]:
    """Return the rooms of the package, each with the rooms that it imports from, without the front door `__init__`."""
    results: dict[str, set[str]] = {}
    for path in modules():
        named = [name.split(".") for name in imports(path)]
        there = {parts[1] for parts in named if parts[0] == ROOT and len(parts) > 1}
        results.setdefault(room(path), set()).update(there)
    del results["__init__"]
    known = {*results, "_core"}
    return {name: (there & known) - {name} for name, there in results.items()} | {"_core": set()}


def core_rooms() -> dict[str, set[str]]:
    """Return the rooms of the core, each with the rooms that it includes from."""
    results: dict[str, set[str]] = {}
    for path in sorted(CORE.rglob("*.[ch]pp")):
        here = path.relative_to(CORE).parts[0]
        results.setdefault(here, set()).update(name.split("/")[0] for name in includes(path))
    return {name: there - {name} for name, there in results.items()}


def floors(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the floor of every room: 0 for one that imports from none, else one above the highest that it needs."""
    results: dict[str, int] = {}
    for name in TopologicalSorter(arrows).static_order():
        results[name] = 1 + max((results[there] for there in arrows[name]), default=-1)
    return results


def needed(arrows: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that no chain of other arrows implies."""
    beyond: dict[str, set[str]] = {}
    for name in TopologicalSorter(arrows).static_order():
        beyond[name] = arrows[name].union(*(beyond[there] for there in arrows[name]))
    return {name: there.difference(*(beyond[other] for other in there)) for name, there in arrows.items()}


def description(arrows: Mapping[str, set[str]]) -> str:
    """Return in words what a picture shows: the rooms of every floor from above, and what each needs at most."""
    level = floors(arrows)
    lines = []
    for floor in range(max(level.values()), -1, -1):
        text = [
            f"{name} on {', '.join(sorted(there))}" if (there := needed(arrows)[name]) else name
            for name in sorted(level)
            if level[name] == floor
        ]
        lines.append(f"Floor {floor}: {'; '.join(text)}.")
    return " ".join(lines)


def _ranks(arrows: Mapping[str, set[str]]) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Return what lies on each floor and the lines between neighboring floors.

    A line that passes a floor has a place on it, named "from>to", so that it goes around the rooms there.
    """
    level = floors(arrows)
    ranks: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name in sorted(level):
        ranks[level[name]].append(name)
    lines = []
    for name, there in sorted(needed(arrows).items()):
        for other in sorted(there):
            above = name
            for floor in range(level[name] - 1, level[other], -1):
                ranks[floor].append(f"{name}>{other}")
                # Places of one pair of rooms share a name, so a line is from its floor's place to the next one's.
                lines.append((f"{floor + 1}:{above}", f"{floor}:{name}>{other}"))
                above = f"{name}>{other}"
            lines.append((f"{level[other] + 1}:{above}", f"{level[other]}:{other}"))
    return [[f"{floor}:{name}" for name in rank] for floor, rank in enumerate(ranks)], lines


def _width(place: str) -> float:
    name = place.partition(":")[2]
    return 4.0 if ">" in name else LETTER * len(name) + 18


def _ordered(ranks: list[list[str]], lines: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the floors with their places in an order in which few lines cross: by the mean of their neighbors'."""
    below: dict[str, list[str]] = {}
    above: dict[str, list[str]] = {}
    for upper, lower in lines:
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    best, fewest = ranks, _crossings(ranks, below)
    for sweep in range(SWEEPS):
        side, order = (below, range(1, len(ranks))) if sweep % 2 == 0 else (above, range(len(ranks) - 2, -1, -1))
        for floor in order:
            other = ranks[floor + (-1 if side is below else 1)]
            at = {place: (i + 0.5) / len(other) for i, place in enumerate(other)}
            mean = {
                place: sum(near) / len(near)
                if (near := [at[to] for to in side.get(place, ())])
                else (i + 0.5) / len(ranks[floor])
                for i, place in enumerate(ranks[floor])
            }
            ranks = [*ranks[:floor], sorted(ranks[floor], key=lambda place: mean[place]), *ranks[floor + 1 :]]
        if (result := _crossings(ranks, below)) < fewest:
            best, fewest = ranks, result
    return best


def _crossings(ranks: Sequence[Sequence[str]], below: Mapping[str, Sequence[str]]) -> int:
    """Return how many pairs of lines between neighboring floors cross."""
    count = 0
    for upper, lower in zip(ranks[1:], ranks[:-1], strict=True):
        at = {place: i for i, place in enumerate(lower)}
        ends = [at[to] for place in upper for to in sorted(below.get(place, ()), key=lambda to: at[to])]
        count += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return count


def _placed(ranks: Sequence[Sequence[str]], lines: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return the middle of every place from the left: near those of its neighbors, in the order of its floor."""
    near: dict[str, list[str]] = {}
    for upper, lower in lines:
        near.setdefault(upper, []).append(lower)
        near.setdefault(lower, []).append(upper)
    x: dict[str, float] = {}
    for rank in ranks:
        at = 0.0
        for place in rank:
            x[place] = at + _width(place) / 2
            at += _width(place) + GAP
    widest = max(x[rank[-1]] + _width(rank[-1]) / 2 for rank in ranks)
    for rank in ranks:
        spare = (widest - x[rank[-1]] - _width(rank[-1]) / 2) / 2
        x.update({place: x[place] + spare for place in rank})
    for _ in range(SWEEPS):
        for rank in ranks:
            wanted = {
                place: sum(x[to] for to in near[place]) / len(near[place]) if place in near else x[place]
                for place in rank
            }
            x.update(_apart(rank, wanted, widest))
    return x


def _apart(rank: Sequence[str], wanted: Mapping[str, float], widest: float) -> dict[str, float]:
    """Return places as near to where they are wanted as their order, their widths and the page allow."""
    left: list[float] = []
    for i, place in enumerate(rank):
        least = left[-1] + (_width(rank[i - 1]) + _width(place)) / 2 + GAP if i else _width(place) / 2
        left.append(max(wanted[place], least))
    right = list(left)
    for i in range(len(rank) - 1, -1, -1):
        half = _width(rank[i]) / 2
        most = right[i + 1] - half - _width(rank[i + 1]) / 2 - GAP if i + 1 < len(rank) else widest - half
        right[i] = min(left[i], most)
    return dict(zip(rank, right, strict=True))


def drawn(arrows: Mapping[str, set[str]], title: str) -> tuple[list[str], float, float]:
    """Return the elements of a picture of rooms, its width and its height."""
    ranks, lines = _ranks(arrows)
    ranks = _ordered(ranks, lines)
    x = _placed(ranks, lines)
    width = max(x[place] + _width(place) / 2 for rank in ranks for place in rank)
    height = TITLE + FLOOR * (len(ranks) - 1) + BOX
    y = {
        place: TITLE + FLOOR * (len(ranks) - 1 - floor) + BOX / 2 for floor, rank in enumerate(ranks) for place in rank
    }
    made = [f'<text class="title" x="0" y="14">{escape(title)}</text>']
    for upper, lower in lines:  # a line goes on through the place it has on a floor that it passes
        start, end = y[upper] + BOX / 2 * (">" not in upper), y[lower] - BOX / 2 * (">" not in lower)
        middle = f"{(start + end) / 2:.1f}"
        left, right = f"{x[upper]:.1f}", f"{x[lower]:.1f}"
        curve = f"M{left} {start:.1f}C{left} {middle} {right} {middle} {right} {end:.1f}"
        made.append(f'<path class="line" d="{curve}"/>')
    for rank in ranks:
        for place in rank:
            name = place.partition(":")[2]
            if ">" not in name:
                made.append(
                    f'<rect class="room" x="{x[place] - _width(place) / 2:.1f}" y="{y[place] - BOX / 2:.1f}" '
                    f'width="{_width(place):.1f}" height="{BOX}" rx="4"/>'
                    f'<text x="{x[place]:.1f}" y="{y[place] + 4.5:.1f}" text-anchor="middle">{escape(name)}</text>'
                )
    return made, width, height


def picture() -> str:
    """Return the picture of the package and of its core as SVG; equal imports give equal bytes."""
    panels = [(rooms(), "oblique_cli"), (core_rooms(), "oblique_cli/core (C++), behind _core")]
    parts, wide, down = [], 0.0, float(MARGIN)
    for arrows, title in panels:
        made, width, height = drawn(arrows, title)
        parts.append(f'<g transform="translate({MARGIN} {down:.1f})">\n' + "\n".join(made) + "\n</g>")
        wide, down = max(wide, width), down + height + 2 * MARGIN
    text = " ".join(f"{title}: {description(arrows)}" for arrows, title in panels)
    size = f'width="{wide + 2 * MARGIN:.0f}" height="{down - MARGIN:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide + 2 * MARGIN:.0f} {down - MARGIN:.0f}" '
        f'role="img">\n<title>Rooms by floors: a room imports only from rooms below it</title>\n'
        f"<desc>{escape(text)}</desc>\n<style>\n{STYLE}</style>\n"
        f'<rect class="page" width="100%" height="100%"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
