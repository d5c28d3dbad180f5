"""PATHFINDER: trees split by clusters of rows on a grid and points between clusters (Amalaman 2015, chapter 3)."""
