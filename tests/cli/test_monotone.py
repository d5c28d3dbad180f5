"""`oblique fit --monotone`, and the key of configurations, end to end."""

from pathlib import Path

import jsonschema
import numpy as np
import pytest

from oblique_cli import config
from oblique_cli.cli import call
from oblique_cli.config.json_schema import schema
from oblique_cli.models import load

# The command line shows no warnings of libraries; what they say stands in its text.
pytestmark = pytest.mark.filterwarnings("ignore:monotonic_cst of")

PLAIN = str(Path(__file__).resolve().parent.parent / "files" / "plain.csv")


def fit(*arguments: str) -> int:
    return call(["fit", PLAIN, "--folds", "2", *arguments])


@pytest.mark.parametrize("algorithm", ["hhcart_model_tree", "cart_regression"])
def test_a_fit_with_an_order_is_proved_and_its_file_keeps_it(tmp_path: Path, capsys, algorithm: str) -> None:
    model = str(tmp_path / "model.json")
    more = ["--set", "max_depth=3"]
    options = ["--monotone", "length_mm", "--monotone", "moisture_pct:-"]
    assert fit("--target", "weight_mg", "--algorithm", algorithm, *more, *options, "--output", model) == 0
    assert call(["verify", model, *options]) == 0
    assert capsys.readouterr().out.count("PROVED") == 2
    assert load(model).parameters["monotonic_cst"] == {"mapping": [[0, 1], [4, -1]]}


def test_a_fit_says_which_columns_the_rows_contradict(tmp_path: Path, capsys) -> None:
    rows = np.arange(60)
    table = tmp_path / "own.csv"
    table.write_text("age,y\n" + "".join(f"{i},{'yes' if i > 30 else 'no'}\n" for i in rows))
    options = ["--target", "y", "--algorithm", "axis_parallel", "--monotone", "age:-"]
    assert call(["fit", str(table), "--folds", "2", *options]) == 0
    output = " ".join(capsys.readouterr().out.replace("\n# ", " ").split())
    assert "never rises as 'age' grows, and in the training rows it rises" in output


def test_a_configuration_names_columns(tmp_path: Path) -> None:
    plain = {
        "version": 1,
        "dataset": {"name": "bupa"},
        "algorithm": {"name": "hhcart_a", "monotonic_cst": {"mcv": 1, "drinks": -1}},
    }
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(plain)
    spec = config.from_mapping(plain, "own").algorithms[0]
    assert spec.params["monotonic_cst"] == {"mcv": 1, "drinks": -1}
    plain["algorithm"]["monotonic_cst"] = {"mcv": 2}
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(plain)
    with pytest.raises(Exception, match="must be 1, -1 or 0 for each column"):
        config.from_mapping(plain, "own")
