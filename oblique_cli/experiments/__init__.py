"""From a configuration file to tables: configuration, folds, jobs, running, storing, summarizing."""
