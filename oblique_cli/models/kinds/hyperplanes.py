"""Hyperplane trees for classification and regression, of any growth method, and scikit-learn's regression tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from oblique_cli.models.codecs import PLAIN, REAL, Codec, Many, Maybe, Numbers, Pairs, Record, Scope, Size, Whole
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, REGRESSOR, SIZES, Kind, check_binary


def _check(fields: Mapping[str, Any]) -> None:
    check_binary(fields["left"], fields["right"])
    bare = np.flatnonzero((fields["left"] >= 0) & ~(fields["coef_"] != 0.0).any(axis=1))
    if len(bare):
        raise ValueError(f"node {bare[0]} has children and no coefficient")
    scores, levels = fields["level_scores"], fields["levels"]
    if scores.shape[1] != sum(levels):
        raise ValueError(f"level_scores must have a column for each of {sum(levels)} levels. Got {scores.shape[1]}")
    if fields.get("prior", 0.0) < 0.0:
        raise ValueError(f"prior must not be negative. Got {fields['prior']}")
    if "probabilities" in fields:
        from oblique_cli.tree.structure import check_probabilities

        check_probabilities(fields["probabilities"], fields["counts"].shape)


def _tree(fields: dict[str, Any], scope: Scope) -> Any:
    from oblique_cli.tree.payloads import Classes
    from oblique_cli.tree.structure import Tree

    models = fields.pop("leaf_models", None)
    if models is not None and models.level_coef is not None:
        models = replace(models, levels=tuple(int(count) for count in fields["levels"]))
        models.check(models.coef.shape)
    prior = fields.pop("prior", None)
    payload = Classes(fields.pop("probabilities", None), models, None if prior is None else float(prior))
    tree = Tree(coef=fields.pop("coef_"), payload=payload, **fields)
    _ = tree.walker  # the core checks node numbers as well
    return tree


def _models(fields: dict[str, Any], scope: Scope) -> Any:
    from oblique_cli.tree.payloads import LeafModels

    models = LeafModels(**fields)
    if models.level_coef is None:  # otherwise they are integers once the tree has its levels
        models.check(models.coef.shape)
    return models


CHILDREN = dict.fromkeys(("left", "right"), Numbers("int32", ("nodes",), -1, "nodes"))  # of each node

LEAF_MODELS = Record(
    "oblique_cli.tree.payloads:LeafModels",
    {
        **dict.fromkeys(("center", "scale"), Numbers("float64", ("p",))),
        "coef": Numbers("float64", ("nodes", "C", "p")),
        "intercept": Numbers("float64", ("nodes", "C")),
        "curve": Numbers("float64", ("nodes", "C", "p")),
        "level_coef": Numbers("float64", ("nodes", "C", "levels in all")),
        "pairs": Numbers("int64", ("pairs", 2), -2, "p"),
        "pair_coef": Numbers("float64", ("nodes", "C", "pairs")),
        "knots": Numbers("float64", ("pairs",)),
    },
    _models,
    younger=frozenset({"curve", "level_coef", "pairs", "pair_coef", "knots"}),
)

TREE = Record(
    "oblique_cli.tree.structure:Tree",
    {
        **CHILDREN,
        "coef_": Numbers("float64", ("nodes", "p")),
        "thresholds": Numbers("float64", ("nodes",)),
        "counts": Numbers("float64", ("nodes", "C"), 0),
        "gains": Numbers("float64", ("nodes",)),
        "n_rows": Numbers("int64", ("nodes",), 0),
        "levels": Many(Whole(), "p", kind=tuple),
        "level_scores": Numbers("float64", ("nodes", "levels in all")),
        "missing_left": Maybe(Numbers("bool", ("nodes",))),
        "probabilities": Numbers("float64", ("nodes", "C"), 0),
        "leaf_models": LEAF_MODELS,
        "prior": REAL,
    },
    _tree,
    _check,
    frozenset({"probabilities", "leaf_models", "prior"}),
)


def _goes_together(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    tree, levels, missing = state["tree_"], state.get("levels_", {}), parameters.get("missing")
    if missing == "impute" and "fill_values_" not in state:
        raise ValueError("parameters.missing is 'impute', and there are no fill_values_")
    if missing == "learn" and tree.missing_left is None:
        raise ValueError("parameters.missing is 'learn', and tree_.missing_left is null")
    counts = tuple(len(levels.get(j, ())) for j in range(tree.n_features))
    if counts != tree.levels or any(j >= tree.n_features for j in levels):
        raise ValueError("levels_ and tree_.levels differ")


KINDS.register("hyperplane_tree")(
    Kind(
        classes=("ObliqueTreeClassifier", "BottomUpTreeClassifier"),
        state={
            **CLASSIFIER,
            "levels_": Pairs(Whole(), Many(PLAIN, kind=tuple)),
            "tree_": TREE,
            **SIZES,
            "_ranges": Numbers("float64", ("p",)),
            "fill_values_": Numbers("float64", ("p",)),
            "n_clusters_": Pairs(PLAIN, Whole()),
            "overlap_": Numbers("float64", ("clusters",), low=0),
            **dict.fromkeys(("probability_strength_", "leaf_penalty_"), REAL),
        },
        optional=frozenset(
            {"levels_", "fill_values_", "n_clusters_", "overlap_", "probability_strength_", "leaf_penalty_"}
        ),
        # A cost path of BUTIF-SVM fits machines to the training rows, which a model file does not keep.
        left_out={
            "_skeleton": None,
            "_trees": {},
            "seconds_saved_": 0.0,
            "_gaps": None,
            "_power": 0,
            "path_": None,
            "refinement_": None,
        },
        check=_goes_together,
        predictor="oblique_cli.models.predicting:HyperplanePredictor",
    )
)


def _of_one_kind(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    if not state["trees_"]:
        raise ValueError("trees_ is empty")
    for i, tree in enumerate(state["trees_"]):
        if tree.leaf_models is None:
            raise ValueError(f"tree {i} has no leaf_models")
        if any(tree.levels):
            raise ValueError(f"tree {i} has levels, which forests do not take")


KINDS.register("logistic_forest")(
    Kind(
        classes=("LogisticForestClassifier",),
        state={**CLASSIFIER, "trees_": Many(TREE), "_ranges": Numbers("float64", ("p",))},
        left_out={"choice_": None},
        check=_of_one_kind,
        predictor="oblique_cli.models.predicting:LogisticForestPredictor",
    )
)


# ---- regression ------------------------------------------------------------------------------------------------------


TREE_CLASS = "oblique_cli.tree.structure:Tree"


def _of_outputs(*rest: Size) -> Numbers:
    """Return numbers of the nodes, with an axis for the outputs if there are several."""
    return Numbers("float64", ("nodes", "outputs", *rest), spare="outputs")


EQUATIONS: Mapping[str, Codec] = {
    "coef": _of_outputs("p"),
    "intercept": _of_outputs(),
    "rss": Numbers("float64", ("nodes",)),
}
BOUNDS: Mapping[str, Codec] = {"bounds": _of_outputs(2)}  # only if predictions are bounded


def _splits_and_equations(tree: Any) -> dict[str, Any]:
    from oblique_cli.tree.payloads import SHARES

    return {**vars(tree.equations), "splits": tree.changed(payload=SHARES)}


def _equation_tree(fields: dict[str, Any], scope: Scope) -> Any:
    splits = fields.pop("splits")
    if splits.counts.shape[1] != 1 or any(splits.levels) or splits.missing_left is not None:
        raise ValueError("splits of a regression tree have one class, no levels and no side for missing values")
    coef = fields["coef"]
    if splits.coef_.shape != (len(coef), coef.shape[-1]):
        raise ValueError("splits and coef must have the same nodes and features")
    return splits.changed(payload=_equations(fields))


def _features_and_equations(tree: Any) -> dict[str, Any]:
    structure = {name: getattr(tree, name) for name in ("left", "right", "thresholds", "n_rows")}
    feature = np.where(tree.is_leaf, -1, np.abs(tree.coef_).argmax(axis=1)).astype(np.int32)
    return {**vars(tree.equations), **structure, "feature": feature}


def _axis_tree(fields: dict[str, Any], scope: Scope) -> Any:
    from oblique_cli.tree.structure import Tree

    left, right, feature, thresholds, n_rows = (fields.pop(name) for name in (*STRUCTURE, "n_rows"))
    inner = _inner_nodes(left, right, feature)
    axes = np.zeros_like(fields["coef"])
    axes[inner, feature[inner]] = 1.0
    models = _equations(fields)
    falls = models.decreases(left, right)
    return Tree(left, right, axes, thresholds, n_rows[:, None], falls, n_rows, payload=models)


def _inner_nodes(left: Any, right: Any, feature: Any) -> Any:
    """Return the nodes with children; ValueError if they form no tree, or have no split feature."""
    check_binary(left, right)
    inner = np.flatnonzero(left >= 0)
    if (feature[inner] < 0).any():
        raise ValueError("a node with children must have a feature")
    return inner


def _equations(fields: Mapping[str, Any]) -> Any:
    from oblique_cli.tree.payloads import Equations

    bounds, axes = fields.get("bounds"), fields["intercept"].ndim
    if fields["coef"].ndim != axes + 1 or (bounds is not None and bounds.ndim != axes + 1):
        raise ValueError("coef, intercept and bounds must be of the same outputs")
    models, shape = fields.get("leaf_models"), (len(fields["rss"]), 1, fields["coef"].shape[-1])
    if models is not None and (models.coef.shape != shape or models.pair_coef is None):
        raise ValueError("leaf_models must have one score, pairs, and the nodes and features of coef")
    if bounds is not None and not (bounds[..., 0] <= bounds[..., 1]).all():
        raise ValueError("bounds must have the least answer before the largest one")
    return Equations(**fields)


# A tree with an equation at every node: its hyperplanes, then the equations.
EQUATION_TREE = Record(
    TREE_CLASS,
    {"splits": TREE, **EQUATIONS, **BOUNDS, "leaf_models": LEAF_MODELS},
    _equation_tree,
    younger=frozenset({*BOUNDS, "leaf_models"}),
    parts=_splits_and_equations,
)

STRUCTURE: Mapping[str, Codec] = {
    **CHILDREN,
    "feature": Numbers("int32", ("nodes",), -1, "p"),
    "thresholds": Numbers("float64", ("nodes",)),
}
# The same if every split is on one feature, whose number replaces the hyperplane.
AXIS_TREE = Record(
    TREE_CLASS,
    {
        **STRUCTURE,
        **{name: EQUATIONS[name] for name in ("coef", "intercept")},
        "n_rows": Numbers("int64", ("nodes",), 0),
        "rss": EQUATIONS["rss"],
        **BOUNDS,
    },
    _axis_tree,
    younger=frozenset(BOUNDS),
    parts=_features_and_equations,
)

TURNING_POINTS = Record(
    "oblique_cli.tree.turning_points:TurningPoints",
    {
        "feature": Numbers("int64", ("points",), 0, "p"),
        "centers": Numbers("float64", ("points", "p")),
        "targets": Numbers("float64", ("points",)),
    },
)


RESIDUALS = Record(
    "oblique_cli.tree.leaf_quantiles:LeafResiduals",
    {"starts": Numbers("int64", ("nodes and one",), 0), "values": Numbers("float64", ("rows of leaves",))},
)


def _of_its_tree(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    if "leaf_residuals_" in state:
        state["leaf_residuals_"].check(state["tree_"].n_nodes)


# Kind, class, form of the tree, forms of further attributes, and attributes that are not written.
for _name, _class, _tree_form, _further, _left_out in (
    ("model_tree", "ModelTreeRegressor", AXIS_TREE, {"turning_points_": TURNING_POINTS}, {}),
    ("pilot_tree", "PILOTRegressor", AXIS_TREE, {}, {}),
    (
        "regression_tree",
        "ObliqueTreeRegressor",
        EQUATION_TREE,
        {"_ranges": Numbers("float64", ("p",))},
        {"refinement_": None},
    ),
    ("linear_tree", "LinearTreeRegressor", EQUATION_TREE, {}, {"choice_": None}),
):
    _state = {**REGRESSOR, "tree_": _tree_form, **SIZES, **_further, "leaf_residuals_": RESIDUALS}
    KINDS.register(_name)(
        Kind(
            classes=(_class,),
            state=_state,
            optional=frozenset({"leaf_residuals_", "turning_points_"} & _state.keys()),
            left_out=_left_out,
            check=_of_its_tree,
            predictor="oblique_cli.models.predicting:HyperplanePredictor",
        )
    )


# The tree of scikit-learn's `DecisionTreeRegressor`; a leaf has -1 for children, -2 for feature.
NODES: Mapping[str, Codec] = {
    **dict.fromkeys(("left_child", "right_child"), Numbers("int64", ("nodes",), -1, "nodes")),
    "feature": Numbers("int64", ("nodes",), -2, "p"),
    **dict.fromkeys(("threshold", "impurity"), Numbers("float64", ("nodes",))),
    "n_node_samples": Numbers("int64", ("nodes",), 0),
    "weighted_n_node_samples": Numbers("float64", ("nodes",)),
    "missing_go_to_left": Numbers("uint8", ("nodes",)),
}


def _nodes_and_values(tree: Any) -> dict[str, Any]:
    state = tree.__getstate__()
    return {**{name: np.ascontiguousarray(state["nodes"][name]) for name in NODES}, **state}


def _constant_tree(fields: dict[str, Any], scope: Scope) -> Any:
    from sklearn.tree._tree import NODE_DTYPE, Tree

    left = fields["left_child"]
    _inner_nodes(left, fields["right_child"], fields["feature"])
    nodes = np.zeros(len(left), dtype=NODE_DTYPE)
    for name in NODE_DTYPE.names:
        nodes[name] = fields[name]
    n_outputs = scope.sizes["outputs"]
    tree = Tree(scope.sizes["p"], np.ones(n_outputs, dtype=np.intp), n_outputs)
    state = {"node_count": len(left), "nodes": nodes}
    tree.__setstate__(state | {name: fields[name] for name in ("max_depth", "values")})
    return tree


CONSTANT_TREE = Record(
    "sklearn.tree._tree:Tree",
    {"max_depth": Whole(), **NODES, "values": Numbers("float64", ("nodes", "outputs", 1))},
    _constant_tree,
    parts=_nodes_and_values,
)
KINDS.register("constant_tree")(
    Kind(
        classes=("CARTRegressor",),
        state={
            **REGRESSOR,
            "n_outputs_": Whole(1, 2**31, "outputs"),
            "max_features_": Whole(1),
            "tree_": CONSTANT_TREE,
        },
    )
)
