"""Forests that the core grows: the arrays of all trees, concatenated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.errors import quoted
from oblique_cli.models.codecs import REAL, Numbers, Record, Scope, Whole
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, REGRESSOR, Kind

VOTINGS = ("majority", "mean")

# Arrays of a tree, as in `Forest.state()`.
OF_TREE = {
    "threshold": "float64",
    "left": "int32",
    "term": "int32",
    "feature": "int32",
    "coef": "float64",
    "label": "int32",
    "leaf_start": "uint32",
    "leaf_class": "int32",
    "leaf_weight": "float64",
    "rotation_start": "int32",
    "rotation_feature": "int32",
    "rotation_coef": "float64",
    "importance": "float64",
}


def _arrays(forest: Any) -> dict[str, Any]:
    _, _, seed, trees, _ = forest.__getstate__()
    return {
        "seed": seed,
        "sizes": np.array([[len(tree[name]) for name in OF_TREE] for tree in trees], dtype=np.int64),
        **{name: np.array([tree[name] for tree in trees], dtype=np.int64) for name in ("width", "depth")},
        **{name: np.concatenate([np.asarray(tree[name]) for tree in trees]) for name in OF_TREE},
    }


def _forest(fields: dict[str, Any], scope: Scope) -> Any:
    from oblique_cli import _core

    sizes, weights = fields["sizes"], fields["leaf_weight"]
    if len(sizes) == 0:
        raise ValueError("there are no trees")
    for i, name in enumerate(OF_TREE):
        if (sizes[:, i] > len(fields[name])).any() or sizes[:, i].sum() != len(fields[name]):
            raise ValueError(f"sizes of {name} do not add up to its {len(fields[name])} numbers")
    if len(weights) and weights.min() < 0.0:
        raise ValueError(f"there is a leaf_weight of {weights.min()}")
    parts = {name: np.split(fields[name], np.cumsum(sizes[:-1, i])) for i, name in enumerate(OF_TREE)}
    trees: list[dict[str, Any]] = [
        {name: np.ascontiguousarray(arrays[t]) for name, arrays in parts.items()}
        | {name: int(fields[name][t]) for name in ("width", "depth")}
        for t in range(len(sizes))
    ]
    forest = _core.Forest(scope.sizes["p"], scope.sizes.get("C", 1), fields["seed"])
    forest.restore(trees)
    for t, tree in enumerate(trees):
        # The core has the arrays from leaf_start to leaf_weight.
        if min(part.sum() for part in np.split(tree["leaf_weight"], tree["leaf_start"][1:-1])) <= 0.0:
            raise ValueError(f"there is a leaf without weight in tree {t}")
    return forest


FOREST = Record(  # `sizes` holds the length of each tree's part of every array
    "oblique_cli._core:Forest",
    {
        "seed": Whole(),
        "sizes": Numbers("int64", ("trees", len(OF_TREE)), 0),
        **dict.fromkeys(("width", "depth"), Numbers("int64", ("trees",), 0)),
        **{name: Numbers(dtype, (name,)) for name, dtype in OF_TREE.items()},
    },
    _forest,
    parts=_arrays,
)


def _goes_together(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    if parameters.get("voting") not in VOTINGS:
        raise ValueError(
            f"parameters.voting must be one of {', '.join(VOTINGS)}. Got {quoted(parameters.get('voting'))}"
        )
    if "leaf_probabilities_" in state and "probability_strength_" not in state:
        raise ValueError("leaf_probabilities_ need probability_strength_")
    if state.get("probability_strength_", 0.0) < 0.0:
        raise ValueError(f"probability_strength_ must not be negative. Got {state['probability_strength_']}")
    if "leaf_probabilities_" not in state:
        return
    from oblique_cli.tree.structure import check_probabilities

    probabilities, trees = state["leaf_probabilities_"], state["forest_"].state()
    check_probabilities(probabilities, (sum(len(tree["label"]) for tree in trees), len(state["classes_"])))


KINDS.register("forest")(
    Kind(
        classes=("ForestClassifier",),
        state={
            **CLASSIFIER,
            "forest_": FOREST,
            "oob_votes_": Numbers("float64", ("training rows", "C")),
            "oob_score_": REAL,
            "leaf_probabilities_": Numbers("float64", ("leaves", "C"), 0),
            "probability_strength_": REAL,
        },
        optional=frozenset({"oob_votes_", "oob_score_", "leaf_probabilities_", "probability_strength_"}),
        left_out={"_drawing": None},
        check=_goes_together,
        predictor="oblique_cli.models.predicting:ForestPredictor",
    )
)


def _check_leaves(state: Mapping[str, Any]) -> None:
    leaves = sum(len(tree["label"]) for tree in state["forest_"].state())
    if len(state["leaf_values_"]) != leaves:
        raise ValueError(f"leaf_values_ has {len(state['leaf_values_'])} rows for the {leaves} leaves of the trees")


def _check_values(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    _check_leaves(state)
    classes = len(state["classes_"])
    if len(state["baseline_"]) != (1 if classes == 2 else classes):
        raise ValueError(f"baseline_ has {len(state['baseline_'])} scores for {classes} classes")


BOOSTED = {  # an ensemble that grows round by round
    "forest_": FOREST,
    "baseline_": Numbers("float64", ("K",)),
    "leaf_values_": Numbers("float64", ("leaves", "K")),
    **dict.fromkeys(("training_loss_", "validation_loss_"), Numbers("float64", ("rounds",))),
    "n_estimators_": Whole(),
}


KINDS.register("boosted_forest")(
    Kind(
        classes=("ObliqueBoostingClassifier",),
        state={**CLASSIFIER, **BOOSTED},
        optional=frozenset({"validation_loss_"}),
        check=_check_values,
        predictor="oblique_cli.models.predicting:BoostedPredictor",
    )
)


def _check_steps(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    if len(state["baseline_"]) != 1 or state["leaf_values_"].ndim != 2:
        raise ValueError("baseline_ must be one number, and leaf_values_ must be those of one output")
    _check_equations(parameters, state)


KINDS.register("boosted_numbers")(
    Kind(
        classes=("ObliqueBoostingRegressor",),
        state={**REGRESSOR, **BOOSTED, "leaf_values_": Numbers("float64", ("leaves", "width"))},
        optional=frozenset({"validation_loss_"}),
        check=_check_steps,
        predictor="oblique_cli.models.predicting:BoostedNumbersPredictor",
    )
)


def _check_equations(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    _check_leaves(state)
    values, p = state["leaf_values_"], state["n_features_in_"]
    if values.shape[-1] not in (1, p + 3):
        raise ValueError(f"leaf_values_ must have 1 or {p + 3} columns. Got {values.shape[-1]}")
    if values.shape[-1] > 1 and (values[..., p + 1] > values[..., p + 2]).any():
        raise ValueError("leaf_values_ has a leaf whose least number is above its largest")
    if "oob_prediction_" in state and state["oob_prediction_"].ndim != values.ndim - 1:
        raise ValueError("leaf_values_ and oob_prediction_ must be of the same outputs")


KINDS.register("number_forest")(
    Kind(
        classes=("ObliqueForestRegressor", "TAOForestRegressor"),
        state={
            **REGRESSOR,
            "forest_": FOREST,
            "leaf_values_": Numbers("float64", ("leaves", "outputs", "K"), spare="outputs"),
            "l2_regularization_": REAL,
            "oob_prediction_": Numbers("float64", ("training rows", "outputs"), spare="outputs"),
            "oob_score_": REAL,
        },
        optional=frozenset({"l2_regularization_", "oob_prediction_", "oob_score_"}),
        check=_check_equations,
        predictor="oblique_cli.models.predicting:NumberForestPredictor",
    )
)
