"""Model files that were edited, their digest made right again: one sentence, or a model that every command takes."""

import copy
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from export_support import Policy
from model_commands import COMMANDS, EDITS, edited, model_of, places, write_numbers, write_table
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


@pytest.fixture(scope="module")
def documents(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """The content of a file of every model, whole."""
    path, result = tmp_path_factory.mktemp("documents") / "model.json", {}
    for name, made in MODELS.items():
        save(made(), path)
        result[name] = json.loads(path.read_text())
    # What a fit keeps beside the model: units, estimates, terms that move no row.
    write_table(path.parent, 60)
    words = ("--target", "said", "--algorithm", "hhgdt", "--folds", "2", "--output", str(path))
    assert run(["fit", str(path.with_name("new.csv")), *words]) == 0
    result[OF_A_FIT] = json.loads(path.read_text())
    return result


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
        parent[place[-1]] = rng.choice([value for value in EDITS if type(value) is not type(old)])
        changed["digest"] = digest(changed)
        path.write_text(json.dumps(changed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for command in (("tree", "model.json", "--sparse"), ("report", "model.json", "--output", "card.html")):
                ended = call(*command)
                text = f"{place} = {parent[place[-1]]!r}: {ended.err}"
                assert ended.code in (0, 4) and "Traceback" not in ended.err, text
                if ended.code:
                    assert ended.err.count("\n") == 1 and "facts" in ended.err, text
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
    n = many(12, 2000)
    with counted("model files") as counts:
        for number in range(n):
            path.write_text(json.dumps(edited(documents[name], rng, documents)))
            counts["cases"] += 1
            counts["refused"] += not serves(path, f"edit {number}", call)
    loaded = n - counts["refused"]
    print(f"{name}: {loaded} of {n} edited models are read and serve")
    assert 0 < loaded < n
