"""Patches: attributes of TensorFlow that are replaced while it is watched, and restored exactly.

The attachment makes them, on the thread that attaches; it puts them back on the one that detaches.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.own_files import is_own_file

_ABSENT: Any = object()


def without_this_frame(error: BaseException) -> None:
    """Take the outermost frame off an exception's traceback: that of a replacement which lets it pass by a bare `raise`."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def without_our_frames(error: BaseException) -> None:
    """Take our frames off the begin of an exception's traceback: what a rule raised looks as it does without us."""
    entry = error.__traceback__
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is not None:
        error.__traceback__ = entry


class Patches:
    """Replaced attributes of modules and classes."""

    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, Any]] = []

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace an attribute.

        Args:
            owner: A module or class.
            name: Of the attribute; it may be one that the class inherits.
            replacement: What stands there from now on.
        """
        original = vars(owner).get(name, _ABSENT)
        setattr(owner, name, replacement)
        self._made.append((owner, name, original, replacement))

    def restore(self) -> None:
        """Put everything back. Where other code has replaced ours in the meantime, its replacement stays, and ours below it
        only passes calls on, since nothing is attached."""
        while self._made:
            owner, name, original, replacement = self._made.pop()
            if vars(owner).get(name) is not replacement:
                continue
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
