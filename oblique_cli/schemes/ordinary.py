"""Ordinary cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._scheme import scheme


@scheme("ordinary")
class Ordinary(CrossValidation):
    """R x v-fold cross-validation: shuffle the rows, cut them into v folds of nearly equal size.

    Wickramarachchi (2015), section 1.9 [3]: each fold is the test set of a tree grown on the others."""

    # `ordinary` and `stratified` are one scheme with the switch off and on, so the switch must agree.
    fixed: ClassVar[dict[str, Any]] = {"stratified": False}
