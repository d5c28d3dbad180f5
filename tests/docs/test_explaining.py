"""The pictures of docs/explaining.md: those it shows are there, no others, and small."""

import re

from oblique_cli.ground.resources import PACKAGE

DOCS = PACKAGE.parent / "docs"


def test_pictures_are_those_that_the_page_shows_and_small():
    page = (DOCS / "explaining.md").read_text(encoding="utf-8")
    pictures = {path.name: path.stat().st_size for path in (DOCS / "images").iterdir()}
    assert set(re.findall(r"\(images/([\w.]+)\)", page)) == set(pictures)
    assert max(pictures.values()) < 200_000
