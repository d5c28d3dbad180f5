"""The user's data files on the command line: detecting, reading and converting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import note

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.own.front import Columns
    from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec, Experiment, TextOptions
    from oblique_cli.models.model import Model

STDIN = "-"
# Suffixes of files of rows; each may be followed by the suffix of a compressed file.
ENDINGS = (
    ".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".arff", ".json", ".jsonl", ".ndjson", ".svm", ".libsvm", ".xlsx",
    ".sqlite", ".db", ".dta", ".sav", ".parquet", ".pq", ".feather", ".npy",
)  # fmt: skip
PACKED = (".gz", ".bz2", ".xz", ".zip")

MOST_ARRAY_COLUMNS = 100_000  # of a .npy file, whose column names x1, x2, ... must not occur in another file

# An oblique tree, and an axis-parallel tree for comparison; then the same for regression.
CLASSIFIERS = ("axis_parallel", "hhcart_a")
REGRESSORS = ("cart_regression", "m5_style")
ONE_TREE = {"classification": "hhcart_a", "regression": "m5_style"}

# Keys of `cv` that are reduced for long computations: the option that restores each, and its minimum.
Sizes = Mapping[str, tuple[str, int]]
SIZES: Sizes = {"repeats": ("--set cv.repeats={}", 1), "folds": ("--set cv.folds={}", 2)}

# Treatment of cells that an algorithm cannot use, unless --set changes it.
TREATMENTS = {"missing": "impute", "encoding": "onehot"}


def _of_table(name: str, text: str, **about: Any) -> Any:
    return declare.option(name, f"Own data: {text}", **about)


@dataclass(frozen=True)
class LineOptions:
    """Options for the format of the lines of a file; without them the format is detected."""

    delimiter: str | None = _of_table("--delimiter", "the sign between cells: ';', tab, space, ...", metavar="SIGN")
    charset: str | None = _of_table("--charset", "character set, such as utf-8 or cp1252.", metavar="NAME")
    missing_marks: tuple[str, ...] = _of_table(
        "--na",
        "a mark of missing values beside the usual ones (NA, ?, -, n/a, ...); may be repeated. "
        "'nonnumeric' stands for every cell of a column of numbers that is no number.",
        metavar="MARK",
        multiple=True,
    )
    only_marks: bool = declare.flag("--only-na", "Own data: the marks of --na replace the usual ones.")
    header: str | None = _of_table(
        "--header",
        "none if the first line has no column names; columns are then named 'column 1', 'column 2', ...",
        type=click.Choice(("first", "none")),
    )
    skip: int | None = _of_table("--skip", "lines to skip above the header.", type=click.IntRange(0), metavar="N")
    skip_end: int | None = _of_table(
        "--skip-end", "lines to skip below the table.", type=click.IntRange(0), metavar="N"
    )
    comment: str | None = _of_table("--comment", "skip lines that begin so, such as '#'; or none.", metavar="SIGN")

    @property
    def text(self) -> TextOptions:
        """Return the same options for the readers."""
        from oblique_cli.ground.nouns import TextOptions

        options = {field.name: getattr(self, field.name, None) for field in fields(TextOptions)}
        return TextOptions(**{name: value for name, value in options.items() if value is not None})


@dataclass(frozen=True)
class FileOptions(LineOptions):
    """Options for reading a file, including its numbers."""

    decimal: str | None = _of_table("--decimal", "the decimal mark.", type=click.Choice(("point", "comma")))
    thousands: str | None = _of_table(
        "--thousands",
        "the sign between thousands.",
        type=click.Choice(("none", "point", "comma", "space", "apostrophe")),
    )


def _columns(name: str, text: str) -> Any:
    return _of_table(name, text, multiple=True, metavar="COLUMN")


@dataclass(frozen=True)
class OwnOptions(FileOptions):
    """Options for a training table: the roles of its columns and the format of its file."""

    target: str | None = _of_table("--target", "the column to predict.", metavar="COLUMN")
    task: str | None = _of_table(
        "--task", "kind of target.  [default: detected]", type=click.Choice(("classification", "regression"))
    )
    drop: tuple[str, ...] = _columns("--drop", "ignore this column, or these: a,b; may be repeated.")
    keep: tuple[str, ...] = _columns(
        "--keep", "use this column, or these (a,b), even if it looks like an identifier; '*' for all."
    )
    features: tuple[str, ...] = _columns("--features", "use only these columns: a,b; may be repeated.")
    qualitative: tuple[str, ...] = _columns(
        "--qualitative", "treat this column, or these (a,b), as levels, even if it has numbers."
    )
    groups: str | None = _of_table(
        "--groups", "column of groups, such as patients; rows of one group stay in one fold.", metavar="COLUMN"
    )
    dates: str | None = _of_table(
        "--dates",
        "convert dates to days since 1970-01-01; or give their form, such as dd/mm/yyyy.",
        metavar="days|FORM",
    )

    @property
    def typed_names(self) -> list[str]:
        """Return the names of the options that are set, as they are typed."""
        return [getattr(OwnOptions, name).names[0] for name in self.set_options]

    @property
    def set_options(self) -> dict[str, Any]:
        """Return the options that are set, by name; tuples as lists."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {name: value for name, value in listed.items() if value not in (None, [], "") and value is not False}

    def dataset_key(self, path: str) -> dict[str, Any]:
        """Return the key `dataset` of a configuration for a file."""
        options = {name: value for name, value in self.set_options.items() if name != "groups"}
        return {"csv": path, **name_of(path), **TREATMENTS, **options}

    def taking_groups(self, overrides: Sequence[str]) -> tuple[OwnOptions, tuple[str, ...]]:
        """Return the options with the column of `cv.groups`, and the overrides without that key and its scheme.

        For commands without any other cross-validation. Raise a usage error for two columns.
        """
        rest = tuple(text for text in overrides if text.replace(" ", "") != "cv.scheme=group")
        named = [text for text in rest if text.partition("=")[0].strip() == "cv.groups"]
        columns = {text.partition("=")[2].strip().strip("'\"") for text in named} | ({self.groups} - {None})
        if len(columns) > 1:
            raise click.UsageError(f"--groups and cv.groups name {listed_words(sorted(map(repr, columns)))}; name one")
        options = replace(self, groups=next(iter(columns))) if columns else self
        return options, tuple(text for text in rest if text not in named)


def is_own(word: str) -> bool:
    """Return whether a word of the command line is a file of rows or "-", not a configuration or data set name."""
    if word == STDIN:
        return True
    from oblique_cli.data.own.source import divided

    path, part = divided(word)
    if part or "://" in word:
        return True
    while path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    if path.suffix.lower() in ENDINGS:
        return True
    if path.suffix.lower() in (".yaml", ".yml") or not Path(word).is_file():
        return False
    from oblique_cli.data import catalogue

    return word not in catalogue.names()


def name_of(path: str) -> dict[str, str]:
    """Return the key `name` for a file in a configuration, {} if the name of the file is suitable."""
    from oblique_cli.data import catalogue
    from oblique_cli.data.own.source import stem

    name = stem(path).lower()
    # A file must not have the name of a data set of the catalogue.
    return {"name": f"{name}-csv"} if name in catalogue.names() else {}


def spare(*inputs: str | None) -> None:
    """Raise ConfigError if the current command would overwrite one of its input files."""
    from oblique_cli.errors import ConfigError

    context = click.get_current_context(silent=True)
    params = {} if context is None else context.params
    output = params.get("output")
    if output and Path(output).exists():
        for name in inputs:
            if name and name != STDIN and Path(name).exists() and Path(name).samefile(output):
                raise ConfigError(f"{name!r} is read, and would be written over; give another file to write.")


def loaded(model: str, *inputs: str | None) -> Model:
    """Return the model of a command that reads tables; ConfigError if the command would overwrite one of its inputs."""
    from oblique_cli.models.model import load
    from oblique_cli.models.new_rows import needs_table

    spare(model, *inputs)
    fitted = load(model)
    needs_table(fitted, model)
    return fitted


def with_arrays(data: str, options: OwnOptions, weights: str) -> tuple[OwnOptions, str, dict[str, str]]:
    """Return options and weights with column names in place of .npy files, and those files by column name.

    Labels of rows in a .npy file are a column of it or a second file; likewise their weights.
    """
    from oblique_cli.data import npy
    from oblique_cli.data.own.roles import clash_of_roles
    from oblique_cli.errors import DataError

    beside: dict[str, str] = {}
    if not data.lower().endswith(npy.ENDING):
        return options, weights, beside

    def named(word: str) -> str:
        if not word.lower().endswith(npy.ENDING):
            return word
        name = npy.name_of(word, (*npy.names(MOST_ARRAY_COLUMNS), *beside))
        beside[name] = word
        return name

    if options.target is not None:
        # Check first: each file gets a unique column name below.
        if clash := clash_of_roles(options.target, weights):
            raise DataError(f"{data}: {clash}")
        options = replace(options, target=named(options.target))
    return options, named(weights), beside


def looked_at(
    path: str, options: OwnOptions, overrides: Sequence[str], where: str, weights: str = ""
) -> tuple[dict[str, Any], Dataset, Columns]:
    """Read a file and return the key `dataset` of its configuration, the data, and its columns.

    overrides : only keys below "dataset." are used; weights : the column of sample weights, "" for none
    raises ConfigError if the target or task is ambiguous
    """
    from oblique_cli import config
    from oblique_cli.data import catalogue, npy
    from oblique_cli.data.own.source import source_of

    options, weights, beside = with_arrays(path, options, weights)
    spare(path, *beside.values())
    source = source_of(path)  # raises DataError if the file cannot be read
    if path.lower().endswith(npy.ENDING):
        npy.table_of(path, source.where)  # its error message lists the accepted formats
    # Without --target the reader lists the possible target columns.
    plain = {**options.dataset_key(path), "target": options.target or "?"}
    about_data = [text for text in overrides if text.startswith("dataset.")]
    # Any algorithm works here that agrees with the treatment of missing values.
    learning = {"missing": "learn"} if "dataset.missing=keep" in about_data else {}
    experiment = config.from_mapping(
        {"version": 1, "dataset": plain, "algorithm": {"name": "axis_parallel", **learning}}, "own", about_data, where
    )
    spec = experiment.datasets[0]
    reading = catalogue.reading(spec)
    if options.target is None and spec.target == "?":
        reading = replace(reading, target=None)
    reading = replace(reading, weights=weights, groups=options.groups or "")
    if beside:
        from oblique_cli.data.own.front import read_own

        dataset, columns, _ = read_own(replace(source, beside=tuple(beside.items())), reading, spec.name)
    else:
        dataset, columns = catalogue.look(spec, reading)
    note(*(f"warning: {sentence}" for sentence in dataset.repeats))
    return {**options.dataset_key(path), "target": spec.target, "task": columns.task}, dataset, columns


def pruned(algorithm: str, rows: int, grouped: bool) -> str | dict[str, Any]:
    """Return the key `algorithm` of a configuration; a tree grown top-down is pruned as in `pruned_spec`."""
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.default_pruning import pruned_spec
    from oblique_cli.ground.nouns import AlgorithmSpec

    known = algorithm in ALGORITHMS
    params = pruned_spec(AlgorithmSpec(algorithm, algorithm), rows, grouped).params if known else {}
    return {"name": algorithm, **params} if params else algorithm


def symbolic(
    dataset: Dataset, policy: DatasetSpec, spec: AlgorithmSpec, texts: Sequence[str]
) -> tuple[DatasetSpec, AlgorithmSpec]:
    """Return data set and algorithm with levels as they are, and missing cells too, if its trees branch on levels.

    texts : options of the user such as "dataset.missing=impute", which stay"""
    from oblique_cli.estimators.algorithms import ALGORITHMS

    named = {text.partition("=")[0].strip() for text in texts}
    if not ALGORITHMS[spec.name].family.symbolic or not dataset.qualitative or "dataset.encoding" in named:
        return policy, spec
    if named & {"dataset.missing", "algorithm.missing"}:
        return replace(policy, encoding="crimcoord"), spec
    spec = replace(spec, params={**spec.params, "missing": "shares"})
    return replace(policy, encoding="crimcoord", missing="keep"), spec


def refuse_strays(options: OwnOptions, where: str) -> None:
    """Raise a usage error for file options in a command without a file."""
    if options.typed_names:
        raise click.UsageError(
            f"{' and '.join(options.typed_names)} {'goes' if len(options.typed_names) == 1 else 'go'} with {where}"
        )


def experiment_of(
    paths: Sequence[str],
    options: OwnOptions,
    algorithms: Sequence[str | dict[str, Any]],
    overrides: Sequence[str],
    where: str,
    sizes: Sizes = SIZES,
    **more: Any,
) -> Experiment:
    """Return the experiment on a user's files, without a configuration.

    sizes : keys of `cv` that may be reduced
    algorithms : empty for those that suit the task; algorithms given by name are pruned where possible
    more : further keys of the configuration
    The name of the experiment contains a digest of data and settings, so another experiment on the file is another run.
    The digest excludes the number of repetitions, which may be increased later.
    """
    from oblique_cli import config
    from oblique_cli.data.own.source import stem
    from oblique_cli.estimators.algorithms import ALGORITHMS
    from oblique_cli.estimators.default_pruning import how_pruned
    from oblique_cli.evaluation.metrics import to_measure
    from oblique_cli.experiments.jobs import digest

    options = options.taking_groups(overrides)[0]
    if options.groups is not None:
        more["cv"] = {**more.get("cv", {}), "scheme": "group", "groups": options.groups}
    looks = [looked_at(path, options, overrides, where) for path in paths]
    tasks = [columns.task for _, _, columns in looks]
    if len(set(tasks)) > 1:
        other = tasks.index(next(task for task in tasks if task != tasks[0]))
        kinds = f"{paths[0]} is for {tasks[0]} and {paths[other]} for {tasks[other]}"
        raise click.UsageError(f"{kinds}: compare one kind at a time, or say --task")
    usual = CLASSIFIERS if tasks[0] == "classification" else REGRESSORS
    rows = max(dataset.n for _, dataset, _ in looks)
    chosen = algorithms or _affordable_trees(usual, rows, [dataset for _, dataset, _ in looks], sizes)
    listed = [pruned(name, rows, options.groups is not None) if isinstance(name, str) else name for name in chosen]
    plain = {"version": 1, "datasets": [key for key, _, _ in looks], "algorithms": listed, **more}
    experiment = config.from_mapping(plain, stem(paths[0]), overrides, where=where)
    experiment = replace(experiment, algorithms=tuple(map(_tunable, experiment.algorithms)))
    if not {text.partition("=")[0].strip() for text in overrides} & {"cv", "cv.repeats", "cv.folds"}:
        experiment = _affordable(experiment, [dataset for _, dataset, _ in looks], sizes)
    if not experiment.title:
        titles = [ALGORITHMS[spec.name].title for spec in experiment.algorithms]
        cut: dict[str, list[str]] = {}
        for spec, title in zip(experiment.algorithms, titles, strict=True):
            cut.setdefault(how_pruned(spec), []).append(title)
        texts = [f"{'' if len(of) == len(titles) else listed_words(of) + ' '}{how}" for how, of in cut.items() if how]
        experiment = replace(experiment, title=", ".join([listed_words(titles), *texts]))
    if any(text.partition("=")[0].strip() == "name" for text in overrides):
        return experiment
    content = experiment.content()
    content["cv"].pop("repeats", None)
    data = [dataset.digest for _, dataset, _ in looks]
    code = digest([content, data, *to_measure(experiment.metrics)])[:8]
    return replace(experiment, name=f"{experiment.name[:55]}-{code}")


def _affordable(experiment: Experiment, datasets: Sequence[Dataset], sizes: Sizes) -> Experiment:
    """Return the experiment with fewer repetitions and folds if it takes long, and print a note."""
    from oblique_cli.experiments.fits import Case
    from oblique_cli.fitting.budget import COMPARISON_SECONDS, affordable_cv

    cases = list(Case.all_of(experiment, datasets).values())
    cv, seconds, left = affordable_cv(experiment.cv, cases, {key: least for key, (_, least) in sizes.items()})
    changes, options = [], []
    for key, (option, _) in sizes.items():
        planned, usual = getattr(cv, key), getattr(experiment.cv, key)
        if planned < usual:
            changes.append(f"{planned} {key.removesuffix('s') if planned == 1 else key} in place of {usual}")
            options.append(option.format(usual))
    if changes:
        note(
            f"note: {listed_words(changes)}, as all would take about {seconds:.0f} s of CPU; "
            f"{' '.join(options)} runs all."
        )
    if left > COMPARISON_SECONDS:
        note(f"note: the folds take about {left:.0f} s of CPU; --algorithm NAME runs a cheaper one.")
    return replace(experiment, cv=cv)


def _affordable_trees(names: Sequence[str], rows: int, datasets: Sequence[Dataset], sizes: Sizes) -> tuple[str, ...]:
    """Return default algorithms, the cheaper ones where the fewest folds take long; print a note on these."""
    from oblique_cli.estimators.default_pruning import pruned_spec
    from oblique_cli.fitting.budget import affordable_tree, seen_columns
    from oblique_cli.ground.nouns import AlgorithmSpec

    fits = prod(least for _, least in sizes.values())  # of the fewest folds, two, half of the rows train each
    large = max(datasets, key=lambda dataset: dataset.n * dataset.p)
    size = (large.n / 2, seen_columns(large, TREATMENTS["encoding"]), len(large.classes) or 1)
    chosen = []
    for name in names:
        spec = pruned_spec(AlgorithmSpec(name, name, {}, {}), rows)
        quick, usual, seconds = affordable_tree(spec, fits, *size)
        if quick != name:
            note(
                f"note: {quick} in place of {name}: {fits} folds of it take about {seconds:.0f} s of CPU, of {name} "
                f"{usual:.0f} s; --algorithm {','.join(names)} runs that."
            )
        chosen.append(quick)
    return tuple(dict.fromkeys(chosen))


def _tunable(spec: AlgorithmSpec) -> AlgorithmSpec:
    """Remove default pruning if the grid is over a parameter that itself cuts the tree."""
    from oblique_cli.estimators.default_pruning import BY_CV, BY_HOLDOUT, pruned_spec

    # 0 standard errors if rows are grouped.
    usual = ({**rule, "standard_errors": errors} for rule in (BY_CV, BY_HOLDOUT) for errors in (0.0, 1.0))
    if not any(params.items() <= spec.params.items() for params in usual):
        return spec
    bare = replace(spec, params={key: value for key, value in spec.params.items() if key not in BY_CV})
    return bare if pruned_spec(bare) == bare else spec


def listed_words(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
