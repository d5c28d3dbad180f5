"""Groups of rows in Python: no division inside a fit parts a group, and scikit-learn routes `groups` to every fit."""

import numpy as np
import pytest
import sklearn
from covering import few
from sklearn.model_selection import GridSearchCV, GroupKFold

import oblique_cli
from oblique_cli import ConformalClassifier, ConformalRegressor, HHGDTClassifier
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.conformal_limits import limit_of
from oblique_cli.estimators.forest import boosting, logistic_forest
from oblique_cli.estimators.oblique import top_down
from oblique_cli.estimators.regression import linear_tree, oblique_regressor
from oblique_cli.ground.row_groups import checked_groups, parts_of, share_of, spread_of_sums
from oblique_cli.papers.hierarchy import editing_classifiers

N_GROUPS, ROWS_OF_GROUP = 12, 6


def grouped(seed: int = 0):
    """Rows whose first feature is their group, in no order, with a class that the other features tell badly."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(N_GROUPS), ROWS_OF_GROUP))
    X = np.column_stack([groups, rng.normal(size=(len(groups), 3))]).astype(float)
    return X, (X[:, 1] + rng.normal(size=len(groups)) > 0).astype(int), groups


class Spy:
    """Counts the rows of every group, which is the first feature, in each set of rows that it sees."""

    def __init__(self) -> None:
        self.sets: list[np.ndarray] = []

    def see(self, X: np.ndarray) -> None:
        self.sets.append(np.bincount(np.asarray(X)[:, 0].astype(int), minlength=N_GROUPS))

    def around(self, monkeypatch, module, name, rows_of):
        original = getattr(module, name)

        def spied(*args, **kwargs):
            result = original(*args, **kwargs)
            rows_of(self, result, *args, **kwargs)
            return result

        monkeypatch.setattr(module, name, spied)

    def check(self) -> None:
        """Every set has whole groups, and there are sets of some groups."""
        partial = [counts for counts in self.sets if 0 < np.count_nonzero(counts) < N_GROUPS]
        assert partial, "no division was seen"
        for counts in self.sets:
            assert set(counts.tolist()) <= {0, ROWS_OF_GROUP}


@pytest.fixture
def spy(monkeypatch):
    result = Spy()
    result.around(monkeypatch, top_down, "grow_top_down", lambda s, _, X, *rest, **more: s.see(X))
    result.around(monkeypatch, oblique_regressor, "grow", lambda s, _, X, *rest: s.see(X))
    result.around(
        monkeypatch, linear_tree, "chosen_tree", lambda s, _, X, *rest, **more: [s.see(X[o]) for o in rest[4]]
    )
    result.around(monkeypatch, boosting, "_part", lambda s, part, *rest: s.see(part[0]))
    result.around(
        monkeypatch, logistic_forest, "choose_forest",
        lambda s, _, members, rows, *rest: [s.see(rows.X[member.left_out]) for member in members],
    )  # fmt: skip
    return result


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("HHGDTClassifier", {"pruning": "cv", "pruning_repeats": 2}),
        ("HHGDTClassifier", {"pruning": "cost_complexity", "pruning_fraction": 0.25}),
        ("HHGDTClassifier", {"path": True}),
        ("HHGDTClassifier", {"probabilities": "laplace", "probability_strength": "cv"}),
        ("HHGDTClassifier", {"leaf_models": "logistic"}),
        ("HHGDTClassifier", {"refine": "tao"}),
        ("LogisticTreeClassifier", {"base": "hhgdt"}),
        ("LogisticForestClassifier", {"n_estimators": 12}),
        ("ObliqueBoostingClassifier", {"n_iter_no_change": 3, "n_estimators": 10}),
        ("ObliqueBoostingClassifier", {"learning_rate": 1.0}),
        ("LinearTreeRegressor", {}),
        ("ObliqueTreeRegressor", {}),
        ("ObliqueTreeRegressor", {"refine": "tao"}),
    ],
)
def test_no_division_inside_a_fit_parts_a_group(spy, name, params):
    X, y, groups = grouped()
    named = np.array([f"patient {group}" for group in groups])
    getattr(oblique_cli, name)(random_state=1, **params).fit(X, y, groups=named)
    spy.check()


def test_the_threshold_of_an_editor_is_chosen_by_whole_groups(monkeypatch):
    sizes, original = [], editing_classifiers.classify

    def spied(distances, *rest):
        sizes.append(len(distances))
        return original(distances, *rest)

    monkeypatch.setattr(editing_classifiers, "classify", spied)
    X, y, groups = grouped()
    oblique_cli.make("hc_edit_upgma", inner_folds=4).fit(X, y, groups=groups)
    assert set(sizes) == {N_GROUPS // 4 * ROWS_OF_GROUP}


@few(1, calibration=["cross", "split"], regression=[False, True])
def test_conformal_limits_come_from_whole_groups_and_the_estimator_gets_them(spy, calibration, regression):
    X, y, groups = grouped()
    if regression:
        made, inner = ConformalRegressor, oblique_cli.ObliqueTreeRegressor()
    else:
        made, inner = ConformalClassifier, HHGDTClassifier(pruning="cv")
    made(inner, calibration=calibration, folds=4, random_state=0, coverage=0.7).fit(X, y, groups=groups)
    spy.check()


def test_scikit_learn_routes_groups_to_the_fit_and_to_the_folds(spy):
    X, y, groups = grouped()
    with sklearn.config_context(enable_metadata_routing=True):
        tree = HHGDTClassifier(pruning="cv", random_state=0).set_fit_request(groups=True)
        search = GridSearchCV(tree, {"max_depth": [1, 2]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
        around = ConformalClassifier(tree, folds=3, coverage=0.8, random_state=0).set_fit_request(groups=True)
        around.fit(X, y, groups=groups)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            ConformalClassifier(HHGDTClassifier(), folds=3).fit(X, y, groups=groups)
    assert search.best_estimator_.n_leaves_ >= 1
    spy.check()


def test_standard_errors_of_pruning_are_those_of_groups():
    """Ten copies of every row know no more than one, so the rule of one standard error takes no larger tree."""
    X, y, _ = grouped(3)
    times = 10
    copies, labels, groups = np.repeat(X, times, axis=0), np.repeat(y, times), np.repeat(np.arange(len(y)), times)
    error = spread_of_sums(np.bincount(groups, labels), np.bincount(groups))
    assert error == pytest.approx(labels[::times].std(ddof=1) / np.sqrt(len(y)))
    grown = HHGDTClassifier(pruning="cv", standard_errors=1, random_state=0)
    by_group = grown.fit(copies, labels, groups=groups).n_leaves_
    assert by_group <= 4 < grown.fit(copies, labels).n_leaves_


def test_groups_have_codes_and_parts_of_them_are_balanced_and_stratified():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), np.arange(40) % 5 + 1)
    parts = parts_of(groups, 5, rng)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    assert np.ptp([len(part) for part in parts]) <= 5
    assert len(parts_of(np.array([3, 3, 7, 9]), 10, rng)) == 3
    retained = share_of(np.repeat(np.arange(20), 3), 0.1, rng)
    assert len(retained) == 6 and len(set((retained // 3).tolist())) == 2
    assert checked_groups(["b", "a", "b"], 3, "t").tolist() == [1, 0, 1]
    assert len(set(checked_groups(np.array(["b", 1, "b"], dtype=object), 3, "t").tolist())) == 2
    assert checked_groups(None, 3, "t") is None


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        (np.zeros(72), "a single group is left in the training rows"),
        (np.zeros(3), "groups of HHGDTClassifier must hold one value for each of the 72 rows. Got shape"),
        (np.where(np.arange(72) == 5, np.nan, np.arange(72)), "must not be missing. Got nan in row 5"),
        (np.array([None] + ["a"] * 71, dtype=object), "must not be missing. Got None in row 0"),
    ],
)
def test_groups_that_cannot_be_used_are_a_sentence(groups, says):
    X, y, _ = grouped()
    with pytest.raises(ConfigError) as caught:
        HHGDTClassifier(pruning="cv").fit(X, y, groups=groups)
    assert says in str(caught.value)


def test_the_limit_of_groups_has_the_weight_of_one_for_each_group_and_few_are_refused():
    """Nine groups of one row and one of ninety: the rank goes by groups, not by rows."""
    scores = np.concatenate([np.arange(9.0), 100.0 + np.arange(90.0)])
    groups = np.concatenate([np.arange(9), np.full(90, 9)])
    assert limit_of(scores, 0.8, groups) == 8.0  # of eleven shares 8.8 are needed, and nine lie at 8 or below
    assert limit_of(scores, 0.8) == 170.0
    of_one = np.random.default_rng(0).normal(size=99)
    assert limit_of(of_one, 0.9, np.arange(99)) == limit_of(of_one, 0.9)
    X, y, groups = grouped()
    with pytest.raises(ConfigError, match=r"needs at least 19 calibration groups\. There are 12; give more groups"):
        ConformalClassifier(HHGDTClassifier(), coverage=0.95, folds=3, random_state=0).fit(X, y, groups=groups)


@pytest.mark.parametrize("rows_of_group", [1, 20])
def test_limits_by_a_split_hold_for_rows_of_new_groups(rows_of_group):
    """Errors with a part that all rows of a group share: new groups are covered as promised on average."""
    rng, covered = np.random.default_rng(4), []
    for _ in range(300):
        groups = np.repeat(np.arange(19), rows_of_group)
        errors = np.abs(rng.normal(size=19)[groups] + 0.2 * rng.normal(size=len(groups)))
        limit = limit_of(errors, 0.9, groups)
        covered.append((np.abs(rng.normal(size=500) + 0.2 * rng.normal(size=500)) <= limit).mean())
    assert 0.89 < np.mean(covered) < 0.94
