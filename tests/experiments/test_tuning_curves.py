"""Curves of accuracy against epsilon are the tables from which a run chooses."""

import numpy as np
import pytest

from oblique_cli import config, data, make
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.experiments.tuning_curves import tuning_curves
from oblique_cli.schemes import SCHEMES

GRID = [0.05, 0.2, 0.35]


def experiment(scheme):
    return config.from_mapping(
        {
            "version": 1,
            "name": "curves",
            "seed": 3,
            "datasets": ["bupa", "wine"],
            "algorithms": [{"name": name, "epsilon": {"grid": GRID}} for name in ("gdt", "hhgdt")],
            "cv": {"scheme": scheme, "repeats": 1, "folds": 3, "tune": {"folds": 3}},
        },
        where="test",
    )


def test_nested_curves_choose_what_the_run_chooses(tmp_path):
    made = experiment("nested")
    with Store(tmp_path / "r.sqlite") as store:
        run(made, store, n_jobs=1)
        stored = {(row.dataset, row.algorithm, row.fold): row for row in store.rows("curves")}
    curves = {(c.dataset, c.algorithm, c.fold): c for c in tuning_curves(made, "epsilon")}
    assert set(curves) == set(stored) and len(curves) == 12
    for key, curve in curves.items():
        assert curve.values == tuple(GRID)
        assert stored[key].chosen == {"epsilon": curve.chosen}
        assert [100 * e["n_correct"] / e["n_rows"] for e in stored[key].inner] == list(curve.accuracy)
        assert max(curve.accuracy) == curve.accuracy[curve.values.index(curve.chosen)]


def test_a_two_stage_curve_is_a_cross_validation_over_all_rows():
    made = experiment("two_stage")
    curves = list(tuning_curves(made, "epsilon"))
    assert [(c.dataset, c.algorithm, c.fold) for c in curves] == [
        (name, algorithm, -1) for name in ("bupa", "wine") for algorithm in ("gdt", "hhgdt")
    ]
    # By hand, one tree for each value: no path, no tuning code.
    dataset = data.load("bupa")
    pairs = list(next(SCHEMES["two_stage"].draw(dataset, made.cv, made.seed, 0)).tuning)
    assert sorted(np.concatenate([pair.valid for pair in pairs])) == list(range(dataset.n))
    for k, epsilon in enumerate(GRID):
        right, leaves = 0, []
        for pair in pairs:
            tree = make("gdt", epsilon=epsilon).fit(dataset.X[pair.train], dataset.y[pair.train])
            right += int((tree.predict(dataset.X[pair.valid]) == dataset.y[pair.valid]).sum())
            leaves.append(tree.n_leaves_)
        assert curves[0].accuracy[k] == pytest.approx(100.0 * right / dataset.n)
        assert curves[0].leaves[k] == pytest.approx(np.mean(leaves))
