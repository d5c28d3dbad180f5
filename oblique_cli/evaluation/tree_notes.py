"""Notes below a table of results: how trees were pruned, and which tuned values lie at the edge of their grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.default_pruning import pruning_of
from oblique_cli.ground.nouns import AlgorithmSpec, Experiment, Row

FEWEST_VALUES = 3  # of a grid that has an inside


def pruning_notes(experiment: Experiment) -> Iterator[str]:
    """Yield one note for each way of pruning, with the algorithms that have it."""
    ids: dict[str, list[str]] = {}
    for spec in experiment.algorithms:
        ids.setdefault(pruning_of(spec), []).append(spec.id)
    for how, names in ids.items():
        if how:
            yield f"{', '.join(names)}: {how}."


def edge_notes(experiment: Experiment, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a warning for each tuned number that is the least or the largest of its grid in most folds.

    An end beyond which the parameter has no values warns of nothing.
    """
    for spec in experiment.algorithms:
        chosen = [row.chosen for row in rows if row.algorithm == spec.id and row.status == "ok" and row.chosen]
        for name, values in spec.grid.items():
            if len(values) < FEWEST_VALUES or not all(isinstance(v, int | float) and v == v for v in values):
                continue
            for end, way in ((min(values), "smaller"), (max(values), "larger")):
                count = sum(params.get(name) == end for params in chosen)
                if 2 * count > len(chosen) and _goes_on(spec, name, end, way):
                    yield (
                        f"Warning: {spec.id} took {name} {end:g}, the end of its grid, in {count} of {len(chosen)} "
                        f"folds; try {way} values too."
                    )


def _goes_on(spec: AlgorithmSpec, name: str, end: float, way: str) -> bool:
    """Whether the parameter may be beyond the end of its grid."""
    if spec.name not in ALGORITHMS or (allowed := ALGORITHMS[spec.name].parameters.get(name)) is None:
        return True
    step = 1 if isinstance(end, int) else max(abs(end), 1e-3) / 100
    return allowed.holds(end - step if way == "smaller" else end + step)
