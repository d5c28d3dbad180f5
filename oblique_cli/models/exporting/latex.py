"""A drawing for LaTeX."""

from __future__ import annotations

from oblique_cli.models.exporting._exporter import SEVERAL, SINGLE, Source, exporter


@exporter("latex", "a drawing for LaTeX (TikZ)", ".tex", kinds=(*SINGLE, SEVERAL), digits=3)
def write(source: Source) -> str:
    """Return a document of one page."""
    from oblique_cli.drawing.tikz import tikz
    from oblique_cli.models.exporting._drawing import view

    return tikz(view(source))
