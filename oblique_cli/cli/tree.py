"""`oblique tree`: a tree to look at, fitted to a whole data set, of a stored fold, or from a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import (
    data_dir_option,
    database,
    find_run,
    form_option,
    headed,
    off_terminal,
    offline_option,
    output_option,
    results_option,
    set_option,
    working,
)
from oblique_cli.cli._completing import complete_algorithm, complete_dataset_or_file
from oblique_cli.cli._fitting import fit_to_all
from oblique_cli.cli._own import OwnOptions, own_data_options, refuse_strays, spare
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from oblique_cli.experiments.regrowing import Regrown

FORMATS = ("text", "json", "svg", "png", "pdf", "html", "dot", "tikz")
PICTURES = ("svg", "png", "pdf", "html")
BINARY = ("png", "pdf")
MODEL_SUFFIX = ".json"


@click.command()
@click.argument("name", metavar="[NAME|FILE|RUN|MODEL]", required=False, shell_complete=complete_dataset_or_file)
@click.option("--csv", metavar="FILE", help="A file of your own, whatever its name looks like; - for standard input.")
@click.option(
    "--algorithm",
    metavar="NAME",
    shell_complete=complete_algorithm,
    help="Algorithm (oblique list).  [default: hhcart_a; m5_style for numbers]",
)
@set_option("epsilon=0.1 or missing=impute")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of every random draw.")
@click.option("--fold", type=click.IntRange(0), help="The tree of this fold of the stored run RUN.")
@click.option("--repeat", type=click.IntRange(0), help="With --fold: its repetition.  [default: 0]")
@click.option("--dataset", metavar="NAME", help="With --fold: which data set, if the run has several.")
@results_option
@form_option(FORMATS, spelled={"htm": "html", "gv": "dot", "tex": "tikz"})
@click.option("--html", is_flag=True, help="The same as --format html.")
@click.option("--depth", type=click.IntRange(1), help="Show this many levels of splits.")
@click.option("--raw", is_flag=True, help="Weights in the features' own units, not per standard deviation.")
@click.option("--full", is_flag=True, help="Every term, also those that move no training row or are small.")
@click.option("--sparse", is_flag=True, help="Drop terms, from JSON too, while every training row keeps its side.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    help="With --sparse: drop more, while at most this share of the training rows more is wrong.",
)
@click.option("--precision", type=click.IntRange(1, 17), default=3, show_default=True, help="Digits.")
@own_data_options
@data_dir_option
@offline_option
@output_option
def tree(
    name: str | None,
    csv: str | None,
    algorithm: str | None,
    overrides: tuple[str, ...],
    seed: int,
    fold: int | None,
    repeat: int | None,
    dataset: str | None,
    results: str,
    format_: str,
    html: bool,
    depth: int | None,
    raw: bool,
    full: bool,
    sparse: bool,
    tolerance: float | None,
    precision: int,
    data_dir: str | None,
    offline: bool,
    output: str | None,
    options: OwnOptions,
) -> None:
    """Show a tree: fitted to all rows of the data set NAME or of a FILE of your own, of a fold of RUN, or in MODEL.

    A row goes the way of "if" where the inequality holds. Weights are per standard deviation of a feature, the largest
    first, and the most frequent class lies on the side of larger sums, so that the same direction means the same
    throughout the tree (docs/explaining.md). Terms that move no training row are left out, and a line has the seven
    largest of the others, unless --full. JSON is the tree as it was fitted, every coefficient to the bit.

    A stored fold keeps no tree: --fold grows it again and checks it against what was stored.

    The page of --html shows a node's histogram, weights and rows when it is clicked, and the path of a row that is
    typed; it is one file and needs no network. On a terminal, pages and pictures go to a file named after the data. png
    and pdf need matplotlib.

    A FILE of your own is CSV, TSV, ARFF or Parquet, packed or not; - is standard input. Its tree is pruned, by
    cross-validation or, of 20,000 rows and more, on a tenth of them. What was done to its columns and to its tree is
    said above the rules. Without --algorithm it is of HHCART(A), or of HHCART(D) where that would take long.

    \b
    Example: oblique tree bupa --algorithm hhgdt --set epsilon=0.3
             oblique tree my.csv --target class --sparse --tolerance 0.01
             oblique tree bupa_hhgdt --fold 3 --repeat 2 --output tree.html
             oblique tree model.json --depth 3 --output tree.svg
    """
    if html:
        if format_ not in ("text", "html"):
            raise click.UsageError(f"--html and --format {format_} cannot go together")
        format_ = "html"
    named_output = output
    if format_ in PICTURES:
        output = off_terminal(output, f"{_file_name(csv or name or 'tree')}.{format_}")
    if format_ in BINARY and output is None:
        raise click.UsageError(f"--format {format_} needs --output, the file to draw to")
    if tolerance is not None and not sparse:
        raise click.UsageError("--tolerance goes with --sparse")
    if fold is None and (repeat is not None or dataset is not None):
        raise click.UsageError(f"--{'dataset' if repeat is None else 'repeat'} goes with --fold, of a stored run")
    is_model = fold is None and name is not None and name.endswith(MODEL_SUFFIX)
    if fold is not None or is_model:
        whose = "the model" if is_model else "the run"
        if overrides:
            raise click.UsageError(f"--set goes with a tree that is fitted now; {whose} says how its tree was")
        if is_model and (csv is not None or algorithm is not None):
            raise click.UsageError("a model file goes without --csv and --algorithm")
        refuse_strays(options, "a file of your own that a tree is fitted to")

    from oblique_cli.cli import _grown
    from oblique_cli.models import showing

    if fold is not None:
        if name is None:
            raise click.UsageError("--fold needs the name of a stored run (oblique status)")
        shown = _grown.of_run(_stored(name, fold, repeat or 0, dataset, algorithm, results, csv, data_dir, offline))
    elif is_model:
        spare(name)
        shown = showing.of_model(Path(str(name)))
    else:
        fitted = fit_to_all(
            name,
            csv,
            options.target,
            algorithm,
            overrides,
            seed,
            data_dir,
            offline,
            where="oblique tree",
            suits=_makes_tree,
            options=options,
        )
        shown = _grown.of_fit(fitted, options.target or "target")
    with working("leaving out terms" if sparse else "drawing the tree"):
        if sparse:
            shown = shown.with_fewer_terms(tolerance or 0.0)
        elif format_ == "text" and fold is None and not is_model:
            shown = shown.with_hint()
        drawing = showing.content(
            shown, format_, precision=precision, raw=raw, depth=depth, width=_width(output), full=full
        )
    if output is None:
        click.echo(headed(drawing.decode()) if format_ == "text" else drawing.decode(), nl=False)
    else:
        from oblique_cli.data import files

        files.write(Path(output), drawing)
        if named_output is None:
            click.echo(f"written to {Path(output).name}", err=True)


def _file_name(source: str) -> str:
    """What a picture of a tree is called where nobody has said: as its data, its run or its model."""
    from oblique_cli.data.own.source import stem

    return "tree" if source == "-" else stem(source)


def _makes_tree(algorithm: str) -> None:
    from oblique_cli.estimators.algorithms import ALGORITHMS

    if not ALGORITHMS[algorithm].family.makes_tree:
        raise ConfigError(f"algorithm {algorithm!r} makes no tree to show: choose another one (oblique list).")


def _stored(
    run: str,
    fold: int,
    repeat: int,
    dataset: str | None,
    algorithm: str | None,
    results: str,
    csv: str | None,
    data_dir: str | None,
    offline: bool,
) -> Regrown:
    from oblique_cli.experiments.regrowing import regrown
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        stored_run = find_run(store, run)
        rows = store.rows(run)
    with working("growing the tree of the fold"):
        return regrown(
            stored_run,
            rows,
            repeat=repeat,
            fold=fold,
            dataset=dataset,
            algorithm=algorithm,
            csv=csv,
            data_dir=data_dir,
            offline=offline,
        )


def _width(output: str | None) -> int:
    """How long a line of rules may be: as wide as the terminal, if that is where they go."""
    import shutil
    import sys

    if output is None and sys.stdout.isatty():
        return max(shutil.get_terminal_size((100, 24)).columns, 40)
    return 100
