"""Stratified cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._scheme import scheme


@scheme("stratified")
class Stratified(CrossValidation):
    """R x v-fold cross-validation whose test folds and pruning rows keep the class shares."""

    fixed: ClassVar[dict[str, Any]] = {"stratified": True}
