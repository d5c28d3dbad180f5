"""Families of their own beside the trees, and the papers: `ground/extensions.py` lists what they add."""
