"""`oblique fit`: a model of one's own data, with what is to be expected of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from oblique_cli.cli._beyond import Size, at_work, is_beyond, refuse_one_tree
from oblique_cli.cli._common import (
    OptionType,
    called,
    command_line,
    data_dir_option,
    headed,
    offline_option,
    picture_form,
    set_option,
    working,
    writable,
    write,
)
from oblique_cli.cli._completing import complete_algorithm, complete_dataset_or_file, complete_metric
from oblique_cli.cli._own import OwnOptions, own_data_options
from oblique_cli.cli._starting import load_scikit_learn

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.fitting.fitting import Outcome
    from oblique_cli.models.model import Model

AUTO = "auto"
CLASS_WEIGHT = "algorithm.class_weight"
ORDER = "algorithm.monotonic_cst"


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


@click.command()
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
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Rows of each class weigh as much in training.")
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
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of every random draw.")
@click.option(
    "-o", "--output", "--out", "out", metavar="FILE", callback=writable, help="Write the model to FILE, a *.json."
)
@click.option(
    "--report",
    metavar="FILE",
    callback=writable,
    help="Write a model card, one HTML page, to FILE (docs/explaining.md).",
)
@click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True, help="Form."
)
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
    "--workers",
    type=click.IntRange(1, 1024),
    help="At work on one model.  [default: one a processor; with --memory or --scheduler 1]",
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
def fit(
    data: str,
    options: OwnOptions,
    weights: str,
    algorithm: str,
    overrides: tuple[str, ...],
    seconds: float,
    metric: str | None,
    class_weight: str | None,
    monotone: tuple[str, ...],
    threshold: str | None,
    coverage: float | None,
    guarantee: str,
    calibration: str | None,
    readable: bool,
    tune: bool,
    folds: int | None,
    seed: int,
    out: str | None,
    report: str | None,
    format_: str,
    precision: int,
    memory: int | None,
    scratch: str | None,
    workers: int | None,
    scheduler: str | None,
    path: bool,
    path_figure: str | None,
    data_dir: str | None,
    offline: bool,
) -> None:
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
    --path-figure draws them.

    --monotone COLUMN fits trees whose number, or share of the last of two classes, never falls as the column grows,
    and with :- never rises, in any row there may be; oblique verify proves it (docs/guarantees.md).

    --coverage 0.9 keeps limits in the model, by which predict --sets and --intervals, and exported models, give the
    classes, or the interval, that hold the truth for 90 % of new rows (docs/guarantees.md).

    --report writes a model card, one page for whoever is to use the model: the estimate with its matrix of classes and
    how far probabilities or numbers can be believed, the tree, which columns count and how, limits, and how to make it
    again. It needs no network and has no script.

    --workers are threads, and with --scheduler processes of Dask. The model is the same for any number of them.

    \b
    Example: oblique fit my.csv --target class --output model.json
             oblique fit my.csv --target price --algorithm m5_style --tune
             oblique fit my.csv --target class --metric recall:fault --class-weight balanced --threshold auto
             oblique fit my.csv --target price --monotone rooms --monotone age:- --output model.json
             oblique fit my.csv --target class --coverage 0.9 --output model.json
             oblique fit my.csv --target class --report card.html
             oblique fit bupa --algorithm hhgdt --set epsilon=0.1
             oblique fit wine --algorithm fdt --path-figure path.svg
             oblique fit big.parquet --target class --algorithm hhcart_d --memory 1GB --output model.json
             oblique fit X.npy --target y.npy --weights w.npy --algorithm hhgdt_forest --workers 2
    """
    if class_weight:
        overrides = (*overrides, f"{CLASS_WEIGHT}={class_weight}")
    if is_beyond(data, memory):
        if report:
            raise click.UsageError("--report shows an estimate by folds; a table larger than --memory is fitted once")
        if path or path_figure:
            raise click.UsageError("--path grows trees many times; a table larger than --memory is fitted once")
        if metric or threshold or coverage or monotone or options.groups:
            raise click.UsageError(
                "--metric, --threshold, --coverage, --monotone and --groups are for tables in memory; leave out "
                "--memory, or them"
            )
        assert memory is not None
        how = {"memory": memory, "scratch": scratch, "workers": workers or 1, "scheduler": scheduler, "seed": seed}
        how["weights"] = weights
        _fit_beyond(data, options, algorithm, overrides, tune, folds, out, format_, precision, how)
        return
    if scratch:
        raise click.UsageError("--scratch is for a file that takes more than --memory; this table does not")
    if coverage is None and (guarantee or calibration):
        raise click.UsageError("--guarantee and --calibration say how --coverage is kept; give --coverage, as in 0.9")
    if readable and algorithm != AUTO:
        raise click.UsageError(
            f"--readable chooses among the algorithms of auto; leave out it or --algorithm {algorithm}"
        )
    options, overrides = options.taking_groups(overrides)
    form = picture_form(path_figure)
    load_scikit_learn()
    if scheduler:
        refuse_one_tree(algorithm)
    import numpy as np

    from oblique_cli.data.files import as_typed
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.experiments.running import count_workers
    from oblique_cli.fitting import fitting, reporting
    from oblique_cli.fitting.calibrating import Promise
    from oblique_cli.fitting.goals import goal_of
    from oblique_cli.models.model import save

    with working(f"reading {called(data)}"):
        dataset, policy, specs, columns = _data_and_algorithms(
            data, options, weights, algorithm, overrides, monotone, readable, data_dir, offline
        )
    rows_of = np.bincount(dataset.y, minlength=len(dataset.classes)) if dataset.classes else np.zeros(0, int)
    goal = goal_of(metric, threshold, dataset.task, dataset.classes, rows_of, "oblique fit")
    goal = replace(goal, readable=readable)
    promise = None if coverage is None else Promise(coverage, guarantee, calibration or "cross")
    with working("fitting") as progress, at_work(scheduler, workers or (1 if scheduler else count_workers("auto"))):
        progress.begin("", fitting.steps(len(specs), folds, promise), unit="fits")
        outcome = fitting.fit(
            dataset, policy, specs, columns=columns, tune=tune, folds=folds, seed=seed, goal=goal, seconds=seconds,
            path=path or bool(path_figure), promise=promise, step=progress.step,
        )  # fmt: skip
    written = [] if out is None else [str(path) for path in save(outcome.model, out, dataset.X)]
    if out is not None and outcome.tree is not None:
        written += [str(path) for path in save(outcome.tree, tree_beside(out), dataset.X)]
    if report:
        card(outcome, dataset, report)
    if path_figure:
        write(rendered(reporting.path_figure(outcome), form), path_figure)
    if format_ == "json":
        write(json.dumps(_document(outcome, written), ensure_ascii=False, indent=1) + "\n")
        return
    write(headed(reporting.before(outcome, dataset) + _tree(outcome, dataset, precision)))
    for written_path in written:
        click.echo(f"model written to {as_typed(written_path)}", err=True)
    if not written:
        click.echo("the model is not kept: --output model.json writes it, for predict, explain and export", err=True)


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


def _fit_beyond(
    data: str,
    options: OwnOptions,
    algorithm: str,
    overrides: tuple[str, ...],
    tune: bool,
    folds: int | None,
    out: str | None,
    format_: str,
    precision: int,
    how: dict[str, Any],
) -> None:
    """Fit to a table that is larger than memory, and print the result."""
    if tune or folds:
        raise click.UsageError(
            f"{'--tune' if tune else '--folds'} fits many times; a table larger than --memory is fitted once"
        )
    load_scikit_learn()
    from oblique_cli.cli._beyond import fit_beyond, remarks
    from oblique_cli.data.files import as_typed
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.models import showing
    from oblique_cli.models.model import save

    params = {} if algorithm == AUTO else _parameters(algorithm, overrides)
    model, fitted, table = fit_beyond(data, options, algorithm, params, quiet=not sys.stderr.isatty(), **how)
    written = [] if out is None else [str(path) for path in save(model, out, fitted.X)]
    if format_ == "json":
        plain = {
            "algorithm": model.algorithm,
            "parameters": dict(model.parameters),
            "classes": list(model.classes),
            "features": list(model.feature_names),
            **model.facts,
            "written": written,
        }
        write(json.dumps(plain, ensure_ascii=False, indent=1) + "\n")
        return
    title, sentences = f"{ALGORITHMS[algorithm].title} on {model.facts['data']}", remarks(fitted, table)
    if showing.has_tree(model):
        shown = showing.of_loaded(model, title, fitted.X, fitted.y, sentences)
        write(headed(showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()))
    else:
        write(headed(_no_tree(title, sentences)))
    for path in written:
        click.echo(f"model written to {as_typed(path)}", err=True)


def _parameters(algorithm: str, overrides: tuple[str, ...]) -> dict[str, Any]:
    """What --set says of an algorithm. ConfigError for anything else."""
    from oblique_cli import config
    from oblique_cli.cli._fitting import full_key
    from oblique_cli.errors import ConfigError

    keyed = [full_key(text) for text in overrides]
    for text in keyed:
        if not text.startswith("algorithm."):
            raise ConfigError(f"--set {text} is not for a table that is larger than --memory.")
    plain = {"version": 1, "dataset": {"name": "iris"}, "algorithm": {"name": algorithm}}
    return dict(config.from_mapping(plain, "fit", keyed, where="oblique fit").algorithms[0].params)


def _tree(outcome: Outcome, dataset: Dataset, precision: int) -> str:
    """The heading with the estimate, and the rules of the tree, if the model is one."""
    from oblique_cli.fitting import reporting
    from oblique_cli.models import showing

    model, title, remarks = outcome.model, reporting.title(outcome, dataset), reporting.remarks(outcome, dataset)
    if not showing.has_tree(model):
        text = _no_tree(title, remarks)
        if outcome.tree is None:
            return text
        beside = f"{outcome.tree.facts['title']} on {dataset.name}, the tree beside it"
        shown = showing.of_loaded(outcome.tree, beside, outcome.tree_X, dataset.y, ())
        return text + "\n" + showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()
    shown = showing.of_loaded(model, title, outcome.X, dataset.y[outcome.rows], remarks)
    return showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()


def _no_tree(title: str, remarks: Sequence[str]) -> str:
    """The heading of a model without rules to show."""
    lines = [title, *remarks, "The model is not one tree, so no rules are shown."]
    return "".join(f"# {line}\n" for line in lines)


def _document(outcome: Outcome, written: list[str]) -> dict[str, Any]:
    model = outcome.model
    return {
        "algorithm": model.algorithm,
        "parameters": dict(model.parameters),
        "classes": list(model.classes),
        "features": list(model.feature_names),
        **model.facts,
        **({} if outcome.tree is None else {"tree_beside": _beside(outcome.tree)}),
        **({} if model.threshold is None else {"threshold": asdict(model.threshold)}),
        **({} if model.guarantee is None else {"guarantee": model.guarantee.plain()}),
        "curve": [{"leaves": cut.leaves, "score": cut.score} for cut in outcome.curve],
        "path": [size.plain() for size in outcome.path],
        "written": written,
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


def _data_and_algorithms(
    data: str,
    options: OwnOptions,
    weights: str,
    algorithm: str,
    overrides: tuple[str, ...],
    monotone: tuple[str, ...],
    readable: bool,
    data_dir: str | None,
    offline: bool,
) -> Any:
    """Return the data set, its specification, those of the algorithms, and the columns of a user's file."""
    from oblique_cli import config
    from oblique_cli.cli._fitting import full_key
    from oblique_cli.cli._own import TREATMENTS, is_own, looked_at, refuse_strays
    from oblique_cli.data import catalogue
    from oblique_cli.errors import ConfigError
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.fitting.candidates import candidates

    if algorithm != AUTO:
        ALGORITHMS[algorithm]  # UnknownName, before a file is read
    where, keyed = "oblique fit", [full_key(text) for text in overrides]
    about_data = [text for text in keyed if not text.startswith("algorithm.")]
    columns: Any = None
    if is_own(data):
        dataset_spec, dataset, columns = looked_at(data, options, about_data, where, weights)
        key = {**options.dataset_key(data), "target": dataset_spec.target, "task": columns.task}
    else:
        refuse_strays(options, "a file of your own, not with a data set, which knows its columns")
        if weights:
            raise click.UsageError("--weights goes with a file of your own, not with a data set, which has none")
        key = {"name": data, **TREATMENTS}

    def parsed(algorithm_key: dict[str, Any], texts: list[str]) -> Any:
        plain: dict[str, Any] = {"version": 1, "dataset": key, "algorithm": algorithm_key}
        plain["cv"] = {"scheme": "nested"}  # which may choose from a grid
        return config.from_mapping(plain, "fit", texts, where=where)

    if columns is None:
        first = parsed({"name": "hhcart_a" if algorithm == AUTO else algorithm}, about_data)
        dataset = catalogue.load(first.datasets[0], data_dir, offline)
    if monotone:
        keyed.append(_order(monotone, dataset))
    if algorithm != AUTO:
        weighted = any(text.startswith(f"{CLASS_WEIGHT}=") for text in keyed)
        if weighted and "class_weight" not in ALGORITHMS[algorithm].parameters:
            raise ConfigError(f"{algorithm} takes no class weights; take a tree such as hhgdt, or leave them out.")
        if monotone and "monotonic_cst" not in ALGORITHMS[algorithm].parameters:
            raise ConfigError(
                f"{algorithm} keeps no order of its answers; take a tree such as hhcart_a, or leave --monotone out."
            )
        experiment = parsed({"name": algorithm}, keyed)
        return dataset, experiment.datasets[0], experiment.algorithms, columns
    listed = candidates(dataset.task)
    if readable:
        listed += candidates(f"{dataset.task}_readable")
    if any(text.startswith(f"{CLASS_WEIGHT}=") for text in keyed):
        if dataset.task == "regression":
            raise ConfigError("--class-weight is for classes, and this target is of numbers; leave it out.")
        listed = tuple(entry for entry in listed if "class_weight" in ALGORITHMS[entry["name"]].parameters)
    if monotone:
        listed = tuple(entry for entry in listed if "monotonic_cst" in ALGORITHMS[entry["name"]].parameters)
    names = tuple(dict.fromkeys(entry["name"] for entry in listed))
    of_algorithm = [text for text in keyed if text.startswith("algorithm.")]
    takers = {text: [name for name in names if _key(text) in ALGORITHMS[name].parameters] for text in of_algorithm}
    for text, taking in takers.items():
        if not taking:
            raise ConfigError(f"none of the algorithms of auto has a parameter {_key(text)!r} ({', '.join(names)}).")
    experiments = [
        parsed(entry, about_data + [text for text in of_algorithm if entry["name"] in takers[text]]) for entry in listed
    ]
    return dataset, experiments[0].datasets[0], [experiment.algorithms[0] for experiment in experiments], columns


def _order(monotone: tuple[str, ...], dataset: Dataset) -> str:
    """The override that says what --monotone does."""
    from oblique_cli.errors import ConfigError
    from oblique_cli.models.verifying.questions import signed_column

    signs: dict[str, int] = {}
    for text in monotone:
        name, sign = signed_column(text, dataset.feature_names)
        if signs.setdefault(name, sign) != sign:
            raise ConfigError(f"--monotone has column {name!r} in both directions.")
    return f"{ORDER}={json.dumps(signs, ensure_ascii=False)}"


def _key(override: str) -> str:
    return override.partition("=")[0].split(".")[1]
