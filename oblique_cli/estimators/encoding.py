"""Columns made usable inside a fold: missing values filled, levels turned into indicators.

What is filled in and which levels are known is learned from the training rows of the fold. Learned from all rows it
would carry test rows into training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from oblique_cli.errors import ConfigError, NotConverged
from oblique_cli.ground.nodes import Indicator
from oblique_cli.ground.registry import close_matches

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


class Policy(Protocol):
    """What a configuration says about a data set: `missing` and `encoding`, as in `DatasetSpec`."""

    @property
    def missing(self) -> str: ...

    @property
    def encoding(self) -> str: ...


def fold_encoder(dataset: Dataset, policy: Policy) -> Any | None:
    """Return an unfitted scikit-learn transformer of the columns of `dataset`, or None if they can be used as they are.

    missing "keep"        empty cells stay NaN; an indicator of their own for a qualitative column under "onehot"
    missing "impute"      the median of a quantitative column, the most frequent level of a qualitative one
    encoding "onehot"     an indicator for each level that the training rows show; a level they do not show is all 0
    encoding "ordinal"    level codes as numbers, which is how the data set holds them
    encoding "crimcoord"  level codes as well: the tree itself turns levels into numbers, at every node anew

    Quantitative columns come first in the result, both kinds in their order. A column without any value in the
    training rows becomes 0.
    """
    impute = policy.missing == "impute" and bool(np.isnan(dataset.X).any())
    onehot = policy.encoding == "onehot" and len(dataset.qualitative) > 0
    if not impute and not onehot:
        return None
    # Imported here: most data sets need neither, and scikit-learn's pipelines take a while to load.
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    def steps(strategy: str, encode: bool) -> Any:
        parts = [SimpleImputer(strategy=strategy, keep_empty_features=True)] if impute else []
        if encode:
            parts.append(OneHotEncoder(handle_unknown="ignore", sparse_output=False))
        return make_pipeline(*parts) if parts else "passthrough"

    qualitative = sorted(dataset.qualitative)
    quantitative = [j for j in range(dataset.p) if j not in set(qualitative)]
    return ColumnTransformer(
        [
            ("quantitative", steps("median", encode=False), quantitative),
            ("qualitative", steps("most_frequent", encode=onehot), qualitative),
        ]
    )


def n_columns(dataset: Dataset, policy: Policy) -> int:
    """Return how many columns `fold_encoder` makes of all rows. From those of a fold there are no more."""
    encoder = fold_encoder(dataset, policy) if policy.encoding == "onehot" else None
    return dataset.p if encoder is None else int(encoder.fit_transform(dataset.X).shape[1])


def prepared(estimator: Any, dataset: Dataset, policy: Policy) -> Any:
    """Return `estimator`, told what only the data set knows.

    That is where the columns of `monotonic_cst` stand, which columns hold levels, if the encoding leaves those to it
    ("crimcoord": ConfigError for an estimator that cannot take them), and which codes the labels of a `class_weight`
    stand for.
    """
    weights = getattr(estimator, "class_weight", None)
    if isinstance(weights, Mapping):
        estimator.set_params(class_weight=coded_weights(weights, dataset))
    signs = getattr(estimator, "monotonic_cst", None)
    if isinstance(signs, Mapping):
        estimator.set_params(monotonic_cst=placed_signs(signs, dataset, policy))
    if policy.encoding != "crimcoord" or not dataset.qualitative:
        return estimator
    proposer = getattr(estimator, "proposer", None)
    refuses = getattr(proposer, "quantitative", False)
    if refuses or "qualitative" not in estimator.get_params(deep=False):
        owner = type(proposer if refuses else estimator).__name__
        raise ConfigError(
            f"{owner} does not take the levels of {dataset.name!r} as they are, which is what encoding 'crimcoord' "
            "asks for; use encoding 'onehot'."
        )
    if fold_encoder(dataset, policy) is None:
        return estimator.set_params(qualitative=sorted(dataset.qualitative))
    return estimator.set_params(qualitative=list(range(dataset.p - len(dataset.qualitative), dataset.p)))


def coded_weights(weights: Mapping[str, float], dataset: Dataset) -> dict[int, float]:
    """Return the weight of every class code from weights of labels, 1 for those not named; ConfigError for others."""
    for label in weights:
        if label not in dataset.classes:
            hint = close_matches(label, dataset.classes) or f" Its classes: {', '.join(dataset.classes[:20])}."
            raise ConfigError(f"class_weight names {label!r}, which is no class of {dataset.name!r}.{hint}")
    return {code: float(weights.get(label, 1.0)) for code, label in enumerate(dataset.classes)}


def placed_signs(signs: Mapping[str, int], dataset: Dataset, policy: Policy) -> dict[int, int]:
    """Return the signs of columns by where `fold_encoder` puts them; ConfigError for what is no column of numbers."""
    names, qualitative = list(dataset.feature_names), set(dataset.qualitative)
    found: dict[int, int] = {}
    for name, sign in signs.items():
        if name not in names:
            hint = close_matches(name, names) or f" Its columns: {', '.join(names[:20])}."
            raise ConfigError(f"monotonic_cst names {name!r}, which is no column of the table.{hint}")
        column = names.index(name)
        if column in qualitative:
            raise ConfigError(
                f"monotonic_cst names {name!r}, whose levels have no order; leave it out, or call it quantitative."
            )
        before = column if fold_encoder(dataset, policy) is None else sum(j not in qualitative for j in range(column))
        found[before] = int(sign)
    return found


@contextmanager
def own_labels(dataset: Dataset) -> Iterator[None]:
    """Let an error about a class, which estimators know by its code, name the label that `dataset` has for it."""
    try:
        yield
    except NotConverged as error:
        raise NotConverged(error.reason, dataset.classes[int(error.label)]) from error


def encoded_levels(dataset: Dataset, estimator: Any) -> dict[int, tuple[str, ...]]:
    """Return the levels of the columns that a fitted estimator took as qualitative, in the order of its own codes."""
    source = sorted(dataset.qualitative)
    columns = getattr(estimator, "levels_", {})
    return {
        column: tuple(dataset.levels[j][int(code)] for code in columns[column])
        for column, j in zip(sorted(columns), source, strict=False)
    }


def encoded_names(dataset: Dataset, encoder: Any | None) -> tuple[str, ...]:
    """Return a name for each column that a fitted `fold_encoder` makes: "age", an `Indicator` "color=red"."""
    if encoder is None:
        return dataset.feature_names
    names: list[str] = []
    for _, steps, columns in encoder.transformers_:
        categories = getattr(steps[-1] if hasattr(steps, "steps") else None, "categories_", None)
        if categories is not None:
            for column, codes in zip(columns, categories, strict=True):
                name, levels = dataset.feature_names[column], dataset.levels[column]
                names += [Indicator(name, "" if np.isnan(code) else levels[int(code)]) for code in codes]
        else:
            names += [dataset.feature_names[column] for column in columns]
    return tuple(names)
