"""Parts of reports on held-out rows, counted by hand."""

import numpy as np

from oblique_cli.evaluation.holdout_report import by_column


def test_residuals_are_divided_by_the_most_frequent_levels_and_by_equal_parts_of_numbers():
    codes = np.array([1.0] * 5 + [0.0] * 3 + [np.nan] * 2)
    left = np.array([4.0] * 5 + [1.0] * 3 + [9.0, 11.0])
    number = np.arange(100.0)
    steps = np.where(number < 50, 0.0, 3.0)

    (parts,) = by_column(left, {"color": (codes, ("blue", "red", "never"))}).values()
    assert [(part["level"], part["rows"], part["middle"]) for part in parts] == [
        ("red", 5, 4.0), ("blue", 3, 1.0), ("(missing)", 2, 10.0),
    ]  # fmt: skip
    many = by_column(steps, {"code": (number, [str(k) for k in range(100)]), "number": (number, None)})
    assert len(many["code"]) == 10 and {part["rows"] for part in many["code"]} == {1}
    assert [(part["value"], part["rows"], part["middle"]) for part in many["number"]] == [
        (10 * k + 4.5, 10, 0.0 if k < 5 else 3.0) for k in range(10)
    ]
    assert by_column(left, {"constant": (np.zeros(10), ("blue",))}) == {}
