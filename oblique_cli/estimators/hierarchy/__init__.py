"""Taxonomies and editing by hierarchical clustering."""
