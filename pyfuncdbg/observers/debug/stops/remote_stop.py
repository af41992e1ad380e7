"""A stop of another process of the program, as the process with the prompt has it.

All that needs the stopped thread is asked for there, in the protocol of the command socket.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class RemoteStop(Protocol):
    """Protocol of a stop elsewhere, for the broker and for commands."""

    @property
    def pid(self) -> int:
        """The id of its process."""

    @property
    def process(self) -> str:
        """Name of its process: 'worker:3', 'process 4711'."""

    @property
    def label(self) -> str:
        """'worker:3', '' where nothing says which of many it is."""

    @property
    def place(self) -> str:
        """Where the thread is, as `location_text` has it there."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The stop as plain data, as clients of the command socket get it."""

    @property
    def commands(self) -> Sequence[str]:
        """What the breakpoints that stopped it want to be carried out."""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Have the stopped thread carry out a request, and wait for its answer.

        Args:
            **request: As the protocol of the command socket has it.

        Raises:
            CommandError: The process has ended.
            KeyboardInterrupt: The user broke it off.
        """
