"""Hierarchies over dissimilarities: AVALANCHE, supervised taxonomies, and what can be read off them (Amalaman 2015)."""
