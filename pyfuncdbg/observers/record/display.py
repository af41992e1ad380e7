"""Display slot for notebooks: the notebook front end puts the function in it that renders records.

Records know no picture of themselves. IPython asks here, on the main thread, and the front door says who answers.
"""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

Display = Callable[[Any], dict[str, str]]
"""From an object to its forms by MIME type."""
_display: Display | None = None


def set_display(display: Display) -> None:
    """Set the function that renders public objects in notebooks from now on.

    Args:
        display: Gives the forms of an object by MIME type.
    """
    global _display
    _display = display


def mimebundle(self: Any, include: Collection[str] | None = None, exclude: Collection[str] | None = None) -> dict[str, str]:
    """The method `_repr_mimebundle_` of what a notebook displays.

    Args:
        self: A record, a trace or a page.
        include, exclude: MIME types wanted or not; IPython drops what it did not request.

    Returns:
        Its forms by MIME type; without a display its `repr` as text.
    """
    return _display(self) if _display is not None else {'text/plain': repr(self)}
