"""Data sets of scikit-learn, OpenML and plugins, which are neither in the catalogue nor in a file of the user.

Each is converted to a table of text first, so missing values, levels, labels and digests are treated as in all tables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oblique_cli.data.plugin_datasets import FURTHER, Handed, of_arrays
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.foreign import error_text, plugin_fault
from oblique_cli.ground.nouns import DatasetSpec

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset

# The sets bundled with scikit-learn; it downloads its other sets.
SKLEARN = ("breast_cancer", "diabetes", "digits", "iris", "wine")
REGRESSION = ("diabetes",)


def load(spec: DatasetSpec, offline: bool = False, task: str = "", groups: str = "") -> Dataset:
    """Return the data set of a request with a `source`, or of a plugin. Parameters as in `catalogue.load`."""
    from oblique_cli.data.dataset import from_table

    loaded = table_of(spec, offline, task)
    dataset = from_table(
        loaded.table,
        loaded.target,
        name=spec.name,
        task=loaded.task,
        qualitative=tuple(dict.fromkeys((*loaded.qualitative, *spec.qualitative))),
        missing=spec.missing,
        encoding=spec.encoding,
        groups=groups,
    )
    return replace(dataset, note=loaded.note)


def table_of(spec: DatasetSpec, offline: bool, task: str) -> Handed:
    """Return the table of a request."""
    kind, _, which = spec.source.partition(":")
    if kind == "sklearn":
        return _sklearn(which)
    if kind == "openml":
        from oblique_cli.data import openml  # imports the network's modules, which take a while to load

        return openml.load(int(which), spec.target, offline, task)
    where = f"data set {spec.name!r}"
    try:
        returned = FURTHER[spec.name]()
    except ConfigError:
        raise
    except Exception as error:  # of the plugin's code
        raise DataError(f"{where}: {plugin_fault(error) or f'its plugin failed ({error_text(error)})'}.") from error
    if isinstance(returned, Handed):
        return returned
    if not (isinstance(returned, tuple) and len(returned) == 2):
        raise DataError(f"{where}: its plugin must return a Handed table, or X and y. Got {quoted(returned)}.")
    return of_arrays(where, *returned)


def is_at_hand(spec: DatasetSpec) -> bool:
    """Return whether this module loads the set of a request."""
    return bool(spec.source) or (spec.csv is None and spec.name in FURTHER)


def is_there(spec: DatasetSpec) -> bool:
    """Return whether the set of a request can be loaded without the network."""
    kind, _, which = spec.source.partition(":")
    if kind != "openml":
        return True
    from oblique_cli.data import openml

    return openml.path_of(int(which)).is_file()


def note_of(spec: DatasetSpec) -> str:
    """Return the origin of the set of a request, "" if it is unknown before loading."""
    kind, _, which = spec.source.partition(":")
    if kind != "openml":
        return ""
    from oblique_cli.data import openml

    return openml.note_of(int(which))


def _sklearn(name: str) -> Handed:
    from sklearn import __version__, datasets

    bunch = getattr(datasets, f"load_{name}")()
    task = "regression" if name in REGRESSION else "classification"
    labels = bunch.target if task == "regression" else [bunch.target_names[code] for code in bunch.target]
    note = f"{name} of scikit-learn {__version__}"
    return of_arrays(
        f"data set sklearn {name}", bunch.data, labels, list(map(str, bunch.feature_names)), "target", task, note
    )
