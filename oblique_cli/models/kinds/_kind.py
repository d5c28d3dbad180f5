"""Declaration and registry of model kinds, and the checks that they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.registry import Registry, fault_of_type, misfit
from oblique_cli.models.codecs import Codec, Keep, Labels, Whole

# Attributes of every fitted estimator; its numbers of features p and classes C are sizes of all further attributes.
REGRESSOR: Mapping[str, Codec] = {"n_features_in_": Whole(1, 2**31, "p"), "feature_names_in_": Labels("p")}
CLASSIFIER: Mapping[str, Codec] = {**REGRESSOR, "classes_": Keep("classes", Labels("C"))}
SIZES: Mapping[str, Codec] = {"n_leaves_": Whole(), "n_nodes_": Whole(), "depth_": Whole()}
ALWAYS_OPTIONAL = frozenset({"feature_names_in_"})  # only after a fit to a data frame


@dataclass(frozen=True)
class Kind:
    """One kind of fitted estimator.

    package     the package of the classes, or its first part: classes of the same name elsewhere do not belong
    state       attribute of the fitted estimator -> its form, in the order in which sizes become known
    left_out    attributes that are not written, because only further fits read them -> their values after loading
    check       (parameters, state) -> None; raises ValueError for inconsistent attributes
    predictor   "module:class" of a predictor without the estimator and scikit-learn; "" if there is none
    steps       "module:function" that converts a model to plain steps, (model, cells, columns, classes) -> `Procedure`;
                "" if `models/procedure.py` converts it, or nothing does
    """

    classes: tuple[str, ...]  # names of estimator classes, whose subclasses belong to the kind as well
    state: Mapping[str, Codec]
    optional: frozenset[str] = frozenset()  # attributes that may be absent
    left_out: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None
    predictor: str = ""
    steps: str = ""
    package: str = "oblique_cli"

    def may_lack(self, name: str) -> bool:
        """Return whether an attribute may be absent."""
        return name in self.optional or name in ALWAYS_OPTIONAL


def _fault(kind: Any) -> str | None:
    """Return the error message for a kind, without its name, or None."""
    if fault := fault_of_type(kind, Kind, "say Kind(classes=..., state=...)"):
        return fault
    if not (isinstance(kind.classes, tuple) and kind.classes and all(isinstance(name, str) for name in kind.classes)):
        return f"has classes {kind.classes!r}, which must be a tuple of the names of estimator classes"
    if not isinstance(kind.state, Mapping):
        return f"has state {kind.state!r}, which must be a mapping of fitted attributes to their forms"
    for name, form in kind.state.items():
        if not (isinstance(name, str) and isinstance(form, Codec)):
            return f"has the form {form!r} of attribute {name!r}, which must be one of models/codecs.py"
    if strays := sorted(set(kind.optional) - kind.state.keys(), key=str):
        return f"has the optional attribute {strays[0]!r}, which is not in its state"
    if kind.check is not None and (fault := misfit(kind.check, "parameters", "state")):
        return f"has a check that {fault}"
    if not isinstance(kind.predictor, str) or (kind.predictor and kind.predictor.count(":") != 1):
        return f"has predictor {kind.predictor!r}, which must be 'module:class', or '' for the estimator itself"
    if not isinstance(kind.steps, str) or (kind.steps and kind.steps.count(":") != 1):
        return f"has steps {kind.steps!r}, which must be 'module:function', or '' for none"
    return None


KINDS: Registry[Kind] = Registry("kind of model", fault=_fault)


C = TypeVar("C", bound=type)


def model_kind(
    name: str, *, state: Mapping[str, Codec], optional: Collection[str] = (), left_out: Mapping[str, Any] | None = None
) -> Callable[[C], C]:
    """Decorator that declares how a model file stores fitted estimators of a class: a `Kind` without a predictor.

    state     fitted attribute -> its form; begin with `CLASSIFIER` or `REGRESSOR`
    optional, left_out   as in `Kind`
    """

    def keep(cls: C) -> C:
        package = cls.__module__.partition(".")[0]
        KINDS.register(name)(Kind((cls.__name__,), state, frozenset(optional), left_out or {}, package=package))
        return cls

    return keep


def kind_of(estimator_class: type[Any]) -> str | None:
    """Return the kind of an estimator class, None if it has none."""
    for base in estimator_class.__mro__:
        for name, kind in KINDS.items():
            if base.__name__ in kind.classes and f"{base.__module__}.".startswith(f"{kind.package}."):
                return name
    return None


def check_binary(left: NDArray[Any], right: NDArray[Any]) -> None:
    """Raise ValueError unless node numbers form one binary tree, children after their parents.

    left, right : (n,) children of each node, -1 at leaves, all below n
    """
    n = len(left)
    if n == 0:
        raise ValueError("a tree has at least one node")
    inner = np.flatnonzero(left >= 0)
    if not np.array_equal(inner, np.flatnonzero(right >= 0)):
        raise ValueError("a node must have two children or none")
    early = inner[(left[inner] <= inner) | (right[inner] <= inner)]
    if len(early):
        raise ValueError(f"node {early[0]} has a child that does not come after it, so there would be a cycle")
    children = np.sort(np.concatenate([left[inner], right[inner]]))
    if not np.array_equal(children, np.arange(1, n)):
        raise ValueError("every node but the first must be the child of exactly one other")
