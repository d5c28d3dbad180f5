"""Child of memory.py and forests.py: load arrays, fit at most one model, print its peak of memory in bytes.

Usage: python -m benchmarks.peak nothing|scikit-learn|scikit-learn-forest|ALGORITHM X.npy y.npy [MAX_DEPTH of a tree]
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from oblique_cli.estimators.algorithms import ALGORITHMS, make


def peak() -> int:
    """Return the most bytes of memory this process has held.

    ru_maxrss says it on every Unix; but Linux lets a new process inherit it from the one that started it, so where
    there is a /proc its VmHWM is taken, the same number without the inheritance.
    """
    status = Path("/proc/self/status")
    if status.exists():
        result = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        if result:
            return 1024 * int(result[1])
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def main() -> None:
    """Fit what the command line asks for."""
    what, X, y = sys.argv[1], np.load(sys.argv[2]), np.load(sys.argv[3])
    depth = {"max_depth": int(sys.argv[4])} if len(sys.argv) > 4 else {}
    with threadpool_limits(1):
        if what == "scikit-learn":
            DecisionTreeClassifier(random_state=0, **depth).fit(X, y)
        elif what == "scikit-learn-forest":
            mtry = round(X.shape[1] ** 0.5)
            forest = RandomForestClassifier(50, max_features=mtry, random_state=0, n_jobs=1).fit(X, y)
            assert len(forest.estimators_) == 50
        elif what != "nothing":
            gini = {"criterion": "gini"} if "criterion" in ALGORITHMS[what].parameters else {}
            make(what, **gini, **depth).fit(X, y)
    print(peak())


if __name__ == "__main__":
    main()
