"""The table of parameters of known classes: what is installed, and what is said of a misspelt name."""

from __future__ import annotations

from importlib import metadata

import pytest
from cli_support import call

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside import known
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, library_of, misspelt, signatures

__all__ = ["call"]

SVC = "sklearn.svm.SVC"


@pytest.fixture
def release(monkeypatch):
    """Say that another release is installed."""

    def say(version):
        def answer(name):
            if version is None:
                raise metadata.PackageNotFoundError(name)
            return version

        monkeypatch.setattr(known.metadata, "version", answer)

    return say


def test_every_known_class_of_scikit_learn_is_in_the_table():
    ours = {path for path in CLASSES if library_of(path) == "sklearn"}
    assert len(ours) > 60 and ours <= set(signatures()) <= set(CLASSES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_table_has_what_is_installed(library):
    """python -m tools.signatures brings it up to date."""
    paths = [path for path in signatures() if library_of(path) == library]
    try:
        installed = metadata.version(LIBRARIES[library].install)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{LIBRARIES[library].install} is not installed")
    for path in paths:
        if installed.split(".")[:2] != signatures()[path].version.split(".")[:2]:
            pytest.skip(f"the table is of {library} {signatures()[path].version}, here is {installed}")
        try:
            own, further = parameters(load_class(path))
        except ConfigError as error:
            pytest.skip(str(error))
        assert (set(signatures()[path].parameters), signatures()[path].further) == (set(own), further), path


def test_what_a_class_takes_is_right_in_any_release(release):
    for version in (signatures()[SVC].version, "99.0", None):
        release(version)
        assert misspelt(SVC, "kernel", True) == misspelt(SVC, "kernel", False) == ""


def test_in_the_release_of_the_table_any_other_name_is_wrong(release):
    release(signatures()[SVC].version)
    assert misspelt(SVC, "kernal", True) == f"{SVC} has no parameter 'kernal'. Did you mean 'kernel'?"
    assert misspelt(SVC, "zzz", True).startswith(f"{SVC} has no parameter 'zzz'. It has: C, break_ties, ")


@pytest.mark.parametrize("version", ["99.0", None])
def test_in_another_release_a_name_may_be_new(release, version):
    release(version)
    assert misspelt(SVC, "zzz", False) == ""
    assert misspelt("sklearn.tree.DecisionTreeClassifier", "max_dpeth", True) == ""  # a run asks the class itself
    told = misspelt("sklearn.tree.DecisionTreeClassifier", "max_dpeth", False)
    assert "has no parameter 'max_dpeth'. Did you mean 'max_depth'" in told
    assert told.endswith(f"here is {version or 'none'}: oblique validate --import asks it.")


def test_classes_that_are_not_in_the_table_are_not_judged():
    assert misspelt("mine.Trees", "anything", False) == ""


def test_validate_finds_a_misspelt_parameter_without_importing(call):
    (call.folder / "x.yaml").write_text(
        "version: 1\ndataset: iris\nalgorithms:\n  - axis_parallel\n"
        "  - class: sklearn.ensemble.AdaBoostClassifier\n    params:\n"
        "      estimator: {class: sklearn.tree.DecisionTreeClassifier, params: {max_detph: 2}}\n"
        "    grid: {learning_rte: [0.1, 1.0]}\ncv: {scheme: nested}\n"
    )
    ended = call("validate", "x.yaml")
    assert ended.code == 2 and "Did you mean 'learning_rate'?" in ended.err
    assert "DecisionTreeClassifier has no parameter 'max_detph'. Did you mean 'max_depth'" in ended.err
