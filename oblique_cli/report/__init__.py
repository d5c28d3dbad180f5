"""Display of stored runs: plots, and one page with all results (docs/experiments.md)."""
