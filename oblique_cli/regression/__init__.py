"""Regression trees of hyperplanes (docs/algorithms/hhcart_regression.md)."""
