"""Reproductions: the published tables cell by cell, and the verdict on every cell."""
