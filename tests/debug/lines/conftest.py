"""Line breakpoints of a test, cleared when it is over."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyfuncdbg.debug.lines.lines import Lines
from pyfuncdbg.debug.vocabulary import VOCABULARY


@pytest.fixture
def lines() -> Iterator[Lines]:
    made = Lines(VOCABULARY)
    yield made
    for number in list(made._points):
        made.clear(number)
