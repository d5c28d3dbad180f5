"""The table of algorithms: one flat list of parameters, the papers' defaults, estimators that fit."""

import functools

import pytest
from contracts import ALGORITHM_NAMES, PROPOSER_NAMES, real_set

from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.evaluation import published
from oblique_cli.tree.splitting import PROPOSERS


def test_every_proposer_is_an_algorithm_and_published_tables_know_the_titles():
    assert ALGORITHM_NAMES == PROPOSER_NAMES
    text = "".join(path.read_text(encoding="utf-8") for path in published.FOLDER.glob("hh*_table_*.csv"))
    for name in ("hhcart_a", "hhcart_d", "gdt", "hhgdt"):
        assert f",{ALGORITHMS[name].title}," in text


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_a_parameter_reaches_the_estimator_or_its_proposer(name):
    algorithm = ALGORITHMS[name]
    limit = algorithm.path_parameter or "max_misrate"
    model = make(name, random_state=5, max_depth=3, ties="strict", **{limit: 0.2})
    assert (model.max_depth, model.ties, model.max_misrate, model.random_state) == (3, "strict", 0.2, 5)
    assert type(model.proposer) is PROPOSERS[name]
    for parameter in PROPOSERS[name].constraints:
        default = algorithm.defaults[parameter]
        assert getattr(make(name, random_state=0, **{parameter: default}).proposer, parameter) == default
    assert model.fit(real_set("iris").X, real_set("iris").y).depth_ <= 3


def test_defaults_and_the_name_of_the_misclassification_limit_are_those_of_the_papers():
    for name in ("hhcart_a", "hhcart_d"):
        d = ALGORITHMS[name].defaults
        assert (d["criterion"], d["min_parent"], d["max_misrate"], d["tau"]) == ("twoing", 2, 0.0, 0.05)
        assert (d["pruning_fraction"], d["standard_errors"]) == (0.1, 0.0)
    d = ALGORITHMS["hhgdt"].defaults
    assert (d["criterion"], d["min_parent"], d["tau"], d["pruning"]) == ("gini", 2, 0.0, "none")
    assert ALGORITHMS["gdt"].defaults["criterion"] == "gini"
    for name in ("gdt", "hhgdt"):
        assert ALGORITHMS[name].path_parameter == "epsilon"
        assert "max_misrate" not in ALGORITHMS[name].parameters
        assert make(name, random_state=0, epsilon=0.3).max_misrate == 0.3
    for name in ("axis_parallel", "hhcart_a", "hhcart_d"):
        assert ALGORITHMS[name].path_parameter is None
        assert "epsilon" not in ALGORITHMS[name].parameters


def test_an_unknown_parameter_or_algorithm_is_refused_with_the_close_ones():
    with pytest.raises(ConfigError, match=r"^hhgdt has no parameter 'epsilom'\. Did you mean 'epsilon'\?$"):
        make("hhgdt", epsilom=0.1)
    with pytest.raises(ConfigError, match=r"^gdt has no parameter 'max_misrate'\."):
        make("gdt", max_misrate=0.1)
    with pytest.raises(ConfigError, match=r"^axis_parallel has no parameter 'tau'\.$"):
        make("axis_parallel", tau=0.1)
    with pytest.raises(UnknownName, match=r"^unknown algorithm 'hhcart'\. Did you mean 'hhcart_[ad]' or"):
        make("hhcart")


@pytest.mark.parametrize("name", ["raf", "hhbut", "pilot", "hhgdt"])
def test_one_estimator_is_built_to_check_parameters_and_to_fit(name, monkeypatch):
    algorithm, built = ALGORITHMS[name], []
    constructor = algorithm.estimator.__init__

    @functools.wraps(constructor)
    def counted(self, *values, **params):
        built.append(params)
        constructor(self, *values, **params)

    monkeypatch.setattr(algorithm.estimator, "__init__", counted)
    algorithm.make(random_state=1)
    assert len(built) == 1
    algorithm.built({}, n_features=4)
    assert len(built) == 2
