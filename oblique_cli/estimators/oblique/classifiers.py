"""Classifiers of single heuristics by name; the build writes `classifiers.pyi`, which declares them."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.oblique.heuristics import CLASSIFIERS, classifier_of
from oblique_cli.tree.splitting import PROPOSERS


def __getattr__(name: str) -> Any:
    for proposer in PROPOSERS:
        classifier_of(proposer)
    if name in CLASSIFIERS:
        return CLASSIFIERS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(classifier_of(proposer).__name__ for proposer in PROPOSERS)
