"""What `oblique fit` prints of a model: its estimate and rules as text, and all facts as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.fitting.fitting import Outcome
    from oblique_cli.models.model import Model


def rules(outcome: Outcome, dataset: Dataset, precision: int) -> str:
    """The heading with the estimate, and the rules of the tree, if the model is one."""
    from oblique_cli.fitting import reporting
    from oblique_cli.models import showing

    model, title, remarks = outcome.model, reporting.title(outcome, dataset), reporting.remarks(outcome, dataset)
    if not showing.has_tree(model):
        text = without_rules(title, remarks)
        if outcome.tree is None:
            return text
        beside = f"{outcome.tree.facts['title']} on {dataset.name}, the tree beside it"
        shown = showing.of_loaded(outcome.tree, beside, outcome.tree_X, dataset.y, ())
        return text + "\n" + showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()
    shown = showing.of_loaded(model, title, outcome.X, dataset.y[outcome.rows], remarks)
    return showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()


def without_rules(title: str, remarks: Sequence[str]) -> str:
    """The heading of a model without rules to show."""
    lines = [title, *remarks, "The model is not one tree, so no rules are shown."]
    return "".join(f"# {line}\n" for line in lines)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return what is printed as JSON, but for the files that were written."""
    model = outcome.model
    return {
        **facts(model),
        **({} if outcome.tree is None else {"tree_beside": _beside(outcome.tree)}),
        **({} if model.threshold is None else {"threshold": asdict(model.threshold)}),
        **({} if model.guarantee is None else {"guarantee": model.guarantee.plain()}),
        "path": [size.plain() for size in outcome.path],
    }


def facts(model: Model) -> dict[str, Any]:
    """Return what is known of a model, as plain data."""
    return {
        "algorithm": model.algorithm,
        "parameters": dict(model.parameters),
        "classes": list(model.classes),
        "features": list(model.feature_names),
        **model.facts,
    }


def _beside(tree: Model) -> dict[str, Any]:
    facts = tree.facts
    return {
        "algorithm": tree.algorithm,
        "estimate": facts["estimate"],
        "leaves": facts["leaves"],
        "n_terms": facts["n_terms"],
        "depth": facts["depth"],
    }
