"""What the documentation shows and nobody keeps: pages and pictures that are made whenever it is built.

`make docs` makes them inside the site. To look at them without it:

python -m tools.built FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
# Places below docs/ that pages link to.
BUILT = ("guarantees.svg", "llms.txt", "monotone.svg", "reproduction.svg", "rooms.svg", "shapley.svg", "verify.svg")


def built(name: str) -> bytes:
    """Return the content of one of BUILT, from the code and the stored results."""
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.papers.reproduction.framework import document
    from tools import answers, index, rooms

    if name == "rooms.svg":
        return rooms.picture().encode()
    if name == "reproduction.svg":
        return rendered(document.agreement_picture(document.studied(RESULTS)), "svg")
    if name == "shapley.svg":
        return rendered(answers.shapley_picture(), "svg")
    if name == "guarantees.svg":
        return rendered(answers.guarantees_picture(), "svg")
    if name == "verify.svg":
        return rendered(answers.verify_picture(), "svg")
    if name == "monotone.svg":
        return rendered(answers.monotone_picture(), "svg")
    assert name == "llms.txt", name
    return index.text().encode()


def main(folder: str) -> None:
    """Write all of them into a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in BUILT:
        (Path(folder) / name).write_bytes(built(name))


if __name__ == "__main__":
    main(sys.argv[1])
