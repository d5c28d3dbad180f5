"""Regression trees: with linear models in their leaves, and scikit-learn's of constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.models.codecs import Codec, Numbers, Record, Scope, Whole, fields_of
from oblique_cli.models.kinds._kind import KINDS, REGRESSOR, SIZES, Kind, check_binary
from oblique_cli.models.kinds.hyperplanes import TREE


def _check(fields: Mapping[str, Any]) -> None:
    check_binary(fields["left"], fields["right"])
    if (fields["feature"][fields["left"] >= 0] < 0).any():
        raise ValueError("a node with children must have a feature")


MODEL_TREE = Record(
    "oblique_cli.tree.model_tree:ModelTree",
    {
        "left": Numbers("int32", ("nodes",), -1, "nodes"),
        "right": Numbers("int32", ("nodes",), -1, "nodes"),
        "feature": Numbers("int32", ("nodes",), -1, "p"),
        "thresholds": Numbers("float64", ("nodes",)),
        "coef": Numbers("float64", ("nodes", "p")),
        "intercept": Numbers("float64", ("nodes",)),
        "n_rows": Numbers("int64", ("nodes",), 0),
        "rss": Numbers("float64", ("nodes",)),
    },
    check=_check,
)
TURNING_POINTS = Record(
    "oblique_cli.tree.turning_points:TurningPoints",
    {
        "feature": Numbers("int64", ("points",), 0, "p"),
        "centers": Numbers("float64", ("points", "p")),
        "targets": Numbers("float64", ("points",)),
    },
)

KINDS.register("model_tree")(
    Kind(
        classes=("ModelTreeRegressor",),
        state={**REGRESSOR, "tree_": MODEL_TREE, **SIZES, "turning_points_": TURNING_POINTS},
        optional=frozenset({"turning_points_"}),
        predictor="oblique_cli.models.predicting:ModelTreePredictor",
    )
)


def _same_nodes(fields: Mapping[str, Any]) -> None:
    splits = fields["splits"]
    if splits.counts.shape[1] != 1 or any(splits.levels) or splits.missing_left is not None:
        raise ValueError("splits of a regression tree have one class, no levels and no side for missing values")
    if splits.coef_.shape != fields["coef"].shape:
        raise ValueError("splits and coef must have the same nodes and features")


REGRESSION_TREE = Record(
    "oblique_cli.tree.regression_tree:RegressionTree",
    {
        "splits": TREE,
        "coef": Numbers("float64", ("nodes", "p")),
        "intercept": Numbers("float64", ("nodes",)),
        "rss": Numbers("float64", ("nodes",)),
    },
    check=_same_nodes,
)

KINDS.register("regression_tree")(
    Kind(
        classes=("ObliqueTreeRegressor",),
        state={**REGRESSOR, "tree_": REGRESSION_TREE, **SIZES, "_ranges": Numbers("float64", ("p",))},
        left_out={"refinement_": None},
        predictor="oblique_cli.models.predicting:ModelTreePredictor",
    )
)


class ConstantTree(Codec):
    """The tree of scikit-learn's `DecisionTreeRegressor`, of one output; a leaf has -1 for children, -2 for feature."""

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
        "values": Numbers("float64", ("nodes", 1, 1)),
    }

    def plain(self, value: Any, scope: Scope) -> Any:
        state = value.__getstate__()
        nodes = state["nodes"]
        own = scope.inner()
        fields = {name: np.ascontiguousarray(nodes[name]) for name in self.forms if name in (nodes.dtype.names or ())}
        fields |= {"max_depth": state["max_depth"], "values": state["values"]}
        return {name: form.plain(fields[name], own.at(name)) for name, form in self.forms.items()}

    def value(self, plain: Any, scope: Scope) -> Any:
        from sklearn.tree._tree import NODE_DTYPE, Tree

        found = fields_of(plain, self.forms, scope.inner())
        left = found["left_child"]
        try:
            check_binary(left, found["right_child"])
            if (found["feature"][left >= 0] < 0).any():
                raise ValueError("a node with children must have a feature")
            nodes = np.zeros(len(left), dtype=NODE_DTYPE)
            for name in NODE_DTYPE.names:
                nodes[name] = found[name]
            tree = Tree(scope.sizes["p"], np.ones(1, dtype=np.intp), 1)
            state = {
                "max_depth": found["max_depth"],
                "node_count": len(left),
                "nodes": nodes,
                "values": found["values"],
            }
            tree.__setstate__(state)
        except (ValueError, TypeError, KeyError) as error:
            scope.fail(f"is damaged: {error}")
        return tree


KINDS.register("constant_tree")(
    Kind(
        classes=("CARTRegressor",),
        state={**REGRESSOR, "n_outputs_": Whole(1, 2), "max_features_": Whole(1), "tree_": ConstantTree()},
    )
)
