"""Former names of commands and options, each with its new place as it follows "is now"."""

from __future__ import annotations

COMMANDS = {
    "convert": "`oblique data convert`",
    "retry": "`oblique run`: the command of the run, which `oblique status` prints, runs failed folds again",
    "schema": "`oblique validate --schema`",
}
