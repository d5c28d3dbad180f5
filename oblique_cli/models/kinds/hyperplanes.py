"""Trees of hyperplanes of classes and of numbers, whatever grew them, and scikit-learn's regression tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from oblique_cli.models.codecs import (
    ByAxes,
    Codec,
    Many,
    Maybe,
    Numbers,
    Pairs,
    Plain,
    Real,
    Record,
    Scope,
    Size,
    SizeOf,
    Whole,
    fields_of,
)
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, REGRESSOR, SIZES, Kind, check_binary


def _check(fields: Mapping[str, Any]) -> None:
    check_binary(fields["left"], fields["right"])
    bare = np.flatnonzero((fields["left"] >= 0) & ~(fields["coef_"] != 0.0).any(axis=1))
    if len(bare):
        raise ValueError(f"node {bare[0]} has children and no coefficient")
    scores, levels = fields["level_scores"], fields["levels"]
    if scores.shape[1] != sum(levels):
        raise ValueError(f"level_scores must have a column for each of {sum(levels)} levels. Got {scores.shape[1]}")
    if "probabilities" in fields:
        from oblique_cli.tree.structure import check_probabilities

        check_probabilities(fields["probabilities"], fields["counts"].shape)


def _tree(fields: dict[str, Any]) -> Any:
    from oblique_cli.tree.payloads import Classes
    from oblique_cli.tree.structure import Tree

    models = fields.pop("leaf_models", None)
    if models is not None and models.level_coef is not None:
        models = replace(models, levels=tuple(int(count) for count in fields["levels"]))
        models.check(models.coef.shape)
    payload = Classes(fields.pop("probabilities", None), models)
    tree = Tree(coef=fields.pop("coef_"), payload=payload, **fields)
    _ = tree.walker  # the core checks node numbers as well
    return tree


def _models(fields: dict[str, Any]) -> Any:
    from oblique_cli.tree.payloads import LeafModels

    models = LeafModels(**fields)
    if models.level_coef is None:  # otherwise they are whole once the tree says its levels
        models.check(models.coef.shape)
    return models


LEAF_MODELS = Record(
    "oblique_cli.tree.payloads:LeafModels",
    {
        "center": Numbers("float64", ("p",)),
        "scale": Numbers("float64", ("p",)),
        "coef": Numbers("float64", ("nodes", "C", "p")),
        "intercept": Numbers("float64", ("nodes", "C")),
        "curve": Numbers("float64", ("nodes", "C", "p")),
        "level_coef": Numbers("float64", ("nodes", "C", "levels in all")),
    },
    _models,
    younger=frozenset({"curve", "level_coef"}),
)

TREE = Record(
    "oblique_cli.tree.structure:Tree",
    {
        "left": Numbers("int32", ("nodes",), -1, "nodes"),
        "right": Numbers("int32", ("nodes",), -1, "nodes"),
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
    },
    _tree,
    _check,
    frozenset({"probabilities", "leaf_models"}),
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
            "levels_": Pairs(Whole(), Many(Plain(), kind=tuple)),
            "tree_": TREE,
            **SIZES,
            "_ranges": Numbers("float64", ("p",)),
            "fill_values_": Numbers("float64", ("p",)),
            "n_clusters_": Pairs(Plain(), Whole()),
            "overlap_": Numbers("float64", ("clusters",), low=0),
            "probability_strength_": Real(),
            "leaf_penalty_": Real(),
        },
        optional=frozenset(
            {"levels_", "fill_values_", "n_clusters_", "overlap_", "probability_strength_", "leaf_penalty_"}
        ),
        # A path over the cost of BUTIF-SVM fits machines to the training rows, which a model file does not keep.
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


def _of_outputs(*rest: Size) -> ByAxes:
    """Numbers of the nodes, with an axis for the outputs where there are several."""
    return ByAxes((Numbers("float64", ("nodes", *rest)), Numbers("float64", ("nodes", "outputs", *rest))))


EQUATIONS: Mapping[str, Codec] = {
    "coef": _of_outputs("p"),
    "intercept": _of_outputs(),
    "rss": Numbers("float64", ("nodes",)),
}
BOUNDS: Mapping[str, Codec] = {"bounds": _of_outputs(2)}  # only where answers are bounded


class EquationTree(Codec):
    """A tree with an equation at every node: its hyperplanes, then the equations."""

    forms: ClassVar[Mapping[str, Codec]] = {"splits": TREE, **EQUATIONS, **BOUNDS}

    def plain(self, value: Any, scope: Scope) -> Any:
        inner = scope.inner()
        fields = self._fields(value)
        held = {name: form for name, form in self.forms.items() if name not in BOUNDS or fields[name] is not None}
        return {name: form.plain(fields[name], inner.at(name)) for name, form in held.items()}

    def value(self, plain: Any, scope: Scope) -> Any:
        fields = fields_of(plain, self.forms, scope.inner(), BOUNDS.__contains__)
        try:
            return self._tree(fields)
        except (ValueError, TypeError, IndexError) as error:
            scope.fail(f"is damaged: {error}")

    def _fields(self, tree: Any) -> dict[str, Any]:
        from oblique_cli.tree.payloads import SHARES

        return {**vars(tree.equations), "splits": tree.changed(payload=SHARES)}

    def _tree(self, fields: dict[str, Any]) -> Any:
        splits = fields.pop("splits")
        if splits.counts.shape[1] != 1 or any(splits.levels) or splits.missing_left is not None:
            raise ValueError("splits of a regression tree have one class, no levels and no side for missing values")
        coef = fields["coef"]
        if splits.coef_.shape != (len(coef), coef.shape[-1]):
            raise ValueError("splits and coef must have the same nodes and features")
        return splits.changed(payload=_equations(fields))


class AxisTree(EquationTree):
    """The same where every cut is in one feature, whose number stands for the hyperplane."""

    forms: ClassVar[Mapping[str, Codec]] = {
        "left": Numbers("int32", ("nodes",), -1, "nodes"),
        "right": Numbers("int32", ("nodes",), -1, "nodes"),
        "feature": Numbers("int32", ("nodes",), -1, "p"),
        "thresholds": Numbers("float64", ("nodes",)),
        **{name: EQUATIONS[name] for name in ("coef", "intercept")},
        "n_rows": Numbers("int64", ("nodes",), 0),
        "rss": EQUATIONS["rss"],
        **BOUNDS,
    }

    def _fields(self, tree: Any) -> dict[str, Any]:
        structure = {name: getattr(tree, name) for name in ("left", "right", "thresholds", "n_rows")}
        feature = np.where(tree.is_leaf, -1, np.abs(tree.coef_).argmax(axis=1)).astype(np.int32)
        return {**vars(tree.equations), **structure, "feature": feature}

    def _tree(self, fields: dict[str, Any]) -> Any:
        from oblique_cli.tree.structure import Tree

        left, right, feature, n_rows = (fields.pop(name) for name in ("left", "right", "feature", "n_rows"))
        check_binary(left, right)
        inner = np.flatnonzero(left >= 0)
        if (feature[inner] < 0).any():
            raise ValueError("a node with children must have a feature")
        axes = np.zeros_like(fields["coef"])
        axes[inner, feature[inner]] = 1.0
        thresholds = fields.pop("thresholds")
        models = _equations(fields)
        falls = models.decreases(left, right)
        return Tree(left, right, axes, thresholds, n_rows[:, None], falls, n_rows, payload=models)


def _equations(fields: Mapping[str, Any]) -> Any:
    from oblique_cli.tree.payloads import Equations

    bounds, axes = fields.get("bounds"), fields["intercept"].ndim
    if fields["coef"].ndim != axes + 1 or (bounds is not None and bounds.ndim != axes + 1):
        raise ValueError("coef, intercept and bounds must be of the same outputs")
    if bounds is not None and not (bounds[..., 0] <= bounds[..., 1]).all():
        raise ValueError("bounds must have the least answer before the largest one")
    return Equations(**fields)


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


def _of_regression(estimator: str, tree: Codec, further: Mapping[str, Codec], **options: Any) -> Kind:
    optional = options.pop("optional", frozenset()) | {"leaf_residuals_"}
    return Kind(
        classes=(estimator,),
        state={**REGRESSOR, "tree_": tree, **SIZES, **further, "leaf_residuals_": RESIDUALS},
        optional=optional,
        check=_of_its_tree,
        predictor="oblique_cli.models.predicting:HyperplanePredictor",
        **options,
    )


KINDS.register("model_tree")(
    _of_regression(
        "ModelTreeRegressor",
        AxisTree(),
        {"turning_points_": TURNING_POINTS},
        optional=frozenset({"turning_points_"}),
    )
)
KINDS.register("pilot_tree")(_of_regression("PILOTRegressor", AxisTree(), {}))
KINDS.register("regression_tree")(
    _of_regression(
        "ObliqueTreeRegressor",
        EquationTree(),
        {"_ranges": Numbers("float64", ("p",))},
        left_out={"refinement_": None},
    )
)


KINDS.register("linear_tree")(
    _of_regression("LinearModelTreeRegressor", EquationTree(), {}, left_out={"choice_": None})
)


class ConstantTree(Codec):
    """The tree of scikit-learn's `DecisionTreeRegressor`; a leaf has -1 for children, -2 for feature."""

    forms: ClassVar[Mapping[str, Codec]] = {
        "max_depth": Whole(),
        "left_child": Numbers("int64", ("nodes",), -1, "nodes"),
        "right_child": Numbers("int64", ("nodes",), -1, "nodes"),
        "feature": Numbers("int64", ("nodes",), -2, "p"),
        "threshold": Numbers("float64", ("nodes",)),
        "impurity": Numbers("float64", ("nodes",)),
        "n_node_samples": Numbers("int64", ("nodes",), 0),
        "weighted_n_node_samples": Numbers("float64", ("nodes",)),
        "missing_go_to_left": Numbers("uint8", ("nodes",)),
        "values": Numbers("float64", ("nodes", "outputs", 1)),
    }

    def plain(self, value: Any, scope: Scope) -> Any:
        state = value.__getstate__()
        nodes = state["nodes"]
        inner = scope.inner()
        fields = {name: np.ascontiguousarray(nodes[name]) for name in self.forms if name in (nodes.dtype.names or ())}
        fields |= {"max_depth": state["max_depth"], "values": state["values"]}
        return {name: form.plain(fields[name], inner.at(name)) for name, form in self.forms.items()}

    def value(self, plain: Any, scope: Scope) -> Any:
        from sklearn.tree._tree import NODE_DTYPE, Tree

        fields = fields_of(plain, self.forms, scope.inner())
        left = fields["left_child"]
        try:
            check_binary(left, fields["right_child"])
            if (fields["feature"][left >= 0] < 0).any():
                raise ValueError("a node with children must have a feature")
            nodes = np.zeros(len(left), dtype=NODE_DTYPE)
            for name in NODE_DTYPE.names:
                nodes[name] = fields[name]
            n_outputs = scope.sizes["outputs"]
            tree = Tree(scope.sizes["p"], np.ones(n_outputs, dtype=np.intp), n_outputs)
            state = {
                "max_depth": fields["max_depth"],
                "node_count": len(left),
                "nodes": nodes,
                "values": fields["values"],
            }
            tree.__setstate__(state)
        except (ValueError, TypeError, KeyError) as error:
            scope.fail(f"is damaged: {error}")
        return tree


KINDS.register("constant_tree")(
    Kind(
        classes=("CARTRegressor",),
        state={**REGRESSOR, "n_outputs_": SizeOf("outputs"), "max_features_": Whole(1), "tree_": ConstantTree()},
    )
)
