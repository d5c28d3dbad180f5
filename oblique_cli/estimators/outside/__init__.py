"""Estimators of other libraries as algorithms: the classes that a configuration may name, and their processes."""
