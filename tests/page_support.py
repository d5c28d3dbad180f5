"""Ways in which pages of a results file are damaged."""

import random
from collections.abc import Callable

PAGE = 4096

Damage = Callable[[bytearray, random.Random], None]


def _place(content: bytearray, rng: random.Random) -> int:
    """Where a page begins; never the first one, without which nothing is a database."""
    return PAGE * rng.randrange(1, len(content) // PAGE)


def zeros(content: bytearray, rng: random.Random) -> None:
    at = _place(content, rng)
    content[at : at + PAGE] = bytes(PAGE)


def noise(content: bytearray, rng: random.Random) -> None:
    at = _place(content, rng)
    content[at : at + PAGE] = rng.randbytes(PAGE)


def noise_within(content: bytearray, rng: random.Random) -> None:
    at, size = _place(content, rng) + rng.randrange(PAGE), rng.choice((1, 4, 30, 200))
    content[at : at + size] = rng.randbytes(len(content[at : at + size]))


def copied(content: bytearray, rng: random.Random) -> None:
    of, at = _place(content, rng), _place(content, rng)
    content[at : at + PAGE] = content[of : of + PAGE]


def exchanged(content: bytearray, rng: random.Random) -> None:
    one, other = _place(content, rng), _place(content, rng)
    pages = content[one : one + PAGE], content[other : other + PAGE]
    content[other : other + PAGE], content[one : one + PAGE] = pages


def cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(PAGE, len(content)) :]


KINDS: dict[str, Damage] = {one.__name__: one for one in (zeros, noise, noise_within, copied, exchanged, cut)}
