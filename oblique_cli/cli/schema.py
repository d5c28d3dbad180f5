"""`oblique schema`: the JSON schema of configuration files."""

from __future__ import annotations

import json

import click


@click.command()
def schema() -> None:
    """Print the JSON schema of configuration files, for editors that complete and check YAML.

    Example: oblique schema > oblique.schema.json
    """
    from oblique_cli import config

    click.echo(json.dumps(config.schema(), indent=2))
