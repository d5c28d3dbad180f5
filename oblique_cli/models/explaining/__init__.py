"""Why a fitted tree says what it says of one row, and the nearest row of which it says something else."""

from oblique_cli.models.explaining.explanation import Explanation, explain
from oblique_cli.models.explaining.spread import Spread

__all__ = ["Explanation", "Spread", "explain"]
