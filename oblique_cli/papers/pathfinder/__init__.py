"""PATHFINDER: trees that split by clusters on a grid and the points between them (Amalaman 2015, chapter 3)."""
