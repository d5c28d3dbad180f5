"""Draws docs/images/ again: what `oblique tree` prints, draws and shows on its page (`make screenshots`).

Needs the extra `browser` and a Chromium on the PATH. Data are bundled, so the pictures are those of any checkout.
"""

from __future__ import annotations

import html
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from browser_support import NoBrowser, launched  # noqa: E402  (the browser is that of the tests)

IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 200_000
TREE = ("tree", "bupa", "--algorithm", "hhgdt", "--set", "epsilon=0.3")
SPARSE = (*TREE, "--sparse", "--tolerance", "0.02")
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #1d2430; color: #e6eaf0; font: 14px/1.5 "DejaVu Sans Mono", monospace; }}
body {{ padding: 18px 22px; }}
pre {{ margin: 0; white-space: pre-wrap; }} .given {{ color: #8fd0a0; }}</style>
<pre><span class="given">$ {command}</span>
{text}</pre>"""


def oblique(*arguments: str) -> str:
    """What the command prints."""
    command = [sys.executable, "-W", "ignore", "-m", "oblique_cli", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Return the exit code."""
    try:
        draw()
    except NoBrowser as why:
        print(f"screenshots: {why}.", file=sys.stderr)
        return 2
    return 0


def draw() -> None:
    """Write every picture."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    typed = "oblique " + " ".join(SPARSE)
    with tempfile.TemporaryDirectory() as folder, launched() as chromium:

        def shoot(
            name: str, document: str, width: int, height: int, dark: bool = False, clicks: tuple[str, ...] = ()
        ) -> None:
            path = Path(folder) / f"{name}{'.svg' if document.startswith('<?xml') else '.html'}"
            path.write_text(document, encoding="utf-8")
            scheme = "dark" if dark else "light"
            context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(path.as_uri())
            for selector in clicks:
                page.locator(selector).first.click()
            target = IMAGES / f"{name}.png"
            page.screenshot(path=target)
            context.close()
            size = target.stat().st_size
            print(f"{target.relative_to(ROOT)}: {size // 1000} kB")
            assert size < MOST_BYTES, f"{name} is too large"

        text = oblique(*SPARSE)
        shown = TERMINAL.format(command=html.escape(typed), text=html.escape(text))
        shoot("tree_text", shown, 1090, 60 + 21 * (text.count("\n") + 1))
        drawn = oblique(*TREE, "--format", "svg")
        shoot("tree_svg", drawn, 620, 1100)
        page = oblique("tree", "tests/files/plain.csv", "--target", "variety", "--algorithm", "hhgdt", "--html")
        shoot("tree_page", page, 1280, 800, clicks=('[data-node="1"]',))
        shoot("tree_page_dark", page, 1280, 800, dark=True, clicks=('[data-node="1"]', "tr[data-row]"))
        scorecard = oblique("tree", "iris", "--algorithm", "logistic_tree", "--set", "max_depth=0", "--html")
        shoot("tree_scorecard", scorecard, 1280, 800)
        card = Path(folder) / "fitted.html"
        wanted = ("--target", "variety", "--algorithm", "hhgdt", "--coverage", "0.9", "--report", str(card))
        oblique("fit", "tests/files/plain.csv", *wanted)
        shoot("model_card", card.read_text(encoding="utf-8"), 1080, 1500)
        shoot("tree_partition", oblique("tree", "five_regions", "--format", "svg"), 900, 800)


if __name__ == "__main__":
    sys.exit(main())
