"""Published numbers: the tables of the papers as CSV files (README.md describes them), and their reader."""

from oblique_cli.published.reading import FOLDER as FOLDER
from oblique_cli.published.reading import Published as Published
from oblique_cli.published.reading import PublishedTable as PublishedTable
from oblique_cli.published.reading import comparable as comparable
from oblique_cli.published.reading import dataset_code as dataset_code
from oblique_cli.published.reading import dataset_note as dataset_note
from oblique_cli.published.reading import find as find
from oblique_cli.published.reading import lookup as lookup
from oblique_cli.published.reading import numbers as numbers
from oblique_cli.published.reading import qualifier_values as qualifier_values
from oblique_cli.published.reading import tables as tables
