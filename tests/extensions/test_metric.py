"""A metric is one function that says its unit, direction, task and needs; tables, tuning and tests read it."""

import pytest

METRIC = '''

@metric(
    "worst_recall",
    title="worst recall",
    unit="%",
    larger_is_better=True,
    task=CLASSIFICATION,
    needs=LABELS,
    aggregate=MEAN,
    decimals=1,
)
def worst_recall(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Recall of the class that is found worst."""
    w = np.ones(len(y)) if weights is None else weights
    return 100.0 * min(float(w[(y == k) & (predicted == k)].sum() / w[y == k].sum()) for k in np.unique(y[w > 0]))
'''
CONFIG = """version: 1
dataset: iris
algorithms: [{name: axis_parallel, max_depth: {grid: [1, 4]}}]
cv: {scheme: nested, folds: 3, repeats: 2, tune: {folds: 3, metric: worst_recall}}
metrics: [accuracy, worst_recall]
"""


@pytest.mark.long
def test_a_metric_is_one_function(checkout):
    checkout.insert("oblique_cli/evaluation/metrics.py", "", METRIC)
    assert "worst_recall" in checkout.oblique("list", "metrics").out
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet", "--format", "csv")
    assert (ended.code, ended.err) == (0, "")
    header, line = (text.split(",") for text in ended.out.splitlines()[:2])
    row = dict(zip(header, line, strict=True))
    assert 70 < float(row["worst_recall_mean"]) < float(row["accuracy_mean"])
    tested = checkout.contracts("tests/evaluation/test_metrics.py", named="worst_recall")
    assert tested.code == 0 and " passed" in tested.out, tested.out
