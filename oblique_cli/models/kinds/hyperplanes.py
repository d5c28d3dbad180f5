"""Trees of hyperplanes, grown top-down or merged bottom-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.models.codecs import Many, Maybe, Numbers, Pairs, Plain, Real, Record, Whole
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind, check_binary


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
    from oblique_cli.tree.structure import Tree

    coef = fields.pop("coef_")
    tree = Tree(coef=coef, **fields)
    _ = tree.walker  # the core checks node numbers as well
    return tree


def _models(fields: dict[str, Any]) -> Any:
    from oblique_cli.tree.leaf_models import LeafModels

    models = LeafModels(**fields)
    models.check(models.coef.shape)
    return models


LEAF_MODELS = Record(
    "oblique_cli.tree.leaf_models:LeafModels",
    {
        "center": Numbers("float64", ("p",)),
        "scale": Numbers("float64", ("p",)),
        "coef": Numbers("float64", ("nodes", "C", "p")),
        "intercept": Numbers("float64", ("nodes", "C")),
        "curve": Numbers("float64", ("nodes", "C", "p")),
    },
    _models,
    younger=frozenset({"curve"}),
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
            "probability_strength_": Real(),
            "leaf_penalty_": Real(),
        },
        optional=frozenset({"levels_", "fill_values_", "n_clusters_", "probability_strength_", "leaf_penalty_"}),
        # A path over the cost of BUTIF-SVM fits machines to the training rows, which a model file does not keep.
        left_out={"_skeleton": None, "_trees": {}, "seconds_saved_": 0.0, "_power": 0, "refinement_": None},
        check=_goes_together,
        predictor="oblique_cli.models.predicting:HyperplanePredictor",
    )
)
