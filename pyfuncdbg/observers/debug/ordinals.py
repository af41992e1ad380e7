"""Ordinal numbers ('1st', '2nd') for the runs of a session, not to be confused with the number that `--run` takes.

Any thread may ask.
"""
from __future__ import annotations

_ENDINGS = {1: 'st', 2: 'nd', 3: 'rd'}


def ordinal(number: int) -> str:
    """'1st', '2nd', '11th', '1,021st'."""
    return f'{number:,}{"th" if number % 100 // 10 == 1 else _ENDINGS.get(number % 10, "th")}'
