"""Conversion of a configuration file to a frozen `Experiment`, or to one error that lists all its problems.

The tables of `keys`, of the schemes and of the parameters of algorithms alone define the allowed values of each key:
they check values, word the errors and make the JSON schema for editors (`json_schema`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oblique_cli import plugins
from oblique_cli.config import keys, outside
from oblique_cli.config.composing import PLURAL, apply, compose, is_from_below, located, project_root, resolve
from oblique_cli.config.walking import MAX_GRID, Walk, near
from oblique_cli.data.own.source import STDIN, stem
from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.outside import known
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.published import comparable
from oblique_cli.ground.bounds import FOLDS
from oblique_cli.ground.constraints import Choice, ClassWeight, Constraint, Optional, SignsOfColumns, Text
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment
from oblique_cli.ground.registry import Registry
from oblique_cli.ground.strict_yaml import Place, Problems, YamlSource, YamlValue, shown, wrap
from oblique_cli.schemes import SCHEMES

REFUSING = {"error", "auto"}  # values of `missing` of an algorithm with which rows that lack numbers may fail


def load(
    name: str | Path, overrides: Iterable[str] = (), allow_outside: bool = False, code: str = outside.REFUSE
) -> Experiment:
    """Return the experiment that a configuration describes.

    name          : a path, or the name of a bundled configuration
    overrides     : texts such as "cv.repeats=2", applied in order
    allow_outside : let `extends` and `csv` leave the project folder
    code          : treatment of code named in it: `outside.REFUSE`, `ALLOW` or `LEAVE`
    raises ConfigError, whose message shows every problem with its place in the file"""
    path = resolve(name)
    root = None if allow_outside else project_root(path)
    problems = Problems()
    tree = compose(path, overrides, root, problems)
    return _experiment(tree, path.stem, root, problems, code)


def from_mapping(
    mapping: Mapping[str, Any],
    name: str = "experiment",
    overrides: Iterable[str] = (),
    where: str = "configuration",
    code: str = outside.REFUSE,
) -> Experiment:
    """Return the experiment that plain data describes, with the same keys and checks as a file.

    where : the start of error messages; code : as in `load`"""
    problems = Problems()
    tree = wrap(mapping, Place(YamlSource(where, "")))
    apply(tree, overrides, problems)
    return _experiment(tree, name, None, problems, code)


def _experiment(tree: YamlValue, name: str, root: Path | None, problems: Problems, code: str) -> Experiment:
    plugins.load()
    experiment = _Checking(root, problems, code).experiment(tree, name)
    problems.check()
    return experiment


class _Checking(Walk):
    """Checks of the parts of a configuration. The result of `experiment` is valid only if no problem was noted."""

    def experiment(self, tree: YamlValue, name: str) -> Experiment:
        top = self.entries(tree, "the configuration", keys.KEYS)
        if "extends" in top:
            self.problems.add(top["extends"].key, "extends works only inside a file.")
        if "version" not in top:
            self.problems.add(tree.place, "the key version is missing; add 'version: 1'.")
        for singular, plural in PLURAL.items():
            if plural not in top:
                self.problems.add(tree.place, f"the key {singular} (or {plural}) is missing.")
        code = self.imported(top["import"]) if "import" in top else {}
        fields = self.table(top, "", keys.EXPERIMENT)
        fields.pop("version", None)
        cv = self.cv(top["cv"]) if "cv" in top else CVSpec()
        keys_of_lists = ("datasets", "algorithms", "published", "metrics")
        datasets, algorithms, published, metrics = (
            self.items(top[key], key) if key in top else [] for key in keys_of_lists
        )
        dataset_specs = [self.dataset(item) for item in datasets]
        limits = outside.limits(self, top.get("limits"), "every model")
        specs = [self.algorithm(item, cv.scheme) for item in algorithms]
        algorithm_specs = [replace(spec, limits={**limits, **spec.limits}) if spec else None for spec in specs]
        self.distinct("data set", [spec.name if spec else "" for spec in dataset_specs], datasets)
        self.distinct("algorithm id", [spec.id if spec else "" for spec in algorithm_specs], algorithms)
        folds = (cv.repeats or 1) * (cv.folds or 1) * len(datasets) * len(algorithms)
        if folds > FOLDS.value:
            message = f"the configuration makes {folds} folds, the most is {FOLDS.value}; {FOLDS.advice}."
            raise self.problems.stop(top["cv"].key if "cv" in top else tree.place, message)
        algorithm_specs = [self.only_present(spec, datasets, dataset_specs) for spec in algorithm_specs]
        for item, algorithm in zip(algorithms, algorithm_specs, strict=True):
            for dataset in dataset_specs:
                if algorithm and dataset:
                    self.missing(item, algorithm.on(dataset.name), dataset)
        defaults = {"name": _slug(name), "seed": 1}
        return Experiment(
            **{**defaults, **fields},
            datasets=tuple(spec for spec in dataset_specs if spec),
            algorithms=tuple(spec for spec in algorithm_specs if spec),
            cv=cv,
            published=tuple(self.published(item) for item in published),
            metrics=self.metrics(metrics),
            data_dir=self.data_dir(top["data_dir"]) if "data_dir" in top else None,
            code=code,
        )

    def imported(self, value: YamlValue) -> dict[str, str]:
        """Import the Python files that the configuration names, if that is allowed; return their checksums."""
        items = self.items(value, "import")
        paths = [located(item, self.root, self.problems) for item in items if self.scalar(item, "import", Text())]
        if self.code == outside.REFUSE:
            names = ", ".join(shown(item.data) for item in items)
            self.problems.add(value.key, f"import runs the code of {names}; {outside.ALLOWED}.")
        self.imports = True
        digests: dict[str, str] = {}
        for item, path in zip(items, paths, strict=False):
            if path is None or self.code == outside.REFUSE:
                continue
            try:
                digests[str(path)] = plugins.import_file(path) if self.code == outside.ALLOW else plugins.digest(path)
            except ConfigError as error:
                self.problems.add(item.place, str(error))
        return digests

    def may_be_imported(self) -> bool:
        """Return whether files that are not imported, or must not be, may register an unknown name."""
        return self.imports and self.code != outside.ALLOW

    def may_be_registered(self, value: YamlValue, constraint: Constraint) -> bool:
        """Return whether a value is an unknown name of a registry that files that are not imported may extend."""
        inner = _within(constraint)
        open_list = isinstance(inner, Choice) and isinstance(inner.names, Registry) and self.may_be_imported()
        return open_list and isinstance(value.data, str) and not constraint.holds(value.data)

    def missing(self, value: YamlValue, algorithm: AlgorithmSpec, dataset: DatasetSpec) -> None:
        """Note a contradiction between the missing-value settings of an algorithm and a data set."""
        if algorithm.name not in ALGORITHMS:  # of another library, which may accept missing values
            return
        missing = ALGORITHMS[algorithm.name].parameters.get("missing")
        takes = [name for name in missing.names if name not in REFUSING] if isinstance(missing, Choice) else []
        chosen = algorithm.grid.get("missing") or (algorithm.params.get("missing", "error"),)
        if dataset.missing == "keep" and set(chosen) & REFUSING:
            remedy = f"set missing of {algorithm.name} to {' or '.join(reversed(takes))}, or " if takes else ""
            message = f"{algorithm.name} takes no missing values, and data set {dataset.name} keeps them; {remedy}set"
            self.problems.add(value.place, f"{message} missing of the data set to impute or drop.")
        elif dataset.missing in ("impute", "drop") and set(chosen) & set(takes):
            message = f"data set {dataset.name} is without missing values after {dataset.missing}, so {algorithm.name}"
            self.problems.add(value.place, f"{message} would not see any; set missing of the data set to keep.")

    def data_dir(self, value: YamlValue) -> str | None:
        """Return the folder of data files that are not bundled."""
        named = self.scalar(value, "data_dir", Text())
        folder = located(value, self.root, self.problems, folder=True) if named else None
        return str(folder) if folder else None

    def metrics(self, values: list[YamlValue]) -> tuple[str, ...]:
        """Return the names of the metrics to show."""
        names = [self.metric(value, "metrics", "names of metrics", METRICS) for value in values]
        self.distinct("metric", names, values)
        return tuple(names)

    def metric(self, value: YamlValue, owner: str, allowed: str, known: Iterable[str]) -> str:
        """Return the name of a metric, or "" after noting that it is not in `known`."""
        known = list(known)
        if isinstance(value.data, str) and value.data in known:
            return value.data
        if isinstance(value.data, str) and self.may_be_imported():
            return ""
        self.problems.add(value.place, f"{owner} must be {allowed}. Got {value.shown()}.{near(value.data, known)}")
        return ""

    def published(self, value: YamlValue) -> str:
        reference = self.scalar(value, "published", Text())
        try:
            return comparable(reference[:80]).reference if reference else ""
        except ConfigError as error:
            self.problems.add(value.place, str(error))
            return ""

    def dataset(self, value: YamlValue) -> DatasetSpec | None:
        if isinstance(value.data, dict):
            if kind := next((kind for kind in keys.SOURCES if kind in value.data), None):
                return self.sourced(value, kind)
            if "parquet" in value.data and "csv" not in value.data:  # the first bytes show the format
                value.data["csv"] = value.data.pop("parquet")
        entries = self.entries(value, "data set", (*keys.DATASET, *keys.LISTS, *keys.READING, *keys.READING_LISTS))
        of_file = {**keys.DATASET, **keys.READING, "name": keys.ID}
        fields = self.table(entries, "", of_file if "csv" in entries else keys.DATASET)
        fields |= self.texts(entries, (*keys.LISTS, *keys.READING_LISTS))
        strays = [key for key in (*keys.READING, *keys.READING_LISTS) if key in entries and "csv" not in entries]
        for key in strays:
            self.problems.add(entries[key].key, f"{key} goes with csv; a named data set knows how it is read.")
            fields.pop(key, None)
        if "csv" in entries:
            fields |= self.csv(entries, fields)
        elif "name" not in entries:
            if isinstance(value.data, dict):
                self.problems.add(value.place, "a data set needs a name, or one of csv, parquet, openml and sklearn.")
        elif "target" in entries:
            self.problems.add(entries["target"].key, "target goes with csv; a named data set knows its class.")
        elif fields["name"]:
            try:
                fields["name"] = keys.dataset_name(fields["name"][:80])
            except UnknownName as error:
                if self.may_be_imported():
                    return None
                self.problems.add(entries["name"].place, str(error))
        return DatasetSpec(**fields) if fields.get("name") else None

    def texts(self, entries: Mapping[str, YamlValue], names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the lists of texts among the entries."""
        return {
            key: tuple(self.scalar(item, key, Text()) for item in self.items(entries[key], key))
            for key in names
            if key in entries
        }

    def sourced(self, value: YamlValue, kind: str) -> DatasetSpec | None:
        """Return a data set with the source key `kind`, or None after noting a problem."""
        entries = self.entries(value, f"data set of {kind}", (kind, *keys.TAKES[kind]))
        fields = self.table(entries, "", {kind: keys.SOURCES[kind], **keys.DATASET, "name": keys.ID})
        fields |= self.texts(entries, ("qualitative",))
        which = fields.pop(kind)
        if which is None or None in fields.values():
            return None
        default = f"openml-{which}" if kind == "openml" else which
        name = fields.pop("name", f"{default}-{kind}" if default in keys.dataset_names() else default)
        if name in keys.dataset_names():
            message = f"{name!r} is a data set of the catalogue; give this one another name."
            self.problems.add(entries["name"].place, message)
        return DatasetSpec(name, source=f"{kind}:{which}", **fields)

    def csv(self, entries: Mapping[str, YamlValue], fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the path and the name of a user's data set."""
        csv_entry = entries["csv"]
        if "target" not in entries:
            self.problems.add(csv_entry.key, "a csv needs target, the name of its class column.")
        if fields["csv"] == STDIN and csv_entry.place.source.path is None:  # typed on the command line
            return {"csv": STDIN, "name": fields.get("name") or "stdin"}
        path = located(csv_entry, self.root, self.problems, data=True) if fields["csv"] else None
        if path is None:
            return {}
        name = fields.get("name") or _slug(stem(path))
        if name in keys.dataset_names():
            place = entries.get("name", csv_entry).place
            new_name = f"{name}-own"
            cure = f"give this file another name, as in {{csv: {fields['csv']}, target: ..., name: {new_name}}}"
            self.problems.add(place, f"{name!r} is a data set of the catalogue; {cure}.")
        return {"csv": str(path), "name": name}

    def algorithm(self, value: YamlValue, scheme: str) -> AlgorithmSpec | None:
        if isinstance(value.data, dict) and "class" in value.data:
            return outside.algorithm(self, value, scheme)
        name_entry = value.data.get("name") if isinstance(value.data, dict) else value
        if name_entry is None:
            self.problems.add(value.place, "an algorithm needs a name, or the class of another library.")
            return None
        name = name_entry.data
        if isinstance(name, str) and name not in ALGORITHMS and self.may_be_imported():
            return None
        if not isinstance(name, str) or name not in ALGORITHMS:
            if known.CLASS.holds(name) and name in known.CLASSES:
                hint = f"; write a class as {{class: {name}}}."
            elif known.CLASS.holds(name):
                hint = f"; it is no known class.{known.near(name)}"
            elif path := known.class_of_word(name) if isinstance(name, str) else None:
                hint = f". Write {{class: {path}}}."
            else:
                hint = f".{near(name, sorted(ALGORITHMS))}"
            self.problems.add(name_entry.place, f"algorithm {name_entry.shown()} is not known{hint}")
            return None
        algorithm, name = ALGORITHMS[name], ALGORITHMS.current(name)
        constraints = keys.named_parameters(algorithm)
        hints = {"params": " Write its parameters beside the name.", **algorithm.hints}
        entries = self.entries(value, f"algorithm {name}", (*keys.OF_ALGORITHM, *constraints), hints)
        label = self.scalar(entries["id"], "id", keys.ID) if "id" in entries else name
        settings = {key: entry for key, entry in entries.items() if key not in keys.OF_ALGORITHM}
        params, grid = self.parameters(settings, algorithm, name, scheme)
        per_dataset: dict[str, dict[str, Any]] = {}
        for dataset, there in self.datasets_of(entries.get("per_dataset"), name).items():
            of_dataset = self.entries(there, f"per_dataset of {name}, {dataset}", constraints, algorithm.hints)
            params_there, grid_there = self.parameters(of_dataset, algorithm, name, scheme)
            per_dataset[dataset] = {"params": params_there, "grid": grid_there}
            self.per_dataset.append((label or name, dataset, there))
        limits = outside.limits(self, entries.get("limits"), name)
        spec = AlgorithmSpec(name, label, params, grid, limits=limits, per_dataset=per_dataset)
        parts: list[AlgorithmSpec] = []
        for part in (replace(spec, per_dataset={}), *map(spec.on, per_dataset)):
            if part in parts:
                continue
            parts.append(part)
            if (size := math.prod(map(len, part.grid.values()))) > MAX_GRID:
                self.problems.add(value.place, f"the grids of {name} make {size} combinations, {MAX_GRID} are allowed.")
            else:
                # None marks a value with a noted problem.
                whole = (params for params in part.candidates() if None not in params.values())
                if clash := next(filter(None, map(algorithm.clash, whole)), None):
                    self.problems.add(value.place, clash)
        return spec

    def only_present(
        self, algorithm: AlgorithmSpec | None, items: Sequence[YamlValue], datasets: Sequence[DatasetSpec | None]
    ) -> AlgorithmSpec | None:
        """Return the algorithm without parameters for absent data sets. An absent data set is noted as a problem,
        unless a base of the file names it and the file replaces the data sets of its base."""
        names = [dataset.name for dataset in datasets if dataset]
        if algorithm is None or None in datasets or algorithm.per_dataset.keys() <= set(names):
            return algorithm
        sources = {item.place.source for item in items}
        for owner, name, entry in self.per_dataset:
            if owner == algorithm.id and name not in names and entry.key.source in sources:
                message = f"per_dataset of {owner} has data set {name!r}, which is not in the configuration."
                self.problems.add(entry.key, f"{message}{near(name, names)}")
        present = {name: there for name, there in algorithm.per_dataset.items() if name in names}
        return replace(algorithm, per_dataset=present)

    def datasets_of(self, value: YamlValue | None, name: str) -> dict[str, YamlValue]:
        """Return the entries of `per_dataset` by the name of the data set in the catalogue."""
        if value is None:
            return {}
        if not isinstance(value.data, dict):
            message = f"per_dataset of {name} must be a mapping of data sets to parameters. Got {value.shown()}."
            self.problems.add(value.place, message)
            return {}
        named: dict[str, YamlValue] = {}
        for key, entry in value.data.items():
            try:
                dataset = keys.dataset_name(str(key)[:80])
            except UnknownName:
                dataset = str(key)  # a table of the user's own; `experiment` looks for it
            if dataset in named:
                self.problems.add(entry.key, f"per_dataset of {name} has data set {dataset!r} twice.")
            named[dataset] = entry
        return named

    def parameters(
        self, entries: dict[str, YamlValue], algorithm: Any, name: str, scheme: str
    ) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
        """Return the parameters with one value, and those with a grid, under the names that jobs and results store."""
        constraints = keys.named_parameters(algorithm)
        for current, alias in algorithm.aliases.items():
            if current in entries and alias.name in entries:
                message = f"{alias.name} and {current} of {name} are the same parameter; give one of them."
                self.problems.add(entries.pop(alias.name).key, message)
        params: dict[str, Any] = {}
        grid: dict[str, tuple[Any, ...]] = {}
        for key, entry in entries.items():
            owner = f"{key} of {name}"
            # A parameter that may be a mapping has a grid only as {grid: ...}.
            takes_mapping = isinstance(_within(constraints[key]), ClassWeight | SignsOfColumns)
            if isinstance(entry.data, dict) and not (takes_mapping and set(entry.data) != {"grid"}):
                grid[key] = self.grid(entry, owner, constraints[key])
                if grid[key]:
                    self.refuse_grid(entry, f"{owner} is a grid", scheme)
            elif isinstance(entry.data, list) and not _within(constraints[key]).takes_list:
                message = f"{owner} is a list; write {{grid: [...]}} to let cross-validation choose."
                self.problems.add(entry.place, message)
            elif not self.may_be_registered(entry, constraints[key]):
                params[key] = self.scalar(entry, owner, constraints[key])
        stored = {key: algorithm.stored(key, [setting]) for key, setting in params.items()}
        params = {key: values[0] for key, values in stored.values()}
        return params, {key: tuple(values) for key, values in (algorithm.stored(*item) for item in grid.items())}

    def grid(self, value: YamlValue, owner: str, constraint: Constraint) -> tuple[Any, ...]:
        """Return the values of {grid: [...]} or {grid: {from, to, step}}, including both ends."""
        flat = {"name": " Write the name as the value, and further parameters beside it."}
        listed = self.entries(value, owner, ("grid",), flat).get("grid")
        if listed is None:
            if not value.data:  # else the unknown key has been noted
                self.problems.add(value.place, f"{owner} must be one value or {{grid: ...}}.")
            return ()
        if not isinstance(listed.data, dict):
            items = self.items(listed, f"the grid of {owner}")
            known_items = (item for item in items if not self.may_be_registered(item, constraint))
            return tuple(self.scalar(item, owner, constraint) for item in known_items)
        return self.steps(listed, owner, constraint)

    def cv(self, value: YamlValue) -> CVSpec:
        """Return the specification in `cv`, with the keys of all schemes and those of its scheme."""
        name = _scheme_of(value)
        if isinstance(name, str) and name not in SCHEMES and self.may_be_imported():
            return CVSpec()
        known, allowed = self.cv_keys(value, name)
        entries = self.entries(value, "cv", allowed)
        plain = {"scheme": name, **self.table(entries, "cv.", known)}
        tune: dict[str, Any] = {}
        if "tune" in entries:
            inner = self.entries(entries["tune"], "cv.tune", keys.TUNE)
            metric = inner.pop("metric", None)
            tune = self.table(inner, "cv.tune.", keys.TUNE)
            if metric is not None:
                tune["metric"] = self.metric(metric, "cv.tune.metric", "a metric of predictions", keys.tuning_metrics())
        name = plain["scheme"]
        if name is None:
            return CVSpec()
        scheme = SCHEMES[name]
        for key in entries:
            if key == "scheme" or key in scheme.takes() or (key == "tune" and scheme.tunes):
                continue
            # A file that only changes the scheme of its base need not remove the keys of the old scheme.
            if is_from_below(entries, key, "scheme") or plain.get(key, tune or None) is None or None in tune.values():
                continue
            why = f", {scheme.unused[key]}" if key in scheme.unused else ""
            self.problems.add(entries[key].key, f"cv.{key} is not used by scheme {name}{why}; leave it out.")
        for key in scheme.required:
            if key not in entries:
                self.problems.add(value.place, f"scheme {name} needs cv.{key}, {known[key].describe()}.")
        for key, wanted in scheme.fixed.items():
            if plain.get(key, wanted) not in (wanted, None):
                self.problems.add(entries[key].key, f"cv.{key} contradicts scheme {name}; leave it out.")
        fields = {**scheme.defaults, **plain, **scheme.fixed, **{f"tune_{k}": v for k, v in tune.items()}}
        spec = CVSpec.from_plain(fields)
        options = {key: option for key, option in spec.options.items() if key in scheme.keys}
        return replace(spec, options=options)

    def cv_keys(self, value: YamlValue, name: Any) -> tuple[dict[str, Constraint], list[str]]:
        """Return the constraints of the scheme `name`, or of all schemes if `cv` has keys of others; and the keys that
        `cv` may have: those of its scheme, and those of other schemes that it contains."""
        data = value.data if isinstance(value.data, dict) else {}
        scheme = SCHEMES.get(name) if isinstance(name, str) else None
        known = keys.cv([scheme] if scheme else None)
        if not data.keys() <= {*known, "tune"}:
            known = keys.cv()
        if scheme is None:
            return known, [*known, "tune"]
        allowed = ["scheme", *scheme.takes(), *(["tune"] if scheme.tunes else [])]
        return known, [*allowed, *(key for key in (*known, "tune") if key in data and key not in allowed)]


def _scheme_of(cv: YamlValue) -> Any:
    """Return the scheme in `cv`; the default is the scheme of groups if `cv` names their column."""
    data = cv.data if isinstance(cv.data, dict) else {}
    if "scheme" in data:
        return data["scheme"].data
    return "group" if "groups" in data else CVSpec.scheme


def _within(constraint: Constraint) -> Constraint:
    return constraint.inner if isinstance(constraint, Optional) else constraint


def _slug(text: str) -> str:
    """Return `text` converted to a name that `ID` allows."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("._-")[:64] or "unnamed"
