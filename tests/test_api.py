"""The door for extensions keeps its promise: the names of API_VERSION, and what they take."""

import inspect
import re
from pathlib import Path

import pytest

import oblique_cli
from oblique_cli import api
from oblique_cli.ground.resources import PACKAGE

# Name -> its parameters in version 1.0. A minor version may add names, and parameters with a default behind these.
CALLABLE = {
    "heuristic": "name",
    "algorithm": "name title source task family path_parameter compiled unused fixed",
    "ModelFamily": "growth task makes_tree hyperplanes without",
    "Proposer": "",
    "Node": "X y weights n_classes depth criterion ties min_leaf seed path",
    "Candidates": "spec",
    "Boolean": "",
    "Choice": "names",
    "Constraint": "",
    "Integer": "low high",
    "Optional": "inner",
    "Real": "low high open_low open_high",
    "Text": "pattern words",
    "check": "params table owner",
    "criterion": "name gain",
    "metric": "name about",
    "scheme": "name",
    "Scheme": "",
    "pruning_rows": "dataset cv train seed names",
    "CVSpec": "scheme folds repeats tune_folds stratified test_fraction pruning_fraction tune_metric options",
    "Fold": "repeat index train test pruning tuning tuning_id apparent",
    "TuningPair": "train valid pruning",
    "Row": (
        "key dataset algorithm repeat fold status message n_correct n_test n_leaves n_nodes depth "
        "tune_seconds fit_seconds predict_seconds chosen per_class inner clusters measures environment packed"
    ),
    "Dataset": (
        "name X y classes feature_names task qualitative levels split paper_code note groups group_column "
        "weights notes"
    ),
    "pruning_rule": "name",
    "PruningRule": "",
    "LabeledRows": "X codes weights",
    "CrossValidation": "rows grow",
    "exporter": "name title suffix kinds named digits",
    "Source": "model procedure name precision",
    "model_kind": "name state optional left_out",
    "Numbers": "dtype shape low below",
    "Whole": "low below",
    "Labels": "size",
    "plot": "name",
    "Plot": "figure caption",
    "Request": "metric x parameter features width data_dir offline",
    "data_set": "name",
    "Handed": "table target qualitative task note",
    "reader_of_sizes": "library",
    "Sizes": "leaves nodes depth",
    "generator": "root names",
}  # fmt: skip
# Those that the package alone makes, whose constructors are not promised; what decorators make; exceptions and values
OTHERS = {
    "Tree", "Procedure", "Material", "Metric", "Undefined", "CLASSIFICATION", "REGRESSION", "ANY_TASK", "LABELS",
    "PROBABILITIES", "MODEL", "ROW", "POOLED", "MEAN", "SUM", "FOLDS", "FRACTION", "NO_ROWS", "KEPT_ROWS",
    "TRAINING_ROWS", "CLASSIFIER", "REGRESSOR", "SIZES", "ObliqueError", "ConfigError", "DataError", "parameter",
    "Declared",
}  # fmt: skip


@pytest.mark.parametrize("module", [oblique_cli, api])
def test_every_export_of_a_stub_is_a_public_name(module):
    text = Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert text.count(" as ") == len(set(module.__all__) - {"API_VERSION"})
    private = {name for name in dir(module) if not name.startswith("__")} - set(module.__all__)
    assert all(name.endswith(("Classifier", "Regressor")) for name in private)


def test_the_names_are_those_of_the_version():
    assert api.API_VERSION == "1.1"
    assert set(api.__all__) == {"API_VERSION", *CALLABLE, *OTHERS} and len(set(api.__all__)) == len(api.__all__)
    assert set(dir(api)) >= set(api.__all__) and all(getattr(api, name) is not None for name in OTHERS)


@pytest.mark.parametrize("name", CALLABLE)
def test_a_name_takes_what_is_promised(name):
    parameters = inspect.signature(getattr(api, name)).parameters
    promised = CALLABLE[name].split()
    positional = [item for item in promised if item in parameters]
    assert positional == promised == list(parameters)[: len(promised)]
    for added in list(parameters)[len(promised) :]:
        assert parameters[added].default is not inspect.Parameter.empty, added


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        api.nothing  # noqa: B018


def test_the_page_has_every_decorator():
    page = (PACKAGE.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    text = set(re.findall(r"`(\w+)\(", page))
    assert text >= {name for name in CALLABLE if name.islower() and name not in ("check", "generator", "pruning_rows")}
    assert text & set(CALLABLE) == {name for name in text if hasattr(api, name)}
