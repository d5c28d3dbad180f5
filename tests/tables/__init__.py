"""A corpus of tables that were not made for this project, with labels by hand."""
