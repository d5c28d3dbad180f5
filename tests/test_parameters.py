"""A parameter is declared once, and everything that speaks of it takes it from there."""

import inspect
import json
import pickle
import re
from pathlib import Path

import jsonschema
import pytest
from cli_support import python
from sklearn.base import BaseEstimator, clone

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier
from oblique_cli.estimators.oblique.heuristics import classifier_of
from oblique_cli.estimators.oblique.refined import TAOClassifier
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import Choice, Integer, Real
from oblique_cli.parameters import Alias, Declared, parameter
from oblique_cli.tree.pruning import PRUNINGS
from oblique_cli.tree.splitting import PROPOSERS

PACKAGE = Path(__file__).resolve().parent.parent / "oblique_cli"


class Base(Declared, BaseEstimator):
    """A base.

    Attributes
    ----------
    found_ : int
    """

    width: float = parameter(default=1.0, allowed=Real(0.0), help="How wide.", also="breadth")
    steps: int = parameter(default=3, allowed=Integer(1), help="How many steps.", kw_only=True)


class Wider(Base, kw_only=True):
    """A wider one."""

    width: float = parameter(default=5.0)
    mode: str = parameter(default="a", allowed=Choice(("a", "b")), help="Which way.")


class Some(Wider, kw_only=True, takes=("width", "mode")):
    """Some of it."""

    mode = "b"


def test_the_constructor_is_an_ordinary_one():
    assert str(inspect.signature(Base)) == "(width: 'float' = 1.0, *, steps: 'int' = 3) -> None"
    first = Base(2.0, steps=4)
    assert (first.width, first.steps) == (2.0, 4) and first.get_params() == {"width": 2.0, "steps": 4}
    assert repr(clone(first)) == repr(pickle.loads(pickle.dumps(first))) == "Base(steps=4, width=2.0)"
    with pytest.raises(TypeError, match=r"^Base.__init__\(\) got an unexpected keyword argument 'depth'$"):
        Base(depth=1)


def test_a_subclass_changes_what_it_says_and_keeps_the_rest():
    assert list(inspect.signature(Wider).parameters) == ["width", "mode", "steps"]  # what is given by place first
    assert list(Wider.parameters) == ["mode", "width", "steps"]
    assert Wider().width == 5.0 and Wider.constraints["width"] == Real(0.0)
    assert Wider.aliases == {"width": Alias("breadth")} and Wider.parameters["width"].help == "How wide."


def test_a_subclass_leaves_out_what_it_does_not_take_or_fixes():
    assert list(inspect.signature(Some).parameters) == ["width"] and Some().mode == "b"
    assert Some().get_params() == {"width": 5.0}


def test_help_has_the_parameters_before_the_attributes():
    assert inspect.getdoc(Base) == (
        "A base.\n\nParameters\n----------\nwidth : a number in [0, inf), default 1.0\n    How wide.\n"
        "steps : a whole number, at least 1, default 3\n    How many steps.\n\n"
        "Attributes\n----------\nfound_ : int"
    )


def test_a_constructor_that_somebody_wrote_is_kept():
    class Written(Base):
        constraints = {"height": Real()}  # noqa: RUF012

        def __init__(self, height: float = 0.0) -> None:
            self.height = height

    class Below(Written):
        """Below."""

    assert list(Written.parameters) == ["height"] and Written.parameters["height"].allowed == Real()
    assert Below.__init__ is Written.__init__ and Below.constraints == {"height": Real()}


def test_a_parameter_without_a_default_is_refused():
    with pytest.raises(TypeError, match="parameter 'depth' of Lacking has no default"):

        class Lacking(Base):
            depth: int = parameter(allowed=Integer())


HEURISTIC = '''
"""A heuristic in a file of somebody's own."""
import numpy as np
from oblique_cli.ground.constraints import Real
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer


@PROPOSERS.register("slanted")
class Slanted(Proposer):
    """Cut along one slanted line."""

    title, source = "Slanted", "a test"
    slant: float = parameter(default=0.5, allowed=Real(0.0, 2.0), help="How far the line leans.", also="lean")

    def propose(self, node):
        normal = np.ones((1, node.X.shape[1]))
        normal[0, 0] = self.slant
        yield Candidates.directions(normal / np.linalg.norm(normal))
'''
SEEN = """
import inspect, json
from pathlib import Path
import slanted
from oblique_cli.cli import listing
from oblique_cli.config.json_schema import schema
from oblique_cli.estimators.algorithms import ALGORITHMS, make, take_up_proposers
from oblique_cli.estimators.oblique.heuristics import classifier_of
from tools import algorithm_pages, stubs

take_up_proposers()
made = classifier_of("slanted")
known = stubs.classes() | stubs.classes(Path(slanted.__file__).parent)
print(json.dumps({
    "signature": str(inspect.signature(made).parameters["slant"]),
    "help": inspect.getdoc(made),
    "stub": stubs._stub_of("Slanted", known),
    "table": algorithm_pages._parameters([ALGORITHMS["slanted"]]),
    "schema": schema(),
    "list": listing.KINDS["algorithms"](),
    "alias": make("slanted", lean=1.5).slant,
}))
"""


@pytest.mark.long
def test_a_line_in_one_file_is_in_signature_help_stub_schema_list_and_table(tmp_path):
    """Of a heuristic that is in no file but its own."""
    (tmp_path / "slanted.py").write_text(HEURISTIC, encoding="utf-8")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\n{SEEN}"
    ended = python(Path.cwd(), "-c", code)
    assert ended.code == 0, ended.err
    seen = json.loads(ended.out)
    assert seen["signature"] == "slant: 'float' = 0.5"
    assert "slant : a number in [0, 2], default 0.5. How far the line leans\n" in seen["help"]
    assert "slant: float = 0.5," in seen["stub"] and "How far the line leans." in seen["stub"]
    assert "| `slant` (also `lean`) | 0.5 | How far the line leans. |" in seen["table"]
    (listed,) = (entry for entry in seen["list"] if entry["name"] == "slanted")
    expected = {"default": 0.5, "allowed": "a number in [0, 2]", "meaning": "How far the line leans.", "also": "lean"}
    assert listed["parameters"]["slant"] == expected
    config = {"version": 1, "dataset": "iris", "algorithm": {"name": "slanted", "slant": 1.0}, "cv": {"folds": 2}}
    jsonschema.validate(config, seen["schema"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(config | {"algorithm": {"name": "slanted", "slant": 3.0}}, seen["schema"])
    assert '"description": "How far the line leans."' in json.dumps(seen["schema"])
    assert seen["alias"] == 1.5


OURS = sorted(
    {
        algorithm.estimator
        for algorithm in ALGORITHMS.values()
        if algorithm.estimator.__module__.startswith("oblique_cli.")
    }
    | {ObliqueTreeClassifier, TAOClassifier, BottomUpTreeClassifier, *map(classifier_of, PROPOSERS)},
    key=lambda cls: cls.__name__,
)
OF_OTHERS = {"CARTRegressor"}  # scikit-learn's constructor


@pytest.mark.parametrize("cls", [cls for cls in OURS if cls.__name__ not in OF_OTHERS], ids=lambda cls: cls.__name__)
def test_an_algorithm_says_the_same_of_its_parameters_everywhere(cls):
    names = list(inspect.signature(cls).parameters)
    assert hasattr(cls.__init__, "declared") and all(entry.help for entry in cls.parameters.values() if entry.allowed)
    assert sorted(names) == sorted(cls().get_params(deep=False)) == sorted(cls.parameters)
    for name, item in cls.parameters.items():
        assert f"\n{item.heading(name)}" in inspect.getdoc(cls), name
        assert inspect.signature(cls).parameters[name].default == item.default
    assert dict(cls.constraints) == {name: entry.allowed for name, entry in cls.parameters.items() if entry.allowed}


def test_every_heuristic_and_rule_declares_its_parameters():
    for cls in (*PROPOSERS.values(), *PRUNINGS.values()):
        if cls.__module__.startswith("oblique_cli."):
            assert not cls.parameters or hasattr(cls.__init__, "declared"), cls
            assert all(item.help for item in cls.parameters.values()), cls


# Where the name of a parameter of a heuristic stands: its line, the dictionary that the core reads, and what reads it.
PLACES = 3


@pytest.mark.parametrize("parameter_name", ["tau", "patience", "restarts"])
def test_a_parameter_of_a_heuristic_takes_at_most_three_places(parameter_name):
    """Declare it, hand it to the core, use it in the reference: nothing outside the heuristic's own files."""
    declares = re.compile(rf"^    {parameter_name}: \w.* = parameter\(", re.MULTILINE)
    hands = re.compile(rf'"{parameter_name}": ')
    uses = re.compile(rf"self\.{parameter_name}\b")
    results = {path: path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "proposers").glob("*.py"))}
    homes = [path for path, text in results.items() if declares.search(text)]
    assert homes, parameter_name
    for path in homes:
        kinds = [bool(kind.search(results[path])) for kind in (declares, hands, uses)]
        assert len(declares.findall(results[path])) == 1 and sum(kinds) <= PLACES
    heuristics = PACKAGE / "estimators" / "oblique" / "heuristics.py"
    for path in (heuristics, PACKAGE / "estimators" / "algorithms.py", PACKAGE / "config" / "keys.py"):
        assert not re.search(rf"\b{parameter_name}\b", path.read_text(encoding="utf-8")), path
