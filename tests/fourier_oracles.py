"""The Fourier basis and the inverse transform of Kargupta et al. (2006), section 3.2, by their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.papers.discrete.domain import Domain
from oblique_cli.papers.discrete.spectrum import Spectrum


def points_of(domain: Domain) -> NDArray[np.int64]:
    """Every point of a domain, the last feature running fastest."""
    return np.indices(domain.cardinalities).reshape(domain.n_features, -1).T


def psi(domain: Domain, partitions: NDArray[Any], points: NDArray[Any]) -> NDArray[Any]:
    """psi_j(x), points x partitions."""
    turns = points.astype(float) @ (np.asarray(partitions) / domain.lambdas).T
    return np.exp(2j * np.pi * (turns % 1.0))


def evaluated(spectrum: Spectrum, points: NDArray[Any]) -> NDArray[np.float64]:
    """The function of a spectrum at points."""
    return (psi(spectrum.domain, spectrum.partitions(), points).conj() @ spectrum.weights).real
