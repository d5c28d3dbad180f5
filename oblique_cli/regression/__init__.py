"""Regression trees of hyperplanes, with constants or linear models in their leaves (docs/regression_trees.md)."""
