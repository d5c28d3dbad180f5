"""Hierarchies over dissimilarities: AVALANCHE, supervised taxonomies, and their measures (Amalaman 2015)."""
