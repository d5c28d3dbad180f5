"""Forests of oblique trees."""
