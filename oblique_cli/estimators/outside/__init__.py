"""Estimators of other libraries in the place of ours: what a configuration may name, and how such a model is run."""
