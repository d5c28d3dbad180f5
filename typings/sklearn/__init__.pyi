"""Types of what this package inherits from scikit-learn, which ships none. Other modules of it are read as Any."""

__version__: str
