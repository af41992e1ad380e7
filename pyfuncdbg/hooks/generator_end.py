"""End of a generator as the outcome of a call: hooks see a call without outputs, and no error.

Hosts make it where a node takes the next element, on the thread of the call; outside of the hooks they raise the
StopIteration.
"""
from __future__ import annotations

from typing import Any

SOURCE = 'takes_from'
"""Attribute of a site whose calls take the next element of something: what that is, such as 'generator rows'."""


class GeneratorEnd(list[Any]):
    """Outputs of a call whose generator has ended: none.

    Attributes:
        error: Tells the host so.
    """

    __slots__ = ('error',)

    def __init__(self, error: StopIteration) -> None:
        super().__init__()
        self.error = error
