"""What `papers/` adds to the registries and tables of other folders, and the modules that have it.

`papers/` holds trees over discrete features, hierarchies, PATHFINDER and the papers themselves. It is used as a plugin
is: no module outside imports from it except by this list, and each module is loaded on first use
(`tests/test_floors.py`).
"""

from __future__ import annotations

PAPERS = "oblique_cli.papers"

# Modules that register when they are imported, by the registry that waits for them.
ALGORITHMS = (f"{PAPERS}.discrete.algorithms", f"{PAPERS}.pathfinder.algorithms", f"{PAPERS}.hierarchy.algorithms")
MODEL_KINDS = (
    f"{PAPERS}.discrete.discrete_kinds",
    f"{PAPERS}.hierarchy.neighbor_kinds",
    f"{PAPERS}.pathfinder.region_kinds",
)

# Section of the command line's help -> name -> the function's place, and what the command is for.
COMMANDS = {
    "One tree, one model": {
        "taxonomy": (
            f"{PAPERS}.hierarchy.taxonomy_command.taxonomy",
            "Build a hierarchy over rows or dissimilarities.",
        ),
        "spectrum": (f"{PAPERS}.discrete.spectrum_command.spectrum", "Show the Fourier spectrum of trees."),
    },
    "Experiments": {
        "reproduce": (
            f"{PAPERS}.reproduction.reproduce_command.reproduce",
            "Reproduce published tables, cell by cell.",
        ),
        "figures": (f"{PAPERS}.reproduction.figures_command.figures", "Draw figures of the papers again."),
    },
}

# Public name -> the module that has it.
NAMES = {
    "C45": f"{PAPERS}.discrete.c45",
    "C45BaggingClassifier": f"{PAPERS}.discrete.c45_classifiers",
    "C45Classifier": f"{PAPERS}.discrete.c45_classifiers",
    "C45ForestClassifier": f"{PAPERS}.discrete.c45_classifiers",
    "Discretizer": f"{PAPERS}.discrete.discretizing",
    "AggregatedFourierTreeClassifier": f"{PAPERS}.discrete.fourier_classifiers",
    "OrthogonalTreesClassifier": f"{PAPERS}.discrete.fourier_classifiers",
    "ReconstructedFourierTreeClassifier": f"{PAPERS}.discrete.fourier_classifiers",
    "HCEditClassifier": f"{PAPERS}.hierarchy.editing_classifiers",
    "MultiEditClassifier": f"{PAPERS}.hierarchy.editing_classifiers",
    "SupervisedClusteringEditClassifier": f"{PAPERS}.hierarchy.editing_classifiers",
    "WilsonClassifier": f"{PAPERS}.hierarchy.editing_classifiers",
    "NearestNeighborsClassifier": f"{PAPERS}.hierarchy.neighbors",
    "AvalancheClustering": f"{PAPERS}.hierarchy.taxonomy_estimators",
    "SupervisedTaxonomy": f"{PAPERS}.hierarchy.taxonomy_estimators",
    "PathfinderClassifier": f"{PAPERS}.pathfinder.classifier",
}

# Folder of the published numbers, below the package.
PUBLISHED = "papers/published"
