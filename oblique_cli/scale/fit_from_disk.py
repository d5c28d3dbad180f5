"""A model of a table beyond memory: rows into chunks, growth, pruning, and a test on rows that neither of them uses.

The model is a top-down tree, a forest of such trees (`forest_from_disk`), or boosting (`boosting_from_disk`)."""

from __future__ import annotations

import inspect
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import __version__
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.errors import ConfigError, DataError, cannot_write
from oblique_cli.estimators.algorithms import ALGORITHMS, BOOSTED, TOP_DOWN, make
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier
from oblique_cli.estimators.forest.boosting import ObliqueBoostingClassifier
from oblique_cli.estimators.missing_values import IMPUTE, LEARN
from oblique_cli.evaluation.metrics import n_terms
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import rows_of
from oblique_cli.models.model import Model
from oblique_cli.scale import boosting_from_disk, forest_from_disk
from oblique_cli.scale.boosting_from_disk import Part
from oblique_cli.scale.disk_tables import Division, Table, store
from oblique_cli.scale.growing import Asker, Checkpoint, Level, Plan, grow
from oblique_cli.scale.passes import Here
from oblique_cli.scale.store import GROW, MANIFEST, PRUNE, TEST, Store, writing
from oblique_cli.tree.probabilities import AUTO, COUNTS, strength_of
from oblique_cli.tree.pruning import KEPT_ROWS, PruningPath, smallest_within
from oblique_cli.tree.reading import Units
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

# Pruning rules that need no rows, then those that need only counts of their rows. Others need all rows at once.
PRUNED_HERE = (
    *("none", "pessimistic", "ccp_alpha", "minimum_error", "description_length"),
    *("cost_complexity", "critical_value"),
)
A_TENTH = Division(prune=0.1, seed=1)
SHOWN_ROWS, SHOWN_CHUNKS = 20_000, 8  # sample of rows for the units of features, and its chunks


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator and its test.

    levels : statistics of growth by level, or of boosting by part
    right, tested : correctly classified test rows, and all test rows
    X, y : some rows, for pictures of the tree; bytes_read : by this process, from the chunks"""

    estimator: Any
    levels: Sequence[Level | Part]
    right: float
    tested: int
    X: Array
    y: NDArray[np.int32]
    bytes_read: int
    memory: int


def fit(
    table: Table,
    algorithm: str,
    params: Mapping[str, Any] | None = None,
    *,
    memory: int = 1 << 30,
    scratch: str | Path | None = None,
    threads: int = 1,
    asker: Callable[[Store], Asker] | None = None,
    division: Division = A_TENTH,
    say: Callable[[Level | Part], None] = lambda _: None,
) -> Fitted:
    """Fit a top-down classification tree, a bagged forest of them, or boosting, to a table larger than memory.

    algorithm  of `oblique list algorithms`, grown level by level from sums over rows: see `_core.from_sums`
    params     of the estimator; pruning "cost_complexity" chooses on the pruning rows of `division`
    memory     bytes that rows and histograms may take at a time
    scratch    folder for the copy of the rows, some 8 p + 9 bytes each; a temporary one by default. The same fit
               resumes after the last complete level of an interrupted fit there
    asker      answers the passes over the rows; this process with `threads` by default
    division   shares of the rows for pruning and for the test; its seed is that of the estimator, too
    The tree equals that of the estimator in memory on the same rows, and so does each tree of a forest on its drawn
    rows and features; boosting uses a sample of the rows at a time (`boosting_from_disk`). ConfigError for
    unsupported options."""
    estimator = _estimator(algorithm, dict(params or {}), division.seed)
    is_forest, is_boosted = (isinstance(estimator, cls) for cls in (BaggedForestClassifier, ObliqueBoostingClassifier))
    has_trees = is_forest or is_boosted
    if has_trees and asker is not None:
        raise ConfigError(f"{algorithm} of a table larger than memory grows by threads of one process: no --scheduler.")
    if is_boosted:
        plans = []
    else:
        plans = forest_from_disk.plans_of(estimator, memory) if is_forest else [_plan(estimator, memory)]
    if table.levels and (has_trees or any(plan.proposer.quantitative for plan in plans)):
        raise ConfigError(f"{algorithm} takes quantitative features only; leave columns of text out by --drop.")
    if not estimator.needs_pruning_rows:
        division = replace(division, prune=0.0)
    folder = Path(tempfile.mkdtemp(prefix="oblique-rows-")) if scratch is None else Path(scratch) / "oblique-rows"
    checkpoint = None if scratch is None else Checkpoint(folder / "state.npz")
    done = False
    try:
        rows = _rows(table, folder, division, _class_weights(estimator, table))
        X, y = _some(rows)
        estimator.classes_, estimator.n_features_in_ = np.array(table.classes), len(table.features)
        if has_trees:
            resumed = folder if scratch is not None else None
            levels: Sequence[Level | Part]
            if is_boosted:
                levels = boosting_from_disk.boost(estimator, rows, memory, threads, resumed, say)
            else:
                levels = forest_from_disk.grow_forest(estimator, rows, plans, threads, X, resumed, say)
            right, tested = _n_right(estimator, rows) if division.test else (0.0, 0)
        else:
            who: Asker = Here(rows, threads) if asker is None else asker(rows)
            grown = grow(who, rows, _with_shares(plans[0], who, estimator), checkpoint, say)
            tree = _pruned(who, estimator._cut(grown.tree), estimator)
            levels, (wrong, tested) = grown.levels, _tested(who, tree) if division.test else (0.0, 0)
            right = tested - wrong
            # A tree of a table knows levels by their codes, as for a table in memory.
            estimator.levels_ = {j: tuple(map(float, range(count))) for j, count in enumerate(table.levels) if count}
            if estimator.probabilities != COUNTS:
                estimator.probability_strength_ = float(strength_of(estimator.probabilities, AUTO))
                tree = estimator._smoothed(tree)
            estimator._keep(tree, X)
        done = True
        return Fitted(estimator, levels, right, tested, X, y, rows.bytes_read, memory)
    finally:
        if done or scratch is None:
            shutil.rmtree(folder, ignore_errors=True)


def _rows(table: Table, folder: Path, division: Division, of_class: Array | None) -> Store:
    names = [[column.name for column in table.features], list(map(str, table.classes))]
    drawn = [division.prune, division.test, division.seed, None if of_class is None else of_class.tolist()]
    table_facts = [table.where, table.stamp, table.n_rows, table.target, table.weight, table.counts.tolist()]
    question = json.dumps([*table_facts, *names, *drawn]).encode()
    path = folder / "table.json"
    if (folder / MANIFEST).exists():
        if not path.exists() or path.read_bytes() != question:
            raise DataError(
                f"{folder}: holds the rows of another fit, which did not come to its end; run that one again, remove "
                "the folder, or name another --scratch"
            )
        return Store.open(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder.parent, error, "--scratch must be a folder to write to") from None
    with writing(path) as stream:
        stream.write(question)
    return store(table, folder, division, of_class)


def _plan(estimator: Any, memory: int) -> Plan:
    """Return the plan of an estimator's tree; ConfigError for an unsupported heuristic before the table is copied."""
    of_node = estimator.misrate_of == "node"
    stopping = Stopping(estimator._parent_limit(0.0), estimator.epsilon if of_node else 0.0, estimator.max_depth)
    least = max(float(estimator.min_samples_leaf), 1e-300)
    plan = Plan(estimator._checked_proposer(), estimator.criterion, stopping, least, estimator.ties, memory)
    plan.family  # noqa: B018
    return plan


def _with_shares(plan: Plan, who: Asker, estimator: Any) -> Plan:
    """Return a plan with the least weights of a leaf and of its parent; shares of the total weight take a pass."""
    least, share = estimator.min_samples_leaf, estimator.min_weight_fraction_leaf
    if not share and least >= 1 and not isinstance(estimator.min_samples_split, float):
        return plan
    total = float(who.ask("boxes", 0, {"n_slots": 1})["weight"].sum())
    stopping = replace(plan.stopping, min_parent=estimator._parent_limit(total))
    return replace(plan, stopping=stopping, min_leaf=max(rows_of(least, total), share * total))


def _estimator(algorithm: str, params: dict[str, Any], seed: int) -> Any:
    known = ALGORITHMS[algorithm]
    is_forest = issubclass(known.estimator, BaggedForestClassifier)
    if not is_forest and known.family not in (BOOSTED, TOP_DOWN):
        raise ConfigError(
            f"{algorithm} is neither a top-down tree of one split heuristic nor a bagged forest of such trees, nor "
            "oblique_boosting, so it cannot grow from a disk."
        )
    estimator = make(algorithm, random_state=seed, **params)
    if is_forest or known.family is BOOSTED:
        (forest_from_disk if is_forest else boosting_from_disk).refuse(algorithm, estimator)
        return estimator
    if not isinstance(estimator.pruning, str) or estimator.pruning not in PRUNED_HERE:
        raise ConfigError(
            f"pruning {estimator.pruning!r} needs all rows in memory. A table larger than that takes one of "
            f"{', '.join(PRUNED_HERE)}."
        )
    if estimator.missing in (IMPUTE, LEARN) or estimator._in_python():
        what = estimator._in_python() or f"missing {estimator.missing!r}"
        raise ConfigError(
            f"{what} needs all rows in memory; a table larger than that has to be complete, engine 'auto'."
        )
    for name in ("polish", "max_terms", "path", "split_cost", "refine", "probability_strength", "leaf_models"):
        value, usual = getattr(estimator, name), inspect.signature(type(estimator)).parameters[name].default
        if value != usual:
            raise ConfigError(f"{name} {value!r} needs all rows in memory; a table larger than that has {usual!r}.")
    return estimator


def _class_weights(estimator: Any, table: Table) -> Array | None:
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return None
    if class_weight == "balanced":
        weights: Array = table.counts.sum() / (len(table.counts) * table.counts)
        return weights
    return np.array([float(class_weight.get(label, 1.0)) for label in table.classes])


def _pruned(who: Asker, tree: Tree, estimator: Any) -> Tree:
    rule = estimator._rule()
    if rule.rows != KEPT_ROWS:
        pruned: Tree = rule.prune(tree, None)
        return pruned
    path: PruningPath = rule.sequence(tree)
    request = {"part": PRUNE, "tree": tree, "node_alpha": path.node_alpha, "alphas": path.alphas}
    answer = who.ask("part", 0, request)
    total = float(answer["seen"][0])
    if total <= 0.0:
        return tree
    return path.member(tree, smallest_within(answer["left"], total, rule.standard_errors))


def _tested(who: Asker, tree: Tree) -> tuple[float, int]:
    """Return the numbers of misclassified and of all test rows of the tree."""
    # Complexities at which nothing is pruned.
    whole = {"node_alpha": np.full(tree.n_nodes, np.inf), "alphas": np.zeros(1)}
    answer = who.ask("part", 0, {"part": TEST, "tree": tree, "counted": True, **whole})
    return float(answer["left"][0]), round(float(answer["seen"][0]))


def _n_right(estimator: Any, rows: Store) -> tuple[float, int]:
    """Return the numbers of correctly classified and of all test rows of the estimator."""
    right = seen = 0
    for chunk in range(len(rows.sizes)):
        block = rows.read(chunk, rows.room)
        there = np.flatnonzero(block.parts == TEST)
        if len(there):
            answers = estimator.predict(np.ascontiguousarray(block.columns[:, there].T))
            right += int((answers == estimator.classes_[block.codes[there]]).sum())
            seen += len(there)
    return float(right), seen


def _some(rows: Store) -> tuple[Array, NDArray[np.int32]]:
    """Return a sample of the rows that the tree grew on, spread over the table."""
    count = len(rows.sizes)
    chunks = sorted({i * count // SHOWN_CHUNKS for i in range(SHOWN_CHUNKS)})
    X, y = [], []
    for chunk in chunks:
        block = rows.read(chunk)
        chosen = np.flatnonzero(block.parts == GROW)[: -(-SHOWN_ROWS // len(chunks))]
        X.append(block.columns[:, chosen].T)
        y.append(block.codes[chosen])
    return np.ascontiguousarray(np.concatenate(X)), np.concatenate(y)


def model_of(fitted: Fitted, table: Table, algorithm: str, seed: int) -> Model:
    """Return the model of `oblique fit`: the estimator with codes for classes, and the reading rules of the table."""
    estimator = fitted.estimator
    estimator.classes_ = np.arange(len(table.classes))
    left_out = [] if not table.weight else [Column(table.weight, "dropped")]
    classes = tuple(map(str, table.classes))
    columns = Columns(
        (*table.features, *left_out, Column(table.target, "target")),
        table.target,
        "classification",
        classes,
        format=table.format,
    )
    tree = getattr(estimator, "tree_", None)  # of a single tree
    facts: dict[str, Any] = {
        "title": ALGORITHMS[algorithm].title,
        "data": Path(table.where).stem,
        "rows": table.n_rows,
        "seed": seed,
        "leaves": int(estimator.n_leaves_),
        "n_terms": n_terms(estimator),
        "depth": int(estimator.depth_),
        "class_counts": dict(zip(classes, table.counts.tolist(), strict=True)),
        **({} if tree is None else {"units": Units.deviations(fitted.X, tree.levels).to_plain()}),
        **({"weights": table.weight} if table.weight else {}),
        "held_out": {"rows": fitted.tested, "right": fitted.right},
        "versions": {"oblique-trees": __version__},
    }
    names = tuple(column.name for column in table.features)
    return Model.of(estimator, algorithm=algorithm, classes=classes, feature_names=names, columns=columns, facts=facts)
