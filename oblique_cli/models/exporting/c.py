"""One file of C99 that also compiles as C++: no allocation, no globals that change, no library but `exp` of math.h."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from oblique_cli.errors import ConfigError, cut
from oblique_cli.models.exporting._conditions import Conditions
from oblique_cli.models.exporting._exporter import BOOSTED, MOST, NUMBERS, Source, exporter
from oblique_cli.models.exporting._limits import Limits, limits_of
from oblique_cli.models.exporting._tables import Tables, Terms, tables_of
from oblique_cli.models.exporting._text import folded, heading, identifiers, quoted, readable
from oblique_cli.models.procedure import (
    CLIPPED,
    HALF_ROOT,
    MAJORITY,
    MISSING,
    NUMBER,
    TIE,
    Coded,
    Procedure,
)
from oblique_cli.models.procedure import SUM as ADDED
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

# Sums must round as in training: no fused multiply-adds, no longer registers, and NaN must be NaN.
PREAMBLE = """\
#include <float.h>
#include <math.h>
#include <stddef.h>

#if defined(__FAST_MATH__)
#error "compile without -ffast-math: missing values are NaN, and sums must keep their order"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2
#error "sums must round to double: compile with -msse2 -mfpmath=sse"
#endif
/* No fused multiply-adds, whatever the flags: they round once where training rounded twice. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#ifdef __cplusplus
extern "C" {
#endif
"""

STRINGS = """
static int {p}_same(const char *a, const char *b)
{{
    while (*a && *a == *b) {{
        a++;
        b++;
    }}
    return *a == *b;
}}
"""

SUM = """
/* The sum of terms from the first on; level -1 is the number, -2 a missing cell. */
static double {p}_sum(const double *coef, const {index} *cell, const {index} *level, size_t first, size_t end,
                      const double *row)
{{
    double total = 0.0;
    size_t i;
    for (i = first; i < end; i++) {{
        const double value = row[cell[i]];
        if (level[i] == -1)
            total += coef[i] * value;
        else if (value == (double)level[i] || (level[i] == -2 && value != value))
            total += coef[i];
    }}
    return total;
}}
"""

LEAF_MODEL = """
/* What the linear model of the leaf `at` says. */
static double {p}_said(int at, const double *cells)
{{
    const double value = {p}_sum({p}_model_coef, {p}_model_cell, {p}_model_level, {p}_model_start[at],
                                 {p}_model_start[at + 1], cells) + {p}_intercept[at];
    return {value};
}}
"""
BOUNDED = "value < {p}_bounds[at][0] ? {p}_bounds[at][0] : value > {p}_bounds[at][1] ? {p}_bounds[at][1] : value"

WALK = """
/* The number of the leaf under the inner node `at`. */
static int {p}_walk(int at, const double *row)
{{
    while (at >= 0) {{
        double lane[{lanes}], total;
        int k;
        for (k = 0; k < {lanes}; k++)
            lane[k] = {p}_sum({p}_coef, {p}_cell, {p}_level, {p}_start[(size_t)at * {lanes} + (size_t)k],
                              {p}_start[(size_t)at * {lanes} + (size_t)k + 1], row);
        total = {total};
        /* A missing number makes the total NaN, which is neither above nor below anything. */
        if ({p}_missing_left[at] ? !(total > {p}_threshold[at]) : total <= {p}_threshold[at])
            at = {p}_left[at];
        else
            at = {p}_right[at];
    }}
    return -1 - at;
}}
"""

SCORES = f"""
/* The scores of the classes {{p}}_scored in the leaf `at`. */
static void {{p}}_scores(int at, const double *cells, double *scores)
{{{{
    size_t i;
    int k;
    for (k = 0; k < {{n}}; k++)
        scores[k] = {{p}}_intercept[at][k];
    for (i = {{p}}_part_start[at]; i < {{p}}_part_start[at + 1]; i++) {{{{
        const size_t j = {{p}}_part[i];
        const int level = {{p}}_scaled_level[j];
        double value = cells[{{p}}_scaled_cell[j]], z;
        if (level != -1)
            value = value == (double)level || (level == -2 && value != value) ? 1.0 : 0.0;
        /* In standard deviations; a missing number counts as the center. */
        z = value != value ? 0.0 : (value - {{p}}_center[j]) / {{p}}_scale[j];
        z = z < -{FARTHEST!r} ? -{FARTHEST!r} : z > {FARTHEST!r} ? {FARTHEST!r} : z;
        for (k = 0; k < {{n}}; k++)
            scores[k] += {{p}}_part_coef[i][k] * z;{{squares}}
    }}}}
}}}}
"""
SQUARES = f"""
        z = z < -{FARTHEST_SQUARED!r} ? -{FARTHEST_SQUARED!r} : z > {FARTHEST_SQUARED!r} ? {FARTHEST_SQUARED!r} : z;
        for (k = 0; k < {{n}}; k++)
            scores[k] += {{p}}_part_curve[i][k] * ((z * z - 1.0) * {HALF_ROOT!r});"""

OF_SCORES = """
int {p}_predict_proba(const double *row, double *shares)
{{
    double cells[{columns}], scores[{n}];
    if (!{p}_filled(row, cells))
        return -1;
    {p}_scores({p}_at(cells), cells, scores);
    return {p}_shared(scores, shares);
}}
"""

SHARED = """
/* The probability of each class, of the scores of the classes {p}_scored; returns the class predicted. */
static int {p}_shared(const double *scores, double *shares)
{{
    double total = 0.0;
    int k, best = 0;
    for (k = 1; k < {n}; k++)
        if (scores[k] > scores[best])
            best = k;
    for (k = 0; k < {P}_CLASSES; k++)
        shares[k] = 0.0;
    for (k = 0; k < {n}; k++)
        total += exp(scores[k] - scores[best]);
    for (k = 0; k < {n}; k++)
        shares[{p}_scored[k]] = exp(scores[k] - scores[best]) / total;
{decided}}}
"""
LARGEST_SHARE = """\
    best = 0;
    for (k = 1; k < {P}_CLASSES; k++)
        if (shares[k] > shares[best])
            best = k;
    return best;
"""

PREDICT = """
int {p}_predict(const double *row)
{{
    double shares[{P}_CLASSES];
    return {p}_predict_proba(row, shares);
}}
"""

BOOSTED_FOREST = """
int {p}_predict_proba(const double *row, double *shares)
{{
    double scores[{n}];
    return {p}_votes(row, scores) < 0 ? -1 : {p}_shared(scores, shares);
}}
"""


SET = """
int {p}_predict_set(const double *row, unsigned char *inside)
{{
    double shares[{P}_CLASSES];
    int k, count = 0;
    size_t i = 0;
    if ({p}_predict_proba(row, shares) < 0)
        return -1;
{leaf}    for (k = 0; k < {P}_CLASSES; k++) {{
{test}        count += inside[k];
    }}
    return count;
}}
"""
REACHED = "        inside[k] = shares[k] >= {p}_limit[i][k];\n"
NOT_EXCEEDED = """\
        /* Shares of likelier classes, the first of equal ones, and half of the share itself. */
        double sum = 0.0;
        int j;
        for (j = 0; j < {P}_CLASSES; j++)
            if (shares[j] > shares[k] || (shares[j] == shares[k] && j < k))
                sum += shares[j];
        inside[k] = sum + 0.5 * shares[k] <= {p}_limit[i][k];
"""
INTERVAL = """
int {p}_predict_interval(const double *row, double *ends)
{{
    const double value = {p}_predict(row);
    size_t i = 0;
    if (value != value)
        return -1;
{leaf}    ends[0] = value - {p}_limit[i][0];
    ends[1] = value + {p}_limit[i][1];
    return 0;
}}
"""
LIMIT_OF_LEAF = "    while (i < {n} && {p}_limit_leaf[i] != {p}_leaf(row))\n        i++;\n"


@exporter(
    "c",
    "C99 that compiles as C++ too, without allocation",
    ".c",
    kinds=(*MOST, BOOSTED, NUMBERS),
    named="what names of functions begin with",
)
def write(source: Source) -> str:
    """Return the file."""
    name = source.name or "oblique"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > 40:
        raise ConfigError(
            f"the name in C must be at most 40 lower-case letters, digits and underscores. Got {cut(name)!r}."
        )
    procedure = source.procedure
    limits = limits_of(source)
    parts = [_comment(procedure, name), PREAMBLE, _declared(procedure, name, limits), *_columns(procedure, name)]
    tabled = not readable(procedure)
    tables = tables_of(procedure)
    parts.append(_code(procedure, name))
    if tabled or procedure.is_regression:
        parts.append(SUM.format(p=name, index="short" if _small(tables) else "int"))
    parts.append(_filled(procedure, name))
    if tabled:
        total = "lane[0]" if tables.n_lanes == 1 else "(lane[0] + lane[1]) + (lane[2] + lane[3])"
        parts += [_walked(tables, name), WALK.format(p=name, lanes=tables.n_lanes, total=total)]
    if procedure.is_forest:
        parts.append((_numbers if procedure.is_regression else _forest)(procedure, tables, name))
    else:
        parts.append(_from_tables(tables, name, procedure) if tabled else _nested(procedure, name))
        parts.append(_values(procedure, tables, name))
    parts += [_guaranteed(limits, procedure, name) if limits else "", "\n#ifdef __cplusplus\n}\n#endif\n"]
    return "".join(parts)


def _guaranteed(limits: Limits, procedure: Procedure, p: str) -> str:
    """The limits, and the function that gives sets or intervals."""
    words = {"p": p, "P": p.upper(), "n": len(limits.leaves)}
    head = "\n/* Limits of the leaves listed, and last those of any other leaf. */\n"
    head += _shares(f"{p}_limit", limits.rows, len(limits.rows[0]))
    leaf = ""
    if limits.leaves:
        head += _array("int", f"{p}_limit_leaf", limits.leaves)
        leaf = LIMIT_OF_LEAF.format(**words)
    if procedure.is_regression:
        return head + INTERVAL.format(**words, leaf=leaf)
    test = NOT_EXCEEDED if limits.by_sums else REACHED
    return head + SET.format(**words, leaf=leaf, test=test.format(**words))


def _comment(procedure: Procedure, p: str) -> str:
    lines = list(heading(procedure))
    lines += ["", f"A row is an array of {p.upper()}_COLUMNS doubles, NAN where a cell is missing."]
    if procedure.has_scores:
        lines.append("Link with the mathematical library (-lm), for exp.")
    if any(cell.levels for cell in procedure.cells):
        lines.append(f"{p}_code gives the code of a level that is a text (UTF-8).")
    body = "\n".join(f" * {_in_comment(line)}".rstrip() for line in lines)
    return f"/*\n{body}\n */\n"


def _declared(procedure: Procedure, p: str, limits: Limits | None) -> str:
    """The functions that are there to be called."""
    if procedure.is_regression:
        lines = [
            "/* The value predicted, NAN for a row without a prediction. */",
            f"double {p}_predict(const double *row);",
        ]
    else:
        lines = [
            "/* The code of the class predicted, -1 for a row without a prediction. */",
            f"int {p}_predict(const double *row);",
            "/* The same, and the share of each class. */",
            f"int {p}_predict_proba(const double *row, double *shares);",
            "/* The label of a class, NULL for any other number. */",
            f"const char *{p}_class(int code);",
        ]
    if not procedure.is_forest:
        lines += ["/* The leaf, as a node number of the tree; -1 as above. */", f"int {p}_leaf(const double *row);"]
    if limits and procedure.is_regression:
        lines += [
            f"/* The ends of the interval that holds the true number {limits.promise}; -1 as above. */",
            f"int {p}_predict_interval(const double *row, double *ends);",
        ]
    elif limits:
        lines += [
            f"/* Which classes hold the true one {limits.promise}, and their number; -1 as above. */",
            f"int {p}_predict_set(const double *row, unsigned char *inside);",
        ]
    if any(cell.levels for cell in procedure.cells):
        lines += [
            "/* The code of a level of a column, the one after the last for a level that is not listed. */",
            f"double {p}_code(int column, const char *text);",
        ]
    return "\n" + "\n".join(lines) + "\n"


def _in_comment(text: str) -> str:
    # Ends and beginnings of comments, and what old compilers take for other characters.
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def literal(text: str) -> str:
    """Return a text as a string of C: bytes of UTF-8, those that do not print as octal numbers."""
    out = []
    for byte in text.encode("utf-8", "surrogatepass"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        out.append(chr(byte) if plain else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def _columns(procedure: Procedure, p: str) -> Iterator[str]:
    P = p.upper()
    names = identifiers([cell.name for cell in procedure.cells], {"COLUMNS", "CLASSES"}, upper=True)
    yield "\n/* Places in a row. */\nenum {\n"
    for j, (word, cell) in enumerate(zip(names, procedure.cells, strict=True)):
        yield f"    {P}_{word} = {j}, /* {_in_comment(quoted(cell.name))} */\n"
    yield f"    {P}_COLUMNS = {len(names)}\n}};\n"
    for word, cell in zip(names, procedure.cells, strict=True):
        if cell.levels:
            codes = identifiers(cell.levels, {"other"}, "level", upper=True)
            yield f"\n/* Levels of {_in_comment(quoted(cell.name))}. */\nenum {{\n"
            for k, (code, level) in enumerate(zip(codes, cell.levels, strict=True)):
                yield f"    {P}_{word}__{code} = {k}, /* {_in_comment(quoted(level))} */\n"
            yield f"    {P}_{word}__OTHER = {len(codes)}\n}};\n"
    if not procedure.is_regression:
        yield f"\nenum {{ {P}_CLASSES = {len(procedure.classes)} }};\n"
        labels = [f"{literal(label)}," for label in procedure.classes]
        yield f"\nstatic const char *const {p}_labels[] = {{\n    {folded(labels, '    ')}\n}};\n"
        yield (
            f"\nconst char *{p}_class(int code)\n{{\n"
            f"    return code < 0 || code >= {P}_CLASSES ? NULL : {p}_labels[code];\n}}\n"
        )


def _code(procedure: Procedure, p: str) -> str:
    """The function from texts to codes, nothing where there are no levels."""
    mixed = [(j, cell) for j, cell in enumerate(procedure.cells) if cell.levels]
    if not mixed:
        return ""
    arrays = "".join(
        f"static const char *const {p}_levels_{j}[] = {{\n    "
        + folded([f"{literal(level)}," for level in cell.levels], "    ")
        + "\n};\n"
        for j, cell in mixed
    )
    cases = "".join(
        f"    case {j}:\n        levels = {p}_levels_{j};\n        count = {len(cell.levels)};\n        break;\n"
        for j, cell in mixed
    )
    return (
        f"{STRINGS.format(p=p)}\n{arrays}\ndouble {p}_code(int column, const char *text)\n{{\n"
        "    const char *const *levels;\n    int count, k;\n    switch (column) {\n"
        f"{cases}    default:\n        return NAN;\n    }}\n"
        f"    for (k = 0; k < count; k++)\n        if ({p}_same(levels[k], text))\n            break;\n"
        "    return k;\n}\n"
    )


def _filled(procedure: Procedure, p: str) -> str:
    """The function that copies a row with missing cells filled; 0 if it has no prediction."""
    P = p.upper()
    fills = "".join(
        f"    if (cells[{j}] != cells[{j}])\n        cells[{j}] = {cell.fill!r};\n"
        for j, cell in enumerate(procedure.cells)
        if cell.fill is not None
    )
    needed = "".join(f"    if (cells[{j}] != cells[{j}])\n        return 0;\n" for j in procedure.needed)
    codes = "".join(
        _coded(place, code_column) for place, code_column in enumerate(procedure.coded, start=len(procedure.cells))
    )
    return (
        f"\n/* Copies a row with missing cells filled; returns 0 if one is missing that must not be. */\n"
        f"static int {p}_filled(const double *row, double *cells)\n{{\n    int j;\n"
        f"    for (j = 0; j < {P}_COLUMNS; j++)\n        cells[j] = row[j];\n{fills}{needed}{codes}    return 1;\n}}\n"
    )


def _coded(place: int, code_column: Coded) -> str:
    """The lines that add a column of codes behind the cells."""
    value = f"cells[{code_column.term.cell}]"
    if code_column.term.level != NUMBER:
        test = f"{value} != {value}" if code_column.term.level == MISSING else f"{value} == {code_column.term.level}"
        value = f"({test} ? 1.0 : 0.0)"
    cases = "".join(f"{value} == {known!r} ? {code}.0 : " for code, known in enumerate(code_column.values))
    return folded(f"    cells[{place}] = {cases}{code_column.usual}.0;".split(" "), "        ", 116) + "\n"


def _width(procedure: Procedure, p: str) -> str:
    """The size of an array of cells."""
    return f"{p.upper()}_COLUMNS" + (f" + {len(procedure.coded)}" if procedure.coded else "")


def _small(tables: Tables) -> bool:
    most = max([0, *tables.terms.cell, *tables.terms.level, *tables.model.cell, *tables.model.level])
    return max([most, *tables.rotated.cell, *tables.rotated.level]) < 2**15


def _array(kind: str, name: str, values: Sequence[object]) -> str:
    # An array must hold something.
    pieces = [f"{value!r}," for value in values] or ["0,"]
    return f"static const {kind} {name}[] = {{\n    {folded(pieces, '    ')}\n}};\n"


def _terms(terms: Terms, p: str, kind: str) -> str:
    return (
        _array("double", f"{p}_coef", terms.coef)
        + _array(kind, f"{p}_cell", terms.cell)
        + _array(kind, f"{p}_level", terms.level)
    )


def _walked(tables: Tables, p: str) -> str:
    return (
        "\n/* Inner nodes; children of 0 or more are inner nodes, others are -1 - the number of a leaf. */\n"
        + _array("int", f"{p}_left", tables.left)
        + _array("int", f"{p}_right", tables.right)
        + _array("double", f"{p}_threshold", tables.threshold)
        + _array("unsigned char", f"{p}_missing_left", tables.missing_left)
        + "/* Where the terms of each sum begin, and the terms. */\n"
        + _array("unsigned", f"{p}_start", tables.starts)
        + _terms(tables.terms, p, "short" if _small(tables) else "int")
    )


def _shares(name: str, rows: Sequence[tuple[float, ...]], n_classes: int) -> str:
    lines = "".join("    {" + ", ".join(map(repr, row)) + "},\n" for row in rows)
    return f"static const double {name}[][{n_classes}] = {{\n{lines}}};\n"


def _from_tables(tables: Tables, p: str, procedure: Procedure) -> str:
    return (
        "\n"
        + _array("int", f"{p}_node", tables.node)
        + f"\nstatic int {p}_at(const double *cells)\n{{\n    return {p}_walk({tables.roots[0]}, cells);\n}}\n"
    )


def _values(procedure: Procedure, tables: Tables, p: str) -> str:
    """The outputs of leaves, and the functions to call."""
    P = p.upper()
    at = f"    double cells[{_width(procedure, p)}];\n    int at;\n"
    at += f"    if (!{p}_filled(row, cells))\n        return {{none}};\n    at = {p}_at(cells);\n"
    node = "" if not readable(procedure) else "\n" + _array("int", f"{p}_node", tables.node)
    leaf = f"\nint {p}_leaf(const double *row)\n{{\n{at.format(none='-1')}    return {p}_node[at];\n}}\n"
    if procedure.is_regression:
        return (
            node
            + _models(procedure, tables, p)
            + leaf
            + f"\ndouble {p}_predict(const double *row)\n{{\n    double cells[{_width(procedure, p)}];\n"
            + f"    return {p}_filled(row, cells) ? {p}_said({p}_at(cells), cells) : NAN;\n}}\n"
        )
    if procedure.has_scores:
        return node + leaf + _scored(procedure, p)
    return (
        node
        + "\n/* The class of each leaf, and the share of each class. */\n"
        + _array("int", f"{p}_label", tables.label)
        + _shares(f"{p}_share", tables.shares, len(procedure.classes))
        + leaf
        + f"\nint {p}_predict(const double *row)\n{{\n{at.format(none='-1')}    return {p}_label[at];\n}}\n"
        + f"\nint {p}_predict_proba(const double *row, double *shares)\n{{\n    int k;\n{at.format(none='-1')}"
        + f"    for (k = 0; k < {P}_CLASSES; k++)\n        shares[k] = {p}_share[at][k];\n"
        + f"    return {p}_label[at];\n}}\n"
    )


def _models(procedure: Procedure, tables: Tables, p: str) -> str:
    """The linear models of all leaves, and the function that evaluates one."""
    value = BOUNDED.format(p=p) if procedure.has_bounds else "value"
    return (
        "\n/* The linear model of each leaf. */\n"
        + _array("double", f"{p}_intercept", tables.intercept)
        + _array("unsigned", f"{p}_model_start", tables.model_starts)
        + _terms(tables.model, f"{p}_model", "short" if _small(tables) else "int")
        + (_shares(f"{p}_bounds", tables.bounds, 2) if procedure.has_bounds else "")
        + LEAF_MODEL.format(p=p, value=value)
    )


def _scored(procedure: Procedure, p: str) -> str:
    """The models of all leaves, and the functions to call."""
    tree, scaled, n = procedure.tree, procedure.scaled, len(procedure.scored)
    place = {column: number for number, column in enumerate(scaled)}
    held = [leaf_scores for node in tree.leaf_nodes if (leaf_scores := tree.leaf(node).scores) is not None]
    parts = [part for leaf_scores in held for part in leaf_scores.parts]
    starts = [sum(len(leaf_scores.parts) for leaf_scores in held[:i]) for i in range(len(held) + 1)]
    none = [(0.0,) * n]  # an array must hold something
    bent = any(part.curve for part in parts)
    return (
        _codes_of_scores(procedure, p)
        + "/* Columns in standard deviations; level -1 is the number, -2 a missing cell. */\n"
        + _array("int", f"{p}_scaled_cell", [column.cell for column in scaled])
        + _array("int", f"{p}_scaled_level", [column.level for column in scaled])
        + _array("double", f"{p}_center", [column.center for column in scaled])
        + _array("double", f"{p}_scale", [column.scale for column in scaled])
        + "/* The scores of each leaf: intercepts, and what columns add by class, the squares behind. */\n"
        + _shares(f"{p}_intercept", [leaf_scores.intercept for leaf_scores in held], n)
        + _array("unsigned", f"{p}_part_start", starts)
        + _array("unsigned", f"{p}_part", [place[part.column] for part in parts])
        + _shares(f"{p}_part_coef", [part.coef for part in parts] or none, n)
        + (_shares(f"{p}_part_curve", [part.curve or none[0] for part in parts], n) if bent else "")
        + SCORES.format(p=p, n=n, squares=SQUARES.format(p=p, n=n) if bent else "")
        + _shared(procedure, p, "    return {p}_scored[best];\n")
        + OF_SCORES.format(p=p, n=n, columns=_width(procedure, p))
        + PREDICT.format(p=p, P=p.upper())
    )


def _codes_of_scores(procedure: Procedure, p: str) -> str:
    return "\n/* Codes of the classes that have a score. */\n" + _array("int", f"{p}_scored", procedure.scored)


def _shared(procedure: Procedure, p: str, largest: str) -> str:
    """The function from scores to probabilities. largest : what it returns where no threshold decides"""
    words = {"p": p, "P": p.upper(), "n": len(procedure.scored)}
    decided = largest.format(**words)
    if procedure.threshold:
        code, share = procedure.threshold
        decided = f"    return shares[{code}] >= {share!r} ? {code} : {1 - code};\n"
    return SHARED.format(**words, decided=decided)


def _numbers(procedure: Procedure, tables: Tables, p: str) -> str:
    sums, at = procedure.voting == ADDED, f"{p}_walk({p}_root[t], cells)"
    values, leaf_value = (
        "\n/* What each leaf says. */\n" + _array("double", f"{p}_value", tables.intercept),
        f"{p}_value[{at}]",
    )
    if procedure.has_bounds:
        values, leaf_value = _models(procedure, tables, p), f"{p}_said({at}, cells)"
    return (
        values
        + _array("int", f"{p}_root", tables.roots)
        + f"\ndouble {p}_predict(const double *row)\n{{\n"
        + f"    double cells[{_width(procedure, p)}], total = 0.0;\n    int t;\n"
        + f"    if (!{p}_filled(row, cells))\n        return NAN;\n"
        + f"    for (t = 0; t < {len(procedure.trees)}; t++)\n"
        + f"        total += {leaf_value};\n"
        + f"    return total {f'+ ({procedure.base[0]!r})' if sums else f'/ {len(procedure.trees)}.0'};\n}}\n"
    )


def _forest(procedure: Procedure, tables: Tables, p: str) -> str:
    n, trees = _n_votes(procedure, p), len(procedure.trees)
    most = max((len(tree.rotated) for tree in procedure.trees), default=0)
    if procedure.voting == MAJORITY:
        votes = _array("int", f"{p}_label", tables.label)
        vote = f"        votes[{p}_label[at]] += 1.0;\n"
    else:
        votes = _shares(f"{p}_share", tables.voice, len(tables.voice[0]))
        vote = f"        for (k = 0; k < {n}; k++)\n            votes[k] += {p}_share[at][k];\n"
    rotated, rotate = "", ""
    if most:
        kind = "short" if _small(tables) else "int"
        rotated = (
            "\n/* Features of each tree that are sums of columns, and their terms. */\n"
            + _array("unsigned", f"{p}_rotated_first", tables.rotated_first)
            + _array("unsigned", f"{p}_rotated_start", tables.rotated_starts)
            + _terms(tables.rotated, f"{p}_rotated", kind)
        )
        rotate = (
            f"        for (q = {p}_rotated_first[t]; q < {p}_rotated_first[t + 1]; q++)\n"
            f"            cells[{_width(procedure, p)} + (q - {p}_rotated_first[t])] =\n"
            f"                {p}_sum({p}_rotated_coef, {p}_rotated_cell, {p}_rotated_level, {p}_rotated_start[q],\n"
            f"                        {p}_rotated_start[q + 1], cells);\n"
        )
    return (
        (_codes_of_scores(procedure, p) if procedure.has_scores else "")
        + (_array("double", f"{p}_base", procedure.base) if procedure.has_scores else "")
        + f"\n/* What each leaf {'adds to the scores' if procedure.has_scores else 'votes for'}. */\n{votes}"
        + _array("int", f"{p}_root", tables.roots)
        + rotated
        + (_array("double", f"{p}_even", procedure.even) if procedure.even else "")
        + f"\nstatic int {p}_votes(const double *row, double *votes)\n{{\n"
        + f"    double cells[{_width(procedure, p)} + {most}];\n    int at, k, t;\n"
        + ("    unsigned q;\n" if most else "")
        + ("    double total = 0.0, top = 0.0;\n" if procedure.even else "")
        + f"    if (!{p}_filled(row, cells))\n        return -1;\n"
        + f"    for (k = 0; k < {n}; k++)\n        votes[k] = 0.0;\n"
        + f"    for (t = 0; t < {trees}; t++) {{\n{rotate}        at = {p}_walk({p}_root[t], cells);\n{vote}    }}\n"
        + _decided(procedure, p)
    )


def _n_votes(procedure: Procedure, p: str) -> str:
    return str(len(procedure.scored)) if procedure.has_scores else f"{p.upper()}_CLASSES"


def _decided(procedure: Procedure, p: str) -> str:
    """The rest of the function that adds up votes, and those that call it."""
    P, trees = p.upper(), len(procedure.trees)
    if procedure.has_scores:
        n = _n_votes(procedure, p)
        return (
            f"    for (k = 0; k < {n}; k++)\n        votes[k] += {p}_base[k];\n    return 0;\n}}\n"
            + _shared(procedure, p, LARGEST_SHARE)
            + BOOSTED_FOREST.format(p=p, n=n)
            + PREDICT.format(p=p, P=P)
        )
    shares = f"    if (at >= 0)\n        for (k = 0; k < {P}_CLASSES; k++)\n            shares[k] /= {trees};\n"
    decided = (
        f"    at = 0;\n    for (k = 1; k < {P}_CLASSES; k++)\n        if (votes[k] > votes[at])\n            at = k;\n"
    )
    if procedure.voting == CLIPPED:
        shares = ""
        every = f"    for (k = 0; k < {P}_CLASSES; k++)\n"
        decided = (
            f"{every}        total += votes[k] = votes[k] > 0.0 ? votes[k] : 0.0;\n"
            f"{every}        votes[k] = total > 0.0 ? votes[k] / total : {p}_even[k];\n"
            f"{every}        top = votes[k] > top ? votes[k] : top;\n"
            f"    at = 0;\n    while (votes[at] < top - {TIE!r})\n        at++;\n"
        )
    return (
        decided
        + "    return at;\n}\n"
        + f"\nint {p}_predict(const double *row)\n{{\n    double votes[{P}_CLASSES];\n"
        + f"    return {p}_votes(row, votes);\n}}\n"
        + f"\nint {p}_predict_proba(const double *row, double *shares)\n{{\n"
        + ("    int k;\n" if shares else "")
        + f"    const int at = {p}_votes(row, shares);\n{shares}    return at;\n}}\n"
    )


class _Conditions(Conditions):
    """The words of C."""

    remark = " /* {} */"

    def __init__(self, procedure: Procedure, p: str) -> None:
        super().__init__(procedure)
        cells = procedure.cells
        self.prefix = p.upper()
        self.names = identifiers([cell.name for cell in cells], {"COLUMNS", "CLASSES"}, upper=True)
        self.names += [f"COLUMNS + {place}" for place in range(len(procedure.coded))]
        self.codes = {j: identifiers(cell.levels, {"other"}, "level", upper=True) for j, cell in enumerate(cells)}
        self.place = {node: i for i, node in enumerate(procedure.tree.leaf_nodes)}

    def value(self, cell: int) -> str:
        return f"cells[{self.prefix}_{self.names[cell]}]"

    def has_level(self, cell: int, level: int) -> str:
        value = self.value(cell)
        if level == MISSING:
            return f"{value} != {value}"
        return f"{value} == (double){self.prefix}_{self.names[cell]}__{self.codes[cell][level]}"

    def called(self, label: str) -> str:
        return _in_comment(quoted(label))

    def leaf(self, node: int) -> str:
        return f"return {self.place[node]};"


def _nested(procedure: Procedure, p: str) -> str:
    """The tree as nested conditions; it returns the number of a leaf among the leaves."""
    lines = [f"\nstatic int {p}_at(const double *cells)", "{"]
    if not any(split.terms for split in procedure.tree.splits if split):
        lines.append("    (void)cells;")
    return "\n".join([*lines, *_Conditions(procedure, p).lines()]) + "\n}\n"
