"""ONNX for any runtime: the sums of all splits at once, then a tree of the standard over the decisions.

Trees of the standard split on one input, so each hyperplane becomes an input: 0 if the row goes left, else 1. Sums are
elementwise products and sums in double precision, in the order of training. A matrix product would be shorter, but a
runtime may add it up in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import __version__
from oblique_cli.errors import ConfigError
from oblique_cli.models.exporting._exporter import MOST, Limits, Source, exporter
from oblique_cli.models.exporting._text import heading
from oblique_cli.models.procedure import (
    ANYTHING,
    CLIPPED,
    MAJORITY,
    MISSING,
    NUMBER,
    TIE,
    Coded,
    Lane,
    Procedure,
    Term,
)

OPSETS = (("", 17), ("ai.onnx.ml", 3))
IR_VERSION = 8
GONE = -2  # code of a missing cell in a column of levels
MOST_LEAVES = 2**24  # leaf numbers are passed on in single precision

# Attributes of the nodes and of the leaves of trees in the standard.
NODES = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
         "missing_value_tracks_true", "hitrates")  # fmt: skip
TARGETS = ("treeids", "nodeids", "ids", "weights")

Column = tuple[int, int]  # cell and level of a term


@exporter("onnx", "ONNX for onnxruntime and other runtimes", ".onnx", kinds=MOST, named="the name of the graph")
def write(source: Source) -> bytes:
    """Return the bytes of the file. ConfigError without the package onnx."""
    try:
        import onnx
    except ImportError:
        raise ConfigError("format onnx needs the package onnx: pip install 'oblique-trees[onnx]'.") from None
    procedure = source.procedure
    graph = _Graph(onnx.helper, procedure, source.limits)
    outputs = graph.build()
    made = onnx.helper.make_graph(
        graph.nodes, source.name or "oblique", graph.inputs, outputs, initializer=graph.constants
    )
    model = onnx.helper.make_model(
        made,
        producer_name="oblique",
        producer_version=__version__,
        doc_string="\n".join(heading(procedure, coded=False)),
        opset_imports=[onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS],
        ir_version=IR_VERSION,
    )
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


class _Graph:
    """The nodes of a graph, in order."""

    def __init__(self, helper: Any, procedure: Procedure, limits: Limits | None) -> None:
        self.helper = helper
        self.procedure = procedure
        self.limits = limits
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.leaf_numbers: list[tuple[int, int]] = []  # tree and node of each leaf, by leaf number
        self.places: dict[Column, int] = {}  # place of each column of a term in the table
        # Names of the graph differ from those of all columns.
        self.prefix = "oblique/"
        while any(cell.name.startswith(self.prefix) for cell in procedure.cells):
            self.prefix += "_"

    def op(self, kind: str, *inputs: str, domain: str = "", output: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = output or f"{self.prefix}{kind}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Add an array and return its name."""
        array = np.asarray(values, dtype=dtype)
        name = f"{self.prefix}constant_{len(self.constants)}"
        kind = self.helper.np_dtype_to_tensor_dtype(array.dtype)
        flat = [str(value).encode() for value in array.ravel()] if array.dtype.kind == "O" else array.ravel()
        self.constants.append(self.helper.make_tensor(name, kind, array.shape, flat))
        return name

    def cast(self, name: str, dtype: Any) -> str:
        """Return the values converted to another type."""
        return self.op("Cast", name, to=self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def pick(self, name: str, index: Any) -> str:
        """Return the columns with these indices."""
        return self.op("Gather", name, self.constant(index, np.int64), axis=1)

    # ---- the parts ---------------------------------------------------------------------------------------------------

    def build(self) -> list[Any]:
        """Add all nodes and return the outputs."""
        procedure = self.procedure
        cells = self._cells()
        for tree in procedure.trees:
            lanes = (lane for split in tree.splits if split is not None for lane in split.lanes)
            for lane in [*tree.rotated, *lanes, *(leaf.terms for leaf in tree.leaves if leaf)]:
                for term in lane:
                    if term.cell < len(procedure.columns):
                        self.places.setdefault((term.cell, term.level), len(self.places))
        scaled = ((column.cell, column.level) for column in procedure.scaled)
        for place in [*scaled, *((j, NUMBER) for j in procedure.needed)]:
            self.places.setdefault(place, len(self.places))
        cells += [self._code(code_column, cells) for code_column in procedure.coded]
        columns = [self._column(cells[cell], cell, level) for cell, level in self.places]
        if not columns:  # a single leaf
            columns = [self._zeros(cells[0])]
        table = self.op("Concat", *columns, axis=1)
        gaps = self.op("IsNaN", table)
        self.missing, self.gaps = gaps, self.cast(gaps, np.float32)
        self.values = self.op("Where", gaps, self.constant(0.0), table)
        self.leaf_index = leaves = self._leaves()
        return self._value(leaves) if procedure.is_regression else self._classes(leaves)

    def _cells(self) -> list[str]:
        """Return cells as (n, 1): numbers, NaN if missing; codes of levels, GONE if missing."""
        tensors = []
        for j, cell in enumerate(self.procedure.cells):
            name = cell.name or f"x{j + 1}"
            kind = np.dtype(object if cell.levels else np.float64)
            tensor = self.helper.np_dtype_to_tensor_dtype(kind)
            self.inputs.append(self.helper.make_tensor_value_info(name, tensor, [None, 1]))
            if cell.levels:
                gone = GONE if cell.fill is None else int(cell.fill)
                code = self.op(
                    "LabelEncoder",
                    name,
                    domain="ai.onnx.ml",
                    keys_strings=[*cell.levels, ""],
                    values_int64s=[*range(len(cell.levels)), gone],
                    default_int64=len(cell.levels),
                )
                tensors.append(self.cast(code, np.float64))
            elif cell.fill is None:
                tensors.append(name)
            else:
                tensors.append(self.op("Where", self.op("IsNaN", name), self.constant(cell.fill), name))
        return tensors

    def _code(self, code_column: Coded, cells: Sequence[str]) -> str:
        value = self._column(cells[code_column.term.cell], code_column.term.cell, code_column.term.level)
        code = self.constant(float(code_column.usual))
        for place, known in enumerate(code_column.values):
            code = self.op("Where", self.op("Equal", value, self.constant(known)), self.constant(float(place)), code)
        return code

    def _zeros(self, name: str) -> str:
        return self.cast(self.op("Equal", name, self.constant(-7.0)), np.float64)

    def _column(self, name: str, cell: int, level: int) -> str:
        if level != NUMBER:
            code = GONE if level == MISSING else level
            return self.cast(self.op("Equal", name, self.constant(float(code))), np.float64)
        if self.procedure.columns[cell].levels:
            gone = self.op("Equal", name, self.constant(float(GONE)))
            return self.op("Where", gone, self.constant(math.nan), name)
        return name

    def _sums(self, table: str, sums: Sequence[tuple[Lane, ...]], place: Any = None) -> str:
        """Return the sums of lanes of terms, (n, number of sums), each added up in order. place : of a sum's term"""
        place = place or (lambda _, term: self.places[term.cell, term.level])
        lanes = []
        for k in range(max(len(lanes) for lanes in sums)):
            lane = [of_sum[k] for of_sum in sums]
            total = ""
            for position in range(max(1, *(len(terms) for terms in lane))):
                at, coef = np.zeros(len(lane), np.int64), np.zeros(len(lane))
                for i, terms in enumerate(lane):
                    if position < len(terms):
                        at[i], coef[i] = place(i, terms[position]), terms[position].coef
                product = self.op("Mul", self.pick(table, at), self.constant(coef))
                total = self.op("Add", total, product) if total else product
            lanes.append(total)
        if len(lanes) == 1:
            return lanes[0]
        return self.op("Add", self.op("Add", lanes[0], lanes[1]), self.op("Add", lanes[2], lanes[3]))

    def _leaves(self) -> str:
        """Return the leaf of each row in each tree, (n, trees) float32, numbered through all trees."""
        trees = self.procedure.trees
        table, starts, width = self.values, [], len(self.places)
        rotated = [(t, lane) for t, tree in enumerate(trees) for lane in tree.rotated]
        for tree in trees:
            starts.append(width)
            width += len(tree.rotated)
        if rotated:
            table = self.op("Concat", table, self._sums(table, [(lane,) for _, lane in rotated]), axis=1)
        splits = [(t, tree.split(node)) for t, tree in enumerate(trees) for node in tree.inner]
        if not splits:
            right = self.cast(self._zeros(self.pick(table, [0])), np.float32)
        else:

            def place(i: int, term: Term) -> int:
                beyond = term.cell - len(self.procedure.columns)
                return self.places[term.cell, term.level] if beyond < 0 else starts[splits[i][0]] + beyond

            total = self._sums(table, [split.lanes for _, split in splits], place)
            goes_left = self.op("LessOrEqual", total, self.constant([split.threshold for _, split in splits]))
            goes_left = self._missing_sides(goes_left, [split for _, split in splits])
            right = self.cast(self.op("Not", goes_left), np.float32)
        return self._ensemble(right)

    def _missing_sides(self, goes_left: str, splits: Sequence[Any]) -> str:
        if all(split.missing_left is None for split in splits):
            return goes_left
        uses = np.zeros((len(self.places), len(splits)), np.float32)
        for i, split in enumerate(splits):
            for term in split.terms:
                if term.level == NUMBER:
                    uses[self.places[term.cell, term.level], i] = 1.0
        gaps = self.op("MatMul", self.gaps, self.constant(uses, np.float32))
        lacks = self.op("Greater", gaps, self.constant(0, np.float32))
        sides = self.constant([split.missing_left is True for split in splits], np.bool_)
        # Not every runtime has `Where` for truth values.
        by_threshold = self.op("And", goes_left, self.op("Not", lacks))
        return self.op("Or", by_threshold, self.op("And", lacks, sides))

    def _ensemble(self, right: str) -> str:
        nodes: list[tuple[Any, ...]] = []
        targets: list[tuple[Any, ...]] = []
        for t, tree in enumerate(self.procedure.trees):
            for node, left in enumerate(tree.left):
                if left >= 0:
                    split_number = len(nodes) - len(targets)
                    nodes.append((t, node, split_number, 0.5, "BRANCH_LEQ", left, tree.right[node], 0, 1.0))
                else:
                    nodes.append((t, node, 0, 0.0, "LEAF", 0, 0, 0, 1.0))
                    targets.append((t, node, t, float(len(targets))))
                    self.leaf_numbers.append((t, node))
        if len(self.leaf_numbers) >= MOST_LEAVES:
            raise ConfigError(
                f"format onnx takes at most {MOST_LEAVES} leaves. This model has more: export c or python."
            )
        attributes: dict[str, Any] = {}
        for prefix, keys, rows in (("nodes", NODES, nodes), ("target", TARGETS, targets)):
            attributes |= {
                f"{prefix}_{key}": list(values) for key, values in zip(keys, zip(*rows, strict=True), strict=True)
            }
        return self.op(
            "TreeEnsembleRegressor",
            right,
            domain="ai.onnx.ml",
            n_targets=len(self.procedure.trees),
            aggregate_function="SUM",
            post_transform="NONE",
            **attributes,
        )

    def _valid(self) -> str:
        """Return whether each row has a prediction, (n, 1)."""
        needed = [self.places[j, NUMBER] for j in self.procedure.needed if (j, NUMBER) in self.places]
        if not needed:
            return ""
        lacking = self.op("ReduceSum", self.pick(self.gaps, needed), self.constant([1], np.int64), keepdims=1)
        return self.op("Equal", lacking, self.constant(0, np.float32))

    def _output(self, name: str, dtype: Any, shape: list[int | None]) -> Any:
        return self.helper.make_tensor_value_info(name, self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    def _table(self, values: NDArray[Any], leaves: str) -> str:
        return self.op("Gather", self.constant(values, values.dtype), leaves, axis=0)

    def _classes(self, leaf_index: str) -> list[Any]:
        procedure = self.procedure
        n_trees, n_classes = len(procedure.trees), len(procedure.classes)
        leaves = self.cast(leaf_index, np.int64)
        held = [procedure.trees[t].leaf(node) for t, node in self.leaf_numbers]
        if procedure.has_scores:
            return self._class_outputs(*self._scores(leaves))
        if procedure.voting == MAJORITY:
            shares = np.array([[float(k == leaf.label) for k in range(n_classes)] for leaf in held])
        else:
            shares = np.array([leaf.shares for leaf in held])
        if procedure.is_forest:
            votes = ""
            for t in range(n_trees):  # one tree after the other: the order of the sum decides the last bits
                tree_votes = self._table(shares, self.pick(leaves, t))
                votes = self.op("Add", votes, tree_votes) if votes else tree_votes
            code = self.op("ArgMax", votes, axis=1, keepdims=1)
            total, smoothed = float(n_trees), votes
            if procedure.prior:
                total, smoothed = procedure.votes, self.op("Add", votes, self.constant([procedure.prior]))
            probabilities = self.op("Div", smoothed, self.constant(total))
            if procedure.voting == CLIPPED:
                code, probabilities = self._clipped(votes)
        else:
            code = self._table(np.array([leaf.label for leaf in held], dtype=np.int64), leaves)
            probabilities = self._table(shares, self.pick(leaves, 0))
        return self._class_outputs(code, probabilities)

    def _clipped(self, votes: str) -> tuple[str, str]:
        """Return code and shares of votes; votes below 0 count as 0."""
        zero, axis = self.constant(0.0), self.constant([1], np.int64)
        positive = self.op("Where", self.op("Greater", votes, zero), votes, zero)
        total = self.op("ReduceSum", positive, axis, keepdims=1)
        even = self.constant([self.procedure.even])
        shares = self.op("Where", self.op("Greater", total, zero), self.op("Div", positive, total), even)
        least = self.op("Sub", self.op("ReduceMax", shares, axes=[1], keepdims=1), self.constant(TIE))
        largest = self.cast(self.op("LessOrEqual", least, shares), np.float32)
        return self.op("ArgMax", largest, axis=1, keepdims=1), shares

    def _leaf_scores(self, leaves: str) -> str:
        """Return the scores by the models in the leaves, (n, scores). leaves : (n, 1) int64"""
        procedure = self.procedure
        scored, scaled = procedure.scored, procedure.scaled
        place = {column: j for j, column in enumerate(scaled)}
        terms = sorted(procedure.terms, key=len)
        coef = np.zeros((len(self.leaf_numbers), len(scored), len(terms)))
        intercept = np.zeros((len(self.leaf_numbers), len(scored), 1))
        for i, (_, node) in enumerate(self.leaf_numbers):
            leaf_scores = procedure.tree.leaf(node).scores
            assert leaf_scores is not None
            intercept[i, :, 0] = leaf_scores.intercept
            for part in leaf_scores.parts:
                coef[i, :, terms.index(part.columns)] = part.coef
        leaf = self.op("Reshape", leaves, self.constant([-1], np.int64))
        scores = self._table(intercept, leaf)
        if scaled:
            at = [self.places[column.cell, column.level] for column in scaled]
            apart = self.op("Sub", self.pick(self.values, at), self.constant([column.center for column in scaled]))
            z = self.op("Div", apart, self.constant([column.scale for column in scaled]))
            z = self.op("Max", z, self.constant([column.low for column in scaled]))
            z = self.op("Min", z, self.constant([column.high for column in scaled]))
            z = self.op("Where", self.pick(self.missing, at), self.constant(0.0), z)
            single = sum(len(term) == 1 for term in terms)
            factors, times = ([place[term[k]] for term in terms if len(term) > k] for k in (0, 1))
            columns = self.pick(z, factors)
            if times:
                products = self.op("Mul", self.pick(z, factors[single:]), self.pick(z, times))
                columns = self.op("Concat", *([self.pick(z, factors[:single])] if single else []), products, axis=1)
            columns = self.op("Unsqueeze", columns, self.constant([2], np.int64))
            scores = self.op("Add", self.op("MatMul", self._table(coef, leaf), columns), scores)
        return self.op("Squeeze", scores, self.constant([2], np.int64))

    def _scores(self, leaves: str) -> tuple[str, str]:
        """Return code and probabilities of the classes by the models in the leaves. leaves : (n, 1) int64"""
        procedure, scored, scores = self.procedure, self.procedure.scored, self._leaf_scores(leaves)
        # To the columns of all classes; a class without a score has probability 0.
        every = np.zeros((len(scored), len(procedure.classes)))
        every[np.arange(len(scored)), scored] = 1.0
        shares = self.op("MatMul", self.op("Softmax", scores, axis=1), self.constant(every))
        if procedure.threshold is None:
            largest = self.op("ArgMax", scores, axis=1, keepdims=1)
            return self.op("Gather", self.constant(scored, np.int64), largest, axis=0), shares
        first, share = procedure.threshold
        reached = self.op("LessOrEqual", self.constant(share), self.pick(shares, [first]))
        codes = (self.constant(code, np.int64) for code in (first, 1 - first))
        return self.op("Where", reached, *codes), shares

    def _class_outputs(self, code: str, probabilities: str) -> list[Any]:
        """Return the outputs. code : (n, 1); probabilities : (n, classes)"""
        procedure, n_classes = self.procedure, len(self.procedure.classes)
        if valid := self._valid():
            code = self.op("Where", valid, code, self.constant(n_classes, np.int64))
            probabilities = self.op("Where", valid, probabilities, self.constant(math.nan))
        labels = self.constant(np.array([*procedure.classes, ""], dtype=object), object)
        flat = self.op("Reshape", code, self.constant([-1], np.int64))
        self.op("Gather", labels, flat, axis=0, output="label")
        self.op("Identity", probabilities, output="probabilities")
        outputs = [self._output("label", object, [None]), self._output("probabilities", np.float64, [None, n_classes])]
        if self.limits is None:
            return outputs
        limits = self._limits(self.limits)
        if self.limits.by_sums:
            self.op("LessOrEqual", self._running_sums(probabilities), limits, output="set")
        else:
            self.op("LessOrEqual", limits, probabilities, output="set")
        return [*outputs, self._output("set", np.bool_, [None, n_classes])]

    def _limits(self, limits: Limits) -> str:
        """Return the limits of each row, or one set of limits for all rows."""
        if not limits.leaves:
            return self.constant(limits.rows[:1])
        rows = [limits.at(self.procedure.tree.number(node)) for _, node in self.leaf_numbers]
        return self._table(np.array(rows), self.pick(self.cast(self.leaf_index, np.int64), 0))

    def _running_sums(self, shares: str) -> str:
        """Return the shares of likelier classes (ties: the earlier one) plus half of each share."""
        n_classes = len(self.procedure.classes)
        total, zero = "", self.constant(0.0)
        for j in range(n_classes):
            share = self.pick(shares, [j])
            equal = self.op("And", self.op("Equal", share, shares), self.constant(np.arange(n_classes) > j, np.bool_))
            likelier = self.op("Or", self.op("Greater", share, shares), equal)
            added = self.op("Where", likelier, share, zero)
            total = self.op("Add", total, added) if total else added
        return self.op("Add", total, self.op("Mul", shares, self.constant(0.5)))

    def _value(self, leaf_index: str) -> list[Any]:
        leaves = self.cast(leaf_index, np.int64)
        held = [self.procedure.trees[t].leaf(node) for t, node in self.leaf_numbers]
        least, largest = zip(*(leaf.bounds or ANYTHING for leaf in held), strict=True)
        if self.procedure.has_scores:
            low, high = (self._table(np.array(ends), leaves) for ends in (least, largest))
            value = self.op("Min", self.op("Max", self._leaf_scores(leaves), low), high)
        else:
            models = self._sums(self.values, [(leaf.terms,) for leaf in held])
            models = self.op("Add", models, self.constant([leaf.intercept for leaf in held]))
            if self.procedure.has_bounds:
                models = self.op("Min", self.op("Max", models, self.constant(least)), self.constant(largest))
            value = self.op("GatherElements", models, leaves, axis=1)
        if valid := self._valid():
            value = self.op("Where", valid, value, self.constant(math.nan))
        flat = self.op("Reshape", value, self.constant([-1], np.int64))
        self.op("Identity", flat, output="value")
        outputs = [self._output("value", np.float64, [None])]
        if self.limits is None:
            return outputs
        limits = self._limits(self.limits)
        column = self.op("Reshape", value, self.constant([-1, 1], np.int64))
        low = self.op("Sub", column, self.pick(limits, [0]))
        self.op("Concat", low, self.op("Add", column, self.pick(limits, [1])), axis=1, output="interval")
        return [*outputs, self._output("interval", np.float64, [None, 2])]
