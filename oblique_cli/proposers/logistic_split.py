"""Directions of logistic regressions."""

from __future__ import annotations

from typing import ClassVar

from oblique_cli.proposers._linear import LinearSplit
from oblique_cli.tree.splitting import PROPOSERS


@PROPOSERS.register("logistic_split")
class LogisticSplit(LinearSplit):
    """Logistic split: each class at the node against the rest by logistic regression, thresholds searched.

    The ridge penalty keeps coefficients finite where a plane separates a class without error. Only the direction is
    used; the threshold along it is searched with all classes. A class with the same mean as the rest gives no
    direction; if no class gives one, the node is a leaf."""

    title = "Logistic split"
    source = "Truong (2009), Fast growing and interpretable oblique trees via logistic regression models"
    native: ClassVar[str | None] = "logistic_split"
