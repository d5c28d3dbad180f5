"""Reproductions: the published tables cell by cell, each study in a module here, and the verdict on every cell.

Importing this package registers the studies in `studies.STUDIES`.
"""

from oblique_cli.experiments.reproduction import chapter3 as chapter3
from oblique_cli.experiments.reproduction import chapter5 as chapter5
from oblique_cli.experiments.reproduction import chapter6 as chapter6
from oblique_cli.experiments.reproduction import gdt as gdt
from oblique_cli.experiments.reproduction import mpsvm as mpsvm
from oblique_cli.experiments.reproduction import odt as odt
from oblique_cli.experiments.reproduction import pathfinder as pathfinder
from oblique_cli.experiments.reproduction import readings as readings
from oblique_cli.experiments.reproduction import taxonomy as taxonomy
from oblique_cli.experiments.reproduction import tprti as tprti
