"""Named things: kept once, found by name, and close matches for what is not."""

import subprocess
import sys

import pytest

from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.ground.registry import Registry, close_matches, misfit


@pytest.fixture
def fruit():
    registry = Registry("fruit", "oblique list fruit")
    registry.register("apple")(1)
    registry.register("pear")(2)
    return registry


def test_a_thing_is_registered_once_and_found_under_its_name(fruit):
    assert fruit["apple"] == 1
    assert list(fruit) == ["apple", "pear"] and len(fruit) == 2 and dict(fruit) == {"apple": 1, "pear": 2}
    assert "pear" in fruit and "plum" not in fruit
    assert fruit.get("pear") == 2
    assert fruit.get("plum", 7) == 7

    @fruit.register("plum")
    class Plum:
        pass

    assert fruit["plum"] is Plum
    with pytest.raises(ValueError, match="fruit 'apple' is registered twice"):
        fruit.register("apple")(3)
    assert fruit["apple"] == 1


def test_a_former_name_is_found_and_not_listed(fruit):
    fruit.former["pome"] = "apple"
    assert fruit["pome"] == fruit.get("pome") == 1 and "pome" in fruit and list(fruit) == ["apple", "pear"]
    assert (fruit.current("pome"), fruit.current("pear")) == ("apple", "pear")
    with pytest.raises(ConfigError, match="fruit 'pome' is registered twice"):
        fruit.register("pome")(3)


@pytest.mark.parametrize("name", ["", "red apple", "a,b", 3, ["x"]])
def test_a_name_can_be_typed(fruit, name):
    with pytest.raises(ConfigError) as caught:
        fruit.register(name)(3)
    needed = "needs a name of letters, digits, '_', '.', '+' and '-', without blanks"
    assert str(caught.value) == f"{__file__}: fruit {name!r} {needed}."


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda a, b: 0, None),
        (lambda a, b, c=1: 0, None),
        (lambda *rest: 0, None),
        (lambda a: 0, "must take (a, b), and takes (a)"),
        (lambda a, *, b: 0, "must take (a, b), and takes (a, *, b)"),
        (max, "must take (a, b), and does not say what it takes"),
        (3, "must take (a, b), and does not say what it takes"),
    ],
)
def test_a_function_that_cannot_be_called_as_it_will_be_is_told(function, fault):
    assert misfit(function, "a", "b") == fault


def test_an_unknown_name_comes_with_the_close_ones_or_with_all(fruit):
    with pytest.raises(UnknownName) as caught:
        fruit["Appel"]
    assert str(caught.value) == "unknown fruit 'Appel'. Did you mean 'apple'? (oblique list fruit)"
    assert isinstance(caught.value, ConfigError) and caught.value.exit_code == 2
    with pytest.raises(UnknownName) as caught:
        fruit["xyzzy"]
    assert str(caught.value) == "unknown fruit 'xyzzy'. Known: apple, pear. (oblique list fruit)"
    assert close_matches("HHCART", ["hhcart_a", "hhcart_d", "gdt"]) == " Did you mean 'hhcart_a' or 'hhcart_d'?"
    assert close_matches("zzz", ["gdt"]) == ""


def test_a_waiting_module_is_imported_before_those_that_need_its_thing():
    words = "from oblique_cli.proposers.hhgdt import HHGDT; from oblique_cli.proposers import PROPOSERS; len(PROPOSERS)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
