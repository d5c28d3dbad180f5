"""Model kinds of the papers: trees over discrete features, nearest neighbors with taxonomies, trees of regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.models import codecs
from oblique_cli.models.codecs import REAL, Codec, Many, Maybe, Numbers, Record, Scope, Shared, Whole
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind, check_binary

# ---- trees over discrete features, single trees, bags, and trees from Fourier spectra --------------------------------


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
        return Spectrum(domain, **codecs.fields_of(plain, self._forms(domain), scope.inner()))


COMPONENTS = Record(
    "oblique_cli.papers.discrete.spectrum:Components",
    {"variances": Numbers("float64", ("components",)), "factors": Numbers("float64", ("trees", "components"))},
)
CLASS_SHARES = Record(
    "oblique_cli.papers.discrete.tcfs:ClassShares", {"n_classes": Whole(1), "low": REAL, "high": REAL}
)

STEPS = "oblique_cli.papers.discrete.discrete_steps:procedure"
TREES = Many(DISCRETE_TREE, least=1)
DISCRETE: Mapping[str, Codec] = {
    **CLASSIFIER,
    "levels_": codecs.Pairs(Whole(), Many(codecs.PLAIN, kind=tuple)),
    "columns_": Many(COLUMN, "p", kind=tuple),
    "domain_": codecs.Keep("domain", DOMAIN),
}
BAG: Mapping[str, Codec] = {"oob_error_": codecs.RealOrNothing()}
FOURIER: Mapping[str, Codec] = {**BAG, "source_trees_": TREES, "energy_kept_": REAL}


def _codes_fit(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    columns = state["columns_"]
    for j, levels in state.get("levels_", {}).items():
        if j >= len(columns) or len(columns[j].levels) != len(levels):
            raise ValueError(f"levels_ and columns_ differ in column {j}")
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
    KINDS.register(_name)(Kind((_class,), _state, frozenset({"levels_"}), check=_check, steps=STEPS))


# ---- nearest neighbors -----------------------------------------------------------------------------------------------


def _check_hierarchy(fields: Mapping[str, Any]) -> None:
    children = fields["children"]
    n = len(children) + 1
    if (children >= np.arange(n, 2 * n - 1)[:, None]).any():
        raise ValueError("a join must come after what it joins")
    if not np.array_equal(np.sort(children, axis=None), np.arange(2 * n - 2)):
        raise ValueError("every node but the last must be joined exactly once")
    for name, size in (("heights", n - 1), ("lengths", 2 * n - 1)):
        if fields[name] is not None and len(fields[name]) != size:
            raise ValueError(f"{name} must have {size} entries. Got {len(fields[name])}")


HIERARCHY = Record(
    "oblique_cli.papers.hierarchy.hierarchies:Hierarchy",
    {
        "children": Numbers("int64", ("joins", 2), 0),
        "heights": Numbers("float64", ("joins",)),
        "lengths": Maybe(Numbers("float64", ("nodes",))),
    },
    check=_check_hierarchy,
)


def _check_counts(fields: Mapping[str, Any]) -> None:
    if len(fields["counts"]) != fields["tree"].n_nodes:
        raise ValueError(f"counts must have {fields['tree'].n_nodes} rows. Got {len(fields['counts'])}")


TAXONOMY = Record(
    "oblique_cli.papers.hierarchy.hierarchies:Taxonomy",
    {"tree": HIERARCHY, "counts": Numbers("int64", ("nodes", "C"), 0)},
    check=_check_counts,
)


def _neighbors_fit(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    for name in ("_shift", "_scale", "_rows") if parameters.get("metric") != "precomputed" else ():
        if name not in state:
            raise ValueError(f"there are no {name}")
    if parameters.get("metric") == "precomputed" and len(state["_codes"]) != state["n_features_in_"]:
        raise ValueError("_codes must have one code for each column of distances")
    if len(state["kept_"]) == 0:
        raise ValueError("kept_ names no row")
    if "taxonomy_" in state and state["taxonomy_"].n != len(state["_codes"]):
        raise ValueError("taxonomy_ must hold every training row")


KINDS.register("neighbors")(
    Kind(
        classes=("NearestNeighborsClassifier",),
        state={
            **CLASSIFIER,
            "_codes": Numbers("int64", ("training rows",), 0, "C"),
            "_shift": Numbers("float64", ("p",)),
            "_scale": Numbers("float64", ("p",)),
            "_rows": Numbers("float64", ("training rows", "p")),
            "kept_": Numbers("int64", ("kept",), 0, "training rows"),
            "compression_": REAL,
            **SIZES,
            "taxonomy_": TAXONOMY,
            "beta_": REAL,
        },
        optional=frozenset({"_shift", "_scale", "_rows", "taxonomy_", "beta_"}),
        check=_neighbors_fit,
    )
)


# ---- PATHFINDER ------------------------------------------------------------------------------------------------------

CLUSTERS = Record(
    "oblique_cli.papers.pathfinder.regions:GridClusters",
    {
        "x": Whole(0, "p"),
        "y": Whole(0, "p"),
        "pivot": Whole(0, "C"),
        "other": Whole(0, "C"),
        "corners": Numbers("float64", ("rectangles", 4)),
        "cluster": Numbers("int32", ("rectangles",), 0, "rectangles"),
        "centers": Numbers("float64", ("rectangles", 2)),
        "points": Numbers("float64", ("points", 2)),
        "owner": Numbers("int32", ("points",), 0, "rectangles"),
    },
)
REGION_NODE = Record(
    "oblique_cli.papers.pathfinder.regions:RegionNode",
    {
        "counts": Numbers("int32", ("C",), 0),
        "left": Whole(-1),
        "right": Whole(-1),
        "split": Maybe(CLUSTERS),
        "accepts": Maybe(CLUSTERS),
        "rejects": codecs.FLAG,
    },
)


def _check_regions(fields: Mapping[str, Any]) -> None:
    nodes = fields["nodes"]
    check_binary(np.array([node.left for node in nodes]), np.array([node.right for node in nodes]))
    if any((node.split is None) != (node.left < 0) for node in nodes):
        raise ValueError("a node must have a split if it has children, and only then")


REGION_TREE = Record(
    "oblique_cli.papers.pathfinder.regions:RegionTree",
    {"nodes": Many(REGION_NODE, least=1, kind=tuple)},
    check=_check_regions,
)

KINDS.register("region_tree")(
    Kind(
        classes=("PathfinderClassifier",),
        state={
            **CLASSIFIER,
            "_low": Numbers("float64", ("p",)),
            "_half_width": Numbers("float64", ("p",)),
            "grid_size_": Whole(2),
            "tree_": REGION_TREE,
            "reject_": Numbers("bool", ("training rows",)),
            **SIZES,
        },
    )
)
