"""PMML 4.4: a TreeModel whose splits test derived fields, one for each hyperplane.

With models in the leaves it is the first of a chain of models, a MiningModel. Behind it stands a RegressionModel for
each leaf, which is asked where the tree says that leaf.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement
from xml.sax.saxutils import escape

from oblique_cli import __version__
from oblique_cli.errors import ConfigError, quoted
from oblique_cli.models.exporting._exporter import CLASSIFICATION, CODED, LOGISTIC, Source, exporter
from oblique_cli.models.exporting._text import heading
from oblique_cli.models.procedure import (
    HALF_ROOT,
    MISSING,
    NUMBER,
    Coded,
    Procedure,
    Scaled,
    Scores,
    Split,
    Term,
)
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

NAMESPACE = "http://www.dmg.org/PMML-4_4"
# What XML 1.0 cannot hold, not even as a reference.
QUOTED = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}  # in attributes
MOST_INDENTED = 100  # levels; further ones would make a deep tree's file long by its spaces alone
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
    """Yield the lines of an element, two spaces a level. The standard library's writer calls itself for each level, and
    Python stops it on a tree of some 950 levels."""
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
        self.fields = {node: self._field(node) for node in procedure.tree.inner}

    def _new(self, name: str) -> str:
        new_name, count = name, 2
        while new_name in self.taken:
            new_name, count = f"{name} {count}", count + 1
        self.taken.add(new_name)
        return new_name

    def _field(self, node: int) -> str:
        """The field that a split tests: a column itself, or a derived one."""
        alone = _alone(self.procedure.tree.split(node))
        if alone is not None:
            return self.codes.get(alone, self.names[alone])
        return self._new(f"hyperplane {node}")

    def root(self) -> Element:
        """Return the whole document."""
        procedure = self.procedure
        root = Element("PMML", xmlns=NAMESPACE, version="4.4")
        header = SubElement(root, "Header", description="\n".join(heading(procedure, coded=False)))
        SubElement(header, "Application", name="oblique", version=__version__)
        dictionary = SubElement(root, "DataDictionary")
        for name, cell in zip(self.names, procedure.cells, strict=False):
            self._data_field(dictionary, name, cell.levels)
        self._data_field(dictionary, self.target, procedure.classes)
        if procedure.has_scores:
            self._chain(root)
            return root
        self._outputs(self._tree(root, self.name))
        return root

    def _tree(self, parent: Element, name: str = "") -> Element:
        """The TreeModel, with an Output that has room for more."""
        procedure, tree = self.procedure, self.procedure.tree
        has_sides = any(split.missing_left is not None for split in tree.splits if split)
        model = SubElement(
            parent,
            "TreeModel",
            {"modelName": name} if name else {},
            algorithmName=procedure.title,
            functionName="classification",
            missingValueStrategy="defaultChild" if has_sides else "none",
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="multiSplit" if procedure.needed else "binarySplit",
        )
        self._schema(model)
        self.leaf = self._new("leaf")
        output = SubElement(model, "Output")
        SubElement(output, "OutputField", name=self.leaf, optype="categorical", dataType="string", feature="entityId")
        self._transformations(model)
        top = model
        if procedure.needed:
            top = SubElement(model, "Node", id="complete rows")
            SubElement(top, "True")
        self._nodes(top)
        return output

    def _outputs(self, output: Element) -> None:
        """The probability of each class."""
        for label in self.procedure.classes:
            SubElement(
                output,
                "OutputField",
                name=self._new(f"probability({label})"),
                optype="continuous",
                dataType="double",
                feature="probability",
                value=label,
            )

    def _chain(self, root: Element) -> None:
        """The MiningModel of a tree and the models of its leaves."""
        procedure = self.procedure
        chain = SubElement(
            root,
            "MiningModel",
            modelName=self.name,
            algorithmName=procedure.title,
            functionName="classification",
        )
        self._schema(chain)
        output = SubElement(chain, "Output")
        segmentation = SubElement(chain, "Segmentation", multipleModelMethod="modelChain")
        first = SubElement(segmentation, "Segment", id="tree")
        SubElement(first, "True")
        self._tree(first)
        self._outputs(output)
        for node in procedure.tree.leaf_nodes:
            scores = procedure.tree.leaf(node).scores
            assert scores is not None
            segment = SubElement(segmentation, "Segment", id=f"model of leaf {node}")
            SubElement(segment, "SimplePredicate", field=self.leaf, operator="equal", value=str(node))
            self._model(segment, scores)

    def _model(self, segment: Element, scores: Scores) -> None:
        """The RegressionModel of a leaf."""
        model = SubElement(segment, "RegressionModel", functionName="classification", normalizationMethod="softmax")
        self._schema(model)
        columns = list(dict.fromkeys(part.column for part in scores.parts))
        of_codes = [j for j in self.codes if any(column.cell == j and column.level == NUMBER for column in columns)]
        holder = Element("LocalTransformations")
        for j in of_codes:
            self._code_of_level(holder, j)
        names: dict[tuple[int, bool], str] = {}
        for i, part in enumerate(scores.parts):
            expressions = [(False, self._deviations(part.column))]
            if part.curve:
                expressions.append((True, _squared(self._deviations(part.column))))
            for is_square, expression in expressions:
                names[i, is_square] = name = self._new(f"{'square' if is_square else 'deviation'} {i}")
                field = SubElement(holder, "DerivedField", name=name, optype="continuous", dataType="double")
                field.append(expression)
        if len(holder):
            model.append(holder)
        for k, code in enumerate(scores.classes):
            table = SubElement(
                model,
                "RegressionTable",
                intercept=repr(scores.intercept[k]),
                targetCategory=self.procedure.classes[code],
            )
            for (i, is_square), name in names.items():
                part = scores.parts[i]
                coef = (part.curve if is_square else part.coef)[k]
                SubElement(table, "NumericPredictor", name=name, coefficient=repr(coef))

    def _deviations(self, column: Scaled) -> Element:
        """A column in standard deviations, 0 where its number is missing."""
        if column.level != NUMBER:
            there, other = column.by_level
            return _applied("if", self._has_level(column.cell, column.level), _constant(there), _constant(other))
        name = self.codes.get(column.cell, self.names[column.cell])
        apart = _applied("-", Element("FieldRef", field=name), _constant(column.center))
        bounded = _bounded(_applied("/", apart, _constant(column.scale)), FARTHEST)
        gone = _applied("isMissing", Element("FieldRef", field=name))
        return _applied("if", gone, _constant(0.0), bounded)

    def _has_level(self, j: int, level: int) -> Element:
        """Whether a cell has a level, or is missing."""
        if level == MISSING:
            return _applied("isMissing", Element("FieldRef", field=self.names[j]))
        indicator = Element(
            "NormDiscrete", field=self.names[j], value=self.procedure.cells[j].levels[level], mapMissingTo="0"
        )
        return _applied("equal", indicator, _constant(1.0))

    @staticmethod
    def _data_field(parent: Element, name: str, values: Sequence[str]) -> None:
        kind, dtype = ("categorical", "string") if values else ("continuous", "double")
        field = SubElement(parent, "DataField", name=name, optype=kind, dataType=dtype)
        for value in values:
            SubElement(field, "Value", value=value)

    def _schema(self, model: Element) -> None:
        schema = SubElement(model, "MiningSchema")
        for name, cell in zip(self.names, self.procedure.cells, strict=False):
            field = SubElement(schema, "MiningField", name=name, invalidValueTreatment="asIs")
            if cell.fill is not None:
                field.set("missingValueReplacement", cell.levels[int(cell.fill)] if cell.levels else repr(cell.fill))
        SubElement(schema, "MiningField", name=self.target, usageType="target")

    def _transformations(self, model: Element) -> None:
        holder = Element("LocalTransformations")
        for j in self.codes:
            self._code_of_level(holder, j)
        for name, code_column in zip(self.names[len(self.procedure.cells) :], self.procedure.coded, strict=True):
            field = SubElement(holder, "DerivedField", name=name, optype="continuous", dataType="double")
            field.append(self._coded(code_column))
        for node, name in self.fields.items():
            split = self.procedure.tree.split(node)
            if _alone(split) is None:
                field = SubElement(holder, "DerivedField", name=name, optype="continuous", dataType="double")
                field.append(self._total(split))
        if len(holder):
            model.append(holder)

    def _code_of_level(self, holder: Element, j: int) -> None:
        """The field that has the code of a level as a number."""
        cell = self.procedure.cells[j]
        field = SubElement(holder, "DerivedField", name=self.codes[j], optype="continuous", dataType="double")
        table = SubElement(
            field, "MapValues", outputColumn="code", dataType="double", defaultValue=str(len(cell.levels))
        )
        SubElement(table, "FieldColumnPair", field=self.names[j], column="level")
        inline = SubElement(table, "InlineTable")
        for code, level in enumerate(cell.levels):
            row = SubElement(inline, "row")
            SubElement(row, "level").text = level
            SubElement(row, "code").text = str(code)

    def _coded(self, code_column: Coded) -> Element:
        """The place of a number among those that are known."""
        usual = _constant(float(code_column.usual))
        name = self.codes.get(code_column.term.cell, self.names[code_column.term.cell])
        expression = usual
        for code, value in reversed(list(enumerate(code_column.values))):
            if code_column.term.level == NUMBER:
                test = _applied("equal", Element("FieldRef", field=name), _constant(value))
            else:
                there = self._has_level(code_column.term.cell, code_column.term.level)
                test = there if value == 1.0 else _applied("not", there)
            expression = _applied("if", test, _constant(float(code)), expression)
        if code_column.term.level != NUMBER:
            return expression
        return _applied("if", _applied("isMissing", Element("FieldRef", field=name)), usual, expression)

    def _total(self, split: Split) -> Element:
        """The sum of a split, in the order of training."""
        lanes = [_added([self._term(term) for term in lane]) for lane in split.lanes]
        if len(lanes) == 4:
            lanes = [_added(_present(lanes[:2])), _added(_present(lanes[2:]))]
        total = _added(_present(lanes))
        return _constant(0.0) if total is None else total

    def _term(self, term: Term) -> Element:
        cell, name = self.procedure.columns[term.cell], self.names[term.cell]
        if term.level == NUMBER:
            return _applied("*", _constant(term.coef), Element("FieldRef", field=self.codes.get(term.cell, name)))
        if term.level == MISSING:
            gone = _applied("isMissing", Element("FieldRef", field=name))
            return _applied("if", gone, _constant(term.coef), _constant(0.0))
        indicator = Element("NormDiscrete", field=name, value=cell.levels[term.level], mapMissingTo="0")
        return _applied("*", _constant(term.coef), indicator)

    def _nodes(self, top: Element) -> None:
        procedure, tree = self.procedure, self.procedure.tree
        held: dict[int, Element] = {}
        for node in range(tree.n_nodes):
            if node == 0:
                element = SubElement(top, "Node", id=self._id(0))
                self._complete(element)
            else:
                element = held[node]
            if tree.left[node] < 0:
                leaf = tree.leaf(node)
                element.set("score", procedure.classes[leaf.label])
                counts = leaf.counts or leaf.shares
                for label, share, count in zip(procedure.classes, leaf.shares, counts, strict=True):
                    SubElement(
                        element, "ScoreDistribution", value=label, recordCount=repr(count), probability=repr(share)
                    )
                continue
            split = tree.split(node)
            if split.missing_left is not None:
                side = tree.left[node] if split.missing_left else tree.right[node]
                element.set("defaultChild", self._id(side))
            for child, operator in ((tree.left[node], "lessOrEqual"), (tree.right[node], "greaterThan")):
                held[child] = SubElement(element, "Node", id=self._id(child))
                SubElement(
                    held[child],
                    "SimplePredicate",
                    field=self.fields[node],
                    operator=operator,
                    value=repr(split.threshold),
                )

    def _id(self, node: int) -> str:
        """The id of a node: its number in the model, but for splits that the model does not have."""
        tree = self.procedure.tree
        return f"split {node}" if tree.numbers and tree.left[node] >= 0 else str(tree.number(node))

    def _complete(self, element: Element) -> None:
        """What the root asks of a row: that all the numbers are there without which it has no prediction."""
        needed = self.procedure.needed
        if not needed:
            SubElement(element, "True")
            return
        parent = element if len(needed) == 1 else SubElement(element, "CompoundPredicate", booleanOperator="and")
        for j in needed:
            SubElement(parent, "SimplePredicate", field=self.names[j], operator="isNotMissing")


def _alone(split: Split) -> int | None:
    """The cell that a split tests as it is, None for a sum."""
    (term, *others) = split.terms or (None,)
    if others or term is None or term.coef != 1.0 or term.level != NUMBER:
        return None
    return term.cell


def _bounded(value: Element, most: float) -> Element:
    return _applied("max", _constant(-most), _applied("min", _constant(most), value))


def _squared(deviations: Element) -> Element:
    """The square as scores have it: less 1, over the root of 2."""
    near, again = (_bounded(copy.deepcopy(deviations), FARTHEST_SQUARED) for _ in range(2))
    less = _applied("-", _applied("*", near, again), _constant(1.0))
    return _applied("*", less, _constant(HALF_ROOT))


def _present(parts: Sequence[Element | None]) -> list[Element]:
    return [part for part in parts if part is not None]


def _added(parts: Sequence[Element]) -> Element | None:
    """Parts added up from the first on, None for none."""
    total: Element | None = None
    for part in parts:
        total = part if total is None else _applied("+", total, part)
    return total


def _applied(function: str, *arguments: Element) -> Element:
    element = Element("Apply", function=function)
    element.extend(arguments)
    return element


def _constant(value: float) -> Element:
    element = Element("Constant", dataType="double")
    element.text = repr(value)
    return element
