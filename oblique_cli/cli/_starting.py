"""What a command starts without: libraries that scikit-learn loads for functions that commands seldom or never call.

`import sklearn.base` loads scipy.stats for `scipy.stats.mode`, and pandas, if that is installed, for the data frames of
other callers. Both take half of the time that `oblique tree` takes for a small table.
"""

from __future__ import annotations

import sys
from importlib import import_module

from oblique_cli.ground.later import Later


def load_scikit_learn() -> None:
    """Import what all estimators need of scikit-learn; scipy.stats stays for later, and pandas is not touched."""
    if "sklearn.base" in sys.modules:
        return
    if "scipy.stats" not in sys.modules:
        sys.modules["scipy.stats"] = Later("scipy.stats")
    without = "pandas" not in sys.modules
    if without:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # Python's way to say that there is none
    try:
        import_module("sklearn.base")
    finally:
        if without:
            del sys.modules["pandas"]
