"""Reports of results: tables, paired comparisons, significance."""
