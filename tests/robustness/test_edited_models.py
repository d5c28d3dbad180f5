"""Model files that were edited, their digest made right again: one sentence, or a model that every command takes."""

import copy
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from export_support import Policy
from model_commands import COMMANDS, model_of, write_numbers, write_table
from robustness_support import counted, many, seeded

from oblique_cli import Model
from oblique_cli.cli import call as run
from oblique_cli.errors import DataError
from oblique_cli.models import load, save
from oblique_cli.models.file_format import digest

# One for each kind, and those whose parts differ.
MODELS: dict[str, Callable[[], Model]] = {
    **{
        name: (lambda name=name: model_of(name))  # type: ignore[misc]
        for name in (
            *("axis_parallel", "hhcart_a", "butif_svm", "lmt", "c45", "c45_forest", "aft", "odt", "rft", "raf", "rof"),
            *("hhcart_forest", "oblique_boosting", "tprti_a", "hhcart_model_tree", "cart_regression", "pathfinder"),
            *("knn", "hc_edit_upgma", "gepsvm", "svm"),
        )
    },
    "scores of levels": lambda: model_of("hhcart_a", Policy("keep", "crimcoord"), missing="learn"),
    "filled": lambda: model_of("hhcart_a", Policy("impute", "ordinal")),
    "probabilities": lambda: model_of("axis_parallel", probabilities="m_estimate", probability_strength=2.0),
}
OF_A_FIT = "of a fit"
NUMBERS: tuple[Any, ...] = (-1, 0, 1, 2, 3, 64, -7, 2**31, 2**53, 2**63, 2**70, 0.5, -0.5, 1e-300, 5e-324, 1e300, 1e308)
OTHERS: tuple[Any, ...] = (None, True, False, "", "x", "float64", "<U9", [], {}, [[]], [None], {"npz": "a0"}, {"a": 1})


def places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data, but of long lists the first entries and the last alone."""
    if path:
        yield path
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from places(value, (*path, key))
    elif isinstance(plain, list):
        for i in sorted({*range(min(len(plain), 4)), len(plain) - 1} - {-1}):
            yield from places(plain[i], (*path, i))


def edited(document: dict[str, Any], rng: random.Random, kinds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A copy with one to three values changed and a digest that fits."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice([p for p in places(changed) if p[0] != "digest"])
        parent: Any = changed
        for key in path[:-1]:
            parent = parent[key]
        old, action = parent[path[-1]], rng.randrange(8)
        if action == 0 and isinstance(parent, dict):
            del parent[path[-1]]
        elif action == 1 and isinstance(old, list) and old:
            old.append(copy.deepcopy(rng.choice(old)))
        elif action == 2 and isinstance(old, list) and old:
            del old[rng.randrange(len(old))]
        elif action == 3 and isinstance(old, list) and len(old) > 1:
            i, j = rng.randrange(len(old)), rng.randrange(len(old))
            old[i], old[j] = old[j], old[i]
        elif action == 4:
            parent[path[-1]] = copy.deepcopy(rng.choice(OTHERS))
        elif action == 5 and path[0] in (
            "kind",
            "estimator",
            "algorithm",
            "state",
            "parameters",
            "columns",
            "encoder",
            "facts",
        ):
            other = rng.choice(list(kinds.values()))
            changed[path[0]] = copy.deepcopy(other[path[0]])
        elif type(old) in (int, float) and rng.random() < 0.5:
            parent[path[-1]] = old + rng.choice((-1, 1, 2, -old, 1000))
        elif isinstance(old, str) and rng.random() < 0.5:
            parent[path[-1]] = rng.choice(
                (old + "x", old[:1], "number", "levels", "target", "drop", 'a"\nb', "9" * 500)
            )
        else:
            parent[path[-1]] = rng.choice(NUMBERS)
    changed["digest"] = digest(changed)
    return changed


@pytest.fixture(scope="module")
def documents(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """The content of a file of every model, whole."""
    path, found = tmp_path_factory.mktemp("documents") / "model.json", {}
    for name, made in MODELS.items():
        save(made(), path)
        found[name] = json.loads(path.read_text())
    # What a fit keeps beside the model: units, estimates, terms that move no row.
    write_table(path.parent, 60)
    words = ("--target", "said", "--algorithm", "hhgdt", "--folds", "2", "--output", str(path))
    assert run(["fit", str(path.with_name("new.csv")), *words]) == 0
    found[OF_A_FIT] = json.loads(path.read_text())
    return found


def test_every_fact_of_another_type_is_refused_by_its_place_or_serves(documents, call):
    whole, path, rng = documents[OF_A_FIT], call.folder / "model.json", random.Random("facts")
    write_table(call.folder)
    refused = 0
    for place in places(whole["facts"]):
        changed = copy.deepcopy(whole)
        parent = changed["facts"]
        for key in place[:-1]:
            parent = parent[key]
        old = parent[place[-1]]
        parent[place[-1]] = rng.choice([one for one in (*OTHERS, *NUMBERS) if type(one) is not type(old)])
        changed["digest"] = digest(changed)
        path.write_text(json.dumps(changed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for command in (("tree", "model.json", "--sparse"), ("report", "model.json", "--output", "card.html")):
                ended = call(*command)
                said = f"{place} = {parent[place[-1]]!r}: {ended.err}"
                assert ended.code in (0, 4) and "Traceback" not in ended.err, said
                if ended.code:
                    assert ended.err.count("\n") == 1 and "facts" in ended.err, said
        refused += ended.code == 4
    assert refused > 100


def serves(path: Path, edit: str, call: Callable[..., Any]) -> bool:
    """Whether a model is read and every command takes it; False if it is refused. Anything else fails here."""
    try:
        load(path)
    except DataError as error:
        message = str(error)
        assert "\n" not in message and message.endswith(".") and len(message) < 600, f"{edit}: {message}"
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sums of 1e308 overflow
        for command in COMMANDS:
            ended = call(*command)
            message = f"{edit}, {' '.join(command)}: {ended.err}"
            assert ended.code in (0, 2, 4), message
            lines = [line for line in ended.err.splitlines() if not line.startswith("note: ")]
            if ended.code:
                assert len(lines) == 1 and lines[0].startswith("error: ") and len(lines[0]) < 700, message
    return True


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", [*MODELS, OF_A_FIT])
def test_an_edited_model_is_one_sentence_or_serves_every_command(name, documents, call):
    path, rng = call.folder / "model.json", seeded(f"edited {name}")
    (write_numbers if documents[name]["task"] == "regression" else write_table)(call.folder)
    n = many(25, 2000)
    with counted("model files") as counts:
        for number in range(n):
            path.write_text(json.dumps(edited(documents[name], rng, documents)))
            counts["cases"] += 1
            counts["refused"] += not serves(path, f"edit {number}", call)
    loaded = n - counts["refused"]
    print(f"{name}: {loaded} of {n} edited models are read and serve")
    assert 0 < loaded < n
