"""Paths in the parameters of known classes: none is opened or written, and what may be set is harmless."""

import contextlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import environment, oblique

from oblique_cli import config
from oblique_cli.config import outside
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.algorithm import is_foreign
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, allowed, library_of, parameters_of, refused
from oblique_cli.ground.nouns import AlgorithmSpec

SEARCH = "sklearn.model_selection.GridSearchCV"
ADA = "sklearn.ensemble.AdaBoostClassifier"
# Parameters by which libraries name files, hosts and code, and aliases of theirs, whether a signature has them or not.
DANGEROUS = {
    "sklearn": "memory is_data_valid pre_dispatch",
    "lightgbm": "fs forced_splits forcedsplits_filename forcedbins_filename machine_list machines nodes workers "
    "local_listen_port num_machines tree_learner save_binary is_save_binary snapshot_freq output_model input_model "
    "model_in valid data config task output_result convert_model saved_feature_importance_type",
    "xgboost": "callbacks nthread updater process_type",
    "ydf": "workers working_dir tuner resume_training explicit_args",
    "catboost": "input_borders output_borders train_dir snapshot_file save_snapshot name metadata dictionaries",
    "pytabkit": "tmp_folder device",
    "interpret": "callback",
}


def named(path: str) -> list[str]:
    """Names of parameters of a class: those that may be set, dangerous ones, and of what is installed all."""
    results = {*parameters_of(path), *DANGEROUS.get(library_of(path), "").split()}
    with contextlib.suppress(ConfigError):  # the library is not installed
        results |= set(parameters(load_class(path))[0])
    return sorted(results)


def hidden(planted: str) -> Iterator[Any]:
    """Values that have a path, or code that names one, in some place."""
    yield from (planted, [planted], [[1, planted]], {planted: 1}, {"a": planted}, {"a": [planted]}, f"auto {planted}")
    yield from (f"-B -d {planted}", f"gbdt forced_splits={planted}", f"1\nmachine_list={planted}", Path(planted).name)


def configuration(path: str, **keys: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "dataset": "iris",
        "algorithm": {"class": path, **keys},
        "cv": {"scheme": "nested" if "grid" in keys else "ordinary"},
    }


@pytest.mark.sample(7)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_path_in_any_parameter_of_any_known_class_is_refused(library, tmp_path):
    planted = str(tmp_path / "planted")
    for path in (path for path in CLASSES if library_of(path) == library):
        for name in named(path):
            for value in hidden(planted):
                assert name in refused(path, {}, name, value), (path, name, value)
                assert is_foreign(AlgorithmSpec(path, "id", {name: value}, {}))
                assert is_foreign(AlgorithmSpec(path, "id", {}, {name: (1, value)}))
        for keys in ({"params": {name: planted}}, {"grid": {name: [planted]}}):
            with pytest.raises(ConfigError, match=f"{name}.*--allow-code"):
                config.from_mapping(configuration(path, **keys))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "params", "place"),
    [
        (ADA, {"estimator": "CAT"}, "output_borders"),
        (ADA, {"estimator": {"class": "xgboost.XGBClassifier", "params": {"x": 1}}}, "x"),
        (SEARCH, {"estimator": "PLAIN", "param_grid": {"output_borders": ["P"]}}, "output_borders"),
        (SEARCH, {"estimator": "PLAIN", "param_grid": [{"train_dir": ["P"]}]}, "train_dir"),
        (SEARCH, {"estimator": "PLAIN", "param_grid": {"a__b": [1]}}, "a__b"),
        (SEARCH, {"param_grid": {"depth": [1]}}, "depth"),
        (SEARCH, {"estimator": "PLAIN", "param_grid": {"depth": "P"}}, "lists of values"),
        (SEARCH, {"estimator": "PLAIN", "param_grid": {"depth": ["P"]}}, "depth"),
        (SEARCH, {"estimator": "NESTED", "param_grid": {"estimator__output_borders": ["P"]}}, "output_borders"),
        ("weka.classifiers.trees.LMT", {"options": "-l P"}, "options"),
    ],
)
def test_estimators_in_parameters_and_their_grids_obey_the_same_list(path, params, place):
    plain = {"class": "catboost.CatBoostClassifier"}
    inner = {
        "PLAIN": plain,
        "CAT": {**plain, "params": {"output_borders": "P"}},
        "NESTED": {"class": ADA, "params": {"estimator": plain}},
    }
    if isinstance(params.get("estimator"), str):
        params = params | {"estimator": inner[params["estimator"]]}
    with pytest.raises(ConfigError, match="--allow-code") as caught:
        config.from_mapping(configuration(path, params=params))
    assert place in str(caught.value)
    assert is_foreign(AlgorithmSpec(path, "id", params, {}))
    assert config.from_mapping(configuration(path, params=params), code=outside.ALLOW).algorithms


def test_what_is_ordinary_passes():
    good = {"estimator": {"class": "sklearn.svm.SVC"}, "param_grid": {"C": [1.0], "gamma": ["scale", 0.1]}, "cv": 3}
    nested = {
        "estimator": {"class": "sklearn.ensemble.AdaBoostClassifier", "params": {"estimator": good["estimator"]}},
        "param_grid": {},
    }
    deep = {**nested, "param_grid": {"estimator__kernel": ["rbf", "poly"]}}
    for params in (good, nested, deep):
        spec = config.from_mapping(configuration(SEARCH, params=params)).algorithms[0]
        assert not is_foreign(spec)
    config.from_mapping(configuration("weka.classifiers.trees.LMT", params={"options": "-B -I 20 -W 0.5"}))


@pytest.mark.long
def test_a_run_refuses_in_one_sentence_before_anything_is_opened(tmp_path):
    (tmp_path / "x.yaml").write_text(
        "version: 1\ndataset: iris\nalgorithms:\n  - class: catboost.CatBoostClassifier\n"
        "    params: {iterations: 2, output_borders: victim}\n"
    )
    (tmp_path / "victim").write_text("precious")
    for command in ("run", "validate"):
        ended = oblique(tmp_path, command, "x.yaml")
        assert ended.code == 2
        assert ended.err.startswith("x.yaml:5:29 catboost.CatBoostClassifier has no parameter 'output_borders' that is")
        assert ended.err.count("--allow-code") == 1 and ended.err.endswith("1 error.\n")
    ended = oblique(tmp_path, "run", "x.yaml", "--set", "algorithms.0.params={input_borders: victim}")
    assert ended.code == 2 and "input_borders" in ended.err
    assert {path.name for path in tmp_path.iterdir()} == {"x.yaml", "victim"}
    assert (tmp_path / "victim").read_text() == "precious"


# What makes a model small, by library.
SMALL = {
    "sklearn": {"max_iter": 5, "n_estimators": 2, "n_restarts_optimizer": 0},
    "ydf": {"num_trees": 2},
    "imodels": {"max_rules": 2, "n_iters": 1},
    "pystreed": {"max_depth": 1},
    "catboost": {"iterations": 2},
    "xgboost": {"n_estimators": 2},
    "lightgbm": {"n_estimators": 2},
    "interpret": {"max_rounds": 2, "outer_bags": 1},
    "aeon": {"n_estimators": 2},
    "pytabkit": {"n_epochs": 1, "hidden_sizes": [4], "d_block": 4, "tabm_k": 2},
}
# Fits the classes of a library with every word and some numbers in every parameter, and prints what Python saw of files
# to be written, of sockets and of processes.
FITS = """
import json, os, sys, tempfile, warnings
library, classes, small = json.loads(sys.argv[1])
import numpy as np
from oblique_cli.estimators.n_jobs import in_threads
from oblique_cli.estimators.outside import building
from oblique_cli.estimators.outside.known import parameters_of
warnings.simplefilter("ignore")
in_threads()
seen, watching = set(), False
def hook(event, arguments):
    if not watching:
        return
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        if arguments[0] != os.devnull and "__pycache__" not in arguments[0]:
            seen.add((event, arguments[0]))
    elif event.startswith(("socket.", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.system")):
        if event not in ("socket.gethostname", "socket.__new__"):
            seen.add((event, str(arguments)))
sys.addaudithook(hook)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
fits = works = 0
for path in classes:
    known = parameters_of(path)
    regression = path.endswith(("Regressor", "RegressionTree")) or "linear_model" in path or path.endswith(("SVR",))
    base = {name: value for name, value in small.items() if name in known}
    if "estimator" in known and path.startswith("sklearn.model_selection"):
        base |= {"estimator": {"class": "sklearn.svm.SVC"}, "param_grid": {"C": [1.0, 2.0]}, "cv": 2}
    elif "estimator" in known and "multiclass" in path:
        base |= {"estimator": {"class": "sklearn.svm.SVC"}}
    building.load_class(path)
    for name, values in known.items():
        for value in ({}, *(values.words if "flags" not in values.kinds else ()), 2, True, [1, 0, 1, 0]):
            if name in base and value == {}:
                continue
            model = building.Model(path, {**base, **({} if value == {} else {name: value})}, "", False, 1)
            watching, fits = True, fits + 1
            try:
                model.fit(X, y)
                model.predict(X)
                works += 1
            except BaseException:
                pass
            watching = False
print()  # a library may have printed a line without its end
print(json.dumps([fits, works, sorted(seen), os.listdir(), os.listdir(tempfile.gettempdir())]))
"""


@pytest.mark.long
@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "weka"])
def test_what_may_be_set_opens_no_file_no_port_and_no_process(library, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{LIBRARIES[library]} is not installed (pip install 'oblique-trees[field]')")
    classes = [path for path in CLASSES if library_of(path) == library]
    for name in ("here", "temporary"):
        (tmp_path / name).mkdir()
    arguments = json.dumps([library, classes, SMALL.get(library, {})])
    env = {**environment(tmp_path), "TMPDIR": str(tmp_path / "temporary"), "OMP_NUM_THREADS": "1"}
    env["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path / "torch")  # which importing torch makes
    call = [sys.executable, "-P", "-c", FITS, arguments]
    done = subprocess.run(call, cwd=tmp_path / "here", env=env, capture_output=True, text=True, check=True)
    fits, works, seen, here, temporary = json.loads(done.stdout.splitlines()[-1])
    assert works > fits / 10 > 1, (fits, works)
    assert (seen, here, temporary) == ([], [], [])
    assert set(allowed()[library]), library
