"""Entry point of the command `oblique`: reports outdated packages before anything imports them."""

from __future__ import annotations

import sys

from oblique_cli.errors import EXIT_CONFIG
from oblique_cli.ground import versions


def main() -> int:
    """Run the command line of this process and return its exit code."""
    if fault := versions.fault():
        print(f"error: {fault}", file=sys.stderr)
        return EXIT_CONFIG
    from oblique_cli.cli import main as run

    return run()
