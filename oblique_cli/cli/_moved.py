"""Former names of commands, and of options by command, each with its new place as it follows "is now"."""

from __future__ import annotations

OPTIONS = {
    "--algorithms": {"compare": "--algorithm"},
    "--backend": dict.fromkeys(("run", "compare", "repair", "reproduce"), "--scheduler ADDRESS alone"),
    "--class-weight": {"fit": "--set class_weight=balanced"},
    "--datasets": {"compare": "--dataset"},
    "--out": {"fit": "--output"},
    "--workers": {"fit": "--jobs"},
}
COMMANDS = {
    "convert": "`oblique data convert`",
    "retry": "`oblique run`: the command of the run, which `oblique status` prints, runs failed folds again",
    "schema": "`oblique validate --schema`",
}
