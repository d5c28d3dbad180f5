"""`oblique taxonomy`: a hierarchy over objects, and its relation to their classes."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import write
from oblique_cli.cli._own import name_of

if TYPE_CHECKING:
    from oblique_cli.papers.hierarchy.hierarchies import Hierarchy
    from oblique_cli.papers.hierarchy.taxonomy_report import TaxonomyReport

# Names for the help, which must not import the modules that define them.
TITLES = {
    "staxac": "STAXAC",
    "divisive": "Supervised division",
    "avalanche": "AVALANCHE",
    "upgma": "UPGMA",
    "nj": "Neighbor joining",
}
GRAPHS = ("nearest", "renewed", "gabriel")
METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming")
SCALINGS = ("zscore", "none")
FORMATS = ("text", "svg", "newick", "json", "phylip", "phylip-lower", "phylip-strict", "phylip-strict-lower")
DISTANCES = ("p", "jukes_cantor")
ALPHABETS = ("nucleotide", "protein")
FASTA = (".fasta", ".fas", ".fa", ".fna", ".ffn", ".faa", ".afa")  # ends of names, before .gz too
MISSING = ("error", "drop", "impute")
COLORS = ("blue", "red", "green", "magenta", "yellow", "cyan", "white")


def _choice(name: str, choices: tuple[str, ...], text: str) -> Any:
    return declare.option(name, type=click.Choice(choices), default=choices[0], help=text)


@dataclass(frozen=True)
class TaxonomyOptions:
    """Options of the command, by their names."""

    data: str = declare.argument()
    labels: str | None = declare.option(
        "--labels",
        metavar="COLUMN|FILE",
        help="Class column of a CSV of rows; file of labels of a matrix or of sequences.",
    )
    matrix: bool = declare.flag("--matrix", "DATA is a dissimilarity matrix: square or condensed CSV, or PHYLIP.")
    distance: str | None = declare.option(
        "--distance", type=click.Choice(DISTANCES), help="DATA is a FASTA file; distance of sequences, by default p."
    )
    alphabet: str = _choice("--alphabet", ALPHABETS, "Of sequences.")
    method: str = _choice("--method", tuple(TITLES), "Algorithm.")
    graph: str = _choice("--graph", GRAPHS, "Neighbors of STAXAC.")
    metric: str = _choice("--metric", METRICS, "Distance of rows.")
    scaling: str = _choice("--scaling", SCALINGS, "Of columns.")
    missing: str = _choice("--missing", MISSING, "Empty cells of rows.")
    purity: float = declare.option(
        "--purity", type=declare.NumberRange(0, 1, min_open=True), default=1.0, help="Purity of clusters."
    )
    min_size: int = declare.option("--min-size", type=click.IntRange(1), default=15, help="Objects of a subclass.")
    format_: str = declare.form(FORMATS, spelled={"nwk": "newick", "tree": "newick", "phy": "phylip"})
    data_dir: str | None = declare.DATA_DIR
    offline: bool = declare.OFFLINE
    output: str | None = declare.OUTPUT


# Title, condensed matrix, names, codes, classes and notes of the objects
Objects = tuple[str, Any, list[str] | None, Any, tuple[str, ...], tuple[str, ...]]


@click.command()
@declare.parameters
def taxonomy(options: TaxonomyOptions = declare.group(TaxonomyOptions)) -> None:
    """Build a hierarchy over the objects of DATA and relate it to their classes.

    DATA is a data set (oblique data list), a CSV file whose class column is --labels, aligned sequences in a FASTA
    file, or, with --matrix, a dissimilarity matrix. A file of labels has one per line, or name,label. Without it the
    descriptions of a FASTA file are the classes. Columns of words become 0/1 columns.

    The report has the hierarchy cut at nodes of sufficient purity, the subclasses of each class, the classification
    complexity, and the purity per depth. SVG, Newick and JSON have the whole hierarchy. PHYLIP has the distances.
    Sequences and matrices need no classes for PHYLIP, nor for Newick of AVALANCHE, UPGMA and nj.

    \b
    Example: oblique taxonomy iris --purity 0.95 --min-size 10
             oblique taxonomy my.csv --labels class --method upgma --format svg --output tree.svg
             oblique taxonomy distances.phy --matrix --labels classes.csv --format newick
             oblique taxonomy sequences.fasta --distance jukes_cantor --method nj --format newick
    """
    is_fasta = options.distance is not None or _is_fasta(options.data)
    if options.matrix and is_fasta:
        raise click.UsageError("--matrix is for dissimilarities; a FASTA file with --distance gives them itself")
    is_rows = not (options.matrix or is_fasta)
    if options.labels is None and (_is_file(options.data) if is_rows else options.matrix and _needs_classes(options)):
        raise click.UsageError("--labels is needed: the class column of a CSV file, or the file of labels of a matrix")

    from oblique_cli.papers.hierarchy.formats import newick, phylip

    objects = (_of_fasta if is_fasta else _of_rows if is_rows else _of_matrix)(options)
    if options.format_.startswith("phylip"):
        _, condensed, names, *_ = objects
        write(phylip(condensed, names, "lower" in options.format_, "strict" in options.format_), options.output)
        return
    report = _report(objects, options)
    if options.format_ == "newick":
        write(newick(report.taxonomy.tree, report.names), options.output)
    elif options.format_ == "json":
        write(json.dumps(report.as_dict()) + "\n", options.output)
    elif options.format_ == "svg":
        write(report.svg(), options.output)
    else:
        colored = options.output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        write(report.text(_paint) if colored else report.text(), options.output)


def _is_file(data: str) -> bool:
    from oblique_cli.data import catalogue

    return data not in catalogue.names() and (Path(data).exists() or Path(data).suffix != "")


def _is_fasta(data: str) -> bool:
    return data.lower().removesuffix(".gz").endswith(FASTA)


def _needs_classes(options: TaxonomyOptions) -> bool:
    if options.format_ == "newick":
        return options.method in ("staxac", "divisive")
    return not options.format_.startswith("phylip")


def _paint(text: str, code: int) -> str:
    return click.style(text, fg=COLORS[code % len(COLORS)])


def _of_matrix(options: TaxonomyOptions) -> Objects:
    from oblique_cli.papers.hierarchy.formats import read_matrix

    names, condensed = read_matrix(_text(options.data), options.data)
    return _labeled(options, condensed, names, ())


def _of_fasta(options: TaxonomyOptions) -> Objects:
    from oblique_cli.errors import DataError
    from oblique_cli.papers.hierarchy.sequences import read_fasta

    path, how = options.data, options.distance or DISTANCES[0]
    if options.alphabet == "protein" and how == "jukes_cantor":
        raise click.UsageError("--distance jukes_cantor is for nucleotides; proteins have --distance p")
    alignment = read_fasta(_text(path), path, options.alphabet)
    try:
        condensed = alignment.distances(how)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    notes = (f"{how} distances of {alignment.codes.shape[1]} sites",)
    return _labeled(options, condensed, alignment.names, notes, alignment.descriptions)


def _labeled(
    options: TaxonomyOptions,
    condensed: Any,
    names: list[str] | None,
    notes: tuple[str, ...],
    descriptions: list[str] | None = None,
) -> Objects:
    """Return the objects with classes from the file of labels, or from the descriptions of sequences; where none are
    needed, objects without labels are of one class."""
    import numpy as np

    from oblique_cli.errors import DataError
    from oblique_cli.ground.labels import label_order
    from oblique_cli.papers.hierarchy.dissimilarities import number_of_objects
    from oblique_cli.papers.hierarchy.formats import read_labels

    n, path = number_of_objects(condensed), options.labels
    if path is not None:
        labels = read_labels(_text(path), path, names, n)
    elif descriptions is None or not _needs_classes(options):
        labels = [""] * n
    else:
        labels = descriptions
        if "" in labels or (n > 2 and len(set(labels)) == n):
            fault = f"record {labels.index('') + 1} has none" if "" in labels else f"all {n} are different"
            raise DataError(
                f"{options.data}: classes are the descriptions after the names, and {fault}; give --labels FILE, with "
                "name,label on each line."
            )
    classes = tuple(sorted(set(labels), key=label_order))
    codes = np.array([classes.index(label) for label in labels])
    return Path(options.data).name, condensed, names, codes, classes, notes


def _text(path: str) -> str:
    from oblique_cli.data.own.source import source_of
    from oblique_cli.errors import DataError

    try:
        return source_of(path).whole().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: this is not UTF-8 text; save the file as UTF-8.") from None


def _of_rows(options: TaxonomyOptions) -> Objects:
    from oblique_cli.data import catalogue
    from oblique_cli.errors import DataError
    from oblique_cli.estimators.encoding import fold_encoder
    from oblique_cli.ground.nouns import DatasetSpec
    from oblique_cli.papers.hierarchy.dissimilarities import pairwise

    data, labels = options.data, options.labels
    if labels is not None and not _is_file(data):
        raise click.UsageError(f"{data!r} is a data set that knows its classes; --labels is for files")
    source: dict[str, Any] = {"name": data}
    if labels is not None:
        source = {"csv": data, "target": labels, **name_of(data)}
    spec = DatasetSpec(**{"name": Path(data).stem, **source}, missing=options.missing, encoding="onehot")
    dataset = catalogue.load(spec, options.data_dir, options.offline)
    if dataset.task != "classification":
        raise DataError(f"data set {dataset.name!r} is for {dataset.task}, and a taxonomy needs classes.")
    encoder = fold_encoder(dataset, spec, dataset.X)
    X = dataset.X if encoder is None else encoder.transform(dataset.X)
    condensed = pairwise(X, options.metric, options.scaling)
    scaled = "scaled to variance 1" if options.scaling == "zscore" else "as they are"
    how = f"{options.metric} distances of columns {scaled}"
    notes = (how, *((dataset.note,) if dataset.note else ()))
    return dataset.name, condensed, None, dataset.y, dataset.classes, notes


def _report(objects: Objects, options: TaxonomyOptions) -> TaxonomyReport:
    from oblique_cli.papers.hierarchy.hierarchies import Taxonomy
    from oblique_cli.papers.hierarchy.taxonomy_report import TaxonomyReport

    title, condensed, names, codes, classes, notes = objects
    tree, how = _tree(options.method, options.graph, condensed, codes)
    taxonomy = Taxonomy.of(tree, codes, len(classes))
    counts = ", ".join(f"{name} {count}" for name, count in zip(classes, taxonomy.counts[-1], strict=True))
    heading = f"{TITLES[options.method]} on {title}: {tree.n} objects, {counts}"
    limits = options.purity, options.min_size
    return TaxonomyReport(heading, taxonomy, classes, names, *limits, (*notes, *how))


def _tree(method: str, graph: str, condensed: Any, codes: Any) -> tuple[Hierarchy, tuple[str, ...]]:
    """Return the tree, and notes on its construction for the reader."""
    from oblique_cli.papers.hierarchy.hierarchies import avalanche, divisive, neighbor_joining, staxac, upgma

    if method == "staxac":
        tree, rounds = staxac(condensed, codes, graph)
        again = f"merge candidates ran out {rounds - 1} times; the nearest clusters were linked anew"
        return tree, (again,) if graph == "nearest" and rounds > 1 else ()
    if method == "divisive":
        return divisive(condensed, codes), ()
    if method == "nj":
        return neighbor_joining(condensed), ("rooted at the last join",)
    return (avalanche if method == "avalanche" else upgma)(condensed), ()
