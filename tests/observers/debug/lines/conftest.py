"""Line breakpoints of a test, cleared when it is over."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints


@pytest.fixture
def lines() -> Iterator[LineBreakpoints]:
    made = LineBreakpoints(VOCABULARY)
    yield made
    for number in list(made._points):
        made.clear(number)
