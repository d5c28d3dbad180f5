"""`verify` answers every question for every kind of model, or refuses the question in one sentence."""

import itertools
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from model_commands import model_of
from robustness_support import DISCRETE, NAMES, SOAK, small_parameters, some

from oblique_cli import Model, make, verify
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.models.procedure import procedure_of

# Each kind of leaf and of vote, on columns without a use and with a column of levels; long: all tables, and a sample of
# the other algorithms, all of them in a soak.
KINDS = ("axis_parallel", "hhcart_a", "logistic_tree", "lmt", "logistic_forest", "raf", "rof", "pilot", "m5_style")
SAMPLE = [*KINDS, *some(sorted({*NAMES} - {*KINDS}), 6, "questions")]
LONG = pytest.mark.long
VARIANTS: tuple[dict[str, Any], ...] = ({}, {"leaf_models": "logistic"}, {"max_depth": 0})


def tables(name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and classes: columns without a use, one class, two, a rare third, one column, and four classes."""
    rng = np.random.default_rng(3)
    X = np.floor(3 * rng.uniform(size=(40, 3))) if name in DISCRETE else rng.normal(size=(40, 3))
    noise = rng.integers(0, 2, 40)
    yield np.ones((40, 3)), noise
    yield X, np.zeros(40, int)
    yield X, noise
    yield X, np.where(X[:, 0] > 0.0, np.where(X[:, 1] > 0.9, 1, 2), 0)
    yield X[:, :1], (np.abs(X[:, 0]) > 0.5).astype(int)
    yield X, 2 * (X[:, 0] > 0.0) + (X[:, 1] > 0.0)


def models(name: str, whole: bool) -> Iterator[Model]:
    known = ALGORITHMS[name].parameters
    for number, (X, y) in enumerate(itertools.islice(tables(name), None if whole else 1)):
        # Every variant of the first table, and one in turn of each other: all of them in a soak.
        chosen = VARIANTS if SOAK or not number else VARIANTS[number % len(VARIANTS) :][:1]
        for variant in (item for item in chosen if {*item} <= {*known}):
            try:
                fitted = make(name, random_state=1, **{**small_parameters(name), **variant}).fit(X, y)
            except (ConfigError, DataError):
                continue  # of other tests
            yield Model.of(fitted, algorithm=name)
    yield model_of(name)  # with a column of levels


def questions(model: Model, rng: random.Random) -> Iterator[dict[str, Any]]:
    cells = procedure_of(model).cells
    numbers = [cell.name for cell in cells if not cell.levels]
    rows = np.array(
        [[rng.randrange(len(cell.levels) + 1) if cell.levels else rng.gauss(0, 3) for cell in cells] for _ in range(3)]
    )
    for name in (numbers[0], numbers[-1]):
        yield {"monotone": {name: rng.choice((-1, 1))}}
        yield {"monotone": {name: 1}, "within": {name: (0.0, 1.0)}}
    yield {"never_uses": [cells[0].name, cells[-1].name]}
    for reach in (1e-9, 0.3, 50.0):
        yield {"robust": reach, "rows": rows}
    yield {"robust": 0.3, "rows": rows, "reference": rows, "never_uses": numbers[:1]}
    yield {"robust": 0.3, "rows": rows[:0]}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "whole"), [*((name, False) for name in KINDS), *(pytest.param(name, True, marks=LONG) for name in SAMPLE)]
)
def test_every_question_is_answered_or_refused_in_a_sentence(name, whole, capfd):
    rng, answered = random.Random(f"questions {name}"), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models(name, whole):
            try:
                queries = list(questions(model, rng))
            except ConfigError:
                continue  # a model without steps
            for question in queries:
                try:
                    answered += len(verify(model, **question).verdicts)
                except ConfigError as error:
                    assert str(error).endswith(".") and "\n" not in str(error), question
    print(f"{name}: {answered} verdicts")
    assert answered or name not in KINDS
    assert capfd.readouterr().out == f"{name}: {answered} verdicts\n"  # what the solver prints would spoil JSON
