"""Basis of all other folders: names, limits, numbers, random streams, YAML with source positions."""
