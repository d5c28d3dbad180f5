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
    lines = [f"class {cls.__name__}(HeuristicTreeClassifier):"]
    lines += [f"    {p.name}: {p.annotation}" for p in parameters if p.name not in of_tree]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {p.name}: {p.annotation} = {_literal(p.default)}," for p in parameters]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def _imports(body: str) -> str:
    """Return the imports of the names that annotations use, as the module of the tree has them."""
    known = vars(inspect.getmodule(ObliqueTreeClassifier)) | {"HeuristicTreeClassifier": HeuristicTreeClassifier}
    used = {"Any"} | {name for name in re.findall(r"\b[A-Z]\w*", re.sub(r'"[^"]*"', "", body)) if name in known}
    lines = {f"from {known[name].__module__} import {name}" for name in used}
    own = sorted(line for line in lines if line.startswith("from oblique_cli"))
    return "\n".join([*sorted(lines - set(own)), "", *own])


def _literal(value: object) -> str:
    """Return a default as the stub has it, with the quotes of the formatter."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    STUB.write_text(text(classifier_of(name) for name in PROPOSERS), encoding="utf-8")
