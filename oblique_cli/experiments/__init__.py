"""Running an experiment: jobs, dispatch over processors, results in SQLite, progress."""
