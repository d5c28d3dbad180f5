"""`make test` runs as many cases of a function as its marker `sample` names, and the others are long."""

import pytest


def test_a_sample_is_spread_over_all_cases_and_the_others_are_long(request):
    plugins = request.config.pluginmanager.get_plugins()
    (conftest,) = (
        plugin for plugin in plugins if hasattr(plugin, "pytest_collection_modifyitems") and hasattr(plugin, "LEFT_OUT")
    )
    items = []
    for number in range(12):
        item = pytest.Function.from_parent(request.node.parent, name=f"test_case[{number}]", callobj=lambda: None)
        for mark in (pytest.mark.sample(3), *[pytest.mark.long] * (number == 0)):
            item.add_marker(mark)
        items.append(item)
    conftest.pytest_collection_modifyitems(items)
    quick = [number for number, item in enumerate(items) if not item.get_closest_marker("long")]
    assert quick == [1, 4, 8]
