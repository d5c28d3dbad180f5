"""`oblique fit`: a model of one's own data, with what is to be expected of it."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from oblique_cli.cli import _fit_text
from oblique_cli.cli._beyond import Size, at_work, fit_beyond, is_beyond, refuse_one_tree
from oblique_cli.cli._common import (
    Jobs,
    OptionType,
    called,
    command_line,
    data_dir_option,
    gathered,
    headed,
    json_option,
    offline_option,
    picture_form,
    seed_option,
    set_option,
    working,
    writable,
    write,
)
from oblique_cli.cli._completing import complete_algorithm, complete_dataset_or_file, complete_metric
from oblique_cli.cli._fit_specs import AUTO, Params, task_of
from oblique_cli.cli._headed import Headed
from oblique_cli.cli._own import OwnOptions, own_data_options
from oblique_cli.cli._starting import load_scikit_learn

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.fitting.fitting import Outcome

HEADINGS = {
    "Table": ("--target", "--task", "--drop", "--keep", "--groups", "--weights"),
    "Model": ("--algorithm", "--set", "--metric", "--monotone", "--threshold", "--coverage", "--readable", "--tune"),
    "Estimate and work": ("--time", "--folds", "--seed", "--jobs", "--memory", "--scratch", "--scheduler"),
    "Output": ("--output", "--report", "--path", "--format", "--help"),
}
# Parameters that other commands have as options.
SHARED = ("data_dir", "offline", "precision", *(field.name for field in fields(OwnOptions)))


class Seconds(OptionType):
    """A time, such as 30s, 2m or 1h."""

    name = "TIME"
    units: ClassVar[dict[str, int]] = {"": 1, "s": 1, "m": 60, "h": 3600}

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return seconds."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", value.lower())
        seconds = float(match[1]) * self.units[match[2]] if match else 0.0
        if seconds < 1:
            self.fail(f"{value!r} is no time of a second or more, such as 30s, 2m or 1h.", param, ctx)
        return seconds


@click.command(cls=Headed, headings=HEADINGS, shared=SHARED)
@click.argument("data", shell_complete=complete_dataset_or_file)
@own_data_options
@click.option(
    "--weights",
    metavar="COLUMN",
    default="",
    help="Own data: column of non-negative weights of rows in the fit.",
)
@click.option(
    "--algorithm",
    metavar="auto|NAME",
    default=AUTO,
    show_default=True,
    help="Algorithm (oblique list algorithms).",
    shell_complete=complete_algorithm,
)
@set_option("max_depth=3, missing=drop or 'min_samples_leaf={grid: [1, 5, 20]}'")
@click.option(
    "--time",
    "seconds",
    type=Seconds(),
    default="40s",
    show_default=True,
    help="Budget of the comparison and of the estimate: 30s, 2m, 1h. Counted by rows and columns, not by the clock.",
)
@click.option(
    "--metric",
    metavar="NAME",
    shell_complete=complete_metric,
    help="Decides choice, pruning and estimate: a metric (oblique list metrics), recall:CLASS or cost:FILE, a CSV of "
    "costs.  [default: accuracy, or rmse]",
)
@click.option(
    "--monotone",
    multiple=True,
    metavar="COLUMN[:+|-]",
    help="The answer may only rise, or fall, with it: the number, or the share of the last of two classes.",
)
@click.option(
    "--threshold",
    metavar="auto|SHARE",
    help="Two classes: say the one of fewer rows (or of recall:CLASS) from this share of it on.",
)
@click.option(
    "--coverage", metavar="SHARE", type=float, help="Sets or intervals that hold the truth for this share of new rows."
)
@click.option(
    "--guarantee",
    metavar="NAME",
    default="",
    help="With --coverage: lac, aps, class or leaf; of numbers absolute, normalized or quantile.  [default: lac, or "
    "absolute]",
)
@click.option(
    "--calibration",
    type=click.Choice(("cross", "split")),
    help="With --coverage: limits by cross-validation, or by a quarter of the rows, kept for it.  [default: cross]",
)
@click.option("--readable", is_flag=True, help="auto: the smallest tree with a split within one standard error.")
@click.option("--tune", is_flag=True, help="Choose parameters by cross-validation, from a usual grid without --set.")
@click.option("--folds", type=click.IntRange(2, 100), help="Of cross-validation.  [default: 10, of auto 5]")
@seed_option(1)
@click.option("-o", "--output", metavar="FILE", callback=writable, help="Write the model to FILE, a *.json.")
@click.option(
    "--report",
    metavar="FILE",
    callback=writable,
    help="Write a model card, one HTML page, to FILE (docs/explaining.md).",
)
@json_option
@click.option("--precision", type=click.IntRange(1, 17), default=3, show_default=True, help="Digits of the tree.")
@click.option(
    "--memory",
    type=Size(),
    help="Grow from the disk if a Parquet or .npy file would take more, as in 1GB (docs/scale.md).",
)
@click.option(
    "--scratch", metavar="FOLDER", help="With --memory: where the copy of the rows goes.  [default: temporary]"
)
@click.option(
    "-j",
    "--jobs",
    metavar="N|auto",
    type=Jobs(),
    help="Processors, or workers, at work on one model.  [default: auto; with --memory or --scheduler 1]",
)
@click.option(
    "--scheduler",
    metavar="local|ADDRESS",
    help="Workers of Dask do the work: on a forest, or on a tree of a table beyond --memory.",
)
@click.option("--path", is_flag=True, help="Show trees of all sizes: terms, leaves, what each does on other rows.")
@click.option(
    "--path-figure", metavar="FILE", callback=writable, help="Draw the path of sizes to FILE, a *.svg, *.pdf or *.png."
)
@data_dir_option
@offline_option
@gathered(Params, "params")
def fit(params: Params) -> None:
    """Fit a model to DATA (your table with --target, or the name of a data set) and estimate its error on new rows.

    auto compares an axis-parallel tree, HHCART(A), HHGDT, FDT, Cline, trees with logistic splits (logistic_split),
    trees of several heuristics (union), tao, logistic_tree and a bagged forest (hhgdt_forest) on the same folds; for
    numeric targets, regression trees. It selects the model with the fewest terms (leaves plus coefficients) whose error
    is within one standard error of the least, and prints the comparison. If the budget (--time) is too small for all
    rows, it compares all candidates on few rows first and keeps the better half. If the selected model is not a single
    tree, the best tree is written beside it (model.tree.json). Trees are pruned with the one-standard-error rule, by
    cross-validation or, from 20,000 rows on, on a tenth of the rows; --set pruning=none switches pruning off.

    Nested cross-validation estimates the error on new rows: each training set repeats the selection of algorithm and
    parameters, so no row takes part in its own prediction. The final model is fitted to all rows. See docs/fitting.md
    for the selection and docs/models.md for the model file.

    A .npy file is a matrix of numbers with the columns x1, x2, ... --target and --weights name one of these columns or
    a second file. The estimate counts every row once.

    With --memory, a tree of a larger file grows from the disk, level by level, and equals the tree that memory would
    give. A tenth of the rows is held out for pruning and another tenth for the estimate.

    --path lists trees of all sizes, from pruning the full tree with unrestricted splits and with splits on few
    features: terms, leaves, and the score on held-out rows. --set path_figure=FILE draws them.

    --monotone COLUMN fits trees whose prediction (or share of the last of two classes) never decreases in the column;
    with :- it never increases. This holds for all possible rows, and oblique verify proves it (docs/guarantees.md).

    --coverage 0.9 stores limits in the model: predict --sets or --intervals, and exported models, then return a set of
    classes or an interval that contains the true value for 90 % of new rows (docs/guarantees.md).

    --report writes a model card, one page for the users of the model: the estimate with its confusion matrix, the
    calibration of probabilities or the errors of numbers, the tree, the effect of each column, limits, and the command
    that fits the model again. The page needs no network and has no script.

    --jobs is the number of threads or, with --scheduler, of Dask processes. The model does not depend on it.

    \b
    Example: oblique fit my.csv --target class --output model.json
             oblique fit my.csv --target price --algorithm m5_style --tune
             oblique fit my.csv --target class --metric recall:fault --set class_weight=balanced --threshold auto
             oblique fit my.csv --target price --monotone rooms --monotone age:- --output model.json
             oblique fit my.csv --target class --coverage 0.9 --output model.json
             oblique fit my.csv --target class --report card.html
             oblique fit bupa --algorithm hhgdt --set epsilon=0.1
             oblique fit wine --algorithm fdt --set path_figure=path.svg
             oblique fit big.parquet --target class --algorithm hhcart_d --memory 1GB --output model.json
             oblique fit X.npy --target y.npy --weights w.npy --algorithm hhgdt_forest --jobs 2
    """
    if is_beyond(params.data, params.memory):
        load_scikit_learn()
        model, text, document, X = fit_beyond(params)
        _show(params, text, document, [] if params.output is None else _saved(model, params.output, X))
        return
    _refuse_conflicts(params)
    form = picture_form(params.path_figure)
    load_scikit_learn()
    if params.scheduler:
        refuse_one_tree(params.algorithm)
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.fitting import reporting

    outcome, dataset = _fitted(params)
    written = [] if params.output is None else _saved(outcome.model, params.output, dataset.X)
    if params.output is not None and outcome.tree is not None:
        written += _saved(outcome.tree, tree_beside(params.output), dataset.X)
    if params.report:
        card(outcome, dataset, params.report)
    if params.path_figure:
        write(rendered(reporting.path_figure(outcome), form), params.path_figure)
    document = _fit_text.document(outcome)
    text = reporting.before(outcome, dataset) + _fit_text.rules(outcome, dataset, params.precision)
    _show(params, text, document, written)
    if not (written or params.as_json):
        click.echo("the model is not kept: --output model.json writes it, for predict, explain and export", err=True)


def _refuse_conflicts(params: Params) -> None:
    """Raise a usage error for options that have no meaning without others, or beside them."""
    if params.scratch:
        raise click.UsageError("--scratch is for a file that takes more than --memory; this table does not")
    if params.coverage is None and (params.guarantee or params.calibration):
        raise click.UsageError(
            "--set guarantee and --set calibration say how --coverage is kept; give --coverage, as in 0.9"
        )
    if params.readable and params.algorithm != AUTO:
        raise click.UsageError(
            f"--readable chooses among the algorithms of auto; leave out it or --algorithm {params.algorithm}"
        )


def _fitted(params: Params) -> tuple[Outcome, Dataset]:
    """Fit to a table in memory; return the outcome, and the data."""
    import numpy as np

    from oblique_cli.experiments.running import count_workers
    from oblique_cli.fitting import fitting
    from oblique_cli.fitting.budget import Budget
    from oblique_cli.fitting.calibrating import Promise
    from oblique_cli.fitting.goals import goal_of

    with working(f"reading {called(params.data)}"):
        task = task_of(params)
    dataset = task.dataset
    specs = [fitting.tuned_spec(spec) for spec in task.specs] if params.tune else task.specs
    rows_of = np.bincount(dataset.y, minlength=len(dataset.classes)) if dataset.classes else np.zeros(0, int)
    goal = goal_of(params.metric, params.threshold, dataset.task, dataset.classes, rows_of, "oblique fit")
    goal = replace(goal, readable=params.readable)
    promise = None
    if params.coverage is not None:
        promise = Promise(params.coverage, params.guarantee, params.calibration or "cross")
    workers = count_workers(params.jobs or (1 if params.scheduler else "auto"))
    with working("fitting") as progress, at_work(params.scheduler, workers):
        progress.begin("", fitting.steps(len(specs), params.folds, promise), unit="fits")
        outcome = fitting.fit(
            dataset, task.policy, specs, columns=task.columns, folds=params.folds, seed=params.seed, goal=goal,
            budget=Budget(params.seconds, step=progress.step), path=params.path or bool(params.path_figure),
            promise=promise,
        )  # fmt: skip
    return outcome, dataset


def _saved(model: Any, path: str, X: Any) -> list[str]:
    from oblique_cli.models.model import save

    return [str(written) for written in save(model, path, X)]


def _show(params: Params, text: str, document: dict[str, Any], written: list[str]) -> None:
    """Print what was fitted, and on standard error where the model is."""
    from oblique_cli.data.files import as_typed

    if params.as_json:
        write(json.dumps({**document, "written": written}, ensure_ascii=False, indent=1) + "\n")
        return
    write(headed(text))
    for path in written:
        click.echo(f"model written to {as_typed(path)}", err=True)


def card(outcome: Outcome, dataset: Dataset, place: str) -> None:
    """Write the model card of what was fitted."""
    import shlex

    from oblique_cli.data.files import as_typed
    from oblique_cli.fitting import reporting
    from oblique_cli.report.model_card import model_card

    remarks, command = reporting.remarks(outcome, dataset, card=True), shlex.join(command_line())
    write(model_card(outcome.model, dataset.X, remarks=remarks, beside=outcome.tree, command=command), place)
    click.echo(f"model card written to {as_typed(place)}", err=True)


def tree_beside(out: str) -> str:
    """Return the file of the tree beside a model: model.tree.json beside model.json."""
    path = Path(out)
    return str(path.with_name(f"{path.name.removesuffix('.json')}.tree.json"))
