"""Rules as text: one per leaf, with all conditions of a row and the conclusion."""

from __future__ import annotations

from oblique_cli.models.exporting._exporter import SINGLE, Source, exporter
from oblique_cli.models.exporting._text import conclusion, condition, heading, joined, level_of, quoted
from oblique_cli.models.procedure import NUMBER, Procedure, Scaled, Term
from oblique_cli.tree.payloads import FARTHEST


@exporter("rules", "a rule for each leaf, in words", ".txt", kinds=SINGLE, digits=6)
def write(source: Source) -> str:
    """Return the rules, one per line, the leaf with most training rows first."""
    procedure = source.procedure
    tree = procedure.tree
    paths: dict[int, list[str]] = {0: []}
    for node in tree.inner:
        paths[tree.left[node]] = [*paths[node], condition(tree.split(node), procedure, source.precision, left=True)]
        paths[tree.right[node]] = [*paths[node], condition(tree.split(node), procedure, source.precision, left=False)]
    nodes = sorted(tree.leaf_nodes, key=lambda node: -tree.leaf(node).n_rows)
    lines = [f"# {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += ["#", "# Exactly one rule holds for a row that has a prediction."]
    if procedure.has_scores:
        lines += _deviations(procedure, source.precision)
    lines.append("")
    for node in nodes:
        lines.append(f"if {' and '.join(paths[node]) or 'true'} then {conclusion(procedure, node, source.precision)}")
        if procedure.has_scores:
            lines += [*(f"    {line}" for line in scores_of(procedure, node, source.precision)), ""]
    return "\n".join(lines) + "\n"


def scores_of(procedure: Procedure, node: int, precision: int) -> list[str]:
    """Return the scores of the classes in a leaf: "score of "no" = 0.3 + 1.2 * z("age") - 0.5 * hinge("age" > 9)"."""
    scores = procedure.tree.leaf(node).scores
    assert scores is not None
    lines = []
    for k, code in enumerate(scores.classes):
        pieces = [("-" if scores.intercept[k] < 0 else "+", f"{abs(scores.intercept[k]):.{precision}g}")]
        for part in scores.parts:
            if weight := part.coef[k]:
                name = " * ".join(_deviation(procedure, column, precision) for column in part.columns)
                pieces.append(("-" if weight < 0 else "+", f"{abs(weight):.{precision}g} * {name}"))
        what = quoted(procedure.target) if procedure.is_regression else f"score of {quoted(procedure.classes[code])}"
        lines.append(f"{what} = {joined(pieces)}")
    return lines


def _deviation(procedure: Procedure, column: Scaled, precision: int) -> str:
    """Return the name of a column in scores: "z("age")", a factor "near("age")", a hinge "hinge("age" > 3.5)"."""
    name = quoted(procedure.cells[column.cell].name)
    if column.level != NUMBER:
        name += f" is {level_of(procedure, Term(1.0, column.cell, column.level))}"
    if column.low == 0.0:
        return f"hinge({name} {'>' if column.scale > 0.0 else '<'} {column.center:.{precision}g})"
    return f"{'z' if column.high == FARTHEST else 'near'}({name})"


def _deviations(procedure: Procedure, precision: int) -> list[str]:
    """Return the definitions of the standardized columns of scores."""
    means = "A probability is exp(score), divided by the sum of those of all classes. In scores stand"
    lines = [f"# {'In models stand' if procedure.is_regression else means}", "#"]
    for column in procedure.scaled:
        deviation = _deviation(procedure, column, precision)
        name, scale = quoted(procedure.cells[column.cell].name), f"{abs(column.scale):.{precision}g}"
        if column.level != NUMBER:
            there, other = column.by_level
            lines.append(f"#   {deviation}: {there:.{precision}g}, else {other:.{precision}g}")
            continue
        sign = "-" if column.center >= 0 else "+"
        above = f"{name} {sign} {abs(column.center):.{precision}g}"
        gone = "; 0 where it is missing" if procedure.cells[column.cell].fill is None and not procedure.needed else ""
        if column.low == 0.0:
            above = above if column.scale > 0.0 else f"{column.center:.{precision}g} - {name}"
            lines.append(f"#   {deviation}: max(0, {above}) / {scale}{gone}")
        else:
            limits = "" if column.high == FARTHEST else f", at least {column.low:g} and at most {column.high:g}"
            lines.append(f"#   {deviation}: ({above}) / {scale}{limits}{gone}")
    return lines
