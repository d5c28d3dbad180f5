"""Stopping rules of growth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Stopping:
    """All stopping rules except the lack of a useful split (thesis 1.5 and 3.5).

    min_parent     a node is split only if its weight is above this; rows weigh 1; with sample weights the unit is the
                   smallest positive weight, so that weight 2 equals a duplicated row and the scale of all weights
                   does not matter
    epsilon        a node is split only if its misclassification rate is above this
    max_depth      no node at this depth is split; None for no limit
    max_leaf_nodes growth ends at this number of leaves, see `growing.grow_by`; None for no limit"""

    min_parent: float = 2.0
    epsilon: float = 0.0
    max_depth: int | None = None
    max_leaf_nodes: int | None = None

    def is_leaf(self, class_weights: NDArray[np.float64], depth: int) -> bool:
        """Return whether a node with the given class weights must be a leaf. class_weights : (C,)."""
        if self.max_depth is not None and depth >= self.max_depth:
            return True
        total = float(class_weights.sum())
        return total <= self.min_parent or (total - float(class_weights.max())) / total <= self.epsilon
