"""Command lines that are carried out one after another. Main thread of the app."""
from __future__ import annotations

from collections import deque


class WaitingLines:
    """Lines in the order of typing.

    Attributes:
        asked: The one that is carried out now, '' if none is.
        held: Whether the others wait although none is: the program goes on to its next stop, for which they are meant.
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self.asked = ''
        self.held = False

    def add(self, line: str) -> None:
        """One more."""
        self._lines.append(line)

    def take(self) -> str:
        """The next one, which is carried out from now on; '' if none can be."""
        if not self.asked and not self.held and self._lines:
            self.asked = self._lines.popleft()
            return self.asked
        return ''
