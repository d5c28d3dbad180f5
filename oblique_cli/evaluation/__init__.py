"""Reports of results: tables, paired comparison, significance."""
