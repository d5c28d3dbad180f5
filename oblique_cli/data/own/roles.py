"""Roles of the columns of a user's table: identifiers of rows, and the task of a target."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from oblique_cli.errors import ConfigError, quoted
from oblique_cli.ground.labels import is_number, label_order

NEARLY_ALL = 0.9  # least share of different values among integers that may identify rows,
LEAST_CHANCE = 0.01  # and least chance of as few ties in a measured column that rules an identifier out
MIN_NAMED = 6  # with fewer rows a name alone is no evidence

UNIQUE_WORDS = 0.95  # least share of different words in an identifier,
FREE_TEXT = 0.5  # and in a text that has too many words for levels,
FEW_WORDS = 20  # unless there are so few words that levels do no harm

# Names of identifiers, as whole words: "Patient ID", "kunden_nr", "rowIndex". A number or an index can also be
# measured ("number of rooms", "body mass index"): it has to be all of the name, or that of somebody or of a row.
_NAMED = re.compile(r"(?:^|[^a-z])(?:ids?|uuid|guid|nr|row ?(?:id|names?|num))(?:$|[^a-z])")
_COUNTER = "(?:no|num|number|index|idx|key)"
_OF_ROWS = (
    "(?:account|case|client|customer|entry|invoice|line|member|obs|observation|order|patient|person|record|row|sample|"
    "sequence|serial|subject|ticket|user)"
)
_NUMBERED = re.compile(rf"[^a-z]*(?:row|{_COUNTER}|(?:.*[^a-z])?{_OF_ROWS}[^a-z]+{_COUNTER})[^a-z]*")
_RANKED = re.compile(r"(?:^|[^a-z])rank(?:s|ed|ing)?(?:$|[^a-z])")
_UUID = re.compile(r"[{(]?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}[)}]?")

# Numbers that are certainly classes, and certainly values, by how many different ones there are.
FEW_CLASSES = 10
MANY_VALUES = 20
ROWS_A_CLASS = 3  # fewest rows per class, on average, for integers to be classes

TARGET_NAMES = ("class", "target", "label", "y", "outcome", "diagnosis", "species", "response")


def listed(names: Sequence[str], header: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, lists split at commas unless a column has such a name; a name with a comma is quoted in
    a list, as in '"width, mm",b'."""
    known = set(header)
    columns: dict[str, None] = {}
    for name in names:
        if name in known or "," not in name or "\n" in name or "\r" in name:
            columns[name] = None
        else:
            columns |= dict.fromkeys(map(str.strip, next(csv.reader([name], skipinitialspace=True))))
    return tuple(columns)


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
    """Return the error message for a column with two conflicting roles, or None."""
    for names, role in [(qualitative, "listed under qualitative"), (drop, "dropped"), (features, "a feature")]:
        if target in names:
            return f"{quoted(target)} is the target, it cannot be {role}"
    if groups == target:
        return f"{quoted(target)} is the target, it cannot be the column of groups"
    if groups and (groups in drop or groups in features):
        other = "dropped" if groups in drop else "a feature"
        return f"{quoted(groups)} is to be {other}, it cannot be the column of groups too"
    if weights and (weights == target or weights in features):
        other = "target" if weights == target else "feature"
        return f"{quoted(weights)} is to be a {other}, it cannot hold the weights of rows too"
    if both := next((name for name in drop if name in keep or name in features), None):
        return f"{quoted(both)} is to be dropped and to be kept; say one of them"
    return None


def is_named_identifier(name: str) -> bool:
    """Return whether a column has the name of an identifier."""
    apart = re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return _NAMED.search(apart) is not None or _NUMBERED.fullmatch(apart) is not None


def numbers_identify(values: Sequence[float], n: int, name: str = "") -> bool:
    """Return whether numbers are row numbers: integers, nine in ten rows different, and unlikely by chance
    (`chance_of_few_ties`), or in a column with the name of an identifier. values : different numbers; n : rows with one

    By hand: 1, ..., 11 in 11 rows identify (chance 0.7 %); 1, ..., 10 in ten rows do not (1.1 %)."""
    if n < 2 or len(values) < NEARLY_ALL * n or any(value % 1 for value in values):
        return False
    if is_named_identifier(name) and n >= MIN_NAMED:
        return True
    if _RANKED.search(name.lower()):
        return False
    return chance_of_few_ties(n, len(values), max(values) - min(values) + 1) < LEAST_CHANCE


def ranks(columns: Mapping[int, Sequence[float]]) -> list[int]:
    """Return the columns among several row numberings that are ranks, since a table has only one numbering of its rows.

    columns : key -> number of each row, NaN for none. Columns in the order of the file, or that agree on another order,
    number its rows; where the others do not agree, they hold ranks."""
    others = {key: cells for key, cells in columns.items() if not _rises(cells)}
    for first in itertools.islice(others.values(), 1):
        order = sorted(range(len(first)), key=lambda i: (math.isnan(first[i]), first[i]))
        if not all(_rises([cells[i] for i in order]) for cells in others.values()):
            return list(others)
    return []


def _rises(cells: Sequence[float]) -> bool:
    """Return whether numbers rise, or fall, from row to row."""
    known = [cell for cell in cells if not math.isnan(cell)]
    steps = [b - a for a, b in itertools.pairwise(known)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def chance_of_few_ties(n: int, distinct: int, span: float) -> float:
    """Bound the chance that n measured whole numbers from `span` values have t = n - distinct ties or fewer.

    The uniform distribution has the fewest ties (Wong and Yue, 1973). They are no fewer than a sum of independent
    trials of chances max(i - t, 0) / span, with mean m = distinct (distinct - 1) / (2 span), whose lower tail Chernoff
    bounds by exp(t - m) (m / t)^t for t < m. By hand: 23 different birthdays have m = 0.693 and chance 0.500 (exactly
    0.493)."""
    ties = n - distinct
    mean = distinct * (distinct - 1) / (2 * span)
    if ties >= mean:
        return 1.0
    return math.exp(ties - mean + (ties * math.log(mean / ties) if ties else 0.0))


def words_identify(counts: Counter[str]) -> str:
    """Return the role of a column of words: "identifier", "text", or "" for levels. counts : word -> rows"""
    n, distinct = counts.total(), len(counts)
    if n and all(map(_UUID.fullmatch, counts)):
        return "identifier"
    if distinct <= FEW_WORDS:
        # Ten names in ten rows are levels that no tree can use, but so few rows are no evidence.
        return "identifier" if distinct == n and n > FEW_WORDS // 2 else ""
    if distinct >= UNIQUE_WORDS * n:
        return "identifier"
    return "text" if distinct > FREE_TEXT * n else ""


def guess_task(name: str, labels: Counter[str], numbers: Sequence[float] | None) -> str:
    """Return the task of a target; ConfigError if it is not clear. numbers : of the labels, or None"""
    distinct, n = len(labels), labels.total()
    if numbers is None:
        if words_identify(labels):
            raise ConfigError(
                f"the target {quoted(name)} has {distinct} different words in {n} rows, which is too many for classes: "
                "choose another column with --target, or say --task classification."
            )
        return "classification"
    whole = not any(number % 1 for number in numbers)
    if distinct <= 2 or (whole and distinct <= FEW_CLASSES and n >= ROWS_A_CLASS * distinct):
        return "classification"
    if distinct > MANY_VALUES or (distinct > FEW_CLASSES and 2 * distinct > n):
        return "regression"
    raise ConfigError(
        f"the target {quoted(name)} has {distinct} different numbers in {n} rows, which could be classes or values: "
        "say --task classification or --task regression."
    )


# ---- levels ----------------------------------------------------------------------------------------------------------

MOST_LEVELS = 60  # of a column; beyond it the FREQUENT most frequent ones stay, and the others become one level
FREQUENT = 49
ENOUGH = 30  # rows of a level that stays


def are_padded(cells: Collection[str]) -> bool:
    """Return whether integers are codes, as 02139 or 01 beside 1."""
    padded = any(cell[0] == "0" and len(cell) > 1 for cell in cells if cell)
    return padded and all(cell.isascii() and cell.isdigit() for cell in cells)


def spelling(level: str) -> str:
    """Return the form that all spellings of a level share: 1 and 1.0, True and TRUE. A letter has one spelling."""
    if is_number(level) and not are_padded([level]):
        return str(Decimal(level)) if len(level) > 15 else repr(float(level) + 0.0)  # all digits of long ones
    return " ".join(level.casefold().split()) if len(level) > 1 else level


def spelled(levels: Collection[str]) -> dict[str, str]:
    """Return the level of each spelling that has exactly one."""
    count = Counter(map(spelling, levels))
    return {key: level for level in levels if count[key := spelling(level)] == 1}


def merged(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the level of each word: of several spellings the most frequent one. counts : word -> rows"""
    best: dict[str, str] = {}
    for word in sorted(counts, key=lambda word: (-counts[word], len(word), word)):
        best.setdefault(spelling(word), word)
    return {word: best[spelling(word)] for word in counts}


def frequent(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the levels that stay if there are many: the most frequent ones, of ENOUGH rows or of one row in 200."""
    least = min(ENOUGH, max(2.0, sum(counts.values()) / 200))
    often = sorted((word for word in counts if counts[word] >= least), key=lambda w: (-counts[w], label_order(w)))
    return tuple(often[:FREQUENT])
