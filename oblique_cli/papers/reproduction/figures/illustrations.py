"""The figures of the papers: their list, the published figures that each redraws, and their page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oblique_cli.data.csv_text import csv_text
from oblique_cli.data.synthetic import SEED
from oblique_cli.ground.registry import Registry, fault_of_function, fault_of_texts, fault_of_type
from oblique_cli.ground.strict_yaml import content

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSetting:
    """Location of data sets, with the parameters of `data.load`."""

    data_dir: str | None = None
    offline: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn figure, and a sentence or two on its content, with numbers."""

    figure: Figure
    seen: str


Draw = Callable[[FigureSetting], Picture]


@dataclass(frozen=True)
class Illustration:
    """A figure with its drawing function.

    remakes   the figures of the papers that it redraws
    claim     the claim of their text
    seed      of every random draw in it
    draw      the drawing function
    """

    name: str
    title: str
    remakes: str
    claim: str
    seed: int
    draw: Draw

    @property
    def __wrapped__(self) -> Draw:
        """Return the drawing function, by which the registry finds the figure's file."""
        return self.draw


def _fault(figure: Any) -> str | None:
    """Return the error message for a figure, without its name, or None."""
    if fault := fault_of_type(figure, Illustration, "put @illustration over the function that draws it"):
        return fault
    if type(figure.seed) is not int:
        return f"has seed {figure.seed!r}, which must be a whole number"
    return fault_of_texts(figure, "title", "remakes", "claim") or fault_of_function(figure.draw, "setting")


FIGURES: Registry[Illustration] = Registry("figure", "oblique figures --list", _fault)
FIGURES.wait_for(("oblique_cli.papers.reproduction.figures",))


@cache
def captions() -> Mapping[str, Mapping[str, Any]]:
    """Return title, `remakes`, claim and seed of every figure in captions.yaml, by its name."""
    captions: Mapping[str, Mapping[str, Any]] = content(Path(__file__).with_name("captions.yaml"))
    return captions


def illustration(draw: Draw, name: str | None = None) -> Draw:
    """Register a function as the figure `name`, by default its own, with its caption; ConfigError if there is none."""
    key = name or draw.__name__
    caption = {"title": "", "remakes": "", "claim": "", "seed": SEED, **captions().get(key, {})}
    FIGURES.register(key)(Illustration(name=key, draw=draw, **caption))
    return draw


def pages(pictures: Mapping[str, Picture], form: str = "svg") -> dict[str, str]:
    """Return the page that shows all pictures and the table of claims and observations, by the names of the files."""
    shown = [
        f"![{about.title}]({name}.{form})\n\n`{name}` remakes {about.remakes}.\n"
        for name, about in ((name, FIGURES[name]) for name in pictures)
    ]
    header = ("figure", "title", "remakes", "claim", "seed", "seen")
    rows = [
        (name, about.title, about.remakes, about.claim, about.seed, picture.seen)
        for name, picture in pictures.items()
        for about in (FIGURES[name],)
    ]
    return {"README.md": "\n".join([INTRODUCTION, *shown]), "seen.csv": csv_text([header, *rows])}


INTRODUCTION = """# Figures

`oblique figures` draws the figures of the papers again and writes this page. [seen.csv](seen.csv) has for each figure
the claim of the paper's text, the seed, and what is seen in the drawn trees. The papers print no coordinates but
those of Tables 1.2 and 5.1. The other data sets follow the descriptions (`oblique_cli/data/synthetic.py`), so a
figure shows that the algorithm behaves as the text claims, not that the points are equal. Numbers of thesis figures
are those of Wickramarachchi (2015).

Not redrawn are figures 2.4, 2.5 and 4.3 of Amalaman (2015), running times on one machine: the text prints neither the
sizes nor the seconds. Figure 1 of Zhang and Suganthan (2014) has ranks over 44 data sets that a lost supplement lists;
results/reproduction/ has the ranks over 35 sets in `mpsvm_bias_variance_raf.csv` and `mpsvm_bias_variance_rrof.csv`.
"""
