"""A matplotlib figure that a notebook shows at the width of its cell, also without pyplot."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from oblique_cli.drawing.canvas import rendered

SMALLEST = 0.6  # least share of the figure's original size; below it text is hardly readable, so the cell scrolls


class NotebookFigure(Figure):
    """A figure that a notebook shows at the width of its cell, between 0.6 and 1 times its original size."""

    def _repr_html_(self) -> str:
        head, _, body = rendered(self, "svg").decode("utf-8").partition("<svg")[2].partition(">")
        width = self.get_size_inches()[0]
        size = f"width: 100%; min-width: {SMALLEST * width:.2f}in; max-width: {width:.2f}in; height: auto"
        unsized = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
        return f'<div style="overflow: auto"><svg style="{size}"{unsized}>{body}</div>'
