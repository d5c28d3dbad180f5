"""Write the classes that are made while the package runs as text, for editors and type checkers.

python -m tools.stubs
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import oblique_cli
from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier, classifier_of, parameters_of
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.tree.splitting import PROPOSERS

STUB = Path(oblique_cli.__file__).parent / "estimators" / "oblique" / "classifiers.pyi"
HEAD = """\
# Written by `python -m tools.stubs`.
{imports}

# A heuristic that is added later has a class too.
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
"""


def text(classes: Iterable[type]) -> str:
    """Return the stub of some classes, by name."""
    parts = [_stub_of(cls) for cls in sorted(classes, key=lambda cls: cls.__name__)]
    return "\n".join([HEAD.format(imports=_imports("".join(parts))), *parts])


def _stub_of(cls: type) -> str:
    of_tree = parameters_of(ObliqueTreeClassifier)
    parameters = parameters_of(cls).values()
    lines = [f"class {cls.__name__}(HeuristicTreeClassifier):", *_docstring(cls)]
    attributes = [f"    {p.name}: {p.annotation}" for p in parameters if p.name not in of_tree]
    lines += ["", *attributes] if attributes else []  # the blank line is the formatter's
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {p.name}: {p.annotation} = {_literal(p.default)}," for p in parameters]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def _docstring(cls: type) -> list[str]:
    """Return the docstring without the parameters that the class shares with every tree, as lines of the stub."""
    of_tree = parameters_of(ObliqueTreeClassifier)
    text, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\nParameters\n----------\n")
    blocks = re.findall(r"^\w+ : .*\n(?:    .*\n)*", rest.partition("\nAttributes\n")[0] + "\n", re.MULTILINE)
    own = []
    for block in blocks:
        name = block.partition(" : ")[0]
        if name not in of_tree or parameters_of(cls)[name].default != of_tree[name].default:
            own.append(block.rstrip("\n"))
    shared = f"{'Further parameters' if own else 'Parameters'} and attributes are those of `ObliqueTreeClassifier`."
    section = ["", "Parameters", "----------", *own] if own else []
    lines = "\n".join([text.strip(), "", shared, *section]).splitlines()
    return [f'    """{lines[0]}', *(f"    {line}".rstrip() for line in lines[1:]), '    """']


def _imports(body: str) -> str:
    """Return the imports of the names that annotations use, as the module of the tree has them."""
    known = vars(inspect.getmodule(ObliqueTreeClassifier)) | {"HeuristicTreeClassifier": HeuristicTreeClassifier}
    code = re.sub(r'"[^"]*"', "", re.sub(r'""".*?"""', "", body, flags=re.DOTALL))
    used = {"Any"} | {name for name in re.findall(r"\b[A-Z]\w*", code) if name in known}
    homes: dict[str, list[str]] = {}
    for name in sorted(used):
        homes.setdefault(known[name].__module__, []).append(name)
    lines = {f"from {home} import {', '.join(names)}" for home, names in homes.items()}
    own = sorted(line for line in lines if line.startswith("from oblique_cli"))
    return "\n".join([*sorted(lines - set(own)), "", *own])


def _literal(value: object) -> str:
    """Return a default as the stub has it, with the quotes of the formatter."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    STUB.write_text(text(classifier_of(name) for name in PROPOSERS), encoding="utf-8")
