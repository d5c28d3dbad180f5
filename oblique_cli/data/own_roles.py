"""What the columns of a user's own table are for: which ones identify rows, and what a target asks to predict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from oblique_cli.errors import ConfigError

# How many ties chance would make among whole numbers before a column without any is taken for row numbers, and which
# share of that may be there all the same.
EXPECTED_TIES = 5
TOLERATED_TIES = 0.1

UNIQUE_WORDS = 0.95  # a column of words is an identifier if so many of its rows differ,
FREE_TEXT = 0.5  # and no column of levels if so many do
FEW_WORDS = 20  # unless there are so few words that levels do no harm

# Column names that say so, as whole words: "Patient ID", "kunden_nr", "rowIndex".
_NAMED = re.compile(r"(?:^|[^a-z])(?:ids?|uuid|guid|nr|no|number|num|index|idx|key|row)(?:$|[^a-z])")
_UUID = re.compile(r"[{(]?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}[)}]?")

# Numbers that are certainly classes, and certainly values, by how many different ones there are.
FEW_CLASSES = 10
MANY_VALUES = 20
ROWS_A_CLASS = 3  # rows of a class, on average, below which whole numbers are hardly classes

TARGET_NAMES = ("class", "target", "label", "y", "outcome", "diagnosis", "species", "response")


def clash_of_roles(
    target: str,
    weights: str = "",
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    features: Sequence[str] = (),
    qualitative: Sequence[str] = (),
    groups: str = "",
) -> str | None:
    """Return the sentence for a column that is to be two things at once, or None."""
    for names, role in [(qualitative, "listed under qualitative"), (drop, "dropped"), (features, "a feature")]:
        if target in names:
            return f"{target!r} is the target, it cannot be {role}"
    if groups == target:
        return f"{target!r} is the target, it cannot be the column of cv.groups"
    if weights and (weights == target or weights in features):
        other = "target" if weights == target else "feature"
        return f"{weights!r} is to be a {other}, it cannot hold the weights of rows too"
    if both := next((name for name in drop if name in keep or name in features), None):
        return f"{both!r} is to be dropped and to be kept; say one of them"
    return None


def is_named_identifier(name: str) -> bool:
    """Whether a column is called an identifier."""
    apart = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)
    return _NAMED.search(apart.lower()) is not None


def numbers_identify(values: Sequence[float], n: int, name: str = "") -> bool:
    """Whether numbers are row numbers: whole, and all different where measurements would have ties.

    values : the different ones; n : rows that have one. n whole numbers drawn from a range of r have about
    n (n - 1) / (2 r) ties. If that is 5 or more, none at all happens to fewer than one measured column in a hundred; a
    tenth of it is tolerated, for rows that are there twice. A column that is called an identifier need not lie that
    close. Numbers with decimals are measurements, however different they are.
    By hand: 1, ..., 11 has 5 expected ties and none, so it identifies; 300 incomes between 20,000 and 90,000 do not.
    """
    if n < 2 or any(value % 1 for value in values):
        return False
    span = max(values) - min(values) + 1
    expected = n * (n - 1) / (2 * span)
    ties = n - len(values)
    if is_named_identifier(name) and n > EXPECTED_TIES and ties <= (1 - UNIQUE_WORDS) * n:
        return True
    return expected >= EXPECTED_TIES and ties <= TOLERATED_TIES * expected


def words_identify(counts: Counter[str]) -> str:
    """Say what a column of words is: "identifier", "text", or "" for a column of levels. counts : word -> rows"""
    n, distinct = counts.total(), len(counts)
    if n and all(map(_UUID.fullmatch, counts)):
        return "identifier"
    if distinct <= FEW_WORDS:
        # Ten names in ten rows are levels that no tree can use; nothing is certain in so few rows.
        return "identifier" if distinct == n and n > FEW_WORDS // 2 else ""
    if distinct >= UNIQUE_WORDS * n:
        return "identifier"
    return "text" if distinct > FREE_TEXT * n else ""


def guess_task(name: str, labels: Counter[str], numbers: Sequence[float] | None) -> str:
    """Return the task that a target asks for.

    labels : text -> rows; numbers : the same cells as numbers, None if some are words
    raises ConfigError, one sentence that says what to give, if that is not clear
    """
    distinct, n = len(labels), labels.total()
    if numbers is None:
        if words_identify(labels):
            raise ConfigError(
                f"the target {name!r} has {distinct} different words in {n} rows, which is too many for classes: "
                "choose another column with --target, or say --task classification."
            )
        return "classification"
    whole = not any(number % 1 for number in numbers)
    if distinct <= 2 or (whole and distinct <= FEW_CLASSES and n >= ROWS_A_CLASS * distinct):
        return "classification"
    if distinct > MANY_VALUES:
        return "regression"
    raise ConfigError(
        f"the target {name!r} has {distinct} different numbers in {n} rows, which could be classes or values: "
        "say --task classification or --task regression."
    )


def suggested_target(header: Sequence[str]) -> str:
    """Return the column that is most likely the target: one that is called so, else the last one."""
    named = {column.casefold(): column for column in header}
    return next((named[name] for name in TARGET_NAMES if name in named), header[-1])
