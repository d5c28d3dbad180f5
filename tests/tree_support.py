"""Trees read back from their plain data (`Tree.to_dict`), by the forms of model files."""

from collections.abc import Mapping
from typing import Any

from oblique_cli.models.codecs import Arrays, Scope
from oblique_cli.models.kinds.hyperplanes import EQUATION_TREE, EQUATIONS, TREE
from oblique_cli.tree.structure import SCHEMA, Tree


def tree_of(document: Mapping[str, Any]) -> Tree:
    """Return the tree of a document that may say more; DataError if it has none."""
    assert document.get("schema", SCHEMA) == SCHEMA
    given = {name: document[name] for name in TREE.fields if name in document}
    if "levels" not in given and "level_scores" not in given:
        n, p = len(given.get("left") or ()), len((given.get("coef_") or [[]])[0])
        given |= {"levels": [0] * p, "level_scores": [[]] * n}
    given.setdefault("missing_left", None)
    scope = Scope("not a tree", Arrays(), reading=True)
    if "equations" not in document:
        return TREE.value(given, scope)
    said = {name: document["equations"].get(name) for name in EQUATIONS}
    return EQUATION_TREE.value({"splits": given, **said}, scope)
