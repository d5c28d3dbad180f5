"""Kinds of fitted estimators and the forms of their attributes, one family a file; importing registers all of them."""

from oblique_cli.models.kinds import discrete, forests, hyperplanes, machines, model_trees, neighbors, regions
from oblique_cli.models.kinds._kind import KINDS, Kind, kind_of

__all__ = [
    "KINDS",
    "Kind",
    "discrete",
    "forests",
    "hyperplanes",
    "kind_of",
    "machines",
    "model_trees",
    "neighbors",
    "regions",
]
