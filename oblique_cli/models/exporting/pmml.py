"""PMML 4.4: a TreeModel whose splits test derived fields, one per hyperplane.

A tree with models in its leaves is the first element of a MiningModel chain. A RegressionModel for each leaf follows,
which applies if the tree predicts that leaf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from oblique_cli import __version__
from oblique_cli.errors import ConfigError, quoted
from oblique_cli.models.exporting._exporter import CLASSIFICATION, CODED, LOGISTIC, Source, exporter
from oblique_cli.models.exporting._text import heading
from oblique_cli.models.procedure import (
    MISSING,
    NUMBER,
    Coded,
    Procedure,
    Scaled,
    Scores,
    Split,
    Term,
    fresh,
)

NAMESPACE = "http://www.dmg.org/PMML-4_4"
# Characters that XML 1.0 cannot hold, not even as a reference.
QUOTED = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}  # in attributes
MOST_INDENTED = 100  # levels; indenting further ones would make the file of a deep tree long
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@exporter(
    "pmml",
    "PMML 4.4 for scoring engines",
    ".pmml",
    kinds=(CLASSIFICATION, LOGISTIC, CODED),
    named="the name of the model",
)
def write(source: Source) -> str:
    """Return the document."""
    if source.procedure.threshold is not None:
        raise ConfigError(
            "format pmml says the class of the largest probability, and this model with models in its leaves goes by a "
            "threshold; export python, c or sql, or fit it without --threshold."
        )
    root = _Document(source.procedure, source.name or "oblique").root()
    for element in root.iter():
        for text in (element.text or "", *element.attrib.values()):
            if match := ILLEGAL.search(text):
                raise ConfigError(
                    f"XML, and so PMML, holds no character U+{ord(match[0]):04X}, which {quoted(text)} has; rename it."
                )
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', *_lines(root), ""))


def _lines(root: Element) -> Iterator[str]:
    """Yield the lines of an element, two spaces per level. The standard library's writer is recursive and exceeds the
    recursion limit of Python for a tree of some 950 levels."""
    todo = [(root, 0, False)]
    while todo:
        element, level, ends = todo.pop()
        indent = "  " * min(level, MOST_INDENTED)
        if ends:
            yield f"{indent}</{element.tag}>"
            continue
        start = "".join([f"{indent}<{element.tag}", *(f' {k}="{escape(v, QUOTED)}"' for k, v in element.items())])
        if len(element):
            yield f"{start}>"
            todo.append((element, level, True))
            todo.extend((child, level + 1, False) for child in reversed(element))
        else:
            yield f"{start}>{escape(element.text)}</{element.tag}>" if element.text else f"{start} />"


def _element(tag: str, *children: Element, text: str | None = None, **attributes: str) -> Element:
    element = Element(tag, attributes)
    element.text = text
    element.extend(children)
    return element


def _field(name: str) -> Element:
    return _element("FieldRef", field=name)


def _constant(value: float) -> Element:
    return _element("Constant", text=repr(value), dataType="double")


def _applied(function: str, *arguments: Element) -> Element:
    return _element("Apply", *arguments, function=function)


def _derived(name: str, expression: Element) -> Element:
    return _element("DerivedField", expression, name=name, optype="continuous", dataType="double")


def _derivations(fields: Iterable[Element]) -> list[Element]:
    holder = _element("LocalTransformations", *fields)
    return [holder] if len(holder) else []


class _Document:
    """A PMML document of one tree."""

    def __init__(self, procedure: Procedure, name: str) -> None:
        self.procedure = procedure
        self.name = name
        self.taken = {cell.name for cell in procedure.cells}
        # PMML has no field without a name.
        self.names = [cell.name or self._new(f"x{j}") for j, cell in enumerate(procedure.cells, start=1)]
        self.target = self._new(procedure.target)
        numbers = {t.cell for s in procedure.tree.splits if s for t in s.terms if t.level == NUMBER}
        numbers |= {code_column.term.cell for code_column in procedure.coded if code_column.term.level == NUMBER}
        numbers |= {column.cell for column in procedure.scaled if column.level == NUMBER}
        self.codes = {j: self._new(f"code of {self.names[j]}") for j in sorted(numbers) if procedure.columns[j].levels}
        self.names += [self._new(cell.name) for cell in procedure.columns[len(procedure.cells) :]]
        self.sums: dict[int, str] = {}  # fields of the nodes whose splits test a sum
        self.fields = {}  # fields that splits test
        for node in procedure.tree.inner:
            alone = _alone(procedure.tree.split(node))
            if alone is None:
                self.sums[node] = self._new(f"hyperplane {node}")
            self.fields[node] = self.sums[node] if alone is None else self._numbers(alone)

    def _new(self, name: str) -> str:
        return fresh(name, self.taken)

    def _numbers(self, j: int) -> str:
        """Return the field with the number of a column, or with the code of its level."""
        return self.codes.get(j, self.names[j])

    def root(self) -> Element:
        """Return the whole document."""
        procedure = self.procedure
        columns = [(name, cell.levels) for name, cell in zip(self.names, procedure.cells, strict=False)]
        dictionary = [
            _element(
                "DataField",
                *(_element("Value", value=value) for value in values),
                name=name,
                optype="categorical" if values else "continuous",
                dataType="string" if values else "double",
            )
            for name, values in [*columns, (self.target, procedure.classes)]
        ]
        header = _element(
            "Header",
            _element("Application", name="oblique", version=__version__),
            description="\n".join(heading(procedure, coded=False)),
        )
        if procedure.has_scores:
            model = self._chain()
        else:
            model = self._tree(self.name)
            output = model.find("Output")
            assert output is not None
            output.extend(self._probabilities())
        return _element("PMML", header, _element("DataDictionary", *dictionary), model, xmlns=NAMESPACE, version="4.4")

    def _tree(self, name: str = "") -> Element:
        """Return the TreeModel, with an Output that can be extended."""
        procedure, tree = self.procedure, self.procedure.tree
        has_sides = any(split.missing_left is not None for split in tree.splits if split)
        self.leaf = self._new("leaf")
        leaf = _element("OutputField", name=self.leaf, optype="categorical", dataType="string", feature="entityId")
        top = self._nodes()
        if procedure.needed:
            top = _element("Node", _element("True"), top, id="complete rows")
        derived = [
            *map(self._code_of_level, self.codes),
            *(
                _derived(name, self._coded(code_column))
                for name, code_column in zip(self.names[len(procedure.cells) :], procedure.coded, strict=True)
            ),
            *(_derived(name, self._total(tree.split(node))) for node, name in self.sums.items()),
        ]
        return _element(
            "TreeModel",
            self._schema(),
            _element("Output", leaf),
            *_derivations(derived),
            top,
            **({"modelName": name} if name else {}),
            algorithmName=procedure.title,
            functionName="classification",
            missingValueStrategy="defaultChild" if has_sides else "none",
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="multiSplit" if procedure.needed else "binarySplit",
        )

    def _probabilities(self) -> Iterator[Element]:
        for label in self.procedure.classes:
            form = {"optype": "continuous", "dataType": "double", "feature": "probability", "value": label}
            yield _element("OutputField", name=self._new(f"probability({label})"), **form)

    def _chain(self) -> Element:
        """Return the MiningModel of a tree and the models of its leaves."""
        procedure = self.procedure
        segments = [_element("Segment", _element("True"), self._tree(), id="tree")]
        output = _element("Output", *self._probabilities())
        for node in procedure.tree.leaf_nodes:
            scores = procedure.tree.leaf(node).scores
            assert scores is not None
            reached = _element("SimplePredicate", field=self.leaf, operator="equal", value=str(node))
            segments.append(_element("Segment", reached, self._model(scores), id=f"model of leaf {node}"))
        return _element(
            "MiningModel",
            self._schema(),
            output,
            _element("Segmentation", *segments, multipleModelMethod="modelChain"),
            modelName=self.name,
            algorithmName=procedure.title,
            functionName="classification",
        )

    def _model(self, scores: Scores) -> Element:
        """Return the RegressionModel of a leaf."""
        columns = {column for part in scores.parts for column in part.columns}
        fields = [
            self._code_of_level(j)
            for j in self.codes
            if any(column.cell == j and column.level == NUMBER for column in columns)
        ]
        summands: list[tuple[str, tuple[float, ...]]] = []
        for i, part in enumerate(scores.parts):
            factors = [self._deviations(column) for column in part.columns]
            summands.append((self._new(f"{'product' if factors[1:] else 'deviation'} {i}"), part.coef))
            fields.append(_derived(summands[-1][0], _applied("*", *factors) if factors[1:] else factors[0]))
        tables = [
            _element(
                "RegressionTable",
                *(_element("NumericPredictor", name=name, coefficient=repr(coefs[k])) for name, coefs in summands),
                intercept=repr(scores.intercept[k]),
                targetCategory=self.procedure.classes[code],
            )
            for k, code in enumerate(scores.classes)
        ]
        form = {"functionName": "classification", "normalizationMethod": "softmax"}
        return _element("RegressionModel", self._schema(), *_derivations(fields), *tables, **form)

    def _deviations(self, column: Scaled) -> Element:
        """Return a column in standard deviations, 0 if its number is missing."""
        if column.level != NUMBER:
            there, other = column.by_level
            return _applied("if", self._has_level(column.cell, column.level), _constant(there), _constant(other))
        name = self._numbers(column.cell)
        apart = _applied("-", _field(name), _constant(column.center))
        most = _applied("min", _constant(column.high), _applied("/", apart, _constant(column.scale)))
        bounded = _applied("max", _constant(column.low), most)
        return _applied("if", _applied("isMissing", _field(name)), _constant(0.0), bounded)

    def _indicator(self, j: int, level: int) -> Element:
        value = self.procedure.cells[j].levels[level]
        return _element("NormDiscrete", field=self.names[j], value=value, mapMissingTo="0")

    def _has_level(self, j: int, level: int) -> Element:
        """Return the test whether a cell has a level, or is missing."""
        if level == MISSING:
            return _applied("isMissing", _field(self.names[j]))
        return _applied("equal", self._indicator(j, level), _constant(1.0))

    def _schema(self) -> Element:
        fields = []
        for name, cell in zip(self.names, self.procedure.cells, strict=False):
            fields.append(_element("MiningField", name=name, invalidValueTreatment="asIs"))
            if cell.fill is not None:
                fill = cell.levels[int(cell.fill)] if cell.levels else repr(cell.fill)
                fields[-1].set("missingValueReplacement", fill)
        return _element("MiningSchema", *fields, _element("MiningField", name=self.target, usageType="target"))

    def _code_of_level(self, j: int) -> Element:
        """Return the field with the code of a level as a number."""
        levels = self.procedure.cells[j].levels
        rows = [
            _element("row", _element("level", text=level), _element("code", text=str(code)))
            for code, level in enumerate(levels)
        ]
        pair = _element("FieldColumnPair", field=self.names[j], column="level")
        form = {"outputColumn": "code", "dataType": "double", "defaultValue": str(len(levels))}
        return _derived(self.codes[j], _element("MapValues", pair, _element("InlineTable", *rows), **form))

    def _coded(self, code_column: Coded) -> Element:
        """Return the index of a number among the known numbers."""
        usual, term = _constant(float(code_column.usual)), code_column.term
        name = self._numbers(term.cell)
        expression = usual
        for code, value in reversed(list(enumerate(code_column.values))):
            if term.level == NUMBER:
                test = _applied("equal", _field(name), _constant(value))
            else:
                there = self._has_level(term.cell, term.level)
                test = there if value == 1.0 else _applied("not", there)
            expression = _applied("if", test, _constant(float(code)), expression)
        if term.level != NUMBER:
            return expression
        return _applied("if", _applied("isMissing", _field(name)), usual, expression)

    def _total(self, split: Split) -> Element:
        """Return the sum of a split, in the order of training."""
        lanes = [_added([self._term(term) for term in lane]) for lane in split.lanes]
        if len(lanes) == 4:
            lanes = [_added(lanes[:2]), _added(lanes[2:])]
        total = _added(lanes)
        return _constant(0.0) if total is None else total

    def _term(self, term: Term) -> Element:
        if term.level == MISSING:
            gone = self._has_level(term.cell, MISSING)
            return _applied("if", gone, _constant(term.coef), _constant(0.0))
        of_number = term.level == NUMBER
        factor = _field(self._numbers(term.cell)) if of_number else self._indicator(term.cell, term.level)
        return _applied("*", _constant(term.coef), factor)

    def _nodes(self) -> Element:
        """Return the root with all nodes below it; it requires the numbers without which a row has no prediction."""
        procedure, tree = self.procedure, self.procedure.tree
        tests = [_element("SimplePredicate", field=self.names[j], operator="isNotMissing") for j in procedure.needed]
        if len(tests) > 1:
            tests = [_element("CompoundPredicate", *tests, booleanOperator="and")]
        nodes = {0: _element("Node", *(tests or [_element("True")]), id=self._id(0))}
        for node in range(tree.n_nodes):
            element = nodes[node]
            if tree.left[node] < 0:
                leaf = tree.leaf(node)
                element.set("score", procedure.classes[leaf.label])
                for row in zip(procedure.classes, leaf.counts or leaf.shares, leaf.shares, strict=True):
                    form = {"value": row[0], "recordCount": repr(row[1]), "probability": repr(row[2])}
                    element.append(_element("ScoreDistribution", **form))
                continue
            split = tree.split(node)
            if split.missing_left is not None:
                side = tree.left[node] if split.missing_left else tree.right[node]
                element.set("defaultChild", self._id(side))
            for child, operator in ((tree.left[node], "lessOrEqual"), (tree.right[node], "greaterThan")):
                form = {"field": self.fields[node], "operator": operator, "value": repr(split.threshold)}
                nodes[child] = _element("Node", _element("SimplePredicate", **form), id=self._id(child))
                element.append(nodes[child])
        return nodes[0]

    def _id(self, node: int) -> str:
        """Return the id of a node: its number in the model, except for splits that the model does not have."""
        tree = self.procedure.tree
        return f"split {node}" if tree.numbers and tree.left[node] >= 0 else str(tree.number(node))


def _alone(split: Split) -> int | None:
    """Return the cell that a split tests directly, None for a sum."""
    (term, *others) = split.terms or (None,)
    if others or term is None or term.coef != 1.0 or term.level != NUMBER:
        return None
    return term.cell


def _added(parts: Sequence[Element | None]) -> Element | None:
    """Return the sum of parts from the first on, None if there are none."""
    present = [part for part in parts if part is not None]
    return reduce(lambda total, part: _applied("+", total, part), present) if present else None
