"""Marks of the best, and of what is not significantly worse."""

import json
from dataclasses import replace

import numpy as np
import pytest

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.paired import marked, marks, pair
from oblique_cli.evaluation.sheets import BEST, SAME, render
from oblique_cli.evaluation.significance_tests import corrected_resampled_t
from oblique_cli.experiments.store import Store

CFG = (
    "version: 1\ndatasets: [iris, balance_scale]\nalgorithms: [axis_parallel, hhcart_d, hhgdt]\n"
    "cv: {folds: 4, repeats: 3}\n"
)


@pytest.fixture
def run(call):
    """A finished run of three algorithms, as tests of significance take it."""
    from oblique_cli.report.material import gather

    (call.folder / "x.yaml").write_text(CFG)
    assert call("run", "x.yaml", "--quiet").code == 0
    with Store(call.folder / "results" / "oblique.sqlite", must_exist=True) as store:
        return gather(store, ["x"]).shown[0]


def test_the_best_mean_is_marked_and_what_the_corrected_t_test_does_not_tell_from_it(run):
    result = marks(run.stored(), ("accuracy", "leaves"))
    paired = pair([run.stored()], {}, ("accuracy", "leaves"))
    methods = list(paired.methods)
    for scores in paired.scores:
        for metric, best_of in (("accuracy", max), ("leaves", min)):
            means = scores.means[metric]
            best = best_of(means.values())
            assert [k for k in range(3) if result.get((scores.dataset, methods[k], metric)) == BEST] == [
                k for k in range(3) if means[methods[k]] == best
            ]
            leader = next(method for method in methods if means[method] == best)
            for method in methods:
                if means[method] != best:
                    folds = scores.folds[metric]
                    p = corrected_resampled_t(folds[leader] - folds[method], 1 / 3).p
                    assert (result.get((scores.dataset, method, metric)) == SAME) == (p > 0.05)
    # An axis-parallel tree needs twice the leaves on the scales, whose law is a sum of products.
    assert ("balance_scale", "axis_parallel", "leaves") not in result
    assert result["balance_scale", "hhgdt", "leaves"] == BEST


def test_marks_look_as_the_format_has_them_and_change_no_number(run, call):
    plain, shown = run.table(), marked(run.table(), run.stored())
    text, latex, markdown = (render(shown, form) for form in ("text", "latex", "md"))
    assert f"{BEST} " in text and f"{SAME} " in text
    assert r"\textbf{" in latex and r"\underline{" in latex and BEST not in latex and SAME not in latex
    assert f"**{BEST} " in markdown
    rows, before = (json.loads(render(item, "json"))["rows"] for item in (shown, plain))
    assert {row["accuracy_mark"] for row in rows} <= {"best", "not significantly worse", None}
    assert [{k: v for k, v in row.items() if not k.endswith("_mark")} for row in rows] == before
    ended = call("table", "x", "--mark")
    assert ended.code == 0 and ended.out == text


def test_nothing_is_marked_where_nothing_is_compared(run):
    with pytest.raises(ConfigError, match="shows no metric whose best could be marked"):
        marked(replace(run.table(), metrics=()), run.stored())
    assert np.isfinite(run.rows[0].fit_seconds)
