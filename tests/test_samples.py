"""`make test` runs as many cases of a function as its marker `sample` names; of the others, `covered` are long."""

import pytest


@pytest.fixture
def conftest(request):
    plugins = request.config.pluginmanager.get_plugins()
    (result,) = (
        plugin for plugin in plugins if hasattr(plugin, "pytest_collection_modifyitems") and hasattr(plugin, "LEFT_OUT")
    )
    return result


def test_a_sample_is_spread_over_all_cases_and_the_others_are_long(request, conftest):
    items = []
    for number in range(12):
        item = pytest.Function.from_parent(request.node.parent, name=f"test_case[{number}]", callobj=lambda: None)
        for mark in (pytest.mark.sample(3), *[pytest.mark.long] * (number == 0)):
            item.add_marker(mark)
        items.append(item)
    conftest.pytest_collection_modifyitems(items)
    quick = [number for number, item in enumerate(items) if not item.get_closest_marker("long")]
    assert quick == [1, 4, 8]


class Case:
    def __init__(self, **params):
        self.nodeid, self.callspec, self.params = f"test[{params}]", self, params


def test_of_a_product_each_value_is_covered_as_often_as_the_mark_says(conftest):
    cases = [Case(a=a, b=b) for a in range(7) for b in range(5)]
    for times in (1, 3):
        chosen = conftest.covering(cases, cases[:2], times)
        assert {*cases[:2]} <= chosen and len(chosen) <= 7 * times + 2
        for name in ("a", "b"):
            held = [case.params[name] for case in chosen]
            assert min(map(held.count, held)) >= times and {*held} == {case.params[name] for case in cases}
