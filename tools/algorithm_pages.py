"""Fill in what the pages of docs/algorithms/ and docs/models.md take from code and results, and draw their pictures;
write the list of algorithms that `oblique list` prints.

python -m tools.algorithm_pages               tables of parameters and of agreement, and pictures
python -m tools.algorithm_pages --text        the tables alone
python -m tools.algorithm_pages hhcart gdt    some of the pages
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import oblique_cli
from oblique_cli.cli import listing
from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, TopDown
from oblique_cli.estimators.oblique.heuristics import LIMIT
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import Choice, Constraint
from oblique_cli.papers.reproduction.framework.document import filled
from oblique_cli.papers.reproduction.framework.printed_cells import Cell, agreement
from oblique_cli.papers.reproduction.framework.study_report import read_cells
from oblique_cli.tree.pruning import PRUNINGS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "algorithms"

# Page -> the algorithms it is about. Readings of one method share a page.
PAGES: Mapping[str, tuple[str, ...]] = {
    "axis_parallel": ("axis_parallel", "gain_ratio"),
    "hhcart": ("hhcart_a", "hhcart_d"),
    "hhcart_g": ("hhcart_g",),
    "hhcrv": ("hhcrv",),
    "gdt": ("gdt",),
    "hhgdt": ("hhgdt",),
    "oc1": ("oc1", "oc1_lc", "oc1_ap"),
    "quest": ("quest",),
    "sadt": ("sadt",),
    "fdt": ("fdt",),
    "cline": ("cline",),
    "union": ("union",),
    "linear_splits": ("svm_split", "logistic_split"),
    "tao": ("tao",),
    "lmt": ("lmt", "logistic_tree"),
    "bottom_up": ("hhbut", "butif_svm"),
    "mpsvm_forests": (
        *("raf", "mpraf_t", "mpraf_p", "mpraf_n"),
        *("rof", "mprof_t", "mprof_p", "mprof_n"),
        *("rrof", "mprrof_t", "mprrof_p", "mprrof_n"),
        *("drf", "mpdrf_t", "mpdrf_p", "mpdrf_n"),
    ),
    "bagged_forest": (
        *("hhgdt_forest", "bagged_forest", "hhcart_forest"),
        *("heterogeneous_forest", "tao_forest", "logistic_forest"),
    ),
    "boosting": ("oblique_boosting",),
    "number_forests": ("oblique_forest_regression", "tao_forest_regression", "oblique_boosting_regression"),
    "c45": ("c45", "c45_bagging", "c45_forest"),
    "odt": ("rft", "aft", "odt", "odt_lr"),
    "tprti": ("tprti_a", "tprti_b", "retis", "m5_style"),
    "pilot": ("pilot",),
    "linear_tree": ("linear_tree",),
    "hhcart_regression": ("hhcart_regression", "hhcart_model_tree", "tao_regression", "tao_model_tree"),
    "cart_regression": ("cart_regression",),
    "pathfinder": ("pathfinder",),
    "editing": (
        *("knn", "knn_weighted", "wilson", "wilson_prob", "multi_edit"),
        *("supervised_clustering_edit", "hc_edit_staxac", "hc_edit_upgma"),
    ),
    "svm": ("gepsvm", "svm"),
}
EXPORTING = ROOT / "docs" / "models.md"
# The page of what all top-down trees share, and a page without an algorithm.
SHARED_PAGE = "top_down"
TAXONOMIES = "taxonomies"

STUDIES = ("chapter3", "chapter5", "chapter6", "gdt", "mpsvm", "odt", "tprti", "pathfinder", "taxonomy")
# Study and method -> its algorithms, where the tables of the study do not call them by title.
PRINTED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("chapter6", "SVM"): ("butif_svm",),
    ("chapter6", "SVM and HHBUT"): ("hhbut", "butif_svm"),
    ("gdt", "CART-LC"): ("oc1_lc",),
    ("odt", "ODT 1st component"): ("odt",),
    ("odt", "Random Forest"): ("c45_forest",),
    ("tprti", "M5"): ("m5_style",),
}


def blocks(page: str) -> dict[str, str]:
    """Return the text of every block of a page by its name: names, parameters and published."""
    if page == SHARED_PAGE:
        return {"parameters": _table(HEAD, [_row(name, "", *_shared(name)) for name in _shared_names()])}
    algorithms = [ALGORITHMS[name] for name in PAGES[page]]
    made = {"names": _names(algorithms), "parameters": _parameters(algorithms), "published": _published(page)}
    measured = ROOT / "results" / "tables" / f"{page}.csv"
    return made | ({"comparison": _comparison(measured)} if measured.exists() else {})


def text_of(page: str) -> str:
    """Return the page as it has to be: the text it has, with its blocks made anew."""
    return filled((FOLDER / f"{page}.md").read_text(encoding="utf-8"), blocks(page))


def text_of_formats() -> str:
    """Return docs/models.md as it has to be: with the table of which format takes which models."""
    from oblique_cli.models.exporting import FORMATS
    from oblique_cli.models.exporting._exporter import KINDS

    rows = []
    for name, form in FORMATS.items():
        taken = [kind for kind in KINDS if kind in form.kinds]
        refused = [kind for kind in KINDS if kind not in form.kinds]
        few = len(taken) < len(refused)
        models = ", ".join(taken) if few else f"all but {', '.join(refused)}" if refused else "all"
        numbers = f"{form.digits} digits, or `--precision`" if form.digits else "exact"
        rows.append((f"`{name}`", form.title, models, numbers))
    made = _table(("format", "what is written", "models", "numbers"), rows)
    return filled(EXPORTING.read_text(encoding="utf-8"), {"formats": made})


# ---- tables ----------------------------------------------------------------------------------------------------------

HEAD = ("parameter", "default", "meaning")
MOST_CHOICES = 8  # beside a default; a longer list stands in the docstring alone


def _names(algorithms: Iterable[Algorithm]) -> str:
    rows = [(f'<a id="{a.name}"></a>`{a.name}`', a.title, f"`{a.estimator.__name__}`", a.source) for a in algorithms]
    return _table(("name", "called", "class", "source"), rows)


def _parameters(algorithms: list[Algorithm]) -> str:
    """A row for each parameter that some of the algorithms have, but for what all top-down trees share."""
    rows: dict[str, tuple[str, ...]] = {}
    grown_top_down = any(isinstance(a, TopDown) for a in algorithms)
    names = list(dict.fromkeys(name for algorithm in algorithms for name in algorithm.parameters))
    for name in names:
        having = [a for a in algorithms if name in a.parameters]
        special = [a for a in having if not _is_shared(a, name)]
        if special:
            having = special if grown_top_down else having
            alias = having[0].aliases.get(name)
            rows[name] = _row(
                f"{name}",
                f" (also `{alias.name}`)" if alias else "",
                _default(name, having),
                having[0].parameters[name],
                first_sentence(meaning(having[0], name)) + _owners(having, algorithms),
            )
    made = _table(HEAD, list(rows.values())) if rows else ""
    if grown_top_down:
        return f"{made}\nPlus the parameters of [all top-down trees]({SHARED_PAGE}.md#parameters).\n".lstrip()
    shared = [f"`{name}`" for name in names if name not in rows]
    if not shared:
        return made
    return f"{made}\nAs in [all top-down trees]({SHARED_PAGE}.md#parameters): {', '.join(shared)}.\n"


def _comparison(path: Path) -> str:
    """Return accuracy and leaves of each data set and algorithm of a stored run, and their means, the last row."""
    run = pd.read_csv(path)
    names = list(run["algorithm"].unique())
    wide = run.pivot(index="dataset", columns="algorithm", values=["accuracy", "leaves"])
    wide.loc["mean"] = wide.mean()
    cells = ((f"{line['accuracy', a]:.1f} ({line['leaves', a]:.1f})" for a in names) for _, line in wide.iterrows())
    return _table(
        ("data set", *(f"`{name}`" for name in names)), [(d, *c) for d, c in zip(wide.index, cells, strict=True)]
    )


def _row(name: str, note: str, default: str, allowed: Constraint, words: str) -> tuple[str, ...]:
    return (f"`{name}`{note}", default + _alternatives(default, allowed), words)


def _alternatives(default: str, allowed: Constraint) -> str:
    """The other words that a parameter takes, to stand behind its default; "" where it takes numbers or many words."""
    names = [f"`{name}`" for name in allowed.names] if isinstance(allowed, Choice) else []
    others = [name for name in names if name not in default]
    return f", or {', '.join(others)}" if others and len(others) <= MOST_CHOICES else ""


def _default(name: str, having: list[Algorithm]) -> str:
    """The default, or those of the algorithms where they differ."""
    results: dict[str, list[str]] = {}
    for algorithm in having:
        results.setdefault(_plain(algorithm.defaults[name]), []).append(f"`{algorithm.name}`")
    if len(results) == 1:
        return next(iter(results))
    return "; ".join(f"{value} for {', '.join(names)}" for value, names in results.items())


def _plain(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, Mapping):
        return f"`{{{', '.join(f'{key}: {of_key}' for key, of_key in value.items())}}}`"
    return f"`{value}`" if isinstance(value, str) else f"{value:g}"


def _owners(having: list[Algorithm], algorithms: list[Algorithm]) -> str:
    """Say which algorithms of the page a parameter belongs to, if not to all."""
    if len(having) == len(algorithms):
        return ""
    without = [a for a in algorithms if a not in having]
    few, word = (having, "Of") if len(having) <= len(without) else (without, "Not of")
    return f" {word} {', '.join(f'`{a.name}`' for a in few)}."


def _is_shared(algorithm: Algorithm, name: str) -> bool:
    """Whether a parameter is that of all top-down trees, with the default they have."""
    if name not in _shared_names() or algorithm.defaults[name] != _shared_default(name):
        return False
    return isinstance(algorithm, TopDown) or meaning(algorithm, name) == described(ObliqueTreeClassifier, name)


@cache
def _shared_names() -> tuple[str, ...]:
    rules = [name for rule in PRUNINGS.values() for name in rule.constraints]
    names = dict.fromkeys((*ObliqueTreeClassifier.constraints, *rules))
    return tuple(name for name in names if name in ALGORITHMS["hhcart_a"].parameters)  # all but threads


def _shared_default(name: str) -> Any:
    return ALGORITHMS["hhcart_a"].defaults[name]


def _shared(name: str) -> tuple[str, Constraint, str]:
    algorithm = ALGORITHMS["hhcart_a"]
    meaning = first_sentence(described(ObliqueTreeClassifier, name))
    return _plain(_shared_default(name)), algorithm.parameters[name], meaning


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *(tuple(cell.replace("|", r"\|") for cell in row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# ---- what docstrings say of parameters -------------------------------------------------------------------------------


def meaning(algorithm: Algorithm, name: str) -> str:
    """Return what a parameter of an algorithm means, in a sentence or more; "" if no docstring says so."""
    if name == algorithm.path_parameter and isinstance(algorithm, TopDown):
        return described(ObliqueTreeClassifier, LIMIT)
    return described(algorithm.estimator, name)


def first_sentence(text: str) -> str:
    """Return the first sentence of a description; the API pages and `help` have the whole."""
    return re.split(r"(?<=[.)])\s+(?=[A-Z\"`])", text, maxsplit=1)[0] if "." in text else text


def described(cls: type[Any], name: str) -> str:
    """Return what the declaration of a parameter says of it, or the docstring of a class that declares none.

    The docstring may be that of a class that it refers to or inherits from.
    """
    declared = getattr(cls, "parameters", {}).get(name)
    if declared is not None and declared.help:
        return _followed(cls, name, declared.help.replace("``", "`"))
    for home in cls.__mro__:
        result = _sections(home).get(name)
        if result is not None:
            return _followed(home, name, result)
    return ""


def _followed(cls: type[Any], name: str, result: str) -> str:
    """What is said of a parameter, or what the class says of it that is referred to."""
    other = re.match(r"As in `(\w+)`", result)
    if other is None:
        return result
    there = getattr(oblique_cli, other[1], None) or vars(inspect.getmodule(cls)).get(other[1])
    assert there is not None, (cls, name, other[1])
    return described(there, name)


@cache
def _sections(cls: type[Any]) -> Mapping[str, str]:
    """Parameter -> what the numpydoc section of the class' own docstring says of it."""
    doc = inspect.cleandoc(vars(cls).get("__doc__") or "")
    section = doc.partition("Parameters\n----------\n")[2].partition("\n\nAttributes\n")[0].partition("\n\nNotes\n")[0]
    results: dict[str, list[str]] = {}
    names: list[str] = []
    heading = ""
    for line in section.splitlines():
        if line[:1].strip():  # names, in a line or two, and perhaps what they may be
            heading = f"{heading} {line}".strip()
            names = [name.strip() for name in heading.partition(" : ")[0].split(",")]
            results |= {name: [] for name in names}
            if not line.endswith(","):
                heading = ""
        else:
            for name in names:
                results[name].append(line.strip())
    return {name: " ".join(" ".join(lines).replace("``", "`").split()) for name, lines in results.items()}


# ---- published against ours ------------------------------------------------------------------------------------------


def _published(page: str) -> str:
    """How many printed numbers of the page's algorithms agree with ours, table by table."""
    rows: dict[str, list[str]] = {}
    for study in STUDIES:
        mine = [cell for cell in _cells(study) if set(PAGES[page]) & set(_algorithms_of(study, cell.method))]
        for (reference, metric), result in agreement(mine).items():
            if result.compared:
                words = metric.removesuffix("_percent").removeprefix("n_").replace("_", " ")
                rows.setdefault(reference, []).append(f"{words} {result.agree} of {result.compared}")
    if not rows:
        return "No results in the reproduced papers.\n"
    lines = [(f"{_source(name)}, {name.partition(':')[2]}", ", ".join(counts)) for name, counts in rows.items()]
    return _table(("table", "cells that agree"), lines)


def _source(reference: str) -> str:
    """Name the source of a table as the pages do."""
    author, year = re.fullmatch(r"([a-z]+)(\d+)", reference.partition(":")[0]).groups()
    return f"{author.capitalize()} ({year})"


@cache
def _cells(study: str) -> tuple[Cell, ...]:
    return read_cells(ROOT / "results" / "reproduction" / f"{study}.csv")


def _algorithms_of(study: str, method: str) -> tuple[str, ...]:
    """The algorithms that a cell is about: a method, "A over B", or "A/B/C"."""
    if (study, method) in PRINTED:
        return PRINTED[study, method]
    titles = {a.title: name for name, a in ALGORITHMS.items()}
    return tuple(titles[part] for part in re.split(r"/| over ", method) if part in titles)


def main(pages: list[str], text_only: bool) -> None:
    for page in pages or [SHARED_PAGE, *PAGES]:
        (FOLDER / f"{page}.md").write_text(text_of(page), encoding="utf-8")
    if not pages:
        EXPORTING.write_text(text_of_formats(), encoding="utf-8")
        lines = ["\t".join(entry.values()) for entry in listing.algorithms(parameters=False)]
        listing.STORED.write_text("\n".join([listing.files_of_heuristics(), *lines]) + "\n", encoding="utf-8")
    if not text_only:
        from tools import algorithm_pictures

        algorithm_pictures.draw(pages or list(PAGES))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--text", action="store_true", help="tables alone")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.pages) - {SHARED_PAGE, *PAGES}):
        sys.exit(f"there is no page {unknown[0]!r}; there are {', '.join([SHARED_PAGE, *PAGES])}.")
    main(arguments.pages, arguments.text)
