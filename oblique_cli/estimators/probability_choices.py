"""Parameters of all classifiers that can give other probabilities than the shares of their leaves."""

from __future__ import annotations

from collections.abc import Mapping

from oblique_cli.ground.constraints import Choice, Constraint, Either, Real, Text
from oblique_cli.tree.probabilities import RULES

NO_MODELS = "none"

PROBABILITY_CONSTRAINTS: Mapping[str, Constraint] = {
    "probabilities": Choice(RULES),
    "probability_strength": Either(Real(0.0), Text("cv", "'cv'")),
    "leaf_models": Choice((NO_MODELS, "logistic")),
    "leaf_penalty": Either(Real(0.0, open_low=True), Text("cv", "'cv'")),
}
