"""Fit of a `Model` to a data set with an out-of-sample estimate of its error: `oblique fit` in Python."""
