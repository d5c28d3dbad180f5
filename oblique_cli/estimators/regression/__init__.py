"""Regression trees with models in their leaves."""
