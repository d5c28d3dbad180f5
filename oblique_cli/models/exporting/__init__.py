"""Fitted models in other languages. Importing this package registers the formats of every module beside it.

To add one: a file here with a function under `@exporter("name", ...)`, which writes a `Procedure`, and a test that
executes its output (`tests/models/exporting/`). `rules.py` is the shortest example.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from oblique_cli.errors import ConfigError, PluginError, quoted
from oblique_cli.ground.registry import source_of
from oblique_cli.models.exporting._exporter import FORMATS, Format, Source, kind_of, refuse
from oblique_cli.models.model import as_model
from oblique_cli.models.procedure import procedure_of

__all__ = ["FORMATS", "Format", "Source", "export", "kind_of"]

DRAWN = ("dot", "latex")  # drawn from the tree itself, not from its steps

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")


def export(model: Any, format: str, *, name: str = "", precision: int | None = None) -> str | bytes:
    """Return a fitted model in another language; bytes for a binary format.

    model      a `Model`, or a fitted estimator
    format     one of FORMATS (docs/models.md)
    name       of the table in sql, before the names of functions in c, of the model in pmml and onnx; the format's own
               choice without it
    precision  significant digits in formats that are read rather than run; 17 give numbers to the bit

    Raises ConfigError for a model that the format cannot hold, or an option that does not apply.
    """
    form = FORMATS[format]
    if name and not form.named:
        raise ConfigError(f"format {format} has no name to choose. Leave the name out.")
    if precision is not None and not form.digits:
        raise ConfigError(f"format {format} has every number to the bit. Leave the precision out.")
    model = as_model(model)
    if model.threshold is not None and format in DRAWN:
        raise ConfigError(
            f"format {format} draws the most frequent class of a leaf, and this model goes by a threshold; take rules."
        )
    procedure = procedure_of(model, several=True)
    refuse(format, procedure)
    written = form.write(Source(model, procedure, name, precision or form.digits))
    if not isinstance(written, str | bytes):
        raise PluginError(
            f"{source_of(form)}: format of export {format!r} must return text or bytes. Got {quoted(written)}."
        )
    return written
