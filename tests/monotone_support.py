"""Tables with an order, and brute checks of models that are to keep it."""

from typing import Any

import numpy as np

from oblique_cli import verify


def answers_of(model: Any, X: np.ndarray) -> np.ndarray:
    """Numbers, or probabilities of the second class."""
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def worst_fall(model: Any, X: np.ndarray, signs: Any, rng: np.random.Generator, pairs: int = 2000) -> float:
    """The largest fall of an answer over pairs of rows of which the second is not below the first in any constraint."""
    low = X[rng.integers(len(X), size=pairs)] + rng.normal(scale=0.3, size=(pairs, X.shape[1]))
    far = np.abs(rng.standard_cauchy(size=low.shape)) * (rng.random(low.shape) < 0.5)
    return float((answers_of(model, low) - answers_of(model, low + far * np.asarray(signs))).max())


def is_proved(model: Any, signs: Any) -> bool:
    """Whether every constraint is proved for all rows."""
    options = {f"x{j + 1}": int(sign) for j, sign in enumerate(signs) if sign}
    return all(verdict.outcome == "proved" for verdict in verify(model, monotone=options).verdicts)


def table(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows with few and with many distinct values, and a target that bends."""
    X = rng.normal(size=(n, p))
    X[:, rng.integers(p)] = rng.integers(0, 4, n)
    return X, X @ rng.normal(size=p) + np.sin(3.0 * X[:, 0]) + rng.normal(scale=0.7, size=n)


def classes(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with two classes, both of them there."""
    X, y = table(rng, n, p)
    return X, (y > np.median(y)).astype(int)
