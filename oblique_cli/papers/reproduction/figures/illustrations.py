"""The figures of the documentation: the list of figures, what each remakes, and what is known of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oblique_cli.ground.registry import Registry, fault_of_function, fault_of_texts, fault_of_type

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSetting:
    """Where data sets come from, as `data.load` takes it."""

    data_dir: str | None = None
    offline: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn figure, and a sentence or two on what is seen in it, with its numbers."""

    figure: Figure
    seen: str


@dataclass(frozen=True)
class Illustration:
    """A figure that can be drawn.

    remakes   the figures of the papers that it makes again
    claim     what their text says
    seed      of every random draw in it
    draw      draws it
    """

    name: str
    title: str
    remakes: str
    claim: str
    seed: int
    draw: Callable[[FigureSetting], Picture]

    @property
    def part(self) -> str:
        """The page that tells of it: the name of its module."""
        return self.draw.__module__.rpartition(".")[2]


def _fault(figure: Any) -> str | None:
    """What is wrong with a figure, as it follows its name."""
    if fault := fault_of_type(figure, Illustration, "put @illustration(...) over the function that draws it"):
        return fault
    if type(figure.seed) is not int:
        return f"has seed {figure.seed!r}, which must be a whole number"
    return fault_of_texts(figure, "title", "remakes", "claim") or fault_of_function(figure.draw, "setting")


FIGURES: Registry[Illustration] = Registry("figure", "oblique figures --list", _fault)
FIGURES.wait_for(("oblique_cli.papers.reproduction.figures",))


def illustration(
    name: str, title: str, remakes: str, claim: str, seed: int
) -> Callable[[Callable[[FigureSetting], Picture]], Callable[[FigureSetting], Picture]]:
    """Decorator that registers a function as the figure `name`."""

    def keep(draw: Callable[[FigureSetting], Picture]) -> Callable[[FigureSetting], Picture]:
        FIGURES.register(name)(Illustration(name, title, remakes, claim, seed, draw))
        return draw

    return keep


def pages(pictures: Mapping[str, Picture], form: str = "svg") -> dict[str, str]:
    """Return the Markdown pages that show the pictures, by file name: a list, and a page for each module of figures."""
    parts: dict[str, list[str]] = {}
    for name in pictures:
        parts.setdefault(FIGURES[name].part, []).append(name)
    return {"README.md": _index(parts)} | {
        f"{part}.md": _page(part, {name: pictures[name] for name in names}, form) for part, names in parts.items()
    }


def _index(parts: Mapping[str, list[str]]) -> str:
    rows = [
        f"| [{FIGURES[name].title}]({part}.md#{_anchor(FIGURES[name].title)}) | {FIGURES[name].remakes} |"
        for part, names in parts.items()
        for name in names
    ]
    return "\n".join([*INTRODUCTION, "", "| figure | remakes |", "| --- | --- |", *rows]) + "\n"


INTRODUCTION = (
    "# Figures",
    "",
    "Drawn by `make figures` (`oblique figures`), which also writes these pages: what is said under **seen** comes",
    "from the trees that were just drawn. The papers print no coordinates but those of Table 5.1; data sets made",
    "again by description are drawn with the seed given (`oblique_cli/data/synthetic.py` says what is the papers'",
    "and what is ours), so agreement with a text's claim shows that the algorithm does what the text says of it,",
    "not that the points are the same.",
)


def _page(part: str, pictures: Mapping[str, Picture], form: str) -> str:
    said = inspect.getdoc(inspect.getmodule(FIGURES[next(iter(pictures))].draw)) or ""
    lines = [f"# Figures: {part.replace('_', ' ')}", "", *said.split("\n\n")[0].splitlines()]
    for name, picture in pictures.items():
        about = FIGURES[name]
        lines += [
            "",
            f"## {about.title}",
            "",
            f"![{about.title}]({name}.{form})",
            "",
            f"- **remakes**: {about.remakes}",
            f"- **command**: `oblique figures {name}`, seed {about.seed}",
            f"- **the text**: {about.claim}",
            f"- **seen**: {picture.seen}",
        ]
    return "\n".join(lines) + "\n"


def _anchor(title: str) -> str:
    """The anchor of a heading, as MkDocs and hosts of repositories make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
