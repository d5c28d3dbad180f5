"""Heterogeneous oblique forests (Katuwal, Suganthan & Zhang 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from oblique_cli.estimators.aliases import Aliases
from oblique_cli.estimators.forest.base import SHARED, Array, ForestClassifier, relative
from oblique_cli.estimators.jobs import LARGEST
from oblique_cli.ground.constraints import Constraint, Integer, Real
from oblique_cli.parameters import Alias

MODELS = ("mpsvm", "lda", "ridge", "svm", "logistic")


class Models(Constraint):
    """One or more of the linear classifiers, in one text with commas between them, or as a list."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        named = names_of(value)
        return bool(named) and set(named) <= set(MODELS) and len(set(named)) == len(named)

    def describe(self) -> str:
        return f"one or more of {', '.join(repr(name) for name in MODELS)} with commas between them"

    def schema(self) -> dict[str, Any]:
        names = {"type": "array", "items": {"enum": list(MODELS)}, "minItems": 1, "uniqueItems": True}
        return {"anyOf": [{"type": "string"}, names]}


def names_of(value: Any) -> list[str]:
    """Return the classifiers of a value, none if it is neither a text nor a list of texts."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    return []


class HeterogeneousForestClassifier(ForestClassifier):
    """A random forest whose splits are the best of several linear classifiers (Katuwal, Suganthan & Zhang 2020).

    At a node of `max_features` drawn features the classes are grouped into two sides in several ways: each class
    against the rest, and the two hyper-classes of the Bhattacharyya distance. The groupings that would leave the least
    Gini impurity if they were separated are taken, on each of them every classifier makes a plane, and the plane of the
    least Gini impurity splits the node. Where no plane has rows on both sides, the best axis-parallel cut does.

    Parameters
    ----------
    models : str or list of str, default "mpsvm, lda, ridge, svm, logistic"
        The classifiers: the multisurface proximal support vector machine with its two bisectors, the linear
        discriminant (priors of the sides, 1e-3 on the diagonal of the pooled covariance), ridge regression on -1 and 1
        (penalty 1), the linear support vector machine (squared hinge, C = 1) and logistic regression (C = 1). All but
        the first see features of mean 0 and deviation 1 at the node.
    n_partitions : int, default 2
        Groupings of the classes that are tried; a node of two classes has one.
    delta : float, default 0.01
        What "mpsvm" adds where a matrix is singular, in the units of the features.
    n_estimators, max_features, min_samples_leaf, max_depth, voting, probabilities, probability_strength, oob_score,
    warm_start, n_jobs, random_state
        As in `MPSVMForestClassifier`.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "models": Models(),
        "n_partitions": Integer(1, LARGEST),
        "delta": Real(0.0, open_low=True),
        **SHARED,
    }
    aliases: ClassVar[Aliases] = {**ForestClassifier.aliases, "max_features": Alias("mtry")}

    def __init__(
        self,
        models: str | list[str] = "mpsvm, lda, ridge, svm, logistic",
        n_partitions: int = 2,
        delta: float = 0.01,
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
        self.models = models
        self.n_partitions = n_partitions
        self.delta = delta
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

    def _measured(self, weights: Array) -> Array:
        return relative(weights)  # penalties are in units of a row

    def _options(self, p: int) -> dict[str, Any]:
        chosen = names_of(self.models)
        return {
            "split": "heterogeneous",
            "partitions": self.n_partitions,
            "delta": float(self.delta),
            **{name: name in chosen for name in MODELS},
        }
