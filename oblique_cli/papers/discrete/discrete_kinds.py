"""Model kinds of trees over discrete features: single trees, bags, and trees from Fourier spectra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.models.codecs import (
    REAL,
    Codec,
    Keep,
    Many,
    Numbers,
    RealOrNothing,
    Record,
    Scope,
    Shared,
    Whole,
    fields_of,
)
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind


def _check_column(fields: Mapping[str, Any]) -> None:
    levels, cuts = fields["levels"], fields["cuts"]
    if (np.diff(levels) <= 0).any() or (np.diff(cuts) <= 0).any():
        raise ValueError("levels and cuts must rise")
    if fields["usual"] >= max(len(levels), len(cuts) + 1):
        raise ValueError("usual must be one of the codes")


COLUMN = Record(
    "oblique_cli.papers.discrete.discretizing:Column",
    {"levels": Numbers("float64", ("levels",)), "cuts": Numbers("float64", ("cuts",)), "usual": Whole()},
    check=_check_column,
)
DOMAIN = Record("oblique_cli.papers.discrete.domain:Domain", {"cardinalities": Many(Whole(1, 2**31), "p", kind=tuple)})


def _check_tree(fields: Mapping[str, Any]) -> None:
    """Check that children of a node are neighbors, and that all children together are the nodes 1 to n - 1."""
    feature, first, n = fields["feature"], fields["first_child"], len(fields["feature"])
    inner = np.flatnonzero(feature >= 0)
    if n == 0 or (first[inner] <= inner).any():
        raise ValueError("children must come after their parents")
    inner = inner[np.argsort(first[inner], kind="stable")]
    cardinalities = [fields["domain"].cardinalities[j] for j in feature[inner].tolist()]
    ends = np.cumsum([1, *cardinalities])
    if ends[-1] != n or not np.array_equal(first[inner], ends[:-1]):
        raise ValueError("every node but the first must be the child of exactly one other")


DISCRETE_TREE = Record(
    "oblique_cli.papers.discrete.discrete_tree:DiscreteTree",
    {
        "domain": Shared("domain"),
        "feature": Numbers("int64", ("nodes",), -1, "p"),
        "first_child": Numbers("int64", ("nodes",), -1, "nodes"),
        "values": Numbers("float64", ("nodes", "outputs")),
        "labels": Numbers("int64", ("nodes",), 0, "C"),
    },
    check=_check_tree,
)


class SpectrumForm(Codec):
    """Coefficients of a function; real where every feature has at most two values."""

    def _forms(self, domain: Any) -> dict[str, Codec]:
        kind = "float64" if domain.is_binary else "complex128"
        keys = Numbers("uint64", ("coefficients", domain.n_words))
        return {"keys": keys, "weights": Numbers(kind, ("coefficients", "outputs"))}

    def plain(self, value: Any, scope: Scope) -> Any:
        Shared("domain").plain(value.domain, scope)
        inner, forms = scope.inner(), self._forms(value.domain)
        return {name: form.plain(getattr(value, name), inner.at(name)) for name, form in forms.items()}

    def value(self, plain: Any, scope: Scope) -> Any:
        from oblique_cli.papers.discrete.spectrum import Spectrum

        domain = scope.arrays.shared["domain"]
        return Spectrum(domain, **fields_of(plain, self._forms(domain), scope.inner()))


COMPONENTS = Record(
    "oblique_cli.papers.discrete.principal:Components",
    {"variances": Numbers("float64", ("components",)), "factors": Numbers("float64", ("trees", "components"))},
)
CLASS_SHARES = Record(
    "oblique_cli.papers.discrete.tcfs:ClassShares", {"n_classes": Whole(1), "low": REAL, "high": REAL}
)

STEPS = "oblique_cli.papers.discrete.discrete_steps:procedure"
TREES = Many(DISCRETE_TREE, least=1)
DISCRETE: Mapping[str, Codec] = {
    **CLASSIFIER,
    "columns_": Many(COLUMN, "p", kind=tuple),
    "domain_": Keep("domain", DOMAIN),
}
BAG: Mapping[str, Codec] = {"oob_error_": RealOrNothing()}
FOURIER: Mapping[str, Codec] = {**BAG, "source_trees_": TREES, "energy_kept_": REAL}


def _codes_fit(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    if tuple(column.cardinality for column in state["columns_"]) != state["domain_"].cardinalities:
        raise ValueError("columns_ and domain_ differ in how many codes a column has")


def _of_classes(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    _codes_fit(parameters, state)
    _outputs([state["tree_"]] if "tree_" in state else state["trees_"], len(state["classes_"]))


def _of_functions(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    _codes_fit(parameters, state)
    n = len(state["classes_"])
    _outputs(state.get("trees_", []), 1 if n <= 2 else n)
    weights: NDArray[Any] | None = state.get("weights_")
    if weights is not None and len(weights) != len(state["trees_"]):
        raise ValueError("weights_ must have one weight for each tree of trees_")


def _outputs(trees: Any, n: int) -> None:
    if any(tree.values.shape[1] != n for tree in trees):
        raise ValueError(f"values of a tree must have {n} columns")


ORTHOGONAL: Mapping[str, Codec] = {
    "components_": COMPONENTS,
    "component_spectra_": Many(SpectrumForm(), least=1),
    "_shares": Many(CLASS_SHARES, least=1),
    "trees_": TREES,
    "weights_": Numbers("float64", ("trees",)),
}
AGGREGATED: Mapping[str, Codec] = {"spectrum_": SpectrumForm(), "tree_": DISCRETE_TREE, "trees_": TREES}
# Name of the kind, class, fields beside those of all kinds, and their joint check.
for _name, _class, _fields, _check in (
    ("discrete_tree", "C45Classifier", {"tree_": DISCRETE_TREE}, _of_classes),
    ("discrete_bag", "C45BaggingClassifier", {**BAG, "trees_": TREES}, _of_classes),
    ("fourier_trees", "ReconstructedFourierTreeClassifier", {**FOURIER, "trees_": TREES}, _of_functions),
    ("fourier_tree", "AggregatedFourierTreeClassifier", {**FOURIER, **AGGREGATED}, _of_functions),
    ("orthogonal_trees", "OrthogonalTreesClassifier", {**FOURIER, **ORTHOGONAL}, _of_functions),
):
    _state = {**DISCRETE, **_fields, **SIZES}
    KINDS.register(_name)(Kind(classes=(_class,), state=_state, check=_check, steps=STEPS))
