"""Hooks of mkdocs.yml: the same Markdown serves the site and a reader of the repository.

Some pages lie beside what they describe, outside docs/. Here they become pages of the site, links to and from them lead
to the pages, and a link to any other file of the repository, which the site does not have, becomes plain text.
What tools/built.py makes is in the site alone.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# File of the repository -> its page.
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "datasets/SOURCES.md": "sources.md",
    "oblique_cli/papers/published/README.md": "published.md",
}
# What the site has another page for: the start page says what the README says.
SAME = {"README.md": "README.md", "docs": "README.md"}
INSIDE = {page: file for file, page in OUTSIDE.items()}

FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside docs/, and what is made whenever the site is."""
    from mkdocs.structure.files import File

    if str(ROOT) not in sys.path:  # a hook is a file to mkdocs, not a module of a package
        sys.path.append(str(ROOT))
    tools = importlib.import_module("tools.built")
    made = {page: (ROOT / file).read_bytes() for file, page in OUTSIDE.items()}
    made |= {name: tools.built(name) for name in tools.BUILT}
    for name, content in made.items():
        if (there := files.get_file_from_path(name)) is not None:  # `oblique reproduce report` draws one as well
            files.remove(there)
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Make the links of a page those of the site."""
    source = page.file.src_uri
    return relinked(markdown, INSIDE.get(source, f"docs/{source}"), source)


def relinked(markdown: str, file: str, page: str) -> str:
    """Return the text of `file`, a path of the repository, with links as they have to be on `page` of the site."""

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        if not (ROOT / place).exists():
            return match[0]  # mkdocs says so
        there = {**OUTSIDE, **SAME}.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        if there is None:
            return match["text"]
        path = posixpath.relpath(there, posixpath.dirname(page) or ".")
        return f"{match['image']}[{match['text']}]({path}{'#' if anchor else ''}{anchor})"

    # Printed numbers in brackets, side by side, are no reference: no page has links of that kind.
    return _outside_code(markdown, lambda text: LINK.sub(link, text).replace("][", r"]\["))


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change everything but fenced code."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])
