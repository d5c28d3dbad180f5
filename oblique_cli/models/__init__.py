"""Fitted models as files: `Model`, `save` and `load` (docs/models.md says what a file holds)."""

from oblique_cli.models.model import Model, load, save

__all__ = ["Model", "load", "save"]
