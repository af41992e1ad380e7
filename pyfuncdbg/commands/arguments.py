"""Argument types that several commands share: they say what was expected, and the nearest valid word."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from pyfuncdbg.errors import nearest


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or len(text) > 12 or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is no whole number from 1')
    return int(text)


def one_of(names: Sequence[str], what: str) -> Callable[[str], str]:
    """A word of a list."""
    def check(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(
                f'{text!r} is no {what}: expected {", ".join(names[:-1])} or {names[-1]}.{nearest(text, names, 1)}')
        return text
    return check


def filters_of(args: argparse.Namespace, *names: str) -> dict[str, object]:
    """The filters that were given, by name: what the first line of a list shows."""
    return {name: value for name in names if (value := getattr(args, name)) not in (None, False)}
