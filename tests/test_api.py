"""The door for extensions keeps its promise: the names of API_VERSION, and what they take."""

import inspect
import re
from pathlib import Path

import pytest
import yaml

import oblique_cli
from oblique_cli import api
from oblique_cli.ground.resources import PACKAGE

NAMES = yaml.safe_load(Path(__file__).with_name("api_names.yaml").read_text(encoding="utf-8"))
CALLABLE, OTHERS = NAMES["callable"], set(NAMES["others"])


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
