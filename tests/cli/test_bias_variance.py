"""`oblique bias-variance`: its error is that of a run of the same configuration, and a failure is a sentence."""

import json

import numpy as np
import pytest
from cli_support import SMALL

from oblique_cli.experiments import decomposing


@pytest.mark.parametrize("scheme", ["nested", "two_stage"])
def test_bias_and_variance_add_up_to_the_error_of_the_run(call, scheme):
    (call.folder / "small.yaml").write_text(SMALL.replace("nested", scheme))
    run = json.loads(call("run", "small.yaml", "--format", "json").out)["rows"]
    document = json.loads(call("bias-variance", "small.yaml", "--format", "json").out)["rows"]
    assert [(r["dataset"], r["algorithm"]) for r in document] == [(r["dataset"], r["algorithm"]) for r in run]
    for ours, theirs in zip(document, run, strict=True):
        assert 100 * (ours["bias"] + ours["variance"]) == pytest.approx(100 - theirs["accuracy_mean"])
    # Trees on two thirds of the rows differ between repetitions.
    assert all(0 < r["variance"] <= 0.25 for r in document)


def test_the_number_of_workers_changes_nothing(call):
    (call.folder / "small.yaml").write_text(SMALL)
    first, two = (call("bias-variance", "small.yaml", "--jobs", jobs) for jobs in ("1", "2"))
    assert first == two and first.code == 0
    assert "rank of bias^2" in first.out and "average ranks over 2 data sets" in first.out


def test_a_fold_that_fails_is_told_and_its_data_set_ranked_nowhere(call, monkeypatch):
    (call.folder / "small.yaml").write_text(SMALL)
    plain = decomposing.predictions

    def fail(case, fold, seed, chosen=None):
        if (case.dataset.name, case.spec.id, fold.repeat, fold.index) == ("bupa", "hhgdt", 1, 2):
            raise np.linalg.LinAlgError("singular matrix")
        return plain(case, fold, seed, chosen)

    monkeypatch.setattr(decomposing, "predictions", fail)
    ended = call("bias-variance", "small.yaml")
    assert ended.code == 3
    assert "bupa, HHGDT: repetition 1, fold 2: LinAlgError: singular matrix" in ended.out
    assert "average ranks" not in ended.out
