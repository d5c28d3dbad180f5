"""An extension of griffe, which reads the docstrings for the site: parameters become lists.

Public classes have numpydoc sections, which griffe knows. Functions have a line for each parameter instead.
"""

from __future__ import annotations

import re
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
            obj.docstring.value = listed(obj.docstring.value)


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
