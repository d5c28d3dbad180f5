"""An extension of griffe, which reads the docstrings for the site: parameters become lists.

Public classes have numpydoc sections, which griffe knows. That of parameters is made of their declarations
(`oblique_cli.parameters`) when the class is, so it is taken from there. Functions have a line for each parameter.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

try:
    from griffe import Extension
except ImportError:  # tests, which need `listed` alone, run without the extra `docs`
    Extension = object

PARAMETER = re.compile(r"(?P<name>[Xa-z_]\w*(?:, [a-z_]\w*)*|returns|raises \w+)(?: +: |   +)(?P<text>\S.*)")
CHOICES = re.compile(r"^([a-z_][\w, ]* : )\{(.+?)\}", re.MULTILINE)


class ShortForm(Extension):
    """Changes docstrings before they are shown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called by griffe for every object that it has read."""
        if obj.docstring:
            doc = declared(obj.path) if obj.is_class else None
            obj.docstring.value = listed(doc or obj.docstring.value)


def declared(path: str) -> str | None:
    """Return the docstring of a class that declares its parameters, None for any other. path : dotted"""
    module, _, name = path.rpartition(".")
    result = getattr(import_module(module), name, None) if module.startswith("oblique_cli.") else None
    return inspect.getdoc(result) if getattr(result, "parameters", None) else None


def listed(doc: str) -> str:
    """Return a docstring with its lines "name : what it is", or "name   what it is", as items of a list.

    A docstring with numpydoc sections keeps them. Only choices in braces are put in words there, because griffe takes
    the first of them for the default, whatever the docstring says.
    """
    if re.search(r"^-{3,}$", doc, re.MULTILINE):
        return CHOICES.sub(r"\1one of \2", doc)
    lines: list[str] = []
    inside = False
    for line in doc.splitlines():
        if match := PARAMETER.match(line):
            lines += [*([] if inside else [""]), f"- `{match['name']}`: {match['text']}"]
            inside = True
        elif inside and line.startswith(" "):
            lines.append(f"    {line.strip()}")
        else:
            lines += [*([""] if inside and line else []), line]
            inside = False
    return "\n".join(lines)
