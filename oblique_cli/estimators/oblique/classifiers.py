"""The classifiers of single heuristics, such as `HHCARTClassifier`, by name.

`heuristics` makes them from the registered proposers. `classifiers.pyi` spells them out for editors and type checkers;
the build writes it (`tools/stubs.py`).
"""

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
