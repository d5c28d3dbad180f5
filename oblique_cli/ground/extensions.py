"""Additions of `papers/` to the registries and tables of other folders, with their modules.

`papers/` holds trees over discrete features, hierarchies, PATHFINDER and the reproductions of papers. It is used like a
plugin: other modules import from it only by this list, and each module is loaded on first use (`tests/test_floors.py`).
Its public names are in `oblique_cli/__init__.pyi`.
"""

from __future__ import annotations

PAPERS = "oblique_cli.papers"

# Modules that register when imported, by the registry that imports them on demand.
ALGORITHMS = (f"{PAPERS}.algorithms",)
MODEL_KINDS = (f"{PAPERS}.model_kinds",)

# Section of the command line's help -> name -> place of the function, and purpose of the command.
COMMANDS = {
    "One tree, one model": {
        "taxonomy": (
            f"{PAPERS}.hierarchy.taxonomy_command.taxonomy",
            "Build a hierarchy over rows or dissimilarities.",
        ),
        "spectrum": (f"{PAPERS}.discrete.spectrum_command.spectrum", "Show the Fourier spectrum of trees."),
    },
    "Published results": {
        "reproduce": (
            f"{PAPERS}.reproduction.reproduce_command.reproduce",
            "Reproduce published tables, cell by cell.",
        ),
        "figures": (f"{PAPERS}.reproduction.reproduce_command.figures", "Draw figures of the papers again."),
    },
}

# Module whose function `printed` shows a stored run in the layout of a published table.
LAYOUTS = f"{PAPERS}.reproduction.framework.layouts"

# Folder of the published numbers, below the package.
PUBLISHED = "papers/published"
