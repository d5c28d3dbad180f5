"""Reproductions: the published tables cell by cell, each study in a module here, and the verdict on every cell.

Importing this package registers the studies in `studies.STUDIES`.
"""

from oblique_cli.reproduction import sensitivity as sensitivity
from oblique_cli.reproduction.studies import chapter3 as chapter3
from oblique_cli.reproduction.studies import chapter5 as chapter5
from oblique_cli.reproduction.studies import chapter6 as chapter6
from oblique_cli.reproduction.studies import gdt as gdt
from oblique_cli.reproduction.studies import mpsvm as mpsvm
from oblique_cli.reproduction.studies import odt as odt
from oblique_cli.reproduction.studies import pathfinder as pathfinder
from oblique_cli.reproduction.studies import taxonomy as taxonomy
from oblique_cli.reproduction.studies import tprti as tprti
