"""A tree as nested conditions: one traversal for all languages, each of which supplies its keywords."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from oblique_cli.models.exporting._text import Summand, added, folded, quoted, summands
from oblique_cli.models.procedure import Lane, Procedure, Split, Term


class Conditions(ABC):
    """The keywords of a language. The defaults are those of JavaScript, and of C except for remarks.

    indent           of what stands inside a condition
    zero             the sum of no terms, and what a level that no term names adds
    case, cases      the value of the first test that holds: each test with its value, and all of them
    otherwise, end   what stands between the two sides, and behind the second; "" for a language without an end
    remark           what follows a leaf
    """

    indent = "    "
    zero = "0.0"
    case, cases = "{test} ? {value} : ", "({cases}{zero})"
    otherwise, end = "} else {", "}"
    remark = " // {}"

    def __init__(self, procedure: Procedure) -> None:
        self.procedure = procedure

    @abstractmethod
    def value(self, cell: int) -> str:
        """Return a cell of `Procedure.columns`."""

    @abstractmethod
    def has_level(self, cell: int, level: int) -> str:
        """Return the test whether a cell has a level, or is missing."""

    def literal(self, value: float) -> str:
        """Return a number."""
        return repr(value)

    def called(self, label: str) -> str:
        """Return the label of a class as it stands in a remark."""
        return quoted(label)

    def leaf(self, node: int) -> str:
        """Return the text of a leaf."""
        return f"return {self.procedure.tree.number(node)};"

    def opened(self, split: Split, indent: str) -> list[str]:
        """Return the lines before the first side."""
        head, tail = ("if (!(", "> {}))") if split.missing_left else ("if (", "<= {})")
        pieces = self.sum_of(split.lanes)
        pieces = [head + pieces[0], *pieces[1:], tail.format(self.literal(split.threshold))]
        text = folded(pieces, indent + self.indent, 116).lstrip()
        return [f"{indent}{text} {{" + (self.remark.format("or a number is missing") if split.missing_left else "")]

    def sides(self, node: int) -> tuple[int, int]:
        """Return the children of an inner node in the order in which they are written."""
        return self.procedure.tree.left[node], self.procedure.tree.right[node]

    def lines(self) -> list[str]:
        """Return the tree."""
        tree, lines = self.procedure.tree, list[str]()
        stack: list[tuple[int | str, int]] = [(0, 1)]
        while stack:
            node, depth = stack.pop()
            indent = self.indent * depth
            if isinstance(node, str):
                lines.append(indent + node)
            elif tree.left[node] < 0:
                lines.append(f"{indent}{self.leaf(node)}{self.remark_on(node)}")
            else:
                lines += self.opened(tree.split(node), indent)
                first, second = self.sides(node)
                stack += [(self.end, depth)] if self.end else []
                stack += [(second, depth + 1), (self.otherwise, depth), (first, depth + 1)]
        return lines

    def remark_on(self, node: int) -> str:
        """Return the training rows of a leaf as a remark."""
        leaf = self.procedure.tree.leaf(node)
        if self.procedure.is_regression:
            return self.remark.format(f"{leaf.n_rows} training rows")
        label = self.called(self.procedure.classes[leaf.label])
        if not leaf.counts:
            return self.remark.format(label)
        return self.remark.format(f"{label}: {leaf.counts[leaf.label]:.10g} of {sum(leaf.counts):.10g} training rows")

    def sum_of(self, lanes: Sequence[Lane]) -> list[str]:
        """Return a sum as pieces to be joined by blanks."""
        return added([self.summands(lane) for lane in lanes]) or [self.zero]

    def summands(self, lane: Lane) -> list[Summand]:
        """Return the summands of a lane in its order."""
        return summands(lane, self._number, self._levels)

    def _number(self, term: Term) -> Summand:
        size, value = abs(term.coef), self.value(term.cell)
        return "-" if term.coef < 0 else "+", value if size == 1.0 else f"{self.literal(size)} * {value}"

    def _levels(self, cell: int, terms: Sequence[Term]) -> str:
        cases = (
            self.case.format(test=self.has_level(cell, term.level), value=self.literal(term.coef)) for term in terms
        )
        return self.cases.format(cases="".join(cases), zero=self.zero)
