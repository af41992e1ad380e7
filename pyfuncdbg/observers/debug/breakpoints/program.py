"""Protocol of the debugged program, called by breakpoints when a call or line meets their condition."""
from __future__ import annotations

from types import FrameType
from typing import Protocol

from pyfuncdbg.observers.record.recorder import Recorder


class DebuggedProgram(Protocol):
    """Protocol of the debugger for breakpoints that were hit."""

    @property
    def watching(self) -> bool:
        """Whether the calling thread is debugged now: not at a prompt, and debugging has not ended."""

    def stop_here(self, frame: FrameType, reason: str) -> None:
        """Stop at the line that this frame is at."""

    def stop_at_start(self, frame: FrameType, reason: str) -> None:
        """Stop where the function of this frame begins, before any line of it."""

    def recorder(self) -> Recorder:
        """A recording that is on."""
