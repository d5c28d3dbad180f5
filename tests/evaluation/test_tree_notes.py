"""Notes below tables: how trees were pruned, and tuned values at the edge of their grid."""

import pytest

from oblique_cli import config
from oblique_cli.evaluation.tables import edge_notes, pruning_notes
from oblique_cli.ground.nouns import Row


def experiment(*algorithms: object):
    plain = {"version": 1, "dataset": {"name": "iris"}, "algorithms": list(algorithms), "cv": {"scheme": "nested"}}
    return config.from_mapping(plain, "notes", [], where="here")


@pytest.mark.parametrize(
    ("algorithm", "note"),
    [
        ("hhcart_a", "hhcart_a: not pruned: it grows until it fits the training rows."),
        ({"name": "hhcart_a", "max_depth": 3}, "hhcart_a: not pruned; max_depth stops it."),
        ({"name": "hhgdt", "epsilon": {"grid": [0.1, 0.2]}}, "hhgdt: not pruned; epsilon stops it."),
        (
            {"name": "fdt", "pruning": "cv", "standard_errors": 1},
            "fdt: pruned by cross-validation (smallest tree within 1 SE of the best).",
        ),
        (
            {"name": "fdt", "pruning": "cost_complexity"},
            "fdt: pruned on 10 % of the rows, kept from growth (smallest tree of the least error).",
        ),
        ({"name": "fdt", "pruning": "pessimistic"}, "fdt: pruned by pruning pessimistic."),
        ("svm", None),
    ],
)
def test_every_way_of_pruning_has_its_note(algorithm, note):
    assert list(pruning_notes(experiment(algorithm))) == ([] if note is None else [note])


def test_algorithms_of_one_way_share_a_note():
    notes = list(pruning_notes(experiment("hhcart_a", "fdt", {"name": "hhgdt", "max_depth": 2})))
    assert [note.partition(":")[0] for note in notes] == ["hhcart_a, fdt", "hhgdt"]


def rows(algorithm: str, name: str, values: list[object]) -> list[Row]:
    return [Row(str(i), "iris", algorithm, 0, i, "ok", chosen={name: value}) for i, value in enumerate(values)]


def test_a_value_at_the_edge_of_its_grid_in_most_folds_is_warned_of_unless_nothing_lies_beyond():
    of = experiment({"name": "hhgdt", "epsilon": {"grid": [0.0, 0.1, 0.2]}})
    (note,) = edge_notes(of, rows("hhgdt", "epsilon", [0.2, 0.2, 0.1]))
    assert note == "Warning: hhgdt took epsilon 0.2, the end of its grid, in 2 of 3 folds; try larger values too."
    assert not list(edge_notes(of, rows("hhgdt", "epsilon", [0.2, 0.2, 0.1, 0.0])))
    assert not list(edge_notes(of, rows("hhgdt", "epsilon", [0.0, 0.0]))), "no error rate is below 0"
    two = experiment({"name": "hhgdt", "epsilon": {"grid": [0.1, 0.2]}})
    assert not list(edge_notes(two, rows("hhgdt", "epsilon", [0.2, 0.2]))), "two values are all edge"
    words = experiment({"name": "hhgdt", "criterion": {"grid": ["gini", "entropy"]}})
    assert not list(edge_notes(words, rows("hhgdt", "criterion", ["gini"])))
