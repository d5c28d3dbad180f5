"""Families of their own beside the trees, and the papers: what is here comes in through `oblique_cli.doors`."""
