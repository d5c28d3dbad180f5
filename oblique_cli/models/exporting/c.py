"""One file of C99 that also compiles as C++: no allocation, no mutable globals, only `exp` and `strcmp`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template
from typing import Any

from oblique_cli.errors import ConfigError, cut
from oblique_cli.models.exporting._exporter import WITHOUT_SEVERAL, Source, exporter
from oblique_cli.models.exporting._program import Rows, Table, functions_of, rows_of, tables_of, texts_of
from oblique_cli.models.exporting._text import heading, identifiers, quoted
from oblique_cli.models.procedure import Procedure

# Public functions of the file, and the comments that declare them at its head.
PUBLIC = re.compile(r"^(/\*.*\*/\n)((?:int|double|const char) .*\))\n\{", re.MULTILINE)
RECORDS = ("range", "term", "node", "coded", "model", "part", "scores")  # structures, each after those that it uses


class Literals:
    """Literals of C. Nested rows are in separate arrays, one per kind, because structures cannot hold them."""

    def __init__(self) -> None:
        self.pools: dict[str, list[str]] = {"term": []}

    def __call__(self, value: Any) -> str:
        if isinstance(value, Rows):
            items = [self(item) for item in value.items]
            pool = self.pools.setdefault(value.kind, [])
            pool += items
            return f"{{{len(pool) - len(items)}, {len(pool)}}}"
        if isinstance(value, tuple):
            return "{" + ", ".join(map(self, value)) + "}"
        if isinstance(value, str):
            return literal(value)
        return "NAN" if value != value else repr(value)


NONE = {
    "term": "{0.0, 0, 0}",
    "node": "{0, 0, 0.0, 0, {{0, 0}}}",
    "part": "{0, 0, 0.0, 0.0, 0.0, 0.0, 0, {0.0}}",
    "range": "{0, 0}",
}
TYPES = {"int": "int", "double": "double", "value": "double", "text": "char *const"}


def _array(p: str, name: str, kind: str, rows: str, width: str = "") -> str:
    rows = rows if rows != "{}" else f"{{{NONE.get(kind, '0')}}}"  # an array must hold something
    row_type = TYPES.get(kind, f"struct {p}_{kind}")
    return f"static const {row_type} {p}_{name}[]{width} = {rows};\n"


def _tables(source: Source, p: str) -> tuple[str, set[str]]:
    """Return the tables and the types of their rows. p : what names begin with"""
    literals, text = Literals(), ""
    has_levels = any(cell.levels for cell in source.procedure.cells)
    kinds = {"range", "term", "node"}
    for table in tables_of(source):
        unused = (table.name == "LEVELS" and not has_levels) or (table.name == "NEEDED" and not table.rows)
        if table.name == "COLUMNS" or unused:
            continue
        rows = rows_of(table, literals, "    ", lambda remark: f" /* {_in_comment(remark)} */", "{}")
        wide = table.kind in ("int", "double", "model") and table.rows and isinstance(table.rows[0], tuple)
        about = "/* " + table.about.replace("\n", "\n   ") + " */\n" if table.about else ""
        text += about + _array(p, table.name.lower(), table.kind, rows, f"[{len(table.rows[0])}]" if wide else "")
        kinds.add(table.kind)
    pools = ""
    for kind, items in literals.pools.items():
        kind_of_rows = "range" if kind == "lane" else kind
        pools += _array(p, f"{kind}s", kind_of_rows, rows_of(Table("", kind, "", items), str, "    ", str, "{}"))
        kinds.add(kind_of_rows)
    return f"\n{pools}{text}", kinds


def _in_comment(text: str) -> str:
    # Ends and beginnings of comments, and trigraphs.
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def literal(text: str) -> str:
    """Return a text as a C string: UTF-8 bytes, unprintable ones in octal."""
    out = []
    for byte in text.encode("utf-8", "surrogatepass"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        out.append(chr(byte) if plain else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def _comment(procedure: Procedure, p: str) -> str:
    lines = list(heading(procedure))
    lines += ["", f"A row is an array of {p.upper()}_COLUMNS doubles, NAN where a cell is missing."]
    if procedure.has_scores and procedure.classes:
        lines.append("Link with the mathematical library (-lm), for exp.")
    if any(cell.levels for cell in procedure.cells):
        lines.append(f"{p}_code gives the code of a level that is a text (UTF-8).")
    body = "\n".join(f" * {_in_comment(line)}".rstrip() for line in lines)
    return f"/*\n{body}\n */\n"


def _columns(procedure: Procedure) -> str:
    """Return the places of columns in a row, and the codes of levels, as constants."""
    names = identifiers([cell.name for cell in procedure.cells], {"COLUMNS", "CLASSES"}, upper=True)
    text = _constants("Places in a row.", "", names, [cell.name for cell in procedure.cells], "COLUMNS")
    for word, cell in zip(names, procedure.cells, strict=True):
        if cell.levels:
            codes = identifiers(cell.levels, {"other"}, "level", upper=True)
            text += _constants(f"Levels of {quoted(cell.name)}.", f"{word}__", codes, cell.levels, "OTHER")
    return text + (f"\nenum {{ OBLIQUE_CLASSES = {len(procedure.classes)} }};\n" if procedure.classes else "")


def _constants(about: str, prefix: str, words: Sequence[str], names: Sequence[str], last: str) -> str:
    lines = [
        f"    OBLIQUE_{prefix}{word} = {k}, /* {_in_comment(quoted(name))} */\n"
        for k, (word, name) in enumerate(zip(words, names, strict=True))
    ]
    return f"\n/* {_in_comment(about)} */\nenum {{\n{''.join(lines)}    OBLIQUE_{prefix}{last} = {len(words)}\n}};\n"


@exporter(
    "c",
    "C99 that compiles as C++ too, without allocation",
    ".c",
    kinds=WITHOUT_SEVERAL,
    named="what names of functions begin with",
)
def write(source: Source) -> str:
    """Return the file."""
    name = source.name or "oblique"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > 40:
        raise ConfigError(
            f"the name in C must be at most 40 lower-case letters, digits and underscores. Got {cut(name)!r}."
        )

    def named(text: str) -> str:
        return text.replace("oblique_", f"{name}_").replace("OBLIQUE_", f"{name.upper()}_")

    procedure, limits, texts = source.procedure, source.limits, texts_of("tree.c")
    n_lanes = max((len(split.lanes) for tree in procedure.trees for split in tree.splits if split), default=1)
    columns = "OBLIQUE_COLUMNS" + (f" + {len(procedure.coded)}" if procedure.coded else "")
    n_rotated = max(len(tree.rotated) for tree in procedure.trees)
    words = {
        "bounds": ", low, high" if procedure.has_bounds else "",
        "coded": len(procedure.coded),
        "columns": columns,
        "lanes": n_lanes,
        "limited": len(limits.leaves) if limits else 0,
        "needed": len(procedure.needed),
        "scored": len(procedure.scored) if procedure.has_scores else 0,
        "total": "lane[0]" if n_lanes == 1 else "(lane[0] + lane[1]) + (lane[2] + lane[3])",
        "trees": len(procedure.trees),
        "width": f"{columns} + {n_rotated}" if n_rotated else columns,
    }
    functions = named(functions_of(source, texts, **words))
    declarations = "".join(f"{about}{signature};\n" for about, signature in PUBLIC.findall(functions))
    tables, kinds = _tables(source, name)
    records = "".join(texts[f"record {kind}"] for kind in RECORDS if kind in kinds)
    return "".join(
        [
            _comment(procedure, name),
            f"{texts['preamble']}\n{declarations}",
            named(_columns(procedure)),
            "\n" + named(Template(records).substitute(words)),
            tables,
            PUBLIC.sub(r"\2\n{", functions),
            "\n#ifdef __cplusplus\n}\n#endif\n",
        ]
    )
