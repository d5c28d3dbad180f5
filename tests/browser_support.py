"""A real browser without a window, for pages: the Chromium of the machine, driven by playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Nothing but the page: no sandbox inside a container, no graphics card, and no conversation with the maker.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoBrowser(Exception):
    """What is missing, and how to get it."""


@contextmanager
def launched() -> Iterator[Any]:
    """Give a browser of playwright, and close it. NoBrowser if there is none, or no playwright to drive it."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NoBrowser(f"there is no Chromium on the PATH ({', '.join(NAMES)})")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoBrowser("playwright is not installed: pip install 'oblique-trees[browser]'") from None
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
