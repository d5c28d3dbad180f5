"""A forest of HHCART trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from oblique_cli.estimators.forest.base import SHARED, ForestClassifier
from oblique_cli.estimators.jobs import LARGEST
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real

HHCART_OPTIONS: Mapping[str, Constraint] = {
    "reflections": Integer(1, LARGEST),
    "eigenvectors": Choice(("dominant", "all")),
    "tau": Real(0.0, 2.0),
}


class HHCARTForestClassifier(ForestClassifier):
    """A random forest of HHCART trees, which Wickramarachchi (2015) leaves to future work.

    At each node `max_features` features are drawn, and `reflections` eigenvectors among those of the covariances that
    the classes of the node have in these features. Each is reflected to the first axis, and the best Gini cut along the
    axes of the reflected features splits the node (section 3.5 of the thesis). Trees are grown until leaves are pure.

    Parameters
    ----------
    reflections : int, default 1
        Eigenvectors drawn at a node.
    eigenvectors : {"dominant", "all"}, default "dominant"
        What they are drawn from: the first of each class, as in HHCART(D), or all, as in HHCART(A).
    tau : float, default 0.05
        An eigenvector closer than this to an axis is left alone: the original axes are searched instead.
    n_estimators, max_features, min_samples_leaf, max_depth, voting, probabilities, probability_strength, oob_score,
    warm_start, n_jobs, random_state
        As in `MPSVMForestClassifier`.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {**HHCART_OPTIONS, **SHARED}

    def __init__(
        self,
        reflections: int = 1,
        eigenvectors: str = "dominant",
        tau: float = 0.05,
        *,
        n_estimators: int = 50,
        max_features: int | float | str | None = "auto",
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool | None = None,
        voting: str = "majority",
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.reflections = reflections
        self.eigenvectors = eigenvectors
        self.tau = tau
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.voting = voting
        self.probabilities = probabilities
        self.probability_strength = probability_strength
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _options(self, p: int) -> dict[str, Any]:
        return {
            "split": "hhcart",
            "reflections": self.reflections,
            "dominant_only": self.eigenvectors == "dominant",
            "tau": float(self.tau),
        }
