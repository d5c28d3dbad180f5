"""Views of small trees, one of them with names that break whatever does not escape them."""

import numpy as np

from oblique_cli import data, make
from oblique_cli.drawing.page import PageData
from oblique_cli.drawing.view import text_of, view_of
from oblique_cli.tree.reading import Units

WILD = [
    '</script><script>alert("x")</script>',
    "a \"quoted\" & 'single' \\ back`tick`",
    "emoji 🌳 and 名前",
    "100 % $x_1^2$ #{~} \x1b[31m\n-- <!-- ]]>",
]
WILD_CLASSES = ["</svg><img src=x onerror=alert(1)>", "[b] $y$", "{c} ' OR 1=1"]


def fitted(name="iris", algorithm="hhcart_a", **params):
    """A data set and a tree of it."""
    dataset = data.load(name)
    return dataset, make(algorithm, random_state=0, **params).fit(dataset.X, dataset.y)


def view(name="iris", algorithm="hhcart_a", names=None, classes=None, title="A tree", **params):
    """A view of a tree of hyperplanes."""
    dataset, model = fitted(name, algorithm, **params)
    rows = (model.tree_rows(dataset.X), dataset.y)
    return view_of(model.tree_, names or dataset.feature_names, classes or dataset.classes, title=title, rows=rows)


def wild_view():
    """Four features and three classes of iris under terrible names."""
    return view(names=WILD, classes=WILD_CLASSES, title="</title><b>Trees & 'co' \"…\"")


def page_data(name="iris", algorithm="hhcart_a", names=None, **params):
    """What the page of `view` knows besides."""
    dataset, model = fitted(name, algorithm, **params)
    rows = model.tree_rows(dataset.X)
    return PageData(
        names or dataset.feature_names,
        "class",
        {},
        Units.deviations(rows),
        rows,
        dataset.y,
        model.tree_.apply(rows),
        np.asarray(model.tree_.parents),
        text_of(view(name, algorithm, names, **params)),
    )
