"""Estimators of Kargupta, Park and Dutta (2006): reconstructed, aggregated and orthogonal Fourier trees."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Choice, Integer, Optional, Real
from oblique_cli.papers.discrete.coded_classifier import (
    Bag,
    BaggedTreesClassifier,
    C45Parameters,
    Samples,
    SeveralDiscreteTrees,
    SingleDiscreteTree,
)
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, counted_labels
from oblique_cli.papers.discrete.domain import Ints
from oblique_cli.papers.discrete.extraction import spectrum_of
from oblique_cli.papers.discrete.spectrum import (
    CoefficientMatrix,
    Components,
    Spectrum,
    combination,
    gram_of_trees,
    principal_components,
)
from oblique_cli.papers.discrete.tcfs import TIE, ClassShares, tree_from_spectrum
from oblique_cli.parameters import Declared, parameter


class Spectra(Declared):
    """Parameters of the truncation of spectra, and of trees from spectra."""

    energy: float = parameter(
        default=0.9,
        allowed=Real(0.0, 1.0, open_low=True),
        help="Share of each spectrum's energy to keep, by its largest coefficients; 1 keeps all.",
    )
    max_order: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Coefficients of more features than this are not computed, which keeps spectra of deep trees small.",
    )
    tcfs_depth: int | None = parameter(
        default=None,
        allowed=Optional(Integer(0)),
        help="Longest path of a tree made from a spectrum; None for the depth of the deepest bagged tree.",
    )
    min_confidence: float = parameter(
        default=1.0,
        allowed=Real(0.5, 1.0, open_low=True),
        help="A schema with at least this share of one class is a leaf.",
    )


class FourierTreesClassifier(Spectra, Bag, Samples, C45Parameters, BaggedTreesClassifier):
    """Base of the three classifiers: bagged C4.5-style trees and their truncated spectra."""

    def _weights_and_means(self, tree: DiscreteTree) -> tuple[Array, Array]:
        # These trees are functions over the whole domain, without training rows.
        return tree.measures, tree.values

    def _labels(self, tree: DiscreteTree, codes: Ints) -> Ints:
        if (codes >= 0).all():
            return np.asarray(tree.labels[tree.apply(codes)])
        means, divided = self._means(tree, tree.values, codes)
        shares = ClassShares(len(self.classes_))(means)
        likeliest = np.argmax(shares >= shares.max(axis=1, keepdims=True) - TIE, axis=1)
        return np.where(divided, likeliest, tree.labels[tree.apply(np.maximum(codes, 0))])

    def _spectra(self, trees: list[DiscreteTree]) -> list[Spectrum]:
        """Return the truncated spectra of trees; set `energy_kept_`, their mean share of the energy."""
        spectra, energies = [], []
        for tree in trees:
            values = self._indicator(tree)
            spectrum = spectrum_of(tree, values, max_order=self.max_order).truncated(self.energy)
            whole = float(tree.measures[tree.is_leaf] @ (values[tree.is_leaf] ** 2).sum(axis=1))
            energies.append(spectrum.energy / whole if whole > 0 else 1.0)
            spectra.append(spectrum)
        self.energy_kept_ = float(np.mean(energies))
        return spectra

    @property
    def _is_whole(self) -> bool:
        return self.energy >= 1.0 and self.max_order is None

    def _reconstruct(self, spectrum: Spectrum, shares: ClassShares, depth: int | None, decide: bool) -> DiscreteTree:
        limit = self.tcfs_depth if self.tcfs_depth is not None else depth
        # If leaves hold averages, stopping at a share of 1 would remove what truncation left beyond the bounds.
        sure = self.min_confidence if decide or self.min_confidence < 1.0 else None
        return tree_from_spectrum(spectrum, shares, max_depth=limit, min_confidence=sure, decide=decide)


class ReconstructedFourierTreeClassifier(SeveralDiscreteTrees, FourierTreesClassifier):
    """RFT: the Fourier spectrum of each bagged tree loses its smallest coefficients and is converted back to a tree.

    Kargupta et al. (2006), sections 5 and 7. The converted trees vote.

    Attributes
    ----------
    trees_ : list of DiscreteTree, as reconstructed; source_trees_ : the C4.5 trees
    energy_kept_ : mean share of the energy that the truncated spectra have
    oob_error_ : of the C4.5 trees
    columns_, domain_, classes_, n_features_in_
    n_leaves_, n_nodes_, depth_ : sums over the reconstructed trees, and the deepest
    """

    tcfs_depth: int | None = parameter(
        default=None,
        help="Longest path of a tree made from a spectrum. None: that of the tree it came from, and none at all if "
        "every coefficient was kept; then the tree has the labels of its source on every point.",
    )

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.source_trees_ = self._bag(codes, classes, seed)
        spectra = self._spectra(self.source_trees_)
        shares = ClassShares(len(self.classes_))
        self.trees_ = [
            self._reconstruct(spectrum, shares, None if self._is_whole else tree.depth, decide=True)
            for spectrum, tree in zip(spectra, self.source_trees_, strict=True)
        ]
        self._sizes(self.trees_)

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the energy kept, mean size of the source trees, and mean accuracy of sources and of reconstructions.

        Accuracies are of single trees, not of votes, as in figures 7, 9, 12, 13 and 15 of the paper, on the rows given.
        """
        codes, truth = self._codes(X), self._class_codes(y)

        def accuracy(labels: Iterable[Ints]) -> float:
            return float(np.mean([(predicted == truth).mean() for predicted in labels]))

        return {
            **super().extra_measures(X, y),
            "energy_kept": self.energy_kept_,
            "source_n_nodes": float(np.mean([tree.n_nodes for tree in self.source_trees_])),
            "source_accuracy": accuracy(counted_labels(tree, codes) for tree in self.source_trees_),
            "tree_accuracy": accuracy(self._labels(tree, codes) for tree in self.trees_),
        }


class AggregatedFourierTreeClassifier(SingleDiscreteTree, FourierTreesClassifier):
    """AFT: the truncated spectra of bagged trees are averaged, and one tree is made of the mean.

    Kargupta et al. (2006), sections 4.3, 5 and 7.

    Attributes
    ----------
    tree_ : DiscreteTree; its nodes hold the mean output of the truncated ensemble
    spectrum_ : Spectrum the tree was made of
    source_trees_, energy_kept_, oob_error_, columns_, domain_, classes_, n_features_in_
    n_leaves_, n_nodes_, depth_ : of the tree
    """

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.source_trees_ = self._bag(codes, classes, seed)
        spectra = self._spectra(self.source_trees_)
        self.spectrum_ = combination(spectra, np.full(len(spectra), 1.0 / len(spectra)))
        deepest = max(tree.depth for tree in self.source_trees_)
        self.tree_ = self._reconstruct(self.spectrum_, ClassShares(len(self.classes_)), deepest, decide=True)
        self.trees_ = [self.tree_]
        self._sizes(self.trees_)

    def _scores(self, codes: Ints) -> Array:
        return self._means(self.tree_, self.tree_.values, codes)[0]

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the spectrum from which the tree was built."""
        check_is_fitted(self)
        return self.spectrum_.truncated(max_order=max_order)

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the retained energy and the number of coefficients; the given rows are not used."""
        sizes = {"energy_kept": self.energy_kept_, "n_coefficients": float(len(self.spectrum_))}
        return {**super().extra_measures(X, y), **sizes}


class _Components(Declared):
    """Parameters of the choice of components, and of their joint prediction."""

    n_components: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Components to keep; None for the fewest that capture more than `variance`. Never more than there are.",
    )
    variance: float = parameter(
        default=0.9,
        allowed=Real(0.0, 1.0, open_low=True, open_high=True),
        help="Share of the variance of the bagged trees that the components together exceed.",
    )
    center: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Use covariances instead of inner products, as for functions of mean 0; the paper derives them but does "
        "not state what it computes. Components are then uncorrelated rather than orthogonal.",
    )
    weights: str = parameter(
        default="least_squares",
        allowed=Choice(("least_squares", "uniform")),
        help='"least_squares" regresses class indicators of the training rows on the outputs of the trees (ODT-LR). '
        'With "uniform" and leaves "average" every bagged tree counts the same: the plain vote, as far as the '
        'components hold it, scaled so that the shares of the bagged trees sum to 1. With leaves "label" every tree '
        "has one vote.",
    )
    leaves: str = parameter(
        default="average",
        allowed=Choice(("average", "label")),
        help="Output of a tree: the average of its function at the leaf, or the indicator of the leaf's class. Only "
        "averages leave the trees orthogonal (exactly so without `tcfs_depth`); section 7 speaks of classifications, "
        "and trees of labels are smaller, as leaves of one label are merged.",
    )
    paper_protocol: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="The paper fits the least-squares weights to the labels of the test rows. Predictions of this package "
        'never do. With True, `extra_measures` adds "accuracy_weights_fitted_on_test_rows", which is the paper\'s '
        "number.",
    )


class OrthogonalTreesClassifier(_Components, SeveralDiscreteTrees, FourierTreesClassifier):
    """ODT: principal components of an ensemble in the Fourier domain, each made a tree (section 6).

    The coefficients of m bagged trees are the columns of a matrix W. An eigenvector v of W*W makes a function
    sum_i v_i f_i whose spectrum is W v, and TCFS makes a tree of it. The functions are orthogonal to each other over
    the whole domain. The trees predict together, each with a weight.

    Attributes
    ----------
    trees_ : list of DiscreteTree, one a component, by falling variance
    weights_ : (k,) weights of the trees
    components_ : Components; `components_.ratios` are the shares of variance of all of them, kept or not
    component_spectra_ : list of Spectrum, those of the kept components
    source_trees_, energy_kept_, oob_error_, columns_, domain_, classes_, n_features_in_
    n_leaves_, n_nodes_, depth_ : sums over the k trees, and the deepest
    """

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.source_trees_ = self._bag(codes, classes, seed)
        spectra = self._spectra(self.source_trees_)
        matrix = CoefficientMatrix(spectra)
        with threadpool_limits(1):  # several threads add in another order, so that the last bits differ
            self.components_ = principal_components(self._gram(matrix, spectra))
        k = min(self.n_components or self.components_.enough(self.variance), len(self.components_.variances))
        if k == 0:  # every tree predicts the first class everywhere, or the trees are equal and `center` is set
            self.components_ = Components(np.zeros(1), np.full((self.n_estimators, 1), self.n_estimators**-0.5))
            k = 1
        factors = self.components_.factors[:, :k]
        with threadpool_limits(1):
            self.component_spectra_ = matrix.combine(factors)
        deepest = max(tree.depth for tree in self.source_trees_)
        self._shares = [
            ClassShares(len(self.classes_), float(np.minimum(v, 0.0).sum()), float(np.maximum(v, 0.0).sum()))
            for v in factors.T
        ]
        self.trees_ = [
            self._reconstruct(spectrum, shares, deepest, decide=self.leaves == "label")
            for spectrum, shares in zip(self.component_spectra_, self._shares, strict=True)
        ]
        fitted = self.weights == "least_squares"
        self.weights_ = self._fitted_weights(codes, classes) if fitted else self._equal(factors)
        self._sizes(self.trees_)

    def _decreases(self) -> Array:
        # The functions are orthogonal, so the variance of their weighted sum is the sum of weighted variances.
        decreases = np.stack([self._decreases_of(tree) for tree in self.trees_])
        return np.asarray(self.weights_**2 @ decreases)[None]

    def _gram(self, matrix: CoefficientMatrix, spectra: list[Spectrum]) -> Array:
        if self._is_whole:
            gram = gram_of_trees(self.source_trees_, [self._indicator(tree) for tree in self.source_trees_])
        else:
            gram = matrix.gram()
        if not self.center:
            return gram
        means = np.stack([spectrum.mean for spectrum in spectra])
        return np.asarray(gram - means @ means.T)

    def _equal(self, factors: Array) -> Array:
        k = factors.shape[1]
        if self.leaves == "label":
            return np.full(k, 1.0 / k)
        on_components = factors.mean(axis=0)  # the vote's coordinates
        share = float((factors @ on_components).sum())
        return on_components / share if share > 0 else np.full(k, 1.0 / k)

    def _fitted_weights(self, codes: Ints, classes: NDArray[np.integer]) -> Array:
        """Return least-squares weights of the trees for rows with known classes, of minimal norm in case of ties."""
        outputs = self._outputs(codes)  # (n, K, k)
        n_outputs = outputs.shape[1]
        truth = (classes == 1)[:, None] if n_outputs == 1 else classes[:, None] == np.arange(n_outputs)
        design = outputs.reshape(-1, outputs.shape[2])
        with threadpool_limits(1):
            return np.asarray(np.linalg.lstsq(design, truth.astype(np.float64).ravel(), rcond=1e-10)[0])

    def _outputs(self, codes: Ints) -> Array:
        """Return the output of each tree for each row, (n, K, k)."""
        held = [tree.values if self.leaves == "average" else self._indicator(tree) for tree in self.trees_]
        means = [self._means(tree, values, codes)[0] for tree, values in zip(self.trees_, held, strict=True)]
        return np.stack(means, axis=2)

    def _scores(self, codes: Ints) -> Array:
        return np.asarray(self._outputs(codes) @ self.weights_)

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the spectrum of the weighted sum of the components."""
        check_is_fitted(self)
        return combination(self.component_spectra_, self.weights_).truncated(max_order=max_order)

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return components and variance; with `paper_protocol` also the accuracy of weights fitted on y.

        X : (n, p) test rows; y : (n,) their labels. Only "accuracy_weights_fitted_on_test_rows" uses the labels.
        """
        ratios = self.components_.ratios
        measures = {
            **super().extra_measures(X, y),
            "energy_kept": self.energy_kept_,
            "n_components": float(len(self.trees_)),
            "variance_of_first": float(ratios[0]),
            "variance_kept": float(ratios[: len(self.trees_)].sum()),
            "first_n_nodes": float(self.trees_[0].n_nodes),
        }
        if self.paper_protocol:
            codes, truth = self._codes(X), self._class_codes(y)
            scores = self._outputs(codes) @ self._fitted_weights(codes, truth)
            shares = ClassShares(len(self.classes_))(scores)
            measures["accuracy_weights_fitted_on_test_rows"] = float((np.argmax(shares, axis=1) == truth).mean())
        return measures
