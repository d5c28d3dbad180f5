"""Regression trees of hyperplanes, with constants or linear models in their leaves.

docs/algorithms/hhcart_regression.md is about them.
"""
