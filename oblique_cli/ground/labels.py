"""Labels of classes and levels: detection of numbers, and order."""

from __future__ import annotations

import math

OTHER = "(other)"  # the last level of a column whose rare levels are merged; unknown levels of new rows belong to it


def is_number(text: str) -> bool:
    """Return whether the text is a finite decimal number, in ASCII and without underscores."""
    try:
        # float() also reads "1_000" and the digits of every script.
        return math.isfinite(float(text)) and "_" not in text and text.isascii()
    except ValueError:
        return False


def label_order(label: str) -> tuple[bool, float, str]:
    """Return the sort key of labels and levels: numbers first, by value, then words by text."""
    return (False, float(label), label) if is_number(label) else (True, 0.0, label)
