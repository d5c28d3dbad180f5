"""A forest of HHCART trees."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.forest.base import ForestClassifier
from oblique_cli.estimators.n_jobs import LARGEST
from oblique_cli.ground.constraints import Choice, Integer, Real
from oblique_cli.parameters import parameter


class HHCARTForestClassifier(ForestClassifier, kw_only=True):
    """A random forest of HHCART trees, future work of Wickramarachchi (2015).

    At each node `max_features` features are drawn, and `reflections` of the eigenvectors of the class covariances in
    these features. Each is reflected to the first axis, and the best Gini cut along the axes of the reflected features
    splits the node (section 3.5 of the thesis). Trees are grown until leaves are pure.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way."""

    reflections: int = parameter(
        default=1, allowed=Integer(1, LARGEST), kw_only=False, help="Eigenvectors drawn at a node."
    )
    eigenvectors: str = parameter(
        default="dominant",
        allowed=Choice(("dominant", "all")),
        kw_only=False,
        help="Eigenvectors to draw from: the first of each class, as in HHCART(D), or all, as in HHCART(A).",
    )
    tau: float = parameter(
        default=0.05,
        allowed=Real(0.0, 2.0),
        kw_only=False,
        help="An eigenvector closer than this to an axis is left alone: the original axes are searched instead.",
    )

    def _options(self, p: int) -> dict[str, Any]:
        return {
            "split": "hhcart",
            "reflections": self.reflections,
            "dominant_only": self.eigenvectors == "dominant",
            "tau": float(self.tau),
        }
