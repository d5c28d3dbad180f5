"""Parameters that may be lists, on the command line and in configurations, as in Python."""

import json

import pytest
from cli_support import forked

LISTS = [
    ("tao", "base", ["axis_parallel", "fdt"], ("penalty=0.01",)),
    ("bagged_forest", "proposer", ["hhgdt", "axis_parallel"], ("n_estimators=3",)),
    ("heterogeneous_forest", "models", ["lda", "ridge"], ("n_estimators=3",)),
]


@pytest.mark.parametrize(("algorithm", "name", "several", "others"), LISTS)
def test_a_list_is_one_value(tmp_path, algorithm, name, several, others):
    given = [item for one in (f"{name}=[{', '.join(several)}]", *others) for item in ("--set", one)]
    ended = forked(tmp_path, "fit", "iris", "--algorithm", algorithm, "--folds", "2", *given, "-o", "model.json")
    assert ended.code == 0, ended.err
    assert json.dumps(several) in json.dumps(json.loads((tmp_path / "model.json").read_text()))
