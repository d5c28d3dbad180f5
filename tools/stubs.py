"""Write the classes of heuristics, which are made while the package runs, as text for editors and type checkers.

python tools/stubs.py [FILE]

The build does this, before there is anything to import: declarations of parameters are read as text, with the standard
library alone. FILE is `classifiers.pyi` beside `classifiers.py`, which git ignores.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "oblique_cli"
TREES = PACKAGE / "tree"
OBLIQUE = PACKAGE / "estimators" / "oblique"
STUB = OBLIQUE / "classifiers.pyi"
TREE, LIMIT = "ObliqueTreeClassifier", "max_misrate"
HEAD = """\
# Written by tools/stubs.py, which the build runs.
{imports}

from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier
{types}

# A heuristic that is added later has a class too.
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
"""


@dataclass(frozen=True)
class Field:
    """A parameter as its declaration has it, in text; "" for what it leaves to a base class."""

    annotation: str = "Any"
    default: str = ""
    allowed: str = ""
    help: str = ""


@dataclass(frozen=True)
class Class:
    """A class as its text has it."""

    name: str
    bases: tuple[str, ...]
    doc: str
    fields: Mapping[str, Field]
    members: Mapping[str, Any]
    is_heuristic: bool
    kw_only: bool


def classes(proposers: Path = PACKAGE / "proposers") -> dict[str, Class]:
    """Return the heuristics, the tree and all that they inherit from, by name."""
    results: dict[str, Class] = {}
    values: dict[str, Any] = {}
    constants = (TREES / "probabilities.py", TREES / "splitting.py", TREES / "pruning.py")
    for path in (*constants, OBLIQUE / "groups.py", OBLIQUE / "top_down.py"):
        results |= _read(path, values)
    for path in sorted(proposers.glob("*.py")):
        results |= _read(path, values)
    return results


def _read(path: Path, values: dict[str, Any]) -> dict[str, Class]:
    """The classes of a file. values : constants by name, which the file adds its own to"""
    results = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            results[node.name] = _class(node, values)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and (value := _value(node.value, values)) is not None:
                values[target.id] = value
    return results


def _class(node: ast.ClassDef, values: Mapping[str, Any]) -> Class:
    fields: dict[str, Field] = {}
    members: dict[str, Any] = {}
    for line in node.body:
        if not isinstance(line, ast.Assign | ast.AnnAssign) or line.value is None:
            continue
        target = line.targets[0] if isinstance(line, ast.Assign) else line.target
        if not isinstance(target, ast.Name):
            continue
        called = line.value.func if isinstance(line.value, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "parameter" and isinstance(line, ast.AnnAssign):
            fields[target.id] = _field(line, values)
        else:
            members[target.id] = _value(line.value, values)
    registered = any("PROPOSERS" in ast.unparse(decorator) for decorator in node.decorator_list)
    bases = tuple(ast.unparse(base) for base in node.bases)
    kw_only = any(keyword.arg == "kw_only" for keyword in node.keywords)
    return Class(node.name, bases, ast.get_docstring(node) or "", fields, members, registered, kw_only)


def _field(line: ast.AnnAssign, values: Mapping[str, Any]) -> Field:
    assert isinstance(line.value, ast.Call)
    settings = {keyword.arg: keyword.value for keyword in line.value.keywords}
    allowed = _value(settings["allowed"], values) if "allowed" in settings else None
    return Field(
        ast.unparse(line.annotation),
        _default(settings["default"], values) if "default" in settings else "",
        allowed.describe() if hasattr(allowed, "describe") else "",
        _value(settings["help"], values) if "help" in settings else "",
    )


def _default(node: ast.expr, values: Mapping[str, Any]) -> str:
    """The literal of a default; KeyError for a constant that no file of `classes` defines."""
    return repr(values[node.id]) if isinstance(node, ast.Name) else ast.unparse(node)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What an expression of constants and constraints is, or None for one that needs more than its own text."""
    try:
        return eval(ast.unparse(node), {**_constraints(), **values})
    except Exception:
        return None


def _constraints() -> Mapping[str, Any]:
    if str(PACKAGE.parent) not in sys.path:
        sys.path.insert(0, str(PACKAGE.parent))
    from oblique_cli.ground import constraints

    return vars(constraints)


def lineage(name: str, known: Mapping[str, Class]) -> list[Class]:
    """Return a class and those it inherits from, nearest first."""
    if name not in known:
        return []
    return [known[name], *(above for base in known[name].bases for above in lineage(base, known))]


def fields_of(name: str, known: Mapping[str, Class]) -> dict[str, Field]:
    """Return the parameters of a class, those of its bases among them, in the order of `Declared`."""
    if name not in known:
        return {}
    above: dict[str, Field] = {}
    for base in known[name].bases:
        above |= fields_of(base, known)
    fields = {
        key: replace(above.get(key, Field()), **{part: value for part, value in vars(field).items() if value})
        for key, field in known[name].fields.items()
    }
    return fields | {key: fields.get(key, above[key]) for key in above} if known[name].kw_only else above | fields


def parameters_of(name: str, known: Mapping[str, Class]) -> tuple[dict[str, Field], set[str]]:
    """Return the parameters of a heuristic's classifier, and those that are not as in every tree."""
    defaults = _member("tree_defaults", name, known) or {}
    limit = _member("limit_name", name, known) or LIMIT
    tree = {key: field for key, field in fields_of(TREE, known).items() if key != "proposer"}
    changed = {key: replace(tree[key], default=repr(value)) for key, value in defaults.items()}
    changed = {key: field for key, field in changed.items() if field.default != tree[key].default}
    tree |= changed
    declared = fields_of(name, known)
    named = {limit: tree.pop(LIMIT)} if limit != LIMIT else {}
    return {**named, **declared, **tree}, {*named, *declared, *changed}


def _member(attribute: str, name: str, known: Mapping[str, Class]) -> Any:
    return next((cls.members[attribute] for cls in lineage(name, known) if attribute in cls.members), None)


def class_name(name: str, known: Mapping[str, Class]) -> str:
    """Return what the classifier of a heuristic is called."""
    return known[name].members.get("classifier") or f"{name}Classifier"


def text(known: Mapping[str, Class] | None = None) -> str:
    """Return the stub of all heuristics."""
    known = classes() if known is None else known
    names = sorted((name for name in known if known[name].is_heuristic), key=lambda name: class_name(name, known))
    parts = [_stub_of(name, known) for name in names]
    return "\n".join([_head("".join(parts)), *parts])


def _stub_of(name: str, known: Mapping[str, Class]) -> str:
    parameters, apart = parameters_of(name, known)
    new = [key for key in parameters if key not in fields_of(TREE, known)]
    lines = [f"class {class_name(name, known)}(HeuristicTreeClassifier):", *_docstring(name, known, parameters, apart)]
    lines += [f"    {key}: {parameters[key].annotation} = ..." for key in new]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {key}: {parameter.annotation} = {parameter.default}," for key, parameter in parameters.items()]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def _docstring(
    name: str, known: Mapping[str, Class], parameters: Mapping[str, Field], apart: Iterable[str]
) -> list[str]:
    """The docstring without the parameters that the class shares with every tree, as lines of the stub."""
    title = _member("title", name, known)
    first, _, rest = known[name].doc.removeprefix(f"{title}: ").partition("\n")
    selected = [key for key in parameters if key in set(apart)]
    shared = f"{'Further parameters' if selected else 'Parameters'} and attributes are those of `{TREE}`."
    source = f"Source: {_member('source', name, known)}."
    lines = [f"{title}: a top-down tree.", "", first[:1].upper() + first[1:], "", source, ""]
    lines += [*rest.strip().splitlines(), ""] if rest.strip() else []
    lines += [shared, *(["", "Parameters", "----------"] if selected else [])]
    for key in selected:
        field = parameters[key]
        lines.append(f"{key} : {field.allowed or field.annotation}, default {field.default}")
        lines += textwrap.wrap(field.help, 112, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return [f'    """{lines[0]}', *(f"    {line}".rstrip() for line in lines[1:]), '    """']


def _head(body: str) -> str:
    """The imports of the names that annotations use."""
    code = re.sub(r'""".*?"""', "", body, flags=re.DOTALL)
    of_mappings = sorted(set(re.findall(r"\b(Mapping|Sequence)\b", code)))
    imports = [f"from collections.abc import {', '.join(of_mappings)}"] if of_mappings else []
    homes = {"PruningRule": "oblique_cli.tree.pruning", "Proposer": "oblique_cli.tree.splitting"}
    type_imports = [f"from {home} import {name}" for name, home in homes.items() if re.search(rf"\b{name}\b", code)]
    return HEAD.format(imports="\n".join([*imports, "from typing import Any"]), types="\n".join(type_imports))


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else STUB).write_text(text(), encoding="utf-8")
