"""The door for extensions: all names that a plugin needs, and what may be relied on (docs/extending.md).

>>> from oblique_cli.api import metric, heuristic, algorithm  # doctest: +SKIP

`API_VERSION` is "major.minor". Within a major version a name that is here stays, takes what it took and gives what it
gave; a minor version may add names, optional parameters, and attributes with defaults. Nothing else of the package is
promised to a plugin. Importing this module loads nothing numerical: names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.plugin_datasets import Handed, data_set
    from oblique_cli.errors import ConfigError, DataError, ObliqueError
    from oblique_cli.estimators.algorithms import ModelFamily, algorithm, heuristic
    from oblique_cli.estimators.outside.sizes import Sizes, reader_of_sizes
    from oblique_cli.evaluation.metrics import (
        ANY_TASK,
        CLASSIFICATION,
        LABELS,
        MEAN,
        MODEL,
        POOLED,
        PROBABILITIES,
        REGRESSION,
        ROW,
        SUM,
        Undefined,
        metric,
    )
    from oblique_cli.ground.constraints import Boolean, Choice, Constraint, Integer, Optional, Real, Text, check
    from oblique_cli.ground.nouns import CVSpec, Fold, Row, TuningPair
    from oblique_cli.ground.seeds import generator
    from oblique_cli.models.codecs import Labels, Numbers, Whole
    from oblique_cli.models.exporting._exporter import Source, exporter
    from oblique_cli.models.kinds._kind import CLASSIFIER, REGRESSOR, SIZES, model_kind
    from oblique_cli.models.procedure import Procedure
    from oblique_cli.report.material import Material
    from oblique_cli.report.plot_kinds import Plot, Request, plot
    from oblique_cli.schemes._draws import pruning_rows
    from oblique_cli.schemes._scheme import FOLDS, FRACTION, Scheme, scheme
    from oblique_cli.tree.criteria import criterion
    from oblique_cli.tree.pruning import (
        KEPT_ROWS,
        NO_ROWS,
        TRAINING_ROWS,
        CrossValidation,
        LabeledRows,
        PruningRule,
        pruning_rule,
    )
    from oblique_cli.tree.splitting import Candidates, Node, Proposer
    from oblique_cli.tree.structure import Tree

API_VERSION = "1.0"

# Module -> the names that are taken from it, in the order of the page.
_PLACES = {
    "oblique_cli.estimators.algorithms": ("heuristic", "algorithm", "ModelFamily"),
    "oblique_cli.tree.splitting": ("Proposer", "Node", "Candidates"),
    "oblique_cli.tree.criteria": ("criterion",),
    "oblique_cli.parameters": ("parameter", "Declared"),
    "oblique_cli.ground.constraints": (
        "Boolean", "Choice", "Constraint", "Integer", "Optional", "Real", "Text", "check",
    ),
    "oblique_cli.evaluation.metrics": (
        "metric", "Undefined", "CLASSIFICATION", "REGRESSION", "ANY_TASK", "LABELS", "PROBABILITIES", "MODEL", "ROW",
        "POOLED", "MEAN", "SUM",
    ),
    "oblique_cli.schemes._scheme": ("scheme", "Scheme", "FOLDS", "FRACTION"),
    "oblique_cli.schemes._draws": ("pruning_rows",),
    "oblique_cli.ground.nouns": ("CVSpec", "Fold", "TuningPair", "Row"),
    "oblique_cli.data.dataset": ("Dataset",),
    "oblique_cli.tree.pruning": (
        "pruning_rule", "PruningRule", "LabeledRows", "CrossValidation", "NO_ROWS", "KEPT_ROWS", "TRAINING_ROWS",
    ),
    "oblique_cli.tree.structure": ("Tree",),
    "oblique_cli.models.exporting._exporter": ("exporter", "Source"),
    "oblique_cli.models.procedure": ("Procedure",),
    "oblique_cli.models.kinds._kind": ("model_kind", "CLASSIFIER", "REGRESSOR", "SIZES"),
    "oblique_cli.models.codecs": ("Numbers", "Whole", "Labels"),
    "oblique_cli.report.plot_kinds": ("plot", "Plot", "Request"),
    "oblique_cli.report.material": ("Material",),
    "oblique_cli.data.plugin_datasets": ("data_set", "Handed"),
    "oblique_cli.estimators.outside.sizes": ("reader_of_sizes", "Sizes"),
    "oblique_cli.ground.seeds": ("generator",),
    "oblique_cli.errors": ("ObliqueError", "ConfigError", "DataError"),
}  # fmt: skip
_HOMES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "ANY_TASK",
    "API_VERSION",
    "CLASSIFICATION",
    "CLASSIFIER",
    "FOLDS",
    "FRACTION",
    "KEPT_ROWS",
    "LABELS",
    "MEAN",
    "MODEL",
    "NO_ROWS",
    "POOLED",
    "PROBABILITIES",
    "REGRESSION",
    "REGRESSOR",
    "ROW",
    "SIZES",
    "SUM",
    "TRAINING_ROWS",
    "Boolean",
    "CVSpec",
    "Candidates",
    "Choice",
    "ConfigError",
    "Constraint",
    "CrossValidation",
    "DataError",
    "Dataset",
    "Fold",
    "Handed",
    "Integer",
    "LabeledRows",
    "Labels",
    "Material",
    "ModelFamily",
    "Node",
    "Numbers",
    "ObliqueError",
    "Optional",
    "Plot",
    "Procedure",
    "Proposer",
    "PruningRule",
    "Real",
    "Request",
    "Row",
    "Scheme",
    "Sizes",
    "Source",
    "Text",
    "Tree",
    "TuningPair",
    "Undefined",
    "Whole",
    "algorithm",
    "check",
    "criterion",
    "data_set",
    "exporter",
    "generator",
    "heuristic",
    "metric",
    "model_kind",
    "plot",
    "pruning_rows",
    "pruning_rule",
    "reader_of_sizes",
    "scheme",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
