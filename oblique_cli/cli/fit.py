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
    help="Own data: how much rows count when the model is fitted, numbers from 0 up.",
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
    """Fit a model to DATA, a file of your own with --target or the name of a data set, and say what to expect of it.

    auto compares an axis-parallel tree, HHCART(A), HHGDT, FDT, Cline, trees of logistic regressions (logistic_split)
    and of several heuristics (union), a tree refined as a whole (tao), a small tree with linear models in its leaves
    (logistic_tree) and a bagged forest (hhgdt_forest) on the same folds, for numbers regression trees, and takes the
    one of fewest terms (leaves and coefficients, added up) whose error is within one standard error of the least; it
    says what it compared. What the budget (--time) does not pay for on
    all rows is compared on few rows first, and dropped by halves. Where the smallest model is no single tree, the best
    tree is kept beside it (model.tree.json). Trees are pruned with the rule of one standard error, by
    cross-validation or, of 20,000 rows and more, on a tenth of them, unless --set pruning=none says otherwise.

    The estimate is of rows that the fit has not seen. Whatever was chosen, algorithm or parameters, is chosen again
    inside each training set (nested cross-validation), so no row has a part in its own prediction. The model is then
    fitted to all rows. docs/models.md says what the file holds, docs/fitting.md how the choice is made.

    A .npy file holds a row of numbers for each row of the table; its columns are x1, x2, ... Labels are one of them, or
    a second file that --target names. Weights (--weights) likewise; the estimate counts every row once.

    With --memory, a file that would take more is grown from the disk, level by level, to the tree that it would have
    in memory. A tenth of its rows is kept to prune on, and another tenth for the estimate.

    --path shows what accuracy costs in terms to read: from the tree that is grown, with splits of any number of
    features and of few, all trees that pruning can make, with the score of each on rows that it was not grown on.
    --set path_figure=FILE draws them.

    --monotone COLUMN fits trees whose number, or share of the last of two classes, never falls as the column grows,
    and with :- never rises, in any row there may be; oblique verify proves it (docs/guarantees.md).

    --coverage 0.9 keeps limits in the model, by which predict --sets and --intervals, and exported models, give the
    classes, or the interval, that hold the truth for 90 % of new rows (docs/guarantees.md).

    --report writes a model card, one page for whoever is to use the model: the estimate with its matrix of classes and
    how far probabilities or numbers can be believed, the tree, which columns count and how, limits, and how to make it
    again. It needs no network and has no script.

    --jobs counts threads, and with --scheduler processes of Dask. The model is the same for any number of them.

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
