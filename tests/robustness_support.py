"""What the tests of robustness share: how long they attack, rows to fit on, and what an algorithm made of them.

OBLIQUE_SOAK=1, as `make soak` sets it, attacks longer; 0.1 a tenth of that. OBLIQUE_SEED draws other cases, and
OBLIQUE_COUNTS names the CSV file in which cases are counted.
"""

import csv
import fcntl
import inspect
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import pytest
from contracts import QUICK

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.models import load, save

Case = TypeVar("Case")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes more than so many seconds of this process's own work, however busy the machine is."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


SOAK = float(os.environ.get("OBLIQUE_SOAK") or 0)


def many(sample: int, soak: int) -> int:
    """How many cases: few in every run of the tests, many in a soak."""
    return max(sample, round(SOAK * soak))


SEED = os.environ.get("OBLIQUE_SEED", "")


def seeded(name: str) -> random.Random:
    """The numbers that an attack draws; `make soak SEED=7` draws others."""
    return random.Random(f"{name} {SEED}" if SEED else name)


@contextmanager
def counted(attack: str) -> Iterator[Counter[str]]:
    """Count `cases` and those `refused`; the exception that ends the block is a case that is `wrong` or `crashed`.

    The counts are added to the line of the attack and the seed in the CSV file OBLIQUE_COUNTS, if that is set.
    """
    counts = Counter[str]()
    try:
        yield counts
    except (Exception, pytest.fail.Exception) as error:
        counts["wrong" if isinstance(error, AssertionError | pytest.fail.Exception) else "crashed"] += 1
        raise
    finally:
        if path := os.environ.get("OBLIQUE_COUNTS"):
            add_counts(Path(path), attack, counts)


COUNTS = ("cases", "wrong", "refused", "crashed")


def add_counts(path: Path, attack: str, counts: Mapping[str, int]) -> None:
    """Add to the line of the attack with this seed, also where several processes do that at once."""
    with path.open("a+", encoding="utf-8", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        lines = {(line["attack"], line["seed"]): line for line in csv.DictReader(file)}
        line = lines.setdefault((attack, SEED), {"attack": attack, "seed": SEED})
        line.update({name: str(int(line.get(name, 0)) + counts[name]) for name in COUNTS})
        file.truncate(0)
        writer = csv.DictWriter(file, ("attack", "seed", *COUNTS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[key] for key in sorted(lines))


def some(cases: Sequence[Case], sample: int, seed: str) -> list[Case]:
    """Those of `cases` to try: a random sample in every run of the tests, all in a soak."""
    return random.Random(seed).sample(cases, min(len(cases), many(sample, len(cases))))


# What parsers trip over: structure, numbers at their ends, characters that are none.
PIECES = [
    b"", b"\0", b"\t", b"\n", b"\r", b" ", b"  ", b"#", b":", b": ", b"-", b"- ", b"?", b"|", b">", b"*a", b"&a ",
    b"!!x ", b"[", b"]", b"{", b"}", b"[" * 60, b"{a: " * 60, b"'", b'"', b"%", b"@", b"<<: *a", b"---\n", b"...\n",
    b"\\", b"0", b"-1", b"1e999", b"-1e-999", b"nan", b".nan", b"inf", b".inf", b"1" * 400, b"0x" + b"f" * 99, b"0o9",
    b"1_000", b"true", b"null", b"~", b"none", b"grid", b"name", b"extends: x\n", b"../../etc/passwd", b"/dev/zero",
    b"9" * 19, b"\xff", b"\xc3", b"\xed\xa0\x80", "\u2028".encode(), "\u0130".encode(), b"\xef\xbb\xbf", b"\x85",
    b"\x1b[2J", b",", b";", b'""',
]  # fmt: skip


EXTREME = (b"1e308", b"-1e308", b"5e-324", b"1e999", b"-0", b"nan", b"9" * 19, b"9" * 400, b"0x7fffffff")
NUMBER = re.compile(rb"-?\d+(\.\d+)?")
WORD = re.compile(rb"\w+")


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Content with one to six pieces, lines, words or numbers put in, taken out, doubled, moved, swapped or flipped."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) + 1)
        to = min(len(out), at + rng.choice((1, 1, 2, 5, 20, 200)))
        kind = rng.randrange(9)
        if kind == 0:
            out[at:at] = rng.choice(PIECES)
        elif kind == 1:
            out[at:to] = rng.choice(PIECES)
        elif kind == 2:
            del out[at:to]
        elif kind == 3:
            out[at:at] = out[at:to] * rng.choice((1, 1, 3, 40))
        elif kind == 4 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 5 and (numbers := list(NUMBER.finditer(out))):
            start, end = rng.choice(numbers).span()
            out[start:end] = rng.choice(EXTREME)
        elif kind == 6 and len(words := list(WORD.finditer(out))) > 1:  # keys and values change places
            first, second = sorted(rng.sample(words, 2), key=lambda word: word.start())
            texts = first[0], second[0]
            out[second.start() : second.end()], out[first.start() : first.end()] = texts
        elif kind == 7 and rng.random() < 0.2:
            del out[at:]
        else:
            lines = bytes(out).split(b"\n")
            rng.shuffle(lines) if rng.random() < 0.1 else lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            out = bytearray(b"\n".join(lines))
    return bytes(out)


NAMES = sorted(ALGORITHMS)
REGRESSION = {name for name in NAMES if ALGORITHMS[name].family.task == "regression"}
# Smaller than the defaults where these take seconds.
PARAMETERS: dict[str, dict[str, Any]] = {
    **QUICK,
    **{name: {"pruning_folds": 2} for name in REGRESSION if "pruning_folds" in ALGORITHMS[name].parameters},
    "supervised_clustering_edit": {"restarts": 1},
    "tao": {"n_penalties": 4, "folds": 2},
    "logistic_tree": {"n_penalties": 2, "folds": 2},
    "lmt": {"folds": 2},
    "hhbut": {"max_components": 2},
    "butif_svm": {"max_components": 2},
}

DISCRETE = {name for name in NAMES if "discrete" in ALGORITHMS[name].family.growth}
NUMERIC = [name for name in NAMES if name not in DISCRETE]  # those that take numbers as they are
WEIGHTED = [name for name in NAMES if "sample_weight" in inspect.signature(make(name).fit).parameters]


def small_parameters(name: str) -> dict[str, Any]:
    """Those parameters of an algorithm that make it quick."""
    known = ALGORITHMS[name].parameters
    return {key: value for key, value in {"n_estimators": 5, **PARAMETERS.get(name, {})}.items() if key in known}


def estimator(name: str, **more: Any) -> Any:
    """An unfitted estimator of an algorithm, small."""
    return make(name, random_state=0, **{**small_parameters(name), **more})


def rows(name: str, n: int = 40, p: int = 3, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows that the algorithm can learn from, and their labels or values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if name in DISCRETE:
        X = np.floor(3 * rng.uniform(size=(n, p)))
    if name in REGRESSION:
        return X, 2 * X[:, 0] + np.abs(X[:, -1])
    y = (np.argsort(np.argsort(X[:, 0] + 0.5 * X[:, -1] + 0.3 * rng.normal(size=n))) * n_classes) // max(n, 1)
    return X, y.astype(np.int64)


# Many seconds with 300 classes. A regression has no classes.
SLOW = {"supervised_clustering_edit", "pathfinder", "butif_svm", "hhbut", "logistic_forest", "logistic_tree"}
SLOW |= {"logistic_split", "sadt", "svm"} | REGRESSION


def of_classes(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two rows of each of n classes."""
    return rows(name, 2 * n, 2, seed=3)[0], np.arange(2 * n) % n


TWO = np.arange(40) % 2
# Rows of an algorithm, and classes.
DEGENERATE: dict[str, Callable[[str], tuple[np.ndarray, np.ndarray]]] = {
    "one row": lambda name: (np.ones((1, 3)), TWO[:1]),
    "two rows": lambda name: (np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]]), TWO[:2]),
    "two equal rows of two classes": lambda name: (np.ones((2, 3)), TWO[:2]),
    "one class": lambda name: (rows(name)[0], np.zeros(40, dtype=int)),
    "all rows the same": lambda name: (np.full((30, 3), 2.0), np.arange(30) % 3),
    "one feature": lambda name: (rows(name)[0][:, :1], TWO),
    "every row a class": lambda name: (rows(name)[0], np.arange(40)),
    "rows twice with other labels": lambda name: (np.repeat(rows(name)[0][:20], 2, axis=0), TWO),
    "one row of another class": lambda name: (rows(name)[0], (np.arange(40) == 7).astype(int)),
    "two rare classes": lambda name: (rows(name)[0], np.where(np.arange(40) < 2, np.arange(40), 2)),
    "all values tied but two": lambda name: ((np.arange(120).reshape(40, 3) == 50).astype(float), TWO),
    "more features than rows": lambda name: (rows(name, 8, 30)[0], TWO[:8]),
    "more features than a word has bits": lambda name: (rows(name, 30, 150)[0], TWO[:30]),
    # From 101 features on a node works in the span of its rows.
    "all 0": lambda name: (np.zeros((6, 101)), TWO[:6]),
    "one cell a row": lambda name: (np.eye(6, 130), TWO[:6]),
    "a subnormal cell": lambda name: (np.eye(6, 101, 100) * 5e-324, TWO[:6]),
    "a subnormal column": lambda name: (np.column_stack([rows(name)[0], 5e-324 * TWO]), TWO),
    "large": lambda name: (rows(name)[0] * 1e300, TWO),
    "small": lambda name: (rows(name)[0] * 1e-310, TWO),
    "large and small": lambda name: (rows(name)[0] * np.array([1e300, 1e-310, 1.0]), TWO),
    "300 classes": lambda name: of_classes(name, 60 if name in SLOW and not SOAK else 300),
}


def degenerate(name: str, case: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of DEGENERATE with their classes, whose numbers are the targets of a regression."""
    X, y = DEGENERATE[case](name)
    return X, y.astype(float) if name in REGRESSION else y


def same_when_loaded(name: str, X: np.ndarray, y: np.ndarray, folder: Path) -> None:
    """Fit an algorithm; fail if its file predicts other bits, or if it refuses the rows in other than one sentence."""
    try:
        fitted = estimator(name).fit(X, y)
    except (ConfigError, DataError) as error:
        assert "\n" not in str(error) and str(error).endswith(".")
        return
    save(fitted, folder / "model.json")
    model = load(folder / "model.json")
    assert model.predict(X).tobytes() == fitted.predict(X).tobytes()
    assert model.estimator.predict(X).tobytes() == fitted.predict(X).tobytes()
    if hasattr(fitted, "predict_proba"):
        assert model.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()


def learned(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    test: np.ndarray | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    **fit: Any,
) -> np.ndarray | str:
    """What a fit predicts for `test` (the training rows by default), or the sentence by which it refused them.

    Whatever is wrong in itself fails here: a traceback that is no refusal, NaN, shares that are no shares.
    """
    test = X if test is None else test
    try:
        model = estimator(name, **parameters).fit(X, y, **fit)
        predicted = np.asarray(model.predict(test))
    except (ConfigError, DataError) as error:
        assert "\n" not in str(error)
        return str(error)
    assert predicted.shape == (len(test),)
    if name in REGRESSION:
        assert np.isfinite(predicted).all()
    else:
        assert np.isin(predicted, np.append(y, getattr(model, "reject_label", y[:1]))).all()
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(test)
        assert np.isfinite(shares).all() and (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
    return predicted
