"""From a data set to a `Model` with an honest estimate: `oblique fit` in Python."""
