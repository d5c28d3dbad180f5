"""A plain index of the documentation, one line a page, for readers of text: people with a terminal, and programs.

The form is that of llms.txt: a title, a summary, and lists of links with what each page is about, which is its own
first sentence. `make docs` writes it; python -m tools.index prints it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tools import site
from tools.built import BUILT

# Tags that Python objects are made by are no concern of the index.
LOADER = type("LOADER", (yaml.SafeLoader,), {})
LOADER.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def navigation() -> dict[str, Any]:
    """Return what mkdocs.yml says."""
    read: dict[str, Any] = yaml.load((site.ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=LOADER)
    return read


def text() -> str:
    """Return the index."""
    config = navigation()
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}", "", "## First"]
    for entry in config["nav"]:
        ((title, below),) = entry.items()
        pages = list(_pages(title, below))
        lines += [] if isinstance(below, str) else ["", f"## {title}"]
        lines += [
            f"- [{name}]({page.removesuffix('.md').removesuffix('.ipynb')}.html){_about(page)}" for name, page in pages
        ]
    return "\n".join(lines) + "\n"


def _pages(title: str, below: Any) -> Iterator[tuple[str, str]]:
    """Yield titles and files, of groups inside groups too."""
    if isinstance(below, str):
        yield title, below
        return
    for entry in below:
        for name, inner in entry.items():
            yield from _pages(name, inner)


def _about(page: str) -> str:
    """Return ": " and the first sentence of a page, "" for one that is made with the site or has no prose."""
    if page in BUILT:
        return ""
    markdown = (site.ROOT / site.INSIDE.get(page, f"docs/{page}")).read_text(encoding="utf-8")
    if page.endswith(".ipynb"):
        markdown = "".join(json.loads(markdown)["cells"][0]["source"])
    prose = re.sub(r"<!--.*?-->", "", site.FENCE.sub("", markdown), flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", prose):
        if block.strip() and not block.lstrip().startswith(("#", "|", "-", "!", "<", ">", ":::")):
            plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
            return f": {re.split(r'(?<=[.:?]) (?=[A-Z`])', plain)[0]}"
    return ""


if __name__ == "__main__":
    print(text(), end="")
