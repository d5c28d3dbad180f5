"""The only module that creates matplotlib figures: an empty figure, its style, and its reproducible bytes."""

from __future__ import annotations

import io
import logging
import re
from itertools import count
from typing import TYPE_CHECKING, Any

from oblique_cli.drawing.palette import COLORS
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# SVG and PDF rasterize only points.
DOTS_PER_INCH = {"svg": 100, "pdf": 100, "png": 150}

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # bundled with matplotlib; a viewer without this font substitutes another
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "figure.dpi": 100,
    "svg.hashsalt": "oblique",  # without it ids of elements are random
    "svg.fonttype": "none",  # text stays text, in a tenth of the size
}


def color(code: int) -> str:
    """Return the color of a class code; colors repeat after eight."""
    return COLORS[code % len(COLORS)]


def method(code: int) -> str:
    """Return the name that the marks of a method have in an SVG, by which a page shows and hides them."""
    return f"method{code}"


def tint(code: int, strength: float = 0.35) -> tuple[float, float, float]:
    """Return the color of a class code mixed with white, opaque: red, green and blue from 0 to 1."""
    red, green, blue = (int(color(code)[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return (1.0 - strength * (1.0 - red), 1.0 - strength * (1.0 - green), 1.0 - strength * (1.0 - blue))


def marker(code: int) -> str:
    """Return the marker of a class code's points."""
    return MARKERS[code % len(MARKERS)]


def needs_matplotlib() -> Any:
    """Return matplotlib; ConfigError, with the package to install, if it is missing."""
    # matplotlib warns about building its font cache and about an unwritable home folder.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib
    except ImportError:
        raise ConfigError(
            "drawing needs matplotlib, which is not installed: pip install 'oblique-trees[figures]'."
        ) from None
    return matplotlib


def blank(rows: int = 1, columns: int = 1, width: float = 3.0, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, row by row, each `width` x `height` inches.

    Raises ConfigError, with the package to install, if matplotlib is missing.
    """
    matplotlib = needs_matplotlib()
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        widths = (width,) * columns
        figure = Figure(figsize=(sum(widths), rows * height), layout="constrained")
        return figure, list(figure.subplots(rows, columns, squeeze=False, width_ratios=widths).flat)


def rendered(figure: Figure, form: str, caption: str = "") -> bytes:
    """Return the bytes of a figure as "svg", "pdf" or "png", with the caption, but without date and version."""
    import matplotlib

    stream = io.BytesIO()
    metadata: dict[str, Any] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }[form]
    if caption:
        metadata[{"svg": "Description", "pdf": "Subject", "png": "Description"}[form]] = caption
    with matplotlib.rc_context(STYLE):
        figure.savefig(stream, format=form, metadata=metadata, dpi=DOTS_PER_INCH[form])
    if form == "svg":
        numbers = count()  # several marks of a method have one name, and an id must be unique
        named = re.sub(
            rb'id="method(\d+)"', lambda name: b'id="method%s-%d"' % (name[1], next(numbers)), stream.getvalue()
        )
        # Version control reports lines that end in blanks.
        return b"\n".join(line.rstrip() for line in named.splitlines()) + b"\n"
    return stream.getvalue()
