"""Waiting for what another process does: as long as it takes, with no clock to fail by."""

import time
from collections.abc import Callable

# Looks, each after a pause: a guard against waiting for ever, minutes beyond what any machine needs.
LOOKS = 60_000
# Seconds after which a process that never ends is given up.
FOREVER = 1200


def wait_until(condition: Callable[[], bool], pause: float = 0.01) -> None:
    """Return once the condition holds.

    Raises TimeoutError where it never does.
    """
    for _ in range(LOOKS):
        if condition():
            return
        time.sleep(pause)
    raise TimeoutError("it never came")
