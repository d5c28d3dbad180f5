"""Reproductions: the published tables cell by cell, each study in a module here, and the verdict on every cell.

Importing this package registers the studies in `studies.STUDIES`.
"""

from oblique_cli.experiments.reproduction import chapter3 as chapter3
