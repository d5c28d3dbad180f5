"""Regression trees with linear models in their leaves (Amalaman 2015, chapter 2)."""
