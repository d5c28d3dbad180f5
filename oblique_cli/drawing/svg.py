"""A scene as SVG: text stays text, and the bytes are reproducible."""

from __future__ import annotations

from html import escape

from oblique_cli.drawing.palette import COLORS, DARK_COLORS, STYLES, Look
from oblique_cli.drawing.scene import Dots, Group, Line, Link, Rectangle, Scene, Shape
from oblique_cli.drawing.view import BLANK

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def svg(scene: Scene) -> str:
    """Return a picture as a separate file, which adapts to light and dark viewers."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + drawing(scene, f"<style>\n{style_sheet()}</style>\n") + "\n"


def drawing(scene: Scene, styles: str = "", attributes: str = "") -> str:
    """Return the `svg` element of a scene; nodes are groups of class "node" with their place as data-node."""
    width, height = _n(scene.width), _n(scene.height)
    groups = "\n".join(_group(group) for group in scene.groups)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'class="tree" role="img" aria-label="{_text(scene.title)}"{attributes}>\n'
        f"<title>{_text(scene.title)}</title>\n<desc>{_text(scene.description)}</desc>\n{styles}"
        f'<rect class="page" width="{width}" height="{height}"/>\n{groups}\n</svg>'
    )


def style_sheet(scope: str = "") -> str:
    """Return the rules of all styles, for light and for dark. scope : prefix of each selector"""
    light = "".join(_rule(f"{scope}.{name}", look, dark=False) for name, look in STYLES.items())
    dark = "".join(_rule(f"{scope}.{name}", look, dark=True) for name, look in STYLES.items())
    dots = "".join(f"{scope}.dk{k} {{ stroke: {color}; }}\n" for k, color in enumerate(COLORS))
    dark += "".join(f"{scope}.dk{k} {{ stroke: {color}; }}\n" for k, color in enumerate(DARK_COLORS))
    return (
        f"{scope}.dots {{ fill: none; stroke-width: 4; stroke-linecap: round; }}\n{dots}"
        f"{scope}.way {{ paint-order: stroke; }}\n{scope}text {{ font-family: {FONTS}; }}\n"
        f"{scope}.b {{ font-weight: 600; }}\n"
        f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"
    )


def _rule(selector: str, look: Look, dark: bool) -> str:
    fill, line = (look.dark_fill, look.dark_line) if dark else (look.fill, look.line)
    parts = [f"fill: {fill or 'none'}"]
    if line:
        parts.append(f"stroke: {line}")
    if not dark:
        if line:
            parts.append(f"stroke-width: {look.width:g}")
        if look.opacity < 1.0:
            parts.append(f"fill-opacity: {look.opacity:g}")
    return f"{selector} {{ {'; '.join(parts)}; }}\n"


def _group(group: Group) -> str:
    shapes = "\n".join(_shape(shape) for shape in group.shapes)
    if group.place < 0:
        return f"<g>\n{shapes}\n</g>"
    return f'<g class="node" data-node="{group.place}"><title>{_text(group.title)}</title>\n{shapes}\n</g>'


def _shape(shape: Shape) -> str:
    if isinstance(shape, Rectangle):
        corners = f' rx="{_n(shape.radius)}"' if shape.radius else ""
        return (
            f'<rect class="{shape.style}" x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" '
            f'height="{_n(shape.height)}"{corners}/>'
        )
    if isinstance(shape, Line):
        points = "L".join(f"{_n(x)} {_n(y)}" for x, y in shape.points)
        return f'<path class="{shape.style}" d="M{points}{"Z" if shape.closed else ""}"/>'
    if isinstance(shape, Link):
        start, knee = (f"{_n(x)} {_n(y)}" for x, y in (shape.start, shape.knee))
        curve = " ".join(f"{_n(x)} {_n(y)}" for x, y in (*shape.bends, shape.end))
        straight = f"L{knee}" if knee != start else ""
        return f'<path class="{shape.style}" data-to="{shape.child}" d="M{start}{straight}C{curve}"/>'
    if isinstance(shape, Dots):
        # A line of no length with round ends is a dot, in a fifth of the bytes of a circle.
        points = "".join(f"M{_n(x)} {_n(y)}h0" for x, y in shape.points)
        return f'<path class="dots d{shape.style}" d="{points}"/>'
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    style = f"{shape.style} b" if shape.bold else shape.style
    return (
        f'<text class="{style}" x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}"{anchor}>'
        f"{_text(shape.text)}</text>"
    )


def _n(value: float) -> str:
    """Return a length, rounded to a tenth of a pixel, as short text."""
    text = f"{value:.1f}"
    return text.removesuffix(".0").removeprefix("-") if float(text) == 0 else text.removesuffix(".0")


def _text(text: str) -> str:
    """Return text escaped for XML, without characters that XML forbids."""
    return escape("".join(char for char in text.replace(BLANK, " ") if char >= " " or char in "\t\n"))
