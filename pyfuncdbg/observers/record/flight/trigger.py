"""Trigger of a flight recorder: decides at the end of each call whether it is one to keep. Called on the thread of the call.

The debugger makes one of a condition; nothing here knows how.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pyfuncdbg.hooks.call import Call


class Trigger(Protocol):
    """Conditions over calls. It never raises: what the evaluation of one raises is reported by it, and is no trip."""

    @property
    def text(self) -> str:
        """What the user typed, for the report at the end."""

    @property
    def remembers(self) -> bool:
        """Whether it looks back at earlier calls: then it is told when each begins."""

    def begin(self, call: Call) -> None:
        """A call begins; told only if it `remembers`.

        Args:
            call: The call.
        """

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> str:
        """The condition that holds at a call that is over.

        Args:
            call: The call.
            outputs: The host's own values; None if it raised.
            error: What it raised.

        Returns:
            It as the user typed it: what was recorded around the call is kept. '' if none holds.
        """

    def complaint(self) -> str:
        """What kept a condition from being evaluated.

        Returns:
            One sentence for the end of the recording; '' if it was evaluated wherever it could be.
        """
