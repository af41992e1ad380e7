"""A recording that goes on while a test looks at it: calls of one wrapped function, as many as are asked for."""
from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / 'observers' / 'record'))
from plain_host import new_run, wrapped

from pyfuncdbg.observers.record.recorder import Recorder


def wrapped_site(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function as a host wraps it, with its inputs as arguments."""
    return wrapped(function, name)


@contextlib.contextmanager
def record_calls(path: Path) -> Iterator[Callable[[int], None]]:
    """`make(count)` makes that many calls of a site `step` in a run of their own; they are in the log when it returns."""
    step = wrapped(lambda number: (np.float32(number),), 'step')
    made = iter(range(1 << 30))
    with Recorder(path) as recorder:
        def make(count: int) -> None:
            run = new_run()
            for _ in range(count):
                step(next(made), run=run)
            recorder.flush()
        yield make
