"""Experiments: jobs, parallel dispatch, results in SQLite, progress."""
