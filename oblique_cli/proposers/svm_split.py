"""Directions of linear support vector machines."""

from __future__ import annotations

from typing import ClassVar

from oblique_cli.proposers._linear import LinearSplit
from oblique_cli.tree.splitting import PROPOSERS


@PROPOSERS.register("svm_split")
class SVMSplit(LinearSplit):
    """SVM split: each class at the node against the rest by a linear support vector machine, thresholds searched.

    The loss is the squared hinge, which the solver of the core minimizes with the same bits in every run; the bias is
    not penalized. Only the direction is used; the threshold along it is searched with all classes. A class that no
    direction separates from the rest (equal means, with rows on both sides) gives no direction; if no class gives one,
    the node is a leaf."""

    title = "SVM split"
    source = "Bennett & Blue (1998), support vector machines in decision trees; Fan et al. (2008)"
    native: ClassVar[str | None] = "svm_split"
