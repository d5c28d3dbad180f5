"""`oblique tree`: fit one tree to a whole data set and show its rules."""

from __future__ import annotations

import json
from pathlib import Path

import click

from oblique_cli.cli._common import data_dir_option, offline_option, output_option, set_option, write
from oblique_cli.cli._completing import complete_algorithm, complete_dataset_or_file
from oblique_cli.cli._fitting import fit_to_all
from oblique_cli.cli._own import OwnOptions, own_data_options
from oblique_cli.errors import ConfigError

FORMATS = ("text", "json", "svg", "png")
DRAWN = ("svg", "png")


@click.command()
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_dataset_or_file)
@click.option("--csv", metavar="FILE", help="A file of your own, whatever its name looks like; - for standard input.")
@click.option(
    "--algorithm",
    metavar="NAME",
    shell_complete=complete_algorithm,
    help="Algorithm (oblique list).  [default: hhcart_a; m5_style for numbers]",
)
@set_option("epsilon=0.1 or missing=impute")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of every random draw.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Form.")
@click.option("--precision", type=click.IntRange(1, 17), default=3, show_default=True, help="Digits in text.")
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
    format_: str,
    precision: int,
    data_dir: str | None,
    offline: bool,
    output: str | None,
    own: OwnOptions,
) -> None:
    """Fit a tree to all rows of the data set NAME, or of a FILE of your own, and print its rules.

    A row goes the way of "if" when the inequality holds. A leaf shows its class and how many training rows of each
    class it has, or its linear model if the algorithm predicts numbers. The JSON holds every coefficient to the bit.
    The formats svg and png draw the tree, and beside it the partition if there are two numeric features; drawing needs
    --output and matplotlib. A drawn condition shows its eight largest coefficients.

    A FILE of your own is CSV, TSV, ARFF or Parquet, packed or not; - is standard input. Its tree is pruned by
    cross-validation, and what was done to its columns is said above the rules.

    \b
    Example: oblique tree bupa --algorithm hhgdt --set epsilon=0.3
             oblique tree my.csv --target class --set max_depth=3 --format json
             oblique tree five_regions --format svg --output tree.svg
             oblique tree hepatitis --set missing=keep --set algorithm.missing=learn
    """
    if format_ in DRAWN and output is None:
        raise click.UsageError(f"--format {format_} needs --output, the file to draw to")

    from oblique_cli.c45.structure import DiscreteTree, describe
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import encoded_levels, encoded_names
    from oblique_cli.tree.describe import export_text

    def makes_tree(algorithm: str) -> None:
        if not ALGORITHMS[algorithm].family.makes_tree:
            raise ConfigError(f"algorithm {algorithm!r} makes no tree to show: choose another one (oblique list).")

    fitted = fit_to_all(
        name,
        csv,
        own.target,
        algorithm,
        overrides,
        seed,
        data_dir,
        offline,
        where="oblique tree",
        suits=makes_tree,
        own=own,
    )
    dataset, spec, encoder, estimator = fitted.dataset, fitted.spec, fitted.encoder, fitted.estimator
    features = encoded_names(dataset, encoder)
    levels = encoded_levels(dataset, estimator)
    values = estimator.value_names() if isinstance(estimator.tree_, DiscreteTree) else []
    if format_ == "json":
        document = {
            "algorithm": spec.name,
            "parameters": {**ALGORITHMS[spec.name].defaults, **ALGORITHMS[spec.name].current(spec.params)},
            "dataset": dataset.name,
            "features": features,
            "classes": dataset.classes,
            **({"level_names": levels} if levels else {}),
            **({"value_names": values} if values else {}),
            **estimator.tree_.to_dict(),
        }
        write(json.dumps(document) + "\n", output)
        return
    if format_ in DRAWN:
        from oblique_cli.data import files
        from oblique_cli.drawing.canvas import rendered
        from oblique_cli.drawing.diagram import drawing

        title = f"{ALGORITHMS[spec.name].title} on {dataset.name}"
        if ALGORITHMS[spec.name].family.hyperplanes:
            figure = drawing(
                estimator.tree_,
                features,
                dataset.classes,
                title=title,
                precision=precision,
                level_names=levels,
                rows=(fitted.X, dataset.y),
            )
        else:
            named = (own.target or "target") if dataset.task == "regression" else dataset.classes
            figure = estimator.plot(features, named, precision, title)
        files.write(Path(str(output)), rendered(figure, format_))
        return
    predicted = estimator.predict(fitted.X)
    if dataset.task == "regression":
        found = f"RMSE {((predicted - dataset.y) ** 2).mean() ** 0.5:.4g} on its {dataset.n} rows"
    else:
        found = f"{int((predicted == dataset.y).sum())} of its {dataset.n} rows right"
    if hasattr(estimator, "reject_"):
        found += f", {int(estimator.reject_.sum())} rejected"
    heading = (
        f"# {ALGORITHMS[spec.name].title} on {dataset.name}: {estimator.n_leaves_} "
        f"{'leaf' if estimator.n_leaves_ == 1 else 'leaves'}, depth {estimator.depth_}, {found}\n"
    )
    note = "".join(f"# {line}\n" for line in (dataset.note, *fitted.notes) if line)
    if dataset.task == "regression":
        rules = estimator.export_text(features, own.target or "target", precision)
    elif hasattr(estimator, "reject_"):
        rules = estimator.export_text(features, dataset.classes)
    elif values:
        rules = describe(estimator.tree_, features, values, dataset.classes, precision)
    else:
        rules = export_text(estimator.tree_, features, dataset.classes, precision, levels)
    write(heading + note + rules, output)
