"""Write those parameters of the known classes of other libraries that a configuration may set, as installed here.

    python -m tools.signatures

Rows of libraries that are not installed stay as they are.
"""

import csv
from importlib.metadata import PackageNotFoundError, version

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import (
    CLASSES,
    LIBRARIES,
    SIGNATURES,
    Signature,
    allowed,
    library_of,
    signatures,
)


def found(path: str) -> Signature | None:
    """Return what the class of a dotted path takes; None if it cannot be imported, or if it is of no package."""
    try:
        own, further = parameters(load_class(path))
        names = allowed()[library_of(path)]
        taken = names if further else names & own.keys()
        return Signature(version(LIBRARIES[library_of(path)]), tuple(sorted(taken)))
    except (ConfigError, PackageNotFoundError):
        return None


def main() -> None:
    """Write the table, and print which classes it took from the installed libraries."""
    rows = {path: found(path) or signatures().get(path) for path in CLASSES}
    with open(SIGNATURES, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("class", "version", "parameters"))
        for path, one in rows.items():
            if one is None:
                print(f"{path}: not installed, and not in the table")
            else:
                writer.writerow((path, one.version, " ".join(one.parameters)))


if __name__ == "__main__":
    main()
