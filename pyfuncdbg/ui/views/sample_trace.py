"""The demos of the views: a saved trace of few calls, and how a view is printed.

One call of the trace has NaN, and one raised.
"""
from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console, RenderableType

from pyfuncdbg.observers.record.trace import Trace

PATH = os.path.join(os.path.dirname(__file__), 'sample.pfd')


def sample() -> Trace:
    """The trace, opened; it is three kilobytes."""
    trace = Trace.open(PATH)
    trace.path = Path('sample.pfd')             # as reports name it
    return trace


def demo(*views: RenderableType) -> None:
    """Print views at 80 columns: what `python -m pyfuncdbg.ui.views.NAME` shows."""
    console = Console(width=80)
    for view in views:
        console.print(view)
