"""Explanations of single predictions: path, contributions of columns, and the nearest row of another class."""

from oblique_cli.models.explaining.explanation import Explanation, explain
from oblique_cli.models.explaining.spread import Spread

__all__ = ["Explanation", "Spread", "explain"]
