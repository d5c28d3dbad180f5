"""Reproductions: the published tables cell by cell, with a verdict on every cell."""
