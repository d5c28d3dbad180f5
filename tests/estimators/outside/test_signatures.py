"""The parameters of known classes that a configuration may set: the tables agree with the libraries and each other."""

from importlib import metadata

import pytest

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, allowed, library_of, refused

SVC = "sklearn.svm.SVC"


def test_the_tables_have_the_known_classes_and_no_others():
    ours = {path for path in CLASSES if library_of(path) == "sklearn"}
    assert len(ours) > 60 and all(CLASSES[path].version for path in ours)
    assert set(allowed()) == set(LIBRARIES)
    for path, row in CLASSES.items():
        assert set(row.parameters) <= set(allowed()[library_of(path)]), path


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_table_has_what_is_installed(library):
    """python -m tools.signatures brings it up to date."""
    paths = [path for path, row in CLASSES.items() if library_of(path) == library and row.version]
    try:
        installed = metadata.version(LIBRARIES[library])
    except metadata.PackageNotFoundError:
        pytest.skip(f"{LIBRARIES[library]} is not installed")
    for path in paths:
        if installed.split(".")[:2] != CLASSES[path].version.split(".")[:2]:
            pytest.skip(f"the table is of {library} {CLASSES[path].version}, here is {installed}")
        try:
            own, further = parameters(load_class(path))
        except ConfigError as error:
            pytest.skip(str(error))
        names = set(allowed()[library])
        assert set(CLASSES[path].parameters) == (names if further else names & set(own)), path


def test_another_name_or_value_is_refused_and_a_near_name_is_shown():
    assert refused(SVC, {}, "kernel", "poly") == refused(SVC, {}, "C", 2) == ""
    assert refused(SVC, {}, "kernal", "poly").endswith("Did you mean 'kernel'?")
    assert refused(SVC, {}, "kernel", "pyfunc").startswith("kernel of sklearn.svm.SVC must be a number or one of ")
    assert refused(SVC, {}, "class_weight", {"0": 1.0, "1": 2}) == ""


def test_validate_finds_a_misspelt_parameter_without_importing(call):
    (call.folder / "x.yaml").write_text(
        "version: 1\ndataset: iris\nalgorithms:\n  - axis_parallel\n"
        "  - class: sklearn.ensemble.AdaBoostClassifier\n    params:\n"
        "      estimator: {class: sklearn.tree.DecisionTreeClassifier, params: {max_detph: 2}}\n"
        "    grid: {learning_rte: [0.1, 1.0]}\ncv: {scheme: nested}\n"
    )
    ended = call("validate", "x.yaml")
    assert ended.code == 2 and "Did you mean 'learning_rate'" in ended.err
    assert "DecisionTreeClassifier has no parameter 'max_detph'" in ended.err
    assert "Did you mean 'max_depth'" in ended.err
