"""Stored runs shown: plots of them, and one page of everything that is known of them (docs/experiments.md)."""
