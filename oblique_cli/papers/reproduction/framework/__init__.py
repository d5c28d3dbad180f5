"""What every study shares: cells, runs, steps, reports."""
