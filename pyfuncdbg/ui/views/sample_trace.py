"""The saved trace of the demos: few calls, one with NaN and one that raised."""
from __future__ import annotations

import os
from pathlib import Path

from pyfuncdbg.observers.record.trace import Trace

PATH = os.path.join(os.path.dirname(__file__), 'sample.pfd')


def sample() -> Trace:
    """The trace, opened; it is three kilobytes."""
    trace = Trace.open(PATH)
    trace.path = Path('sample.pfd')             # as reports name it
    return trace
