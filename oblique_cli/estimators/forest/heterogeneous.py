"""Heterogeneous oblique forests (Katuwal, Suganthan & Zhang 2020)."""

from __future__ import annotations

from typing import Any, ClassVar

from oblique_cli.estimators.forest.bagged import listed_names
from oblique_cli.estimators.forest.base import ForestClassifier, relative
from oblique_cli.estimators.n_jobs import LARGEST
from oblique_cli.ground.constraints import Constraint, Integer, Real
from oblique_cli.parameters import parameter

MODELS = ("mpsvm", "lda", "ridge", "svm", "logistic")


class Models(Constraint):
    """One or more linear classifiers, as one text with commas between them or as a list."""

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
    """Return the names of classifiers in a value, none if it is neither a text nor a list of texts."""
    listed = listed_names(value) or []
    return listed if all(isinstance(item, str) for item in listed) else []


class HeterogeneousForestClassifier(ForestClassifier, kw_only=True):
    """A random forest whose splits are the best of several linear classifiers (Katuwal, Suganthan & Zhang 2020).

    At a node of `max_features` drawn features the classes are grouped into two sides in several ways: each class
    against the rest, and the two hyper-classes of the Bhattacharyya distance. The groupings whose exact separation
    leaves the least Gini impurity are used. Every classifier fits a plane to each of them, and the plane of least Gini
    impurity splits the node. If no plane has rows on both sides, the best axis-parallel cut splits it.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way."""

    models: str | list[str] = parameter(
        default="mpsvm, lda, ridge, svm, logistic",
        allowed=Models(),
        kw_only=False,
        help="The classifiers: the multisurface proximal support vector machine with its two bisectors, the linear "
        "discriminant (priors of the sides, 1e-3 on the diagonal of the pooled covariance), ridge regression on "
        "-1 and 1 (penalty 1), the linear support vector machine (squared hinge, C = 1) and logistic regression "
        "(C = 1). All but the first see features of mean 0 and deviation 1 at the node.",
    )
    n_partitions: int = parameter(
        default=2,
        allowed=Integer(1, LARGEST),
        kw_only=False,
        help="Groupings of the classes that are tried; a node of two classes has one.",
    )
    delta: float = parameter(
        default=0.01,
        allowed=Real(0.0, open_low=True),
        kw_only=False,
        help='Added by "mpsvm" to the diagonal of a singular matrix, in the units of the features.',
    )
    max_features: int | float | str | None = parameter(default="auto", also="mtry")

    _measured = staticmethod(relative)  # penalties are in units of a row

    def _options(self, p: int) -> dict[str, Any]:
        chosen = names_of(self.models)
        return {
            "split": "heterogeneous",
            "partitions": self.n_partitions,
            "delta": float(self.delta),
            **{name: name in chosen for name in MODELS},
        }
