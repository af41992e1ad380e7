"""Patches: attributes of a framework that are replaced while it is watched, and restored exactly.

The frames of replacements are transparent: warnings of the framework and of the program count past them.
The attachment makes and restores them, on the thread that attaches or detaches; it suspends those that cost a program time
while no hook is installed, on the thread that adds or removes hooks.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.transparent_frames import transparent

_ABSENT: Any = object()


class _Patch:
    """One replaced attribute.

    Attributes:
        owner, name: Where it is.
        original: What was there; `_ABSENT` where the attribute was inherited.
        replacement: Is there now, or is not while it is suspended.
        make: Makes the replacement of what was there; None of one that is never suspended.
    """

    __slots__ = ('make', 'name', 'original', 'owner', 'replacement')

    def __init__(self, owner: Any, name: str, replacement: Any, make: Callable[[Any], Any] | None = None) -> None:
        self.owner = owner
        self.name = name
        self.original = self.present()
        self.replacement = transparent(replacement)
        self.make = make

    def present(self) -> Any:
        return vars(self.owner).get(self.name, _ABSENT)

    def put(self) -> None:
        """Put the replacement there; a new one where other code has replaced the original meanwhile."""
        if self.make is not None and self.present() is not self.original:
            self.original, self.replacement = self.present(), transparent(self.make(getattr(self.owner, self.name)))
        setattr(self.owner, self.name, self.replacement)

    def take_away(self) -> bool:
        """Put the original back; False where other code has replaced ours, which only passes calls on from now on."""
        if self.present() is not self.replacement:
            return False
        if self.original is _ABSENT:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.original)
        return True


class Patches:
    """Replaced attributes of modules and classes."""

    def __init__(self) -> None:
        self._active: list[_Patch] = []
        self._suspended: list[_Patch] = []

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace an attribute.

        Args:
            owner: A module or class.
            name: Of the attribute, which a class may inherit.
            replacement: The new value.
        """
        self._active.append(patch := _Patch(owner, name, replacement))
        patch.put()

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace an attribute until `suspend`.

        Args:
            owner, name: As in `replace`.
            make: Makes the new value of the old one.
        """
        self._active.append(patch := _Patch(owner, name, make(getattr(owner, name)), make))
        patch.put()

    def suspend(self) -> None:
        """Put back what `wrap` has replaced, until `resume`. Where other code has replaced ours, both stay."""
        for patch in [patch for patch in self._active if patch.make is not None]:
            if patch.take_away():
                self._active.remove(patch)
                self._suspended.append(patch)

    def resume(self) -> None:
        """Replace again what `suspend` has put back."""
        while self._suspended:
            patch = self._suspended.pop()
            self._active.append(patch)
            patch.put()

    def restore(self) -> None:
        """Restore all attributes.

        Where other code has replaced ours meanwhile, its replacement stays, and ours below only passes calls on.
        """
        self._suspended.clear()
        while self._active:
            self._active.pop().take_away()


def undo(*actions: Callable[[], object]) -> None:
    """Undo an attachment that has failed: each action, whatever the others raise for what was not installed."""
    for action in actions:
        with contextlib.suppress(Exception):    # the failure of the attachment is told, not what follows from it
            action()
