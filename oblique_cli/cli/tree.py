"""`oblique tree`: fit one tree to a whole data set and show its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import data_dir_option, offline_option, output_option, own_data, set_option, write
from oblique_cli.errors import ConfigError, DataError

if TYPE_CHECKING:
    from oblique_cli.experiments.model import AlgorithmSpec, DatasetSpec

FORMATS = ("text", "json", "svg", "png")
DRAWN = ("svg", "png")


@click.command()
@click.argument("name", required=False)
@click.option("--csv", metavar="FILE", help="A CSV file of your own instead of a named data set.")
@click.option("--target", metavar="COLUMN", help="With --csv: the column of the class.")
@click.option("--algorithm", metavar="NAME", default="hhcart_a", show_default=True, help="Algorithm (oblique list).")
@set_option("epsilon=0.1 or missing=impute")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of every random draw.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Form.")
@click.option("--precision", type=click.IntRange(1, 17), default=3, show_default=True, help="Digits in text.")
@data_dir_option
@offline_option
@output_option
def tree(
    name: str | None,
    csv: str | None,
    target: str | None,
    algorithm: str,
    overrides: tuple[str, ...],
    seed: int,
    format_: str,
    precision: int,
    data_dir: str | None,
    offline: bool,
    output: str | None,
) -> None:
    """Fit a tree to all rows of the data set NAME, or of a CSV file, and print its rules.

    A row goes the way of "if" when the inequality holds. A leaf shows its class and how many training rows of each
    class it has. The JSON holds every coefficient to the bit. The formats svg and png draw the tree, and beside it the
    partition if there are two numeric features; they need --output and matplotlib. Of a condition they show the eight
    largest coefficients.

    \b
    Example: oblique tree bupa --algorithm hhgdt --set epsilon=0.3
             oblique tree --csv my.csv --target class --set max_depth=3 --format json
             oblique tree five_regions --format svg --output tree.svg
             oblique tree hepatitis --set missing=keep --set algorithm.missing=learn
    """
    if (name is None) == (csv is None):
        raise click.UsageError("give either the name of a data set (oblique data list) or --csv")
    if (csv is None) != (target is None):
        raise click.UsageError("--csv and --target, the name of its class column, go together")
    if format_ in DRAWN and output is None:
        raise click.UsageError(f"--format {format_} needs --output, the file to draw to")
    dataset_key = own_data(csv, target) if csv and target else {"name": name}

    from oblique_cli import seeds
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.encoding import encoded_levels, encoded_names, fold_encoder, prepared
    from oblique_cli.experiments import config
    from oblique_cli.tree.describe import export_text

    plain = {"version": 1, "dataset": dataset_key, "algorithm": {"name": algorithm}}
    stem = Path(csv).stem if csv else "tree"
    experiment = config.from_mapping(plain, stem, [_full(text) for text in overrides], where="oblique tree")
    policy: DatasetSpec = experiment.datasets[0]
    spec: AlgorithmSpec = experiment.algorithms[0]
    if not ALGORITHMS[spec.name].makes_tree:
        raise ConfigError(f"algorithm {spec.name!r} makes no tree to show: choose another one (oblique list).")
    dataset = catalogue.load(policy, data_dir, offline)
    if dataset.task != "classification":
        raise DataError(f"data set {dataset.name!r} is for {dataset.task}, and {spec.name} predicts classes.")
    encoder = fold_encoder(dataset, policy)
    X = dataset.X if encoder is None else encoder.fit_transform(dataset.X)
    random_state = seeds.integer(seed, dataset.name, "tree")
    estimator = ALGORITHMS[spec.name].make(random_state=random_state, **spec.params)
    estimator = prepared(estimator, dataset, policy).fit(X, dataset.y)
    features = encoded_names(dataset, encoder)
    levels = encoded_levels(dataset, estimator)
    if format_ == "json":
        document = {
            "algorithm": spec.name,
            "parameters": {**ALGORITHMS[spec.name].defaults, **spec.params},
            "dataset": dataset.name,
            "features": features,
            "classes": dataset.classes,
            **({"level_names": levels} if levels else {}),
            **estimator.tree_.to_dict(),
        }
        write(json.dumps(document) + "\n", output)
        return
    if format_ in DRAWN:
        from oblique_cli.data import files
        from oblique_cli.drawing.canvas import rendered
        from oblique_cli.drawing.diagram import drawing

        figure = drawing(
            estimator.tree_,
            features,
            dataset.classes,
            title=f"{ALGORITHMS[spec.name].title} on {dataset.name}",
            precision=precision,
            level_names=levels,
            rows=(X, dataset.y),
        )
        files.write(Path(str(output)), rendered(figure, format_))
        return
    right = int((estimator.predict(X) == dataset.y).sum())
    heading = (
        f"# {ALGORITHMS[spec.name].title} on {dataset.name}: {estimator.n_leaves_} "
        f"{'leaf' if estimator.n_leaves_ == 1 else 'leaves'}, depth {estimator.depth_}, "
        f"{right} of its {dataset.n} rows right\n"
    )
    note = f"# {dataset.note}\n" if dataset.note else ""
    write(heading + note + export_text(estimator.tree_, features, dataset.classes, precision, levels), output)


def _full(override: str) -> str:
    """Return "epsilon=0.1" as the key of a configuration: there is one algorithm and one data set it can belong to."""
    key = override.partition("=")[0]
    if "." in key:
        return override
    return f"{'dataset' if key in ('missing', 'encoding', 'qualitative') else 'algorithm'}.{override}"
