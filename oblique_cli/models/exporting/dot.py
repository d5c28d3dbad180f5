"""A drawing for Graphviz."""

from __future__ import annotations

from oblique_cli.models.exporting._exporter import SEVERAL, SINGLE, Source, exporter


@exporter("dot", "a drawing for Graphviz", ".dot", kinds=(*SINGLE, SEVERAL), digits=3)
def write(source: Source) -> str:
    """Return the graph."""
    # What draws takes longer to import than all other formats together.
    from oblique_cli.drawing.dot import dot
    from oblique_cli.models.exporting._drawing import view

    return dot(view(source))
