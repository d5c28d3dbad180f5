"""Trees of hyperplanes."""
