"""The table of algorithms: every name a configuration may use, its parameters, and how to make its estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.constraints import Constraint, violation
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.tree import ObliqueTreeClassifier
from oblique_cli.registry import Registry, close_matches
from oblique_cli.tree.splitting import PROPOSERS, Proposer


@dataclass(frozen=True)
class Algorithm:
    """An algorithm under its name, with parameters in one flat list as a configuration writes them.

    title           method name in the published tables
    source          paper and section
    path_parameter  the parameter of which one fit, at its smallest value, answers every value; None if there is none
    compiled        whether fitting runs outside the interpreter lock, so that threads are of use
    """

    name: str
    proposer: type[Proposer]

    @property
    def title(self) -> str:
        return self.proposer.title

    @property
    def source(self) -> str:
        return self.proposer.source

    @property
    def path_parameter(self) -> str | None:
        return self.proposer.limit_name

    @property
    def compiled(self) -> bool:
        return self.proposer.native is not None

    @property
    def _limit(self) -> str:
        return self.proposer.limit_name or "max_misrate"

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Name -> what it may be; the misclassification limit goes by the paper's name."""
        tree = {self._limit if k == "max_misrate" else k: v for k, v in ObliqueTreeClassifier.constraints.items()}
        return dict(self.proposer.constraints) | tree

    @property
    def defaults(self) -> dict[str, Any]:
        """Name -> value a parameter has unless a configuration sets it."""
        tree = ObliqueTreeClassifier().get_params(deep=False) | dict(self.proposer.tree_defaults)
        tree[self._limit] = tree.pop("max_misrate")
        own = self.proposer().get_params(deep=False)
        return {name: (own | tree)[name] for name in self.parameters}

    def make(self, random_state: Any = None, **params: Any) -> ObliqueTreeClassifier:
        """Return an unfitted estimator; ConfigError for a parameter that is unknown or out of range."""
        table = self.parameters
        for name, value in params.items():
            if name not in table:
                raise ConfigError(f"{self.name} has no parameter {name!r}.{close_matches(name, table)}")
            message = violation(name, value, table[name], self.name)
            if message:
                raise ConfigError(message)
        own = {name: params[name] for name in self.proposer.constraints if name in params}
        tree: dict[str, Any] = dict(self.proposer.tree_defaults)
        for name, value in params.items():
            if name not in own:
                tree["max_misrate" if name == self._limit else name] = value
        return ObliqueTreeClassifier(self.proposer(**own), random_state=random_state, **tree)


def _table() -> Mapping[str, Algorithm]:
    table: Registry[Algorithm] = Registry("algorithm", "oblique list algorithms")
    for name, proposer in PROPOSERS.items():
        table.register(name)(Algorithm(name, proposer))
    return table


ALGORITHMS = _table()


def make(name: str, random_state: Any = None, **params: Any) -> ObliqueTreeClassifier:
    """Return the unfitted estimator of an algorithm: ``make("hhgdt", epsilon=0.1)``."""
    return ALGORITHMS[name].make(random_state=random_state, **params)
