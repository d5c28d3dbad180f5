"""Nearest neighbors over edited training rows (Amalaman 2015, chapter 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Integer, Optional, Real, check
from oblique_cli.ground.row_groups import Groups, parts_of
from oblique_cli.papers.hierarchy import editors as editing
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, from_square, to_square
from oblique_cli.papers.hierarchy.editors import WEIGHTS, classify
from oblique_cli.papers.hierarchy.hierarchies import GRAPHS, Taxonomy, staxac, upgma
from oblique_cli.papers.hierarchy.measures import purity_thresholds
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier
from oblique_cli.parameters import parameter

Ints = NDArray[np.int64]

TREES = ("staxac", "upgma")


class _Edited(NearestNeighborsClassifier):
    """Parameters of neighbors among edited rows."""

    n_neighbors: int = parameter(default=1, kw_only=True)

    def _square(self, X: Array) -> Array:
        return to_square(self._condensed(X))


class _DrawnEdit(_Edited):
    """Parameters of editing with random draws."""

    random_state: Any = parameter(default=None, kw_only=True, help="What is drawn: see the notes.")


class WilsonClassifier(_Edited, kw_only=True):
    """Nearest neighbors after Wilson editing: rows that the k-NN rule of the other rows misclassifies are dropped."""

    voting: str = parameter(
        default="uniform",
        allowed=Choice(WEIGHTS),
        kw_only=False,
        help='Of the editing: "distance" is WilsonProb (Vazquez, Sanchez & Pla 2005), whose votes are 1 / (1 + d).',
    )
    n_neighbors: int = parameter(default=1, help="k of editing and of classification; all rows if fewer are kept.")

    def _edit(self, X: Array, groups: Groups | None) -> NDArray[np.bool_]:
        return editing.wilson(self._square(X), self._codes, self.n_neighbors, self.voting)


class MultiEditClassifier(_DrawnEdit, kw_only=True):
    """Nearest neighbors after Multi-edit: random subsets edit each other until nothing is removed.

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; the subsets of all rounds come from one stream named after
    it.
    """

    n_subsets: int = parameter(
        default=3,
        allowed=Integer(2),
        kw_only=False,
        help="Parts that the rows are divided into; each is edited by the next.",
    )
    edit_neighbors: int = parameter(default=1, allowed=Integer(1), help="k of the editing.")
    quiet_rounds: int = parameter(
        default=1, allowed=Integer(1), help="Number of rounds without a removal after which editing ends."
    )

    def _edit(self, X: Array, groups: Groups | None) -> NDArray[np.bool_]:
        rng = seeds.generator(self._seed(), "multi-edit")
        return editing.multi_edit(
            self._square(X), self._codes, self.edit_neighbors, self.n_subsets, self.quiet_rounds, rng
        )


class SupervisedClusteringEditClassifier(_DrawnEdit, kw_only=True):
    """Nearest neighbors over the representatives of a supervised clustering (Eick, Zeidat & Vilalta 2004).

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; the starts of all climbs come from one stream named after
    it.
    """

    penalty: float = parameter(
        default=0.1, allowed=Real(0.0), kw_only=False, help="Cost of a further cluster beside impurity."
    )
    restarts: int = parameter(default=5, allowed=Integer(1), help="Climbs from random representatives.")

    def _edit(self, X: Array, groups: Groups | None) -> NDArray[np.bool_]:
        rng = seeds.generator(self._seed(), "supervised clustering")
        return editing.supervised_clustering(self._square(X), self._codes, self.penalty, self.restarts, rng)


class HCEditClassifier(_DrawnEdit, kw_only=True):
    """Nearest neighbors after HC-edit: minority rows of the purest large sub-trees are dropped (section 6.3).

    Attributes
    ----------
    beta_ : float
        The threshold used.
    taxonomy_ : Taxonomy
        Of the training rows.

    Further those of `NearestNeighborsClassifier`.

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; the inner folds come from one stream named after it.
    """

    tree: str = parameter(
        default="staxac", allowed=Choice(TREES), kw_only=False, help="What grows the tree of the training rows."
    )
    beta: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0, 1.0, open_low=True)),
        help="Purity of the sub-trees. 1 edits nothing. None chooses among the purity thresholds of the tree of all "
        "training rows, from its root's up to but without 1 (section 6.3), by cross-validation within the training "
        "rows: the most accurate one for the given n_neighbors, of equals the highest. 1 where no purity lies "
        "between the root's and 1: the root's alone would drop every row but those of one class.",
    )
    inner_folds: int = parameter(
        default=10, allowed=Integer(2), help="Folds of that cross-validation; one per row if there are fewer rows."
    )
    graph: str = parameter(
        default="nearest",
        allowed=Choice(GRAPHS),
        help="Which clusters are neighbors to STAXAC, as in `SupervisedTaxonomy`.",
    )

    def _edit(self, X: Array, groups: Groups | None) -> NDArray[np.bool_]:
        condensed = self._condensed(X)
        seed = self._seed()
        self.taxonomy_ = self._grown(condensed, self._codes)
        self.beta_ = self._chosen_beta(to_square(condensed), groups, seed) if self.beta is None else float(self.beta)
        return editing.hc_edit(self.taxonomy_, self.beta_)

    def _grown(self, condensed: Condensed, codes: Ints) -> Taxonomy:
        tree = upgma(condensed) if self.tree == "upgma" else staxac(condensed, codes, self.graph)[0]
        return Taxonomy.of(tree, codes, len(self.classes_))

    def _chosen_beta(self, square: Array, groups: Groups | None, seed: int) -> float:
        """Return the threshold in [purity of the root, 1) with most correct inner predictions, in a tie the highest."""
        candidates = purity_thresholds(self.taxonomy_)
        candidates = candidates[(candidates >= self.taxonomy_.purity[-1]) & (candidates < 1.0)]
        if len(candidates) < 2:
            return 1.0
        n = len(square)
        right = np.zeros(len(candidates), dtype=np.int64)
        rng = seeds.generator(seed, "hc-edit", "inner folds")
        if groups is None:
            parts = np.array_split(rng.permutation(n), min(self.inner_folds, n))
        else:
            parts = parts_of(groups, self.inner_folds, rng)
        for valid in parts:
            train = np.setdiff1d(np.arange(n), valid)
            inner = square[np.ix_(train, train)]
            taxonomy = self._grown(from_square(inner), self._codes[train])
            apart, codes = square[np.ix_(valid, train)], self._codes[train]
            known: dict[bytes, int] = {}  # many thresholds retain the same rows
            for k, beta in enumerate(candidates):
                mask = editing.hc_edit(taxonomy, float(beta))
                if mask.tobytes() not in known:
                    guess = classify(apart[:, mask], codes[mask], self.n_neighbors, len(self.classes_), self.weights)
                    known[mask.tobytes()] = int((guess == self._codes[valid]).sum())
                right[k] += known[mask.tobytes()]
        return float(candidates[np.flatnonzero(right == right.max())[-1]])

    def predict_path(self, X: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """Return the predictions for each value of `beta`, from the tree of this fit.

        X : (m, p) or (m, n); values : (v,) in (0, 1]; returns (m, v) labels. The dissertation prints, for each k, the
        best test accuracy over several values: the choice of the best column uses the test labels.
        """
        rows = self._columns(X)
        return np.stack([self.classes_.take(self._predict(rows, part)[0]) for part in self._path(values)], axis=1)

    def n_leaves_path(self, values: ArrayLike) -> Ints:
        """Return the number of retained rows for each value of `predict_path`, (v,)."""
        check_is_fitted(self)
        return np.array([len(part) for part in self._path(values)], dtype=np.int64)

    def _path(self, values: ArrayLike) -> list[Ints]:
        betas = [float(value) for value in np.asarray(values, dtype=np.float64)]
        for beta in betas:
            check({"beta": beta}, self.constraints, type(self).__name__)
        return [np.flatnonzero(editing.hc_edit(self.taxonomy_, beta)) for beta in betas]
