"""`oblique fit`: a model of the user's data with an estimate of its error."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._beyond import at_work, fit_beyond, is_beyond, refuse_one_tree
from oblique_cli.cli._common import called, command_line, headed, note, working, write, write_json
from oblique_cli.cli._fit_specs import AUTO, Params, task_of
from oblique_cli.cli._fitting import load_scikit_learn
from oblique_cli.cli._own import OwnOptions

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.fitting.fitting import Outcome
    from oblique_cli.models.model import Model

HEADINGS = {
    "Table": ("--target", "--task", "--drop", "--keep", "--groups", "--weights"),
    "Model": ("--algorithm", "--set", "--metric", "--monotone", "--threshold", "--coverage", "--readable", "--tune"),
    "Estimate and work": ("--time", "--folds", "--seed", "--jobs", "--memory", "--scratch", "--scheduler"),
    "Output": ("--output", "--report", "--path", "--format", "--help"),
}
# Parameters that are options in other commands.
SHARED = ("data_dir", "offline", "precision", *(field.name for field in fields(OwnOptions)))


class Headed(click.Command):
    """Command whose options are listed under headings; an option without a heading is set by --set NAME=VALUE.

    headings : heading -> its options, as they are typed
    shared : parameters of options without a heading that may also be typed, as in other commands and in messages
    """

    def __init__(
        self, *args: Any, headings: Mapping[str, Sequence[str]], shared: Container[str | None], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.headings, self.shared = headings, shared
        shown = {name for names in headings.values() for name in names}
        options = [param for param in self.params if isinstance(param, click.Option) and not shown & set(param.opts)]
        self.settings = {option.opts[0].removeprefix("--").replace("-", "_"): option for option in options}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse --set NAME=VALUE for an option without a heading as the option itself, with its checks."""
        try:
            return super().parse_args(ctx, self._read(ctx, args))
        except click.BadParameter as error:
            for setting, option in self.settings.items():
                if error.param is option:
                    error.param_hint = f"'--set {setting}'"
            raise

    def _read(self, ctx: click.Context, args: Sequence[str]) -> list[str]:
        """Return the words with options in place of --set; refuse a typed option that only --set accepts."""
        words: list[str] = []
        rest = iter(args)
        for word in rest:
            name, equals, value = word.partition("=")
            setting = name.removeprefix("--").replace("-", "_")
            if word == "--":
                words += [word, *rest]
            elif name.startswith("--") and setting in self.settings and not ctx.resilient_parsing:
                if self.settings[setting].name not in self.shared:
                    raise click.UsageError(f"{name} is now --set {setting}={self._metavar(setting)}.", ctx)
                words.append(word)
            elif name == "--set":
                text = value if equals else next(rest, None)
                words += ["--set"] if text is None else self._words(text, ctx)
            else:
                words.append(word)
        return words

    def _words(self, text: str, ctx: click.Context) -> Iterable[str]:
        """Return --set NAME=VALUE as words for the parser; lists in brackets belong to the configuration."""
        key, equals, value = (part.strip() for part in text.partition("="))
        option = self.settings.get(key.replace("-", "_"))
        if option is None or not equals or value.startswith("["):
            return ("--set", text)
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if not option.is_flag:
            return (f"{option.opts[0]}={value}",)
        return option.opts[:1] if click.BOOL.convert(value, option, ctx) else ()

    def _metavar(self, setting: str) -> str:
        option = self.settings[setting]
        if option.is_flag:
            return "true"
        return "|".join(getattr(option.type, "choices", ())) or option.metavar or option.type.name.upper()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading, then the names for --set."""
        params = self.get_params(ctx)
        for title, names in self.headings.items():
            records = [param.get_help_record(ctx) for param in params if set(names) & set(param.opts)]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record])
        with formatter.section("Names for --set, beside the parameters of the algorithm"):
            formatter.write_dl(
                [(f"{name}={self._metavar(name)}", option.help or "") for name, option in self.settings.items()]
            )


@declare.command(cls=Headed, headings=HEADINGS, shared=SHARED)
def fit(params: Params = declare.group(Params)) -> None:
    """Fit a model to DATA (your table with --target, or the name of a data set) and estimate its error on new rows.

    auto compares an axis-parallel tree, HHCART(A), HHGDT, FDT, Cline, trees with logistic splits (logistic_split),
    trees of several heuristics (union), tao, logistic_tree, a bagged forest (hhgdt_forest) and oblique_boosting on the
    same folds; for numeric targets, regression trees, a forest and boosting. It selects the model with the fewest terms
    (leaves plus coefficients) whose error is within one standard error of the least, and prints the comparison. If the
    budget (--time) is too small for all rows, it compares all candidates on few rows first and keeps the better half.
    If the selected model is not a single tree, the best tree is written beside it (model.tree.json). Trees are pruned
    with the one-standard-error rule, by cross-validation or, from 20,000 rows on, on a tenth of the rows; --set
    pruning=none switches pruning off.

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

    --report writes a model card, one page: the estimate with its confusion matrix, the calibration of probabilities or
    the errors of numbers, the tree, curves, limits, and the command that fits the model again.

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
        model, title, remarks, fit_of_disk = fit_beyond(params)
        text = _rules(model, title, remarks, fit_of_disk.X, fit_of_disk.y, params.precision)
        _show(params, text, _facts(model), [] if params.output is None else _saved(model, params.output, fit_of_disk.X))
        return
    _refuse_conflicts(params)
    form = declare.picture_form(params.path_figure)
    load_scikit_learn()
    if params.scheduler:
        refuse_one_tree(params.algorithm)
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.fitting import reporting

    outcome, dataset = _fitted(params)
    outcome = outcome.with_curves(dataset.X) if params.output or params.report else outcome
    written = [] if params.output is None else _saved(outcome.model, params.output, dataset.X)
    if params.output is not None and outcome.tree is not None:
        written += _saved(outcome.tree, tree_beside(params.output), dataset.X)
    if params.report:
        card(outcome, dataset, params.report)
    if params.path_figure:
        write(rendered(reporting.path_figure(outcome), form), params.path_figure)
    title, remarks = reporting.title(outcome, dataset), reporting.remarks(outcome, dataset)
    y = dataset.y[outcome.rows]
    text = reporting.before(outcome, dataset) + _rules(outcome.model, title, remarks, outcome.X, y, params.precision)
    if outcome.tree is not None:
        beside = f"{outcome.tree.facts['title']} on {dataset.name}, the tree beside it"
        text += "\n" + _rules(outcome.tree, beside, (), outcome.tree_X, dataset.y, params.precision)
    _show(params, text, _document(outcome), written)
    if not (written or params.as_json):
        note("the model is not kept: --output model.json writes it, for predict, explain and export")


def _refuse_conflicts(params: Params) -> None:
    """Raise a usage error for options that conflict or that need another option."""
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
    """Fit to a table in memory; return the outcome and the data."""
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


def _rules(model: Model, title: str, remarks: Sequence[str], X: Any, y: Any, precision: int) -> str:
    """Return the heading of a model, and its rules if it is a single tree."""
    from oblique_cli.models import showing

    if not showing.has_tree(model):
        lines = [title, *remarks, "The model is not one tree, so no rules are shown."]
        return "".join(f"# {line}\n" for line in lines)
    shown = showing.of_loaded(model, title, X, y, tuple(remarks))
    return showing.content(shown, "text", precision=precision, raw=False, depth=None).decode()


def _document(outcome: Outcome) -> dict[str, Any]:
    """Return the JSON output without the written files."""
    model, tree = outcome.model, outcome.tree
    document = {**_facts(model), "path": [size.plain() for size in outcome.path]}
    if tree is not None:
        names = ("estimate", "leaves", "n_terms", "depth")
        document["tree_beside"] = {"algorithm": tree.algorithm, **{name: tree.facts[name] for name in names}}
    if model.threshold is not None:
        document["threshold"] = asdict(model.threshold)
    if model.guarantee is not None:
        document["guarantee"] = model.guarantee.plain()
    return document


def _facts(model: Model) -> dict[str, Any]:
    """Return the facts of a model as plain data."""
    return {
        "algorithm": model.algorithm,
        "parameters": dict(model.parameters),
        "classes": list(model.classes),
        "features": list(model.feature_names),
        **model.facts,
    }


def _show(params: Params, text: str, document: dict[str, Any], written: list[str]) -> None:
    """Print the result, and on standard error the path of the model."""
    from oblique_cli.data.files import as_typed

    if params.as_json:
        write_json({**document, "written": written})
        return
    write(headed(text))
    note(*(f"model written to {as_typed(path)}" for path in written))


def card(outcome: Outcome, dataset: Dataset, place: str) -> None:
    """Write the model card of a fit."""
    import shlex

    from oblique_cli.data.files import as_typed
    from oblique_cli.fitting import reporting
    from oblique_cli.report.model_card import model_card

    remarks, command = reporting.remarks(outcome, dataset, card=True), shlex.join(command_line())
    write(model_card(outcome.model, dataset.X, remarks=remarks, beside=outcome.tree, command=command), place)
    note(f"model card written to {as_typed(place)}")


def tree_beside(out: str) -> str:
    """Return the file of the tree beside a model: model.tree.json beside model.json."""
    path = Path(out)
    return str(path.with_name(f"{path.name.removesuffix('.json')}.tree.json"))
