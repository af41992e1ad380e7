"""Patches: attributes of a framework that are replaced while it is watched, and restored exactly.

The attachment makes and restores them, on the thread that attaches or detaches.
"""
from __future__ import annotations

from typing import Any

_ABSENT: Any = object()


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
