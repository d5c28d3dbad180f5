"""Configurations: files are composed (`composing`), then checked into an `Experiment` (`checking`)."""

from typing import Any

from oblique_cli.config.checking import from_mapping as from_mapping
from oblique_cli.config.checking import load as load


def schema() -> dict[str, Any]:
    """Return the JSON schema of a configuration, for editors."""
    from oblique_cli.config import json_schema

    return json_schema.schema()
