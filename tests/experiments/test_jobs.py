"""Jobs: their order, their seeds, and what a key depends on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_support import python
from runner_support import experiment, toy

from oblique_cli.errors import ConfigError
from oblique_cli.experiments.jobs import content, expand, shared_tuning
from oblique_cli.ground.nouns import AlgorithmSpec


def test_there_is_a_job_for_every_algorithm_on_every_fold_of_every_data_set_and_content_holds_the_data():
    datasets = [toy(name="one"), toy(name="two")]
    jobs = expand(experiment("stump", "depth", datasets=("one", "two")), datasets)
    places = [(job.dataset, job.repeat, job.fold, job.algorithm) for job in jobs]
    assert places == [
        (d, r, f, a) for d in ("one", "two") for r in range(2) for f in range(3) for a in ("stump", "depth")
    ]
    assert len({job.key for job in jobs}) == len(jobs)
    exp = experiment("stump")
    before, after = content(exp, [toy()]), content(exp, [replace(toy(), X=toy().X + 1)])
    assert before["cv"] == after["cv"] and before["data"]["toy"] != after["data"]["toy"]


@pytest.mark.parametrize("scheme", ["monte_carlo", "split"])
def test_a_scheme_of_single_divisions_has_one_job_a_repetition(scheme):
    dataset = toy(split=(np.arange(20), np.arange(20, 30)))
    jobs = expand(experiment("stump", scheme=scheme, repeats=4), [dataset])
    assert [(job.repeat, job.fold) for job in jobs] == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_seeds_name_the_fold_and_not_the_algorithm_and_a_shared_tuning_has_its_own():
    jobs = expand(experiment("stump", "depth"), [toy()])
    seeds = {(job.repeat, job.fold): job.seed for job in jobs}
    assert all(job.seed == seeds[job.repeat, job.fold] for job in jobs)
    assert len(set(seeds.values())) == 6
    alone = expand(experiment("depth"), [toy()])
    assert [job.seed for job in alone] == [job.seed for job in jobs if job.algorithm == "depth"]

    spec = AlgorithmSpec("gdt", "gdt", grid={"epsilon": (0.1, 0.2)})
    exp, dataset = experiment(spec, scheme="two_stage"), toy()
    tuning = shared_tuning(exp, dataset, spec)
    jobs = expand(exp, [dataset])
    assert tuning.key not in {job.key for job in jobs} and tuning.seed not in {job.seed for job in jobs}
    assert (tuning.dataset, tuning.algorithm, tuning.fold) == ("toy", "gdt", -1)


def first_key(exp, dataset):
    return expand(exp, [dataset])[0].key


def test_a_key_changes_with_everything_that_decides_the_result_and_with_nothing_else():
    grid = AlgorithmSpec("gdt", "gdt", {"criterion": "gini"}, {"epsilon": (0.1, 0.2)})
    base, dataset = experiment(grid, scheme="nested"), toy()
    spec = base.datasets[0]
    others = [
        first_key(replace(base, datasets=(replace(spec, name="other"),)), replace(dataset, name="other")),
        first_key(base, replace(toy(), X=toy().X + 1)),
        first_key(replace(base, seed=2), dataset),
        first_key(replace(base, cv=replace(base.cv, tune_folds=4)), dataset),
        first_key(replace(base, cv=replace(base.cv, stratified=True)), dataset),
        first_key(replace(base, cv=replace(base.cv, pruning_fraction=0.2)), dataset),
        first_key(replace(base, algorithms=(replace(grid, name="hhgdt"),)), dataset),
        first_key(replace(base, algorithms=(replace(grid, id="mine"),)), dataset),
        first_key(replace(base, algorithms=(replace(grid, params={"criterion": "twoing"}),)), dataset),
        first_key(replace(base, algorithms=(replace(grid, grid={"epsilon": (0.2, 0.1)}),)), dataset),
        first_key(replace(base, datasets=(replace(spec, missing="impute"),)), dataset),
        first_key(replace(base, datasets=(replace(spec, encoding="onehot"),)), dataset),
    ]
    assert len({first_key(base, dataset), *others}) == len(others) + 1

    base = experiment("stump", "depth")
    key = first_key(base, toy())
    same = [
        replace(base, title="Another title", published=("wickramarachchi2015:5.2",), name="other"),
        replace(base, algorithms=base.algorithms[:1]),
        replace(base, cv=replace(base.cv, repeats=1)),
    ]
    assert [first_key(exp, toy()) for exp in same] == [key] * 3


def test_keys_and_seeds_are_the_same_in_every_process():
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from runner_support import experiment, toy\n"
        "from oblique_cli.experiments.jobs import expand\n"
        "print([(job.key, job.seed) for job in expand(experiment('stump', 'depth'), [toy()])])\n"
    )
    ours = str([(job.key, job.seed) for job in expand(experiment("stump", "depth"), [toy()])])
    ended = python(Path.cwd(), "-c", script)
    assert ended.out.strip() == ours, ended.err


def test_a_grid_needs_a_scheme_that_chooses():
    spec = AlgorithmSpec("gdt", "gdt", grid={"epsilon": (0.1, 0.2)})
    with pytest.raises(ConfigError) as caught:
        expand(experiment(spec), [toy()])
    assert str(caught.value) == (
        "algorithm 'gdt' has a grid for epsilon, and scheme 'ordinary' chooses no parameters: "
        "use scheme group, nested or two_stage, or one value."
    )


def test_scaling_and_code_are_part_of_a_key_and_limits_are_not():
    plain = AlgorithmSpec("sklearn.svm.SVC", "svc")
    base, dataset = experiment(plain), toy()
    key = first_key(base, dataset)
    assert first_key(replace(base, algorithms=(replace(plain, limits={"time": 3.0}),)), dataset) == key
    others = [
        first_key(replace(base, algorithms=(replace(plain, prepare="minmax"),)), dataset),
        first_key(replace(base, code={"a.py": "digest"}), dataset),
        first_key(replace(base, code={"a.py": "another"}), dataset),
    ]
    assert len({key, *others}) == 4
    assert first_key(replace(base, code={"elsewhere/a.py": "digest"}), dataset) == others[1]
