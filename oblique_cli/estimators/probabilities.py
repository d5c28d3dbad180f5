"""Parameters of all classifiers that can give other probabilities than the shares of their leaves."""

from __future__ import annotations

from collections.abc import Mapping

from oblique_cli.constraints import Choice, Constraint, Either, Real, Text
from oblique_cli.tree.probabilities import RULES

PROBABILITY_CONSTRAINTS: Mapping[str, Constraint] = {
    "probabilities": Choice(RULES),
    "probability_strength": Either(Real(0.0), Text("cv", "'cv'")),
}
