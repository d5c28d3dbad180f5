"""The figures of the documentation: the list of figures, what each remakes, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable
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


def page(pictures: dict[str, Picture], form: str = "svg") -> str:
    """Return the Markdown page that shows the pictures, each with its origin, its text's claim and what was seen."""
    lines = [
        "# Figures",
        "",
        "Drawn by `make figures` (`oblique figures`), which also writes this page: what is said under **seen** comes",
        "from the trees that were just drawn. The papers print no coordinates but those of Table 5.1; data sets made",
        "again by description are drawn with the seed given (`oblique_cli/data/synthetic.py` says what is the papers'",
        "and what is ours), so agreement with a text's claim shows that the algorithm does what the text says of it,",
        "not that the points are the same.",
    ]
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
