"""`oblique spectrum`: the Fourier spectrum of a tree or an ensemble, and the energy of sets of features."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns, write
from oblique_cli.cli._fitting import Request, fit_to_all
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oblique_cli.papers.discrete.spectrum import Interaction, Spectrum, Term

FORMATS = ("text", "json")


@click.command()
@declare.parameters
def spectrum(
    request: Request = declare.group(
        Request,
        name={"metavar": "[NAME|FILE]"},
        overrides={"help": declare.set_text("max_depth=5 or missing=impute")},
        algorithm={"help": "One over discrete features: c45, aft, odt.", "default": "c45", "show_default": True},
    ),
    component: int | None = declare.option(
        "--component", type=click.IntRange(1), help="Of odt and odt_lr: this component instead of the whole."
    ),
    top: int = declare.option("--top", type=click.IntRange(1), default=10, help="Coefficients and sets to show."),
    max_order: int | None = declare.option(
        "--max-order", type=click.IntRange(1), help="Leave out coefficients of more features than this."
    ),
    format_: str = declare.form(FORMATS),
    output: str | None = declare.OUTPUT,
) -> None:
    """Fit trees to all rows of the data set NAME, or of your FILE, and show their Fourier spectrum.

    A coefficient's share of the energy tells how much of the function depends on a set of features together. The energy
    is the sum of the squared coefficients, which is the mean square of the function over all combinations of values.

    \b
    Example: oblique spectrum spect --algorithm aft --set n_estimators=40
             oblique spectrum spect --algorithm odt --component 1 --format json
    """
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import encoded_names
    from oblique_cli.papers.algorithms import DISCRETE_ENSEMBLE, DISCRETE_TREE
    from oblique_cli.papers.discrete.spectrum import interactions, largest

    def has_spectrum(algorithm: str) -> None:
        discrete = (DISCRETE_TREE, DISCRETE_ENSEMBLE)
        if ALGORITHMS[algorithm].family not in discrete:
            known = ", ".join(name for name, entry in ALGORITHMS.items() if entry.family in discrete)
            raise ConfigError(f"{algorithm} does not split on levels of single features; use one of {known}.")

    fitted = fit_to_all(request, where="oblique spectrum", suits=has_spectrum)
    estimator, dataset = fitted.estimator, fitted.dataset
    components = getattr(estimator, "component_spectra_", [])
    if component is not None and component > len(components):
        raise ConfigError(
            f"{fitted.spec.name} has {len(components)} components here, so --component {component} is none of them; "
            "use a smaller number, odt, or --set n_components."
        )
    whole = estimator.spectrum(max_order) if component is None else components[component - 1].truncated(1.0, max_order)
    features = encoded_names(dataset, fitted.encoder)
    terms, sets = largest(whole, top), interactions(whole, top)
    ratios = estimator.components_.ratios.tolist() if components else []
    if format_ == "json":
        facts = {
            "dataset": dataset.name,
            "algorithm": fitted.spec.name,
            "component": component,
            "outputs": _outputs(dataset.classes),
            "cardinalities": list(estimator.domain_.cardinalities),
        }
        document = facts | _numbers(whole, terms, sets, features) | {"variance_by_component": ratios}
        write(json.dumps(document) + "\n", output)
        return
    name = fitted.spec.name + ("" if component is None else f", component {component}")
    heading = (
        f"# {name} on {dataset.name}: {len(whole)} coefficients of {len(whole.used)} features, energy "
        f"{whole.energy:.4g}, outputs: {', '.join(_outputs(dataset.classes))}\n"
    )
    orders = _text_of_orders(whole.energy_by_order.tolist(), whole.orders.tolist())
    parts = [heading, _text_of_terms(terms, features), orders]
    if sets:
        parts.append(_text_of_sets(sets, features))
    if ratios:
        rows = [(str(q + 1), f"{100 * ratio:.2f} %") for q, ratio in enumerate(ratios[:top])]
        parts.append(columns([("component", "variance captured"), *rows], right={0, 1}) + "\n")
    write("\n".join(parts), output)


def _outputs(classes: Sequence[str]) -> list[str]:
    """Return the names of the functions: the indicator of the second of two classes, else of every class."""
    return [f"class {name}" for name in (classes[1:] if len(classes) == 2 else classes)]


def _numbers(
    whole: Spectrum, terms: Sequence[Term], sets: Sequence[Interaction], features: Sequence[str]
) -> dict[str, Any]:
    return {
        "n_coefficients": len(whole),
        "energy": whole.energy,
        "energy_by_order": whole.energy_by_order.tolist(),
        "coefficients": [
            {
                "features": {features[k]: j for k, j in term.features},
                "weights": [[w.real, w.imag] for w in term.weights],
                "share": term.share,
            }
            for term in terms
        ],
        "interactions": [
            {"features": [features[k] for k in s.features], "n_coefficients": s.n_coefficients, "share": s.share}
            for s in sets
        ],
    }


def _number(w: complex) -> str:
    return f"{w.real:+.4f}" if w.imag == 0 else f"{w.real:+.4f}{w.imag:+.4f}i"


def _text_of_terms(terms: Sequence[Term], features: Sequence[str]) -> str:
    several = any(j > 1 for term in terms for _, j in term.features)
    rows = [
        (
            " ".join(_number(w) for w in term.weights),
            f"{100 * term.share:.2f} %",
            str(len(term.features)),
            ", ".join(f"{features[k]} ({j})" if several else features[k] for k, j in term.features) or "(mean)",
        )
        for term in terms
    ]
    return columns([("coefficient", "of energy", "order", "features"), *rows], right={1, 2}) + "\n"


def _text_of_orders(energies: Sequence[float], orders: Sequence[int]) -> str:
    total, so_far, rows = sum(energies) or 1.0, 0.0, []
    for order, energy in enumerate(energies):
        so_far += energy
        shares = (f"{100 * energy / total:.2f} %", f"{100 * so_far / total:.2f} %")
        rows.append((str(order), str(orders.count(order)), *shares))
    return columns([("order", "coefficients", "of energy", "up to here"), *rows], right={0, 1, 2, 3}) + "\n"


def _text_of_sets(sets: Sequence[Interaction], features: Sequence[str]) -> str:
    rows = [
        (f"{100 * s.share:.2f} %", str(s.n_coefficients), " x ".join(features[k] for k in s.features)) for s in sets
    ]
    return columns([("of energy", "coefficients", "features that act together"), *rows], right={0, 1}) + "\n"
