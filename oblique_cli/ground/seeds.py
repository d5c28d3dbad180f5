"""Random streams named after their purpose, so that order and number of workers do not matter.

A stream is `numpy.random.SeedSequence([root, digest of the names])`: equal names give equal streams in every process,
on every machine.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Replaces the name of a data set if a tree is fitted to a user's file: equal rows give equal trees under any file name
# or from standard input.
OWN = "own"


def seed_sequence(root: int, *names: str | int) -> np.random.SeedSequence:
    """Return the seed sequence of `names` under the non-negative integer `root`; ("a", 1) and ("a1",) differ."""
    import numpy as np

    text = "\x1f".join(map("{0.__class__.__name__}:{0}".format, names))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.SeedSequence([root, *struct.unpack("<4I", digest[:16])])


def generator(root: int, *names: str | int) -> np.random.Generator:
    """Return the random number generator of the stream that `names` name, for the seed `root`."""
    import numpy as np

    return np.random.default_rng(seed_sequence(root, *names))


def integer(root: int, *names: str | int) -> int:
    """Return a seed in [0, 2**31) for `names` under `root`, for interfaces that take an integer."""
    return int(seed_sequence(root, *names).generate_state(1)[0] & 0x7FFFFFFF)
