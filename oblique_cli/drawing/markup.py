"""Elements of the project's HTML pages: frame, tables, matrices and bars.

All text is escaped here, so a column name cannot insert markup into the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from oblique_cli.drawing.palette import N_COLORS
from oblique_cli.drawing.scene import style_of
from oblique_cli.ground.resources import PACKAGE

BAR_WIDTH, BAR_HEIGHT = 100, 8
# Style sheet rules of pages with bars.
BARS = """.bars { border-collapse: collapse; width: 100%; max-width: 40rem; }
.bars caption { text-align: left; color: var(--soft); padding-bottom: 4px; }
.bars th { background: none; border: 0; color: inherit; font-weight: 400; white-space: normal; max-width: 260px; }
.bars th { overflow-wrap: anywhere; }
.bars td.bar { width: 50%; padding: 3px 0; }
.bars svg { display: block; width: 100%; height: 8px; }
"""
SHADES = 10  # of matrix cells, by the share of their row


DOCUMENT = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="oblique">
<title>$title</title>
<style>$style</style>
</head>
<body>
$body
</body>
</html>
""")


def document(title: str, style: str, body: str, script: str = "", *, painted: bool = False) -> str:
    """Return a page that allows only its style and script, identified by their digests.

    body : markup; painted : whether it has pictures of matplotlib, which need style attributes and embedded images
    """
    styles = "'unsafe-inline'; img-src data:" if painted else f"'{_digest(style)}'"
    scripts = f"; script-src '{_digest(script)}'" if script else ""
    return DOCUMENT.substitute(
        policy=f"default-src 'none'; style-src {styles}{scripts}; base-uri 'none'; form-action 'none'",
        title=escape(title),
        style=style,
        body=f"{body}\n<script>{script}</script>" if script else body,
    )


def sectioned(
    title: str,
    soft: str,
    tiles: Mapping[str, str],
    alarms: Iterable[str],
    sections: Iterable[tuple[str, str, str]],
    style: str,
    script: str = "",
    *,
    kind: str = "",
    painted: bool = False,
) -> str:
    """Return a page with title, subtitle, numbers as tiles, alarms, and linked sections.

    alarms : markup; sections : anchor, title and markup of each; empty sections are left out; kind : of the page
    """
    filled = [section for section in sections if section[2]]
    links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in filled)
    parts = "\n".join(f'<section id="{a}"><h2>{escape(name)}</h2>\n{content}</section>' for a, name, content in filled)
    cells = "".join(f"<div><b>{escape(value)}</b>{escape(name)}</div>" for name, value in tiles.items())
    shown = "".join(f'<p class="alarm">{alarm}</p>' for alarm in alarms)
    body = (
        f'<header><h1>{escape(title)}</h1>\n<p class="soft">{escape(soft)}</p>\n'
        f'<div class="facts">{cells}</div>{shown}</header>\n<nav aria-label="Sections">{links}</nav>\n'
        f"<main>\n{parts}\n</main>"
    )
    return document(f"{title}{kind}", style, body, script, painted=painted)


def file(place: str) -> str:
    """Return the content of a file below the package: a style sheet, a script or a template."""
    return (PACKAGE / place).read_text(encoding="utf-8")


def json_text(value: Any) -> str:
    """Return JSON for a script element of data, without text that would end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(text: str) -> str:
    """Return the digest of a script or a style for a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def scrolling(content: str, label: str, kind: str = "scroll") -> str:
    """Return a block that scrolls, also by the keyboard. content : markup; label : its name for screen readers"""
    return f'<div class="{kind}" tabindex="0" role="group" aria-label="{escape(label)}">{content}</div>'


def source(text: str, label: str) -> str:
    """Return text with its line breaks, in a block that scrolls. label : its name for screen readers"""
    return f'<pre tabindex="0" role="group" aria-label="{escape(label)}">{escape(text)}</pre>'


def table(caption: str, header: Sequence[str], rows: str, left: int, long: Sequence[int] = ()) -> str:
    """Return a table that scrolls if it is wide. The caption is for screen readers: pages have headings beside it.

    rows : markup; left : number of name columns; long : text columns
    """
    names = {*range(left), *long}
    heads = "".join(
        cell('th scope="col"' if name else "td", name, "name" if j in names else "") for j, name in enumerate(header)
    )
    return scrolling(
        f'<table class="sortable"><caption class="unseen">{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>",
        caption,
    )


def plain_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], left: int, long: Sequence[int] = ()
) -> str:
    """Return a table of names, then numbers; the columns `long` hold text with line breaks."""
    body = ""
    for row in rows:
        kinds = ("long" if j in long else "name" if j < left else "" for j in range(len(row)))
        body += f"<tr>{''.join(cell('td', text, kind) for text, kind in zip(row, kinds, strict=True))}</tr>"
    return table(caption, header, body, left, long)


def numbers(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Return the table behind a chart, folded."""
    return folded("numbers", plain_table(caption, header, rows, left))


def cell(tag: str, text: str, kind: str) -> str:
    """Return one cell. tag : with its attributes; kind : classes of the style sheet, "" for none"""
    chosen = f' class="{kind}"' if kind else ""
    return f"<{tag}{chosen}>{escape(text)}</{tag.partition(' ')[0]}>"


def folded(summary: str, content: str, data: Mapping[str, str] | None = None) -> str:
    """Return content that unfolds below its summary. content : markup; data : attributes for the script, by name"""
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in (data or {}).items())
    return f"<details{attributes}><summary>{escape(summary)}</summary>{content}</details>"


def soft(text: str) -> str:
    """Return a paragraph in the soft color. text : markup"""
    return f'<p class="soft">{text}</p>'


def matrix(title: str, classes: Sequence[str], counts: Any, recalls: Sequence[str] = ()) -> str:
    """Return a (C, C) matrix of counts, shaded by the share of their row; recalls : an optional last column"""
    last = ["share found"] if recalls else []
    heads = "".join(cell('th scope="col"', name, "") for name in [*classes, *last])
    rows = ""
    for k, (name, row) in enumerate(zip(classes, counts, strict=True)):
        total = sum(row)
        cells = "".join(
            f'<td class="s{round(SHADES * count / total)}">{count:.{0 if float(count).is_integer() else 1}f}</td>'
            if count
            else "<td></td>"
            for count in row
        )
        recall = cell("td", recalls[k], "") if recalls else ""
        rows += f'<tr><th scope="row" class="name">{escape(name)}</th>{cells}{recall}</tr>'
    return scrolling(
        f'<table class="matrix sortable"><caption>{escape(title)}</caption>'
        f'<thead><tr><th scope="col" class="name">class</th>{heads}</tr></thead><tbody>{rows}</tbody></table>',
        title,
    )


def key(code: int, text: str, color: str = "") -> str:
    """Return a legend item of a class, or of a method whose color is given: the color and the name."""
    of, fill = (f'data-code="{code}" data-method="{escape(text)}"', f'fill="{color}"') if color else ("", "")
    of, fill = of or f'data-code="{code % N_COLORS}"', fill or f'class="{style_of(code)}"'
    return (
        f'<li {of}><svg class="swatch" width="10" height="10" aria-hidden="true">'
        f'<rect width="10" height="10" rx="2" {fill}/></svg>{escape(text)}</li>'
    )


def bars(caption: str, values: Sequence[tuple[str, float]]) -> str:
    """Return names with their non-negative numbers and bars, the longest for the largest number."""
    largest = max((value for _, value in values), default=0.0)
    rows = ""
    for name, value in values:
        long = f"{BAR_WIDTH * value / largest:.1f}" if largest > 0.0 else "0"
        bar = (
            f'<svg viewBox="0 0 {BAR_WIDTH} {BAR_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect class="k0" width="{long}" height="{BAR_HEIGHT}"/></svg>'
        )
        rows += (
            f'<tr><th scope="row" class="name">{escape(name)}</th><td class="bar">{bar}</td><td>{value:.3g}</td></tr>'
        )
    return f'<table class="bars"><caption>{escape(caption)}</caption><tbody>{rows}</tbody></table>'
