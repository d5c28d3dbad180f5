"""Reproductions: the published tables cell by cell, and the verdict on every cell.

Importing this package registers the studies (`studies/`, and `sensitivity`) in `framework.studies.STUDIES`.
"""

from oblique_cli.papers.reproduction import sensitivity as sensitivity
from oblique_cli.papers.reproduction import studies as studies
