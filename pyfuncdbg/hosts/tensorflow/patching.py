"""Patches: attributes of TensorFlow that are replaced while it is watched, and restored exactly.

The attachment makes and restores them, on the thread that attaches or detaches.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.own_files import is_own_file

_ABSENT: Any = object()


def drop_outermost_frame(error: BaseException) -> None:
    """Drop the outermost frame of an exception's traceback: that of a replacement that passes it on by a bare `raise`."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def drop_leading_own_frames(error: BaseException) -> None:
    """Drop our frames from the start of an exception's traceback."""
    entry = error.__traceback__
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is not None:
        error.__traceback__ = entry


class Patches:
    """Replaced attributes of modules and classes."""

    def __init__(self) -> None:
        self._replacements: list[tuple[Any, str, Any, Any]] = []

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace an attribute.

        Args:
            owner: A module or class.
            name: Of the attribute, which a class may inherit.
            replacement: The new value.
        """
        original = vars(owner).get(name, _ABSENT)
        setattr(owner, name, replacement)
        self._replacements.append((owner, name, original, replacement))

    def restore(self) -> None:
        """Restore all attributes.

        Where other code has replaced ours meanwhile, its replacement stays, and ours below only passes calls on.
        """
        while self._replacements:
            owner, name, original, replacement = self._replacements.pop()
            if vars(owner).get(name) is not replacement:
                continue
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
