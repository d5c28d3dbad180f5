"""Types of what this package inherits from scikit-learn, which ships none. Other modules of it are read as Any."""

from typing import Any

__version__: str

def __getattr__(name: str) -> Any: ...  # modules without types here
