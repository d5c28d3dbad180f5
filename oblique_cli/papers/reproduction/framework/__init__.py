"""Shared parts of all studies: cells, runs, steps, reports."""
