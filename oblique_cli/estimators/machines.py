"""Linear and kernel classifiers for comparison with trees: proximal and ordinary support vector machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from oblique_cli.estimators.checked_rows import checked
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Choice, Real, check
from oblique_cli.ground.magnitudes import exponents, measured, refuse_extreme
from oblique_cli.parameters import Declared, parameter

if TYPE_CHECKING:
    from sklearn.preprocessing import StandardScaler


KERNELS = ("linear", "gaussian")
MULTICLASS = ("one_vs_one", "one_vs_rest")
FARTHEST = 1e100  # cap in standard deviations, so that squares do not overflow
DECOMPOSED = 64  # largest number of coefficients for which the eigenproblem of a plane is solved directly


class _Machine(Declared, ClassifierMixin, BaseEstimator, kw_only=True):
    """Common base of both machines."""

    needs_pruning_rows: ClassVar[bool] = False

    kernel: str = parameter(
        default="linear", allowed=Choice(KERNELS), kw_only=False, help="A plane among the features, or a surface."
    )
    width: float = parameter(default=1.0, allowed=Real(0.0, open_low=True))
    standardize: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Scale features to mean 0 and variance 1 of the training rows first; the descriptions do not say.",
    )

    def _training(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[Any]]:
        """Return checked rows and labels; set the classes."""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        rows, labels = checked(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        return rows, labels


class GEPSVMClassifier(_Machine, kw_only=True):
    """GEPSVM: a plane for each class, near its rows and far from the others; the nearest plane gives the class.

    Mangasarian & Wild (2006), IEEE PAMI 28(1), 69-74, implemented from its description in Manwani & Sastry (2012),
    section II, and from general knowledge of the method, without the article. The plane (w, g) of a class minimizes
    (||A w - e g||^2 + d ||(w, g)||^2) / ||B w - e g||^2, A the rows of the class, B all others, d the regularization:
    the leading vector of a generalized eigenproblem. With a kernel K, A and B become K(A, C) and K(B, C), C all rows,
    and the distance of x to a surface is |K(x, C) u - g| / sqrt(u' K(C, C) u).

    The method is for two classes. With more, each class has a plane against all the others.

    Attributes
    ----------
    classes_ : (C,) class labels
    planes_ : (C, m + 1) a row (w, -g) for each class; m is p, or the number of training rows for a Gaussian kernel
    n_features_in_ : int

    Nothing is drawn at random."""

    width: float = parameter(default=1.0, help="mu of the Gaussian kernel exp(-mu ||x - z||^2).")
    regularization: float = parameter(
        default=1e-4,
        allowed=Real(0.0, open_low=True),
        help="d, in units of the mean diagonal element of the matrix that it is added to.",
    )

    def fit(self, X: ArrayLike, y: ArrayLike) -> GEPSVMClassifier:
        """Fit the plane of each class. X : (n, p) finite numbers; y : (n,) labels."""
        rows, labels = self._training(X, y)
        self._scaler = _scaler(rows, self)
        self._centers = self._scaled(rows)
        inputs = self._inputs(rows)
        if len(self.classes_) == 1:  # a single class needs no plane
            self.planes_, self._lengths = np.zeros((1, inputs.shape[1])), np.ones(1)
            return self
        products = [rows.T @ rows for rows in (inputs[labels == label] for label in self.classes_)]
        every = sum(products)
        self.planes_ = np.array([_plane(product, every - product, self.regularization) for product in products])
        normals = self.planes_[:, :-1]
        metric = normals if self.kernel == "linear" else normals @ inputs[:, :-1]
        # A plane without a normal has infinite distance: its class is never the nearest.
        self._lengths = np.sqrt(np.maximum((normals * metric).sum(axis=1), np.finfo(float).tiny))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return minus the distance to the plane of each class, (n, C); for two classes the difference, (n,)."""
        check_is_fitted(self)
        inputs = self._inputs(checked(self, X, dtype=np.float64, reset=False))
        near = -np.abs(inputs @ self.planes_.T) / self._lengths
        return near[:, 1] - near[:, 0] if len(self.classes_) == 2 else near

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the nearest plane, the first of equals. X : (n, p); returns (n,)."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if len(self.classes_) == 2 else scores.argmax(axis=1)
        return self.classes_.take(codes)

    def _scaled(self, rows: Array) -> Array:
        return rows if self._scaler is None else self._scaler.transform(rows)

    def _inputs(self, rows: Array) -> Array:
        """Return rows in the plane's coordinates, with a last column of ones."""
        rows = self._scaled(rows)
        if self.kernel == "gaussian":
            from sklearn.metrics.pairwise import rbf_kernel

            rows = rbf_kernel(rows, self._centers, gamma=self.width)
        return np.column_stack([rows, np.ones(len(rows))])


def _scaler(rows: Array, machine: _Machine) -> StandardScaler | None:
    """Return a scaler to mean 0 and variance 1, or None if scaling is off, where extreme columns are refused."""
    if not machine.standardize:
        refuse_extreme(rows, f"{type(machine).__name__} without standardize")
        return None
    from sklearn.preprocessing import StandardScaler

    powers = exponents(rows)
    scaler = StandardScaler().fit(measured(rows, powers))
    if powers.any():
        scaler.mean_ = measured(scaler.mean_, -powers)
        # Neither 0, which would divide by 0, nor infinity, which model files cannot store. Variances are not used.
        least, most = np.finfo(float).smallest_subnormal, np.finfo(float).max
        scaler.scale_ = np.maximum(measured(scaler.scale_, -powers), least)
        scaler.var_ = np.minimum(measured(scaler.var_, -2 * powers), most)
    return scaler


def _plane(near: Array, far: Array, regularization: float) -> Array:
    """Return z (m,) of length 1 that minimizes z'(near + d I)z / z' far z; for a large kernel, by iteration."""
    size = len(near)
    metric = near + np.diag(np.full(size, regularization * near.trace() / size))
    if size <= DECOMPOSED:
        z = linalg.eigh(far, metric, subset_by_index=[size - 1, size - 1])[1][:, 0]
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        factor = linalg.cho_factor(metric)
        inverse = LinearOperator((size, size), matvec=lambda v: linalg.cho_solve(factor, v))
        z = eigsh(far, k=1, M=metric, Minv=inverse, v0=np.ones(size))[1][:, 0]
    # The sign of an eigenvector depends on the solver; distances do not depend on it.
    return np.asarray(z / np.linalg.norm(z))


class SupportVectorClassifier(_Machine, kw_only=True):
    """scikit-learn's support vector machine, by default on scaled features.

    Manwani & Sastry (2012), section IV, use LIBSVM, as in scikit-learn. They state that it separates each class
    from the rest, but LIBSVM separates pairs of classes; their printed accuracy on balance scale is that of pairs."""

    kernel: str = parameter(default="gaussian")
    cost: float = parameter(
        default=1.0,
        allowed=Real(0.0, open_low=True),
        help="C, the cost of a row inside the margin; a larger C fits the training rows more closely.",
    )
    width: float = parameter(default=0.1, help="gamma of the Gaussian kernel exp(-gamma ||x - z||^2).")
    multiclass: str = parameter(
        default="one_vs_one",
        allowed=Choice(MULTICLASS),
        help="A machine for each pair of classes, or for each class against the others.",
    )

    def fit(self, X: ArrayLike, y: ArrayLike) -> SupportVectorClassifier:
        """Fit the machines, one machine for two classes. X : (n, p) finite numbers; y : (n,) labels."""
        rows, labels = self._training(X, y)
        scaler = _scaler(rows, self)
        self._machine = None
        if len(self.classes_) > 1:
            from sklearn.multiclass import OneVsRestClassifier
            from sklearn.pipeline import make_pipeline
            from sklearn.svm import SVC

            kernel = "linear" if self.kernel == "linear" else "rbf"
            machine: Any = SVC(C=self.cost, kernel=kernel, gamma=self.width, cache_size=400)
            if len(self.classes_) > 2 and self.multiclass == "one_vs_rest":
                machine = OneVsRestClassifier(machine)
            machine.fit(rows if scaler is None else scaler.transform(rows), labels)
            self._machine = machine if scaler is None else make_pipeline(scaler, machine)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row. X : (n, p); returns (n,)."""
        check_is_fitted(self)
        rows = checked(self, X, dtype=np.float64, reset=False)
        if self._machine is None:
            return np.repeat(self.classes_, len(rows))
        machine = self._machine
        if hasattr(machine, "steps"):
            scaler, machine = (step for _, step in machine.steps)
            with np.errstate(over="ignore"):  # a row may be infinitely many deviations away
                rows = np.clip(scaler.transform(rows), -FARTHEST, FARTHEST)
        return np.asarray(machine.predict(rows))


ProximalSVMClassifier = GEPSVMClassifier  # former name, for pickles
