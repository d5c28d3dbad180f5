"""A real browser without a window, for pages: the Chromium of the machine, driven by playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def opened(browser):
    """Open files in the browser; at the end nothing may have been said on the console, or asked of the network."""
    complaints, contexts = [], []

    def open_page(path: Path, fragment: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})
        contexts.append(context)
        view = context.new_page()
        view.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        view.on("pageerror", lambda error: complaints.append(str(error)))
        view.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
        view.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        view.goto(f"{path.as_uri()}{fragment}")
        return view

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
