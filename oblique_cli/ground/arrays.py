"""Array types for signatures."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
