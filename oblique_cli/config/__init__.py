"""Configurations: files are composed (`composing`), then checked into an `Experiment` (`checking`)."""

from oblique_cli.config.checking import from_mapping as from_mapping
from oblique_cli.config.checking import load as load
