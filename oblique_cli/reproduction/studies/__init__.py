"""One module a study."""
