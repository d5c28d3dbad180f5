"""Models as plain steps."""

import math
import sys

import export_support as support
import numpy as np
import pytest
from export_support import Policy

from oblique_cli import Model, make
from oblique_cli.models.procedure import double_of_single, procedure_of


def test_thresholds_of_single_precision_by_hand():
    assert double_of_single(2.0**24 + 0.5) == 2.0**24 + 1.0  # which rounds to even, down
    assert double_of_single(2.0**24 + 2.0) == math.nextafter(2.0**24 + 3.0, 0.0)  # 2**24 + 3 rounds to even, up
    assert double_of_single(math.inf) == sys.float_info.max


@pytest.mark.parametrize("seed", range(5))
def test_a_comparison_in_single_precision_is_one_in_double(seed):
    rng = np.random.default_rng(seed)
    for _ in range(300):
        threshold = float(rng.normal() * 10.0 ** rng.uniform(-40, 30))
        limit = double_of_single(threshold)
        near = [limit]
        for direction in (-math.inf, math.inf):
            value = limit
            for _ in range(3):
                value = math.nextafter(value, direction)
                near.append(value)
        single = np.float32(threshold)
        near += [float(np.nextafter(single, np.float32(d))) for d in (-np.inf, np.inf)] + [threshold, float(single)]
        for value in near:
            assert (value <= limit) == (float(np.float32(value)) <= threshold)


def test_every_name_of_the_table_is_exported_or_refused_with_a_sentence():
    from oblique_cli.errors import ConfigError
    from oblique_cli.estimators.algorithms import ALGORITHMS

    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, size=(60, 3)).astype(float)
    exported = set()
    for name, algorithm in ALGORITHMS.items():
        regression = algorithm.family.task == "regression"
        y = X @ [1.0, 2.0, -1.0] + rng.normal(size=60) if regression else (X.sum(axis=1) > 6).astype(int)
        few = {"n_estimators": 2} if "n_estimators" in algorithm.parameters else {}
        model = Model.of(make(name, random_state=1, **few).fit(X, y), algorithm=name)
        try:
            procedure = procedure_of(model)
        except ConfigError as error:
            assert str(error).startswith(f"{name} cannot be exported or explained, only its predictions can be had")
            continue
        exported.add(name)
        case = support.Case(model, procedure, X)
        rows = support.rows(case, n=50, gaps=0)
        from oblique_cli.models.exporting import export

        answers, _ = support.expected(case, rows)
        labels, _ = support.say_json(str(export(model, "json")), case, rows, None)
        if regression:
            np.testing.assert_allclose(labels, answers, rtol=1e-9, atol=1e-9)
        else:
            assert labels == answers, name
    assert len(exported) >= 30 and {"hhbut", "oc1", "quest", "mprrof_t", "hhcart_forest", "tprti_b"} <= exported


def test_a_class_that_the_training_rows_lack_has_its_place():
    case = support.mixed("hhcart_a", Policy("impute"), max_depth=2, awkward=False)
    tree = case.procedure.tree
    assert case.procedure.classes == support.LABELS
    assert all(sum(tree.leaf(node).shares) == pytest.approx(1.0) for node in range(tree.n_nodes))


def test_what_fills_a_cell_is_what_the_fit_filled():
    case = support.mixed("hhcart_a", Policy("impute"), max_depth=3, awkward=False)
    fills = [cell.fill for cell in case.procedure.cells]
    assert fills[0] == pytest.approx(np.nanmedian(case.X[:, 0])) and fills[5] in (0.0, 1.0, 2.0)
    assert case.procedure.needed == ()
    retained = support.mixed("hhcart_a", Policy("keep", "crimcoord"), missing="learn", max_depth=3, awkward=False)
    assert {cell.fill for cell in retained.procedure.cells} == {None} and retained.procedure.needed == ()
    assert support.iris().procedure.needed == (0, 1, 2, 3)
