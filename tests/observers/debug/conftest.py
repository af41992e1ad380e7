"""What tests of the debugger share: a heap that is quickly searched."""
from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from pyfuncdbg.observers.debug.lines import live_functions

TESTS = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope='module', autouse=True)
def few_objects() -> Iterator[None]:
    """Functions with line breakpoints are looked for among all objects, hundreds of times in these tests: of those that the
    test run brought along, half a million, they see the tests' functions alone."""
    gc.collect()
    kept: list[Any] = [thing for thing in gc.get_objects()
                       if type(thing) is FunctionType and thing.__code__.co_filename.startswith(TESTS)]
    gc.freeze()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_functions, 'living', lambda *kinds: [
            *(thing for thing in gc.get_objects() if type(thing) in kinds), *kept])
        yield
    gc.unfreeze()
