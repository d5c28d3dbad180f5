"""What a command does not load, and that it is there when it is needed."""

import json
import subprocess
import sys

import pytest

from oblique_cli.cli import listing
from oblique_cli.estimators import algorithms

# Each would take longer to load than a small tree takes to grow.
SLOW = {"pandas", "scipy.stats._stats_py", "sklearn.metrics", "sklearn.model_selection", "sklearn.tree", "sklearn.svm"}


def loaded(folder, code):
    """Modules that are loaded at the end of `code`, in a process of its own."""
    code += "; import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_a_tree_of_a_small_table_needs_no_large_library(call):
    (call.folder / "my.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{'pq'[i > 9]}\n" for i in range(20)))
    of_areas = {"sklearn.metrics", "scipy.stats._stats_py"}  # under the ROC curve, which `fit` says of two classes
    for words, needed in (
        (["tree", "my.csv", "--target", "y"], set()),
        (["validate", "bupa_hhgdt"], set()),
        (["fit", "my.csv", "--target", "y", "--algorithm", "hhgdt", "--folds", "2"], of_areas),
    ):
        result = loaded(call.folder, f"from oblique_cli.cli import call; assert call({words!r}) == 0")
        assert "sklearn.base" in result and result & SLOW == needed


def test_the_stored_list_of_algorithms_is_that_of_their_table_and_needs_no_library(call, monkeypatch):
    code = "from oblique_cli.cli import call; call(['list', 'algorithms'])"
    assert not loaded(call.folder, code) & {"numpy", "sklearn", "yaml"}
    assert algorithms.__name__ in sys.modules
    listed = listing.algorithms(parameters=False)
    monkeypatch.delitem(sys.modules, algorithms.__name__)
    assert listing.stored_algorithms() == listed, "run: make generated"
    monkeypatch.setattr(listing, "files_of_heuristics", lambda: "a_new_one.py")
    assert listing.stored_algorithms() is None


def test_a_stored_tree_is_used_without_large_libraries(call):
    (call.folder / "my.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{'pq'[i > 9]}\n" for i in range(20)))
    fit = "fit my.csv --target y --algorithm hhcart_a --folds 2 --output m.json"
    assert call(*fit.split()).code == 0
    predict = ["predict m.json my.csv --proba --output new.csv"]
    others = ["tree m.json", "export m.json --format c --output m.c", "explain m.json --values b=2", "data list"]
    for commands, absent in ((predict, {"scipy", "joblib", "yaml"}), (others, {"matplotlib", "onnx"})):
        calls = "; ".join(f"assert call({words.split()!r}) == 0" for words in commands)
        result = loaded(call.folder, f"from oblique_cli.cli import call; {calls}")
        assert not result & {"sklearn", "pandas", *absent}


@pytest.mark.long
def test_what_was_left_for_later_is_whole_when_it_is_asked_for(tmp_path):
    code = """
from oblique_cli.cli._fitting import load_scikit_learn
load_scikit_learn()
import scipy.stats
from scipy.stats import rankdata
assert scipy.stats.mode([1, 2, 2]).mode == 2 and rankdata([3, 1]).tolist() == [2, 1]
from scipy.stats.mstats import mquantiles
import pandas
assert pandas.DataFrame({"a": [1]}).shape == (1, 1)
from sklearn.model_selection import cross_val_score
from oblique_cli import AxisParallelClassifier
frame = pandas.DataFrame({"a": range(20), "b": range(20)})
assert cross_val_score(AxisParallelClassifier(), frame, [0] * 10 + [1] * 10).mean() > 0.8
"""
    assert {"pandas", "scipy.stats._stats_py"} <= loaded(tmp_path, f"exec({code!r})")


@pytest.mark.long
def test_a_library_that_is_loaded_already_stays(tmp_path):
    loaded(
        tmp_path,
        "import pandas, scipy.stats; before = scipy.stats, pandas; "
        "from oblique_cli.cli._fitting import load_scikit_learn; load_scikit_learn(); load_scikit_learn(); "
        "import sys; assert before == (sys.modules['scipy.stats'], sys.modules['pandas'])",
    )
