"""What goes away warns first, says what to use, and is gone in the version that was named."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import oblique_cli
from oblique_cli.ground import deprecation
from oblique_cli.ground.deprecation import deprecated


@pytest.fixture(autouse=True)
def marks(monkeypatch):
    monkeypatch.setattr(deprecation, "ALL", [])


def test_a_function_works_and_warns_where_it_is_called():
    @deprecated(since="0.1.0", gone_in="0.2.0", instead="`new`")
    def old(a, *, b=1):
        """Add."""
        return a + b

    with pytest.warns(FutureWarning, match=r"old is deprecated since 0\.1\.0 and goes in 0\.2\.0; use `new`\.") as said:
        assert old(1, b=2) == 3
    assert said[0].filename == __file__
    assert (old.__name__, old.__doc__) == ("old", "Add.")


def test_a_class_stays_a_class():
    @deprecated(since="0.1.0", gone_in="0.2.0", instead="`New`")
    class Old:
        def __init__(self, value=3):
            self.value = value

    class Own(Old):
        pass

    with pytest.warns(FutureWarning, match="use `New`"):
        made = Own(4)
    assert isinstance(made, Old) and made.value == 4


@pytest.mark.parametrize(("since", "gone_in"), [("0.2.0", "0.2.1"), ("0.2.0", "0.1.0"), ("1.0.0", "1.0.0")])
def test_nothing_goes_in_the_minor_version_that_warns(since, gone_in):
    with pytest.raises(ValueError, match="later minor version"):
        deprecated(since=since, gone_in=gone_in, instead="nothing")


def test_what_was_to_go_is_gone():
    """Of all modules, imported anew into a list of their own."""
    for module in pkgutil.walk_packages(oblique_cli.__path__, "oblique_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    now = deprecation._minor(oblique_cli.__version__)
    assert [str(each) for each in deprecation.ALL if deprecation._minor(each.gone_in) <= now] == []
