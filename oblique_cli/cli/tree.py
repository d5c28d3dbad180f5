"""`oblique tree`: display of a tree that is fitted to all rows, of a stored fold, or of a model file."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import headed, note, open_results, working
from oblique_cli.cli._fitting import Request, fit_to_all, fitted_again, makes_tree, shown_tree
from oblique_cli.cli._own import refuse_strays, spare

if TYPE_CHECKING:
    from oblique_cli.experiments.regrowing import Regrown
    from oblique_cli.models.showing import Shown

FORMATS = ("text", "json", "svg", "png", "pdf", "html", "dot", "tikz")
PICTURES = ("svg", "png", "pdf", "html")
BINARY = ("png", "pdf")
MODEL_SUFFIX = ".json"


@dataclass(frozen=True)
class Place:
    """Fold of a stored run."""

    fold: int | None = declare.option("--fold", "The tree of this fold of the stored run RUN.", type=click.IntRange(0))
    repeat: int | None = declare.option(
        "--repeat", "With --fold: its repetition.  [default: 0]", type=click.IntRange(0)
    )
    dataset: str | None = declare.option(
        "--dataset", "With --fold: which data set, if the run has several.", metavar="NAME"
    )
    results: str = declare.RESULTS


@dataclass(frozen=True)
class Drawing:
    """Options for the display of a tree."""

    format_: str = declare.form(FORMATS, spelled={"htm": "html", "gv": "dot", "tex": "tikz"})
    html: bool = declare.flag("--html", "The same as --format html.")
    depth: int | None = declare.option("--depth", "Show this many levels of splits.", type=click.IntRange(1))
    raw: bool = declare.flag("--raw", "Weights in the features' own units, not per standard deviation.")
    full: bool = declare.flag("--full", "Every term, also those that move no training row or are small.")
    sparse: bool = declare.flag("--sparse", "Drop terms, from JSON too, while every training row keeps its side.")
    tolerance: float | None = declare.option(
        "--tolerance",
        "With --sparse: drop more, while at most this share of the training rows more is wrong.",
        type=click.FloatRange(0, 1),
    )
    precision: int = declare.precision("Digits.")
    table: str | None = declare.option(
        "--rows", metavar="TABLE", help="Of MODEL: its training rows, for the histograms of the nodes."
    )
    output: str | None = declare.OUTPUT


@declare.command()
def tree(
    request: Request = declare.group(
        Request,
        name={"metavar": "[NAME|FILE|RUN|MODEL]"},
        overrides={"help": declare.set_text("epsilon=0.1 or missing=impute")},
        algorithm={"help": "Algorithm (oblique list).  [default: hhcart_a; m5_style for numbers]"},
    ),
    place: Place = declare.group(Place),
    drawing: Drawing = declare.group(Drawing),
) -> None:
    """Show a tree: fitted to all rows of the data set NAME or of your FILE, of a fold of RUN, or of MODEL.

    A row goes to the "if" branch if the inequality holds. Weights are per standard deviation of a feature, in
    descending order. The most frequent class is on the side of larger sums at every node (docs/explaining.md). Terms
    that change the side of no training row are omitted, and a line shows the seven largest of the others; --full shows
    all. JSON has the fitted tree with exact coefficients.

    The results contain no trees: --fold grows the tree of a fold again and compares it with the stored fold.

    The page of --html shows the histogram, weights and rows of a node on a click, and the path of a row that you type.
    It is one file and needs no network. On a terminal, pages and pictures are written to a file named after the data.
    png and pdf need matplotlib.

    FILE is a CSV, TSV, ARFF or Parquet file, compressed or not; - is standard input. Its tree is pruned by
    cross-validation or, from 20,000 rows on, on a tenth of the rows. Lines above the rules describe what was done to
    columns and tree. The default algorithm is HHCART(A), or the first of HHCART(D), HHGDT and axis-parallel trees that
    takes at most 15 s of CPU.

    \b
    Example: oblique tree bupa --algorithm hhgdt --set epsilon=0.3
             oblique tree my.csv --target class --sparse --tolerance 0.01
             oblique tree bupa_hhgdt --fold 3 --repeat 2 --output tree.html
             oblique tree model.json --depth 3 --output tree.svg
    """
    if drawing.html:
        if drawing.format_ not in ("text", "html"):
            raise click.UsageError(f"--html and --format {drawing.format_} cannot go together")
        drawing = replace(drawing, format_="html")
    output, format_ = drawing.output, drawing.format_
    if format_ in PICTURES:
        from oblique_cli.data.own.source import stem

        source = request.csv or request.name or "-"  # the name of the data, run or model
        output = declare.off_terminal(output, f"{'tree' if source == '-' else stem(source)}.{format_}")
    if format_ in BINARY and output is None:
        raise click.UsageError(f"--format {format_} needs --output, the file to draw to")
    if drawing.tolerance is not None and not drawing.sparse:
        raise click.UsageError("--tolerance goes with --sparse")
    shown, is_fitted = _shown(request, place, drawing.table)

    from oblique_cli.models import showing

    with working("leaving out terms" if drawing.sparse else "drawing the tree"):
        if drawing.sparse:
            shown = shown.with_fewer_terms(drawing.tolerance or 0.0)
        elif format_ == "text" and is_fitted:
            shown = shown.with_hint()
        width = 100  # of a line of rules
        if output is None and sys.stdout.isatty():
            width = max(shutil.get_terminal_size((100, 24)).columns, 40)
        how = {name: getattr(drawing, name) for name in ("precision", "raw", "depth", "full")}
        content = showing.content(shown, format_, width=width, **how)
    if output is None:
        click.echo(headed(content.decode()) if format_ == "text" else content.decode(), nl=False)
    else:
        from oblique_cli.data import files

        files.write(Path(output), content)
        if drawing.output is None:
            note(f"written to {Path(output).name}")


def _shown(request: Request, place: Place, table: str | None) -> tuple[Shown, bool]:
    """Return the tree, and whether it was fitted now (neither from a stored fold nor from a model file)."""
    name = request.name
    if place.fold is None and (place.repeat is not None or place.dataset is not None):
        other = "dataset" if place.repeat is None else "repeat"
        raise click.UsageError(f"--{other} goes with --fold, of a stored run")
    is_model = place.fold is None and name is not None and name.endswith(MODEL_SUFFIX)
    if table is not None and not is_model:
        raise click.UsageError(f"--rows goes with a model file, a *{MODEL_SUFFIX}; another tree is fitted to its rows")
    if place.fold is not None or is_model:
        whose = "the model" if is_model else "the run"
        if request.overrides:
            raise click.UsageError(f"--set goes with a tree that is fitted now; {whose} says how its tree was")
        if is_model and (request.csv is not None or request.algorithm is not None):
            raise click.UsageError("a model file goes without --csv and --algorithm")
        refuse_strays(request.options, "a file of your own that a tree is fitted to")

    if place.fold is not None:
        if name is None:
            raise click.UsageError("--fold needs the name of a stored run (oblique status)")
        return shown_tree(fitted_again(_stored(request, place, name, place.fold))), False
    if is_model:
        from oblique_cli.models import showing

        spare(name, table)
        return showing.of_model(Path(str(name)), table), False
    return shown_tree(fit_to_all(request, where="oblique tree", suits=makes_tree)), True


def _stored(request: Request, place: Place, run: str, fold: int) -> Regrown:
    from oblique_cli.experiments.regrowing import regrown

    with open_results(place.results) as store:
        stored_run, rows = store.run(run), store.rows(run)
    with working("growing the tree of the fold"):
        how = {name: getattr(request, name) for name in ("algorithm", "csv", "data_dir", "offline")}
        return regrown(stored_run, rows, repeat=place.repeat or 0, fold=fold, dataset=place.dataset, **how)
