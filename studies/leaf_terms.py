"""Products and hinges in the leaves of `logistic_tree` and of `linear_tree`, on sets of the catalogue.

python -m studies.leaf_terms logistic_tree OUTPUT.csv  70 % of the rows of each set, at most 3,500, train; two seeds
python -m studies.leaf_terms linear_tree OUTPUT.csv    the same, at most 1,100; one seed; a target may be a feature
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from oblique_cli.data import catalogue
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.nouns import DatasetSpec

SETS = (
    "banknote", "vehicle", "pima", "image_segmentation", "ionosphere", "spambase", "statlog_heart", "sonar",
    "breast_cancer_wdbc", "page_blocks", "pendigits", "phoneme", "contraceptive", "magic_balanced", "yeast",
)  # fmt: skip
NUMBERS = {
    "boston_housing": None, "abalone": None, "auto_mpg": None, "kin8nm": None, "stock": None, "magic_balanced": 0,
    "tecator": None, "page_blocks": 4, "friedman": None, "phoneme": 0, "sine_product": None,
}  # fmt: skip  # the feature that is the target, None for that of the set
KINDS = ("products", "products and hinges")


def rows(algorithm: str) -> Iterator[dict[str, object]]:
    """Yield a row for each seed, data set and setting."""
    regression = algorithm == "linear_tree"
    for seed, name in itertools.product(range(1 if regression else 2), NUMBERS if regression else SETS):
        data = catalogue.load(DatasetSpec(name, missing="drop", encoding="onehot"))
        X, y, target = np.asarray(data.X, dtype=float), np.asarray(data.y), NUMBERS.get(name) if regression else None
        if target is not None:
            X, y = np.delete(X, target, axis=1), X[:, target]
        share = min(0.7, (1100 if regression else 3500) / len(y))
        split = {"train_size": share, "stratify": None if regression else y, "random_state": seed}
        train, test = train_test_split(np.arange(len(y)), **split)
        about = {"set": name, "seed": seed, "training_rows": len(train), "features": X.shape[1]}
        for setting in ("features", "products and hinges") if regression else ("squares", *KINDS):
            kinds = {kind: kind in setting for kind in ("products", "hinges")}
            begun = time.process_time()
            model = make(algorithm, random_state=seed, **kinds).fit(X[train], y[train])
            seconds, tree = time.process_time() - begun, model.tree_
            if regression:
                errors = (model.predict(X[test]) - y[test]) ** 2
                scores = {"relative_rmse": f"{np.sqrt(errors.mean()) / y[test].std():.4f}"}
            else:
                shares = np.clip(model.predict_proba(X[test]), 1e-15, 1.0)
                loss = log_loss(y[test], shares, labels=model.classes_)
                scores = {"accuracy": f"{100 * model.score(X[test], y[test]):.2f}", "log_loss": f"{loss:.4f}"}
                scores = {"classes": len(model.classes_)} | scores
            terms = tree.payload.n_terms(np.flatnonzero(tree.is_leaf))
            sizes = {"leaves": tree.n_leaves, "terms": terms, "cpu_s": f"{seconds:.2f}"}
            yield about | {"setting": setting} | scores | sizes


if __name__ == "__main__":
    pd.DataFrame(rows(sys.argv[1])).to_csv(sys.argv[2], index=False)
