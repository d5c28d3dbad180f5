"""Configurations: what a good one becomes, and that every bad one is refused in words, with its place."""

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import yaml

from oblique_cli import config
from oblique_cli.config import composing
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground import resources, strict_yaml
from oblique_cli.ground.constraints import Boolean, Choice, Integer, Optional, Real
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment
from oblique_cli.ground.registry import Registry

CONFIGS = sorted(resources.folder("configs").rglob("*.yaml"))
MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text(encoding="utf-8"))
EXAMPLE = resources.folder("configs") / "own_csv.yaml.example"

GOOD = """\
version: 1
title: A test
seed: 7
dataset: bupa
algorithm: {name: bend, epsilon: 0.1}
cv: {scheme: ordinary, folds: 5, repeats: 2}
"""


@pytest.fixture
def two_algorithms(monkeypatch):
    """Replace the algorithm table by one that no new parameter of a real algorithm can change."""
    bend = {
        "criterion": Choice(("gini", "twoing")),
        "epsilon": Real(0, 1, open_high=True),
        "max_depth": Optional(Integer(1)),
        "pruning": Choice(("none", "cost_complexity")),
        "fast": Boolean(),
    }
    common = {"hints": {}, "clash": lambda params: None, "aliases": {}, "stored": lambda name, values: (name, values)}
    table = Registry("algorithm")
    table.register("bend")(SimpleNamespace(**common, parameters=bend))
    table.register("stump")(SimpleNamespace(**common, parameters={}))
    for module in ("checking", "json_schema"):
        monkeypatch.setattr(f"oblique_cli.config.{module}.ALGORITHMS", table)


@pytest.fixture
def project(tmp_path, monkeypatch, two_algorithms):
    """Return a function that writes a file of a project, in its `configs` folder unless a folder is given."""
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        path = tmp_path / name if "/" in name else tmp_path / "configs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def refuse(project):
    """Return a function: the heads ("line:column message") of the problems of a configuration."""

    def heads(text, *overrides, **options):
        with pytest.raises((ConfigError, DataError)) as caught:
            config.load(project("x.yaml", text), overrides, **options)
        assert caught.value.exit_code == (4 if isinstance(caught.value, DataError) else 2)
        lines = str(caught.value).splitlines()
        results = [line.removeprefix("configs/x.yaml:") for line in lines if re.match(r"configs/|--set|/", line)]
        assert lines[-1] == f"{len(results)} error{'s' if len(results) > 1 else ''}."
        return results

    return heads


def changed(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


# What a good configuration becomes


def test_a_configuration_becomes_a_frozen_experiment_with_defaults_for_what_is_left_out(project):
    experiment = config.load(project("x.yaml", GOOD))
    assert experiment == Experiment(
        name="x",
        seed=7,
        title="A test",
        datasets=(DatasetSpec("bupa"),),
        algorithms=(AlgorithmSpec("bend", "bend", {"epsilon": 0.1}),),
        cv=CVSpec("ordinary", folds=5, repeats=2),
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        experiment.seed = 8
    experiment = config.load(project("Bare Bones!.yaml", "version: 1\ndataset: bupa\nalgorithm: stump"))
    assert experiment.name == "bare-bones"
    assert (experiment.seed, experiment.title, experiment.published) == (1, "", ())
    assert experiment.cv == CVSpec()
    assert experiment.datasets == (DatasetSpec("bupa"),)


def test_every_key_arrives_where_it_belongs(project, tmp_path):
    project("data/My Data.csv", "class,a\n1,2\n")
    text = """
        version: 1
        name: all-keys
        datasets:
          - bupa
          - {name: dermatology, missing: impute, encoding: onehot, qualitative: [age, "2"]}
          - {csv: "../data/My Data.csv", target: class, missing: drop}
          - {csv: "../data/My Data.csv", target: a, name: again}
        algorithms:
          - stump
          - {id: bend-2, name: bend, max_depth: none, pruning: none, fast: true}
          - {name: bend, max_depth: 3, criterion: {grid: [gini, twoing]}, epsilon: {grid: [0, 1e-3, .5]}}
        cv:
          {scheme: nested, folds: 3, repeats: 4, tune: {folds: 5}, stratified: true, pruning_fraction: 0.2}
        published: ["wickramarachchi2015:5.2", "manwani2012:II"]
    """
    experiment = config.load(project("x.yaml", text))
    mine = str(tmp_path / "data" / "My Data.csv")
    assert experiment.name == "all-keys"
    assert experiment.datasets == (
        DatasetSpec("bupa"),
        DatasetSpec("dermatology", missing="impute", encoding="onehot", qualitative=("age", "2")),
        DatasetSpec("my-data", csv=mine, target="class", missing="drop"),
        DatasetSpec("again", csv=mine, target="a"),
    )
    assert experiment.algorithms == (
        AlgorithmSpec("stump", "stump"),
        AlgorithmSpec("bend", "bend-2", {"max_depth": None, "pruning": "none", "fast": True}),
        AlgorithmSpec(
            "bend", "bend", {"max_depth": 3}, {"criterion": ("gini", "twoing"), "epsilon": (0.0, 0.001, 0.5)}
        ),
    )
    assert experiment.cv == CVSpec("nested", 3, 4, 5, True, pruning_fraction=0.2)
    assert experiment.published == ("wickramarachchi2015:5.2", "manwani2012:II")


def test_a_data_set_may_be_named_as_in_the_papers(project):
    experiment = config.load(project("x.yaml", changed("dataset: bupa", "datasets: [BUPA, PIND, {name: HRT}]")))
    assert [spec.name for spec in experiment.datasets] == ["bupa", "pima", "statlog_heart"]


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ("{from: 0.05, to: 0.40, step: 0.01}", tuple(round(0.01 * k, 2) for k in range(5, 41))),
        ("{from: 0, to: 0.9, step: 0.4}", (0.0, 0.4, 0.8)),
        ("{from: 1e-3, to: 3e-3, step: 1e-3}", (0.001, 0.002, 0.003)),
        ("[0.3, 0.1]", (0.3, 0.1)),
    ],
)
def test_a_grid_holds_the_numbers_as_written_with_both_ends(grid, values, project):
    text = changed("epsilon: 0.1", f"epsilon: {{grid: {grid}}}").replace("ordinary", "two_stage")
    assert config.load(project("x.yaml", text)).algorithms[0].grid == {"epsilon": values}


def test_a_grid_of_whole_numbers_stays_whole_and_equal_settings_have_one_digest(project):
    text = changed("epsilon: 0.1", "max_depth: {grid: {from: 1, to: 7, step: 3}}").replace("ordinary", "nested")
    values = config.load(project("x.yaml", text)).algorithms[0].grid["max_depth"]
    assert values == (1, 4, 7)
    assert all(type(value) is int for value in values)
    spellings = ["epsilon: 0", "epsilon: 0.0", "epsilon: 0e3", "epsilon: -0.0e0"]
    digests = {config.load(project("x.yaml", changed("epsilon: 0.1", text))).digest() for text in spellings[:3]}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("written", "stratified"), [("scheme: ordinary", False), ("scheme: stratified", True), ("folds: 3", False)]
)
def test_the_scheme_says_whether_folds_are_stratified(written, stratified, project):
    cv = config.load(project("x.yaml", changed("scheme: ordinary, folds: 5", written))).cv
    assert cv.stratified is stratified


def test_plain_data_is_checked_like_a_file_and_takes_a_name_changes_and_a_word_for_its_messages(two_algorithms):
    data = {"version": 1, "dataset": "bupa", "algorithm": {"name": "bend", "epsilon": 0}, "cv": {"folds": 3}}
    assert config.from_mapping(data).algorithms[0].params == {"epsilon": 0.0}
    data["cv"]["fold"] = 3
    with pytest.raises(
        ConfigError, match=r"^configuration: unknown key 'fold' in cv. Did you mean 'folds'\?\n1 error.$"
    ):
        config.from_mapping(data)
    data = {"version": 1, "dataset": "bupa", "algorithm": "bend"}
    changed = config.from_mapping(data, "Own Data", ["cv.folds=3", "algorithm.epsilon=0.5"])
    assert (changed.name, changed.cv.folds, changed.algorithms[0].params) == ("own-data", 3, {"epsilon": 0.5})
    with pytest.raises(ConfigError, match=r"^oblique tree: the key algorithm \(or algorithms\) is missing"):
        config.from_mapping({"version": 1, "dataset": "bupa"}, where="oblique tree")
    with pytest.raises(ConfigError, match=r"^--set cv.fold=3: unknown key 'fold' in cv"):
        config.from_mapping(data, overrides=["cv.fold=3"])


PER_DATASET = """\
version: 1
datasets: [bupa, wine, iris]
algorithm:
  name: bend
  epsilon: 0.1
  max_depth: {grid: [1, 2]}
  per_dataset:
    bupa: {epsilon: 0.2, max_depth: 3}
    Wine: {epsilon: {grid: [0.1, 0.3]}}
cv: {scheme: nested}
"""


def test_a_data_set_may_have_parameters_and_grids(project):
    experiment = config.load(project("x.yaml", PER_DATASET))
    (spec,) = experiment.algorithms
    plain = {name: (spec.on(name).params, spec.on(name).grid) for name in ("bupa", "wine", "iris")}
    assert plain == {
        "bupa": ({"epsilon": 0.2, "max_depth": 3}, {}),
        "wine": ({}, {"max_depth": (1, 2), "epsilon": (0.1, 0.3)}),
        "iris": ({"epsilon": 0.1}, {"max_depth": (1, 2)}),
    }
    assert Experiment.from_content("x", experiment.content(), {}) == dataclasses.replace(experiment, title="")
    others = config.load(project("y.yaml", "extends: x.yaml\ndatasets: [wine, iris]\n"))
    assert list(others.algorithms[0].per_dataset) == ["wine"]
    without = config.load(project("z.yaml", PER_DATASET.replace("epsilon: 0.2", "epsilon: 0.15")))
    assert without.digest() != experiment.digest()


# What is refused


@pytest.mark.parametrize(
    ("old", "new", "head"),
    MISTAKES["changes"],
)
def test_each_mistake_is_one_sentence_at_its_place(old, new, head, refuse):
    result = refuse(changed(old, new))
    assert len(result) == 1
    assert result[0].startswith(head), result[0]


@pytest.mark.parametrize(
    ("grid", "head"),
    MISTAKES["grids"],
)
def test_a_grid_that_cannot_be_searched_is_refused(grid, head, refuse):
    result = refuse(changed("epsilon: 0.1", f"epsilon: {{grid: {grid}}}").replace("ordinary", "nested"))
    assert len(result) == 1
    assert result[0].partition(" ")[2] == head


def test_grids_that_make_too_many_combinations_are_refused(refuse):
    big = "{grid: {from: 1, to: 1000, step: 1}}"
    text = changed("epsilon: 0.1", f"max_depth: {big}, epsilon: {{grid: {{from: 0, to: 0.5, step: 0.01}}}}")
    assert refuse(text.replace("ordinary", "nested")) == [
        "5:12 the grids of bend make 51000 combinations, 10000 are allowed."
    ]


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(refuse):
    text = "version: 2\nseed: x\nseed: 1\ndataset: bupaa\nalgorithm: {name: bend, epsilom: 1}\ncv: {folds: 1, 3: 4}\n"
    assert [head.partition(" ")[0] for head in refuse(text)] == ["1:10", "2:7", "3:1", "4:10", "5:25", "6:13", "6:16"]


@pytest.mark.parametrize("text", ["", "- a\n- b", "just words", "# nothing"])
def test_a_configuration_that_is_no_mapping_is_refused(text, refuse):
    assert "a configuration is a mapping of keys to values. Got" in refuse(text)[0]


# extends


def test_extends_merges_mappings_and_replaces_lists_and_scalars(project):
    project("far.yaml", "version: 1\nname: far\ntitle: Far\nseed: 3\ncv: {scheme: nested, folds: 4, repeats: 6}\n")
    project(
        "near.yaml", "extends: far.yaml\ndatasets: [bupa, wine]\nalgorithm: {name: bend, epsilon: 0.1}\ncv: {folds: 5}"
    )
    text = "extends: near.yaml\ndatasets: [iris]\nalgorithm: {criterion: twoing}\ncv: {tune: {folds: 3}}"
    experiment = config.load(project("x.yaml", text))
    assert experiment.name == "x"  # a base does not give its name away
    assert (experiment.title, experiment.seed) == ("Far", 3)
    assert experiment.datasets == (DatasetSpec("iris"),)
    assert experiment.algorithms[0].params == {"criterion": "twoing", "epsilon": 0.1}
    assert experiment.cv == CVSpec("nested", folds=5, repeats=6, tune_folds=3)


def test_a_scheme_says_its_defaults_and_one_that_changes_takes_back_no_keys(project):
    below = project("near.yaml", GOOD.replace("scheme: ordinary", "scheme: group, groups: g, tune: {folds: 3}"))
    assert config.load(below).cv.options == {"groups": "g"}
    for scheme in ("ordinary", "leave_one_out", "monte_carlo"):
        above = project("x.yaml", f"extends: near.yaml\ncv: {{scheme: {scheme}}}")
        for cv in (config.load(above).cv, config.load(below, [f"cv.scheme={scheme}"]).cv):
            assert (cv.scheme, cv.repeats, cv.options) == (scheme, 2, {})
    for scheme, repeats in (("leave_one_out", 1), ("bootstrap", 50), ("split", 10)):
        cv = config.load(project("x.yaml", GOOD), [f"cv={{scheme: {scheme}}}"]).cv
        assert (cv.scheme, cv.repeats) == (scheme, repeats)


@pytest.mark.parametrize(
    "overrides", [("cv.scheme=leave_one_out", "cv.folds=3"), ("cv.folds=3", "cv.scheme=leave_one_out")]
)
def test_a_key_given_beside_or_above_a_scheme_that_does_not_use_it_is_refused(overrides, project):
    with pytest.raises(ConfigError, match=r"--set cv\.folds=3: cv\.folds is not used by scheme leave_one_out, "):
        config.load(project("x.yaml", GOOD), overrides)
    project("near.yaml", GOOD.replace("scheme: ordinary, folds: 5", "scheme: leave_one_out"))
    with pytest.raises(ConfigError, match=r"configs/x\.yaml:2:6 cv\.folds is not used"):
        config.load(project("x.yaml", "extends: near.yaml\ncv: {folds: 3}"))


def test_problems_of_a_base_are_shown_in_the_base_whose_data_sets_one_takes_the_place_of(project):
    project("base.yaml", "version: 1\ndatasets: [bupa, wine]\nalgorithms: [stump, bend]")
    experiment = config.load(project("x.yaml", "extends: base.yaml\ndataset: iris\nalgorithm: stump"))
    assert experiment.datasets == (DatasetSpec("iris"),)
    assert experiment.algorithms == (AlgorithmSpec("stump", "stump"),)
    project("sub/base.yaml", "version: 1\ndataset: bupa\ncv: {fold: 3}")
    path = project("x.yaml", "extends: ../sub/base.yaml\nalgorithm: stumpp\n")
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    heads = [line for line in str(caught.value).splitlines() if ".yaml:" in line]
    assert heads == [
        "configs/x.yaml:2:12 algorithm 'stumpp' is not known. Did you mean 'stump'?",
        "sub/base.yaml:3:6 unknown key 'fold' in cv. Did you mean 'folds'?",
    ]


def test_a_circle_and_a_chain_of_extends_without_end_are_refused(project):
    project("a.yaml", "extends: b.yaml")
    path = project("b.yaml", "extends: a.yaml")
    with pytest.raises(ConfigError, match=r"a.yaml:1:10 extends 'b.yaml' comes back to a file that extends this one."):
        config.load(path)
    with pytest.raises(ConfigError, match=r"own.yaml:1:10 extends 'own.yaml' comes back"):
        config.load(project("own.yaml", "extends: own.yaml"))
    for k in range(composing.MAX_CHAIN + 5):
        project(f"c{k}.yaml", f"extends: c{k + 1}.yaml")
    with pytest.raises(ConfigError, match="goes on for over 20 files"):
        config.load("configs/c0.yaml")


@pytest.mark.parametrize(
    ("written", "says"),
    MISTAKES["extends"],
)
def test_extends_that_cannot_be_followed_is_refused(written, says, refuse):
    assert refuse(f"extends: {written}\n")[0].startswith(says)


# Paths


def test_no_path_leaves_the_project_folder_unasked(project, refuse, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.csv"
    outside.write_text("class,a\n1,2\n")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "link.csv").symlink_to(outside)
    for written in (str(outside), f"../../{outside.name}", "link.csv"):
        text = changed("dataset: bupa", f"dataset: {{csv: {written!r}, target: class}}")
        (head,) = refuse(text)
        assert head == (
            f"4:16 {strict_yaml.shown(written)} lies outside the project folder {tmp_path}; "
            "move it inside, or run with --allow-outside."
        )
        allowed = config.load(project("x.yaml", text), allow_outside=True)
        assert allowed.datasets[0].csv == str(outside)


def test_a_path_may_be_absolute_inside_the_project_folder_and_a_typed_one_is_trusted(project, tmp_path, monkeypatch):
    inside = project("data/mine.csv", "class,a\n1,2\n")
    text = changed("dataset: bupa", f"dataset: {{csv: {str(inside)!r}, target: class}}")
    assert config.load(project("x.yaml", text)).datasets[0].csv == str(inside)
    path = project("x.yaml", GOOD)
    mine = project("elsewhere/mine.csv", "class,a\n1,2\n")
    monkeypatch.chdir(mine.parent)
    experiment = config.load(path, ["dataset={csv: mine.csv, target: class}"])
    assert experiment.datasets == (DatasetSpec("mine", csv=str(mine), target="class"),)


def test_a_text_that_is_no_path_is_refused(refuse):
    long = "x/" * 3000
    (head,) = refuse(changed("dataset: bupa", f"dataset: {{csv: {long}, target: class}}"))
    assert re.match(r"4:16 (there is no file 'x/x|'x/x\S+' is not a path)", head)


@pytest.mark.parametrize(
    ("file", "here", "root"),
    [
        ("p/configs/x.yaml", ".", "p"),
        ("p/configs/reproduce/x.yaml", ".", "p"),
        ("p/a/b/x.yaml", "p", "p"),
        ("p/a/b/x.yaml", "q", "p/a/b"),
    ],
)
def test_the_project_folder_follows_from_the_place_of_the_file(file, here, root, tmp_path, monkeypatch):
    (tmp_path / here).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    assert composing.project_root(tmp_path / file) == tmp_path / root


# --set


@pytest.mark.parametrize(
    ("override", "check"),
    [
        ("cv.repeats=3", lambda e: e.cv.repeats == 3),
        ("cv={scheme: split}", lambda e: e.cv == CVSpec("split")),
        ("title=a = b", lambda e: e.title == "a = b"),
        ("algorithm.epsilon=1e-3", lambda e: e.algorithms[0].params == {"epsilon": 0.001}),
        ("algorithms.0.epsilon=0.2", lambda e: e.algorithms[0].params == {"epsilon": 0.2}),
        ("algorithm=stump", lambda e: e.algorithms == (AlgorithmSpec("stump", "stump"),)),
        ("datasets=[bupa, wine]", lambda e: [d.name for d in e.datasets] == ["bupa", "wine"]),
        ("dataset.missing=drop", lambda e: e.datasets == (DatasetSpec("bupa", missing="drop"),)),
        (" cv.repeats = 3", lambda e: e.cv.repeats == 3),
    ],
)
def test_set_changes_one_key(override, check, project):
    assert check(config.load(project("x.yaml", GOOD), [override]))


def test_set_is_applied_in_order_reaches_into_grids_and_asks_which_of_several_algorithms(project, refuse):
    overrides = [
        "cv.scheme=nested",
        "algorithms=[stump, bend]",
        "algorithms.1.epsilon={grid: {from: 0, to: 0.2, step: 0.1}}",
        "algorithms.1.epsilon.grid.to=0.1",
        "algorithms.1.max_depth=none",
    ]
    algorithms = config.load(project("x.yaml", GOOD), overrides).algorithms
    assert algorithms[1] == AlgorithmSpec("bend", "bend", {"max_depth": None}, {"epsilon": (0.0, 0.1)})
    text = changed("algorithm: {name: bend, epsilon: 0.1}", "algorithms: [stump, bend]")
    assert refuse(text, "algorithm.epsilon=0.1") == [
        "--set algorithm.epsilon=0.1: there are 2 algorithms; say which, as in algorithms.0.epsilon."
    ]


@pytest.mark.parametrize(
    ("override", "says"),
    MISTAKES["sets"],
)
def test_a_bad_set_is_refused_under_its_own_name(override, says, refuse):
    (head,) = refuse(GOOD, override)
    assert head.startswith(f"--set {override}: ".replace("\0", " ") + says), head


# Bundled configurations


@pytest.mark.parametrize("name", ["bupa_hhgdt", "bupa_hhgdt.yaml", "configs/bupa_hhgdt.yaml", "configs/bupa_hhgdt"])
def test_a_bundled_configuration_is_found_by_name_from_any_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert composing.resolve(name) == resources.folder("configs").resolve() / "bupa_hhgdt.yaml"


def test_a_file_comes_before_a_bundled_configuration_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoke.yaml").write_text("")
    assert composing.resolve("smoke.yaml") == tmp_path / "smoke.yaml"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bupa_hgdt", r"no configuration 'bupa_hgdt': neither a file nor .* Did you mean 'bupa_hhgdt'"),
        ("zzzzzz", r"Bundled: .*bupa_gdt, bupa_hhgdt, .*hhcart_small, .*reproduce/chapter3, "),
        ("x" * 5000, r"no configuration 'xxx"),
        ("a\0b", r"no configuration 'a\\x00b'"),
        ("/", r"no configuration '/'"),
    ],
)
def test_an_unknown_configuration_is_refused_with_close_names(name, says):
    with pytest.raises(ConfigError, match=says):
        composing.resolve(name)


def test_bupa_hhgdt_is_the_two_stage_experiment_of_table_5_2_and_gdt_shares_it():
    experiment = config.load("bupa_hhgdt")
    assert experiment.cv == CVSpec("two_stage", folds=10, repeats=10, tune_folds=10)
    (algorithm,) = experiment.algorithms
    assert algorithm.name == "hhgdt"
    epsilons = algorithm.grid["epsilon"]
    assert len(epsilons) == 36
    assert (epsilons[0], epsilons[-1]) == (0.05, 0.4)
    assert experiment.published == ("wickramarachchi2015:5.2",)
    hhgdt, gdt = config.load("bupa_hhgdt"), config.load("bupa_gdt")
    assert (hhgdt.seed, hhgdt.cv, hhgdt.datasets) == (gdt.seed, gdt.cv, gdt.datasets)
    assert hhgdt.algorithms[0].grid == gdt.algorithms[0].grid


def test_a_folder_of_data_may_be_named_and_is_no_part_of_the_content(project, refuse, tmp_path):
    (tmp_path / "data").mkdir()
    named = config.load(project("x.yaml", GOOD + "data_dir: ../data\n"))
    assert named.data_dir == str(tmp_path / "data")
    assert named.digest() == config.load(project("x.yaml", GOOD)).digest()
    assert "there is no folder '../nowhere'." in refuse(GOOD + "data_dir: ../nowhere\n")[0]
    assert "lies outside the project folder" in refuse(GOOD + "data_dir: /\n")[0]


def test_the_template_works_once_its_csv_exists(tmp_path):
    template = tmp_path / "own_csv.yaml"
    template.write_text(EXAMPLE.read_text())
    with pytest.raises(DataError, match=r"there is no file 'my\.csv'"):
        config.load(template)
    (tmp_path / "my.csv").write_text("a,b,class\n1,2,x\n3,4,y\n")
    experiment = config.load(template)
    assert experiment.datasets[0].csv == str(tmp_path / "my.csv")
    assert [algorithm.id for algorithm in experiment.algorithms][-2:] == ["hhgdt-fixed", "hhgdt-tuned"]


# The schema for editors


def as_plain(text):
    return strict_yaml.parse(strict_yaml.YamlSource("text", text), strict_yaml.Problems()).plain()


@pytest.fixture(scope="module")
def validator():
    schema = config.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.sample(8)
@pytest.mark.parametrize("path", [*CONFIGS[::3], EXAMPLE], ids=lambda path: path.stem)
def test_every_bundled_configuration_obeys_the_schema(path, validator):
    validator.validate(as_plain(path.read_text()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", ""),
        ("dataset: bupa", ""),
        ("dataset: bupa", "dataset: bupa\ndatasets: [wine]"),
        ("dataset: bupa", "dataset: {name: bupa, mising: drop}"),
        ("name: hhgdt", "name: hhgtd"),
        ("  tau: 0", "  tauu: 0"),
        ("step: 0.01", "step: 0"),
        ("folds: 10, repeats", "folds: 1, repeats"),
        ("folds: 10, repeats", "test_fraction: 0.5, repeats"),
        ("scheme: two_stage", "scheme: leave_one_out"),
        (":5.2", ":5.22"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(old, new, validator, tmp_path):
    text = (resources.folder("configs") / "bupa_hhgdt.yaml").read_text()
    assert old in text
    bad = text.replace(old, new, 1)
    assert not validator.is_valid(as_plain(bad))
    path = tmp_path / "bad.yaml"
    path.write_text(bad)
    with pytest.raises(ConfigError):
        config.load(path)


def test_the_schema_and_the_reader_know_the_same_keys_and_no_long_part_is_there_twice():
    schema = config.schema()
    properties = schema["properties"]
    assert set(properties) == set(config.keys.KEYS)
    assert set(properties["cv"]["properties"]) == {*config.keys.cv(), "tune"}
    parts = [json.dumps(part) for part in schema["$defs"].values()]
    assert len(set(parts)) == len(parts) > 100
    assert len(json.dumps(schema)) < 500_000
    used = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
    assert used == set(schema["$defs"])


def test_a_missing_csv_is_an_error_of_data_unless_the_configuration_is_wrong_too(project):
    text = changed("dataset: bupa", "dataset: {csv: no.csv, target: a}")
    with pytest.raises(DataError, match=r"there is no file 'no\.csv'"):
        config.load(project("x.yaml", text))
    with pytest.raises(ConfigError, match="2 errors"):
        config.load(project("x.yaml", text), ["cv.folds=x"])


def test_a_metric_without_its_average_and_params_of_an_algorithm_get_a_hint(refuse):
    assert "Did you mean 'f1_macro' or 'f1_weighted'?" in refuse(GOOD + "metrics: [f1]\n")[0]
    text = re.sub(r"algorithm: .*", "algorithm: {name: bend, params: {max_depth: 3}}", GOOD)
    assert any("Write its parameters beside the name." in head for head in refuse(text))
