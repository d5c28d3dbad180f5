"""Write those parameters of the known classes of other libraries that a configuration may set, as installed here.

    python -m tools.signatures

Rows of libraries that are not installed stay as they are.
"""

import csv
from importlib.metadata import PackageNotFoundError, version

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, SIGNATURES, Signature, allowed, library_of


def signature_of(path: str) -> Signature | None:
    """Return what the class of a dotted path takes; None if it cannot be imported, or if it is of no package."""
    try:
        params, further = parameters(load_class(path))
        names = allowed()[library_of(path)]
        taken = names if further else names & params.keys()
        return Signature(CLASSES[path].task, version(LIBRARIES[library_of(path)]), tuple(sorted(taken)))
    except (ConfigError, PackageNotFoundError):
        return None


def main() -> None:
    """Write the table, and print which classes it took from the installed libraries."""
    rows = {path: signature_of(path) or row for path, row in CLASSES.items()}
    with open(SIGNATURES, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("class", "task", "version", "parameters"))
        for path, row in rows.items():
            writer.writerow((path, row.task, row.version, " ".join(row.parameters)))
            if not row.version:
                print(f"{path}: not installed, and without parameters in the table")


if __name__ == "__main__":
    main()
