"""Signal handlers of the program that run while it is recorded: it gets what they raise, the trace stays whole."""
from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_host import wrapped

import pyfuncdbg
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

OURS = os.path.dirname(pyfuncdbg.__file__), threading.__file__
BIG = np.arange(8_000.)


class ExpiredError(TimeoutError):
    """What the program's handler raises: an OSError, as those of the log are."""


@pytest.fixture(autouse=True)
def error_state() -> Iterator[None]:
    """Puts back NumPy's: a handler may raise between two steps of putting it back, also of `with np.errstate`."""
    before = numpy_errstate.current_state()
    yield
    numpy_errstate.state.set(before)


@pytest.fixture
def start() -> Iterator[Callable[[Path], Recorder]]:
    """Starts a recorder, and stops it whatever becomes of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda folder: stack.enter_context(Recorder(folder / 't.pfd'))


@pytest.fixture
def at_place() -> Iterator[Callable[[int, Callable[[], Any]], bool]]:
    """Run something, with a signal at the n-th place in our code where Python lets handlers run; False if it has fewer.

    Those are the beginnings of functions, and behind each call of C.
    """
    before = signal.getsignal(signal.SIGUSR1)

    def run(place: int, work: Callable[[], Any]) -> bool:
        left = place

        def profile(frame: Any, event: str, argument: Any) -> None:
            nonlocal left
            if event in ('call', 'c_return') and frame.f_code.co_filename.startswith(OURS):
                left -= 1
                if not left:
                    sys.setprofile(None)
                    signal.raise_signal(signal.SIGUSR1)
        profiling = sys.getprofile()
        sys.setprofile(profile)
        try:
            work()
        finally:
            sys.setprofile(profiling)
        return left <= 0
    yield run
    signal.signal(signal.SIGUSR1, before)


def test_what_a_handler_raises_anywhere_reaches_the_program(tmp_path: Path, start: Any, at_place: Any, capfd: Any) -> None:
    def expire(number: int, frame: Any) -> None:
        raise ExpiredError
    signal.signal(signal.SIGUSR1, expire)
    call = wrapped(lambda x: [x + 1], name='work')
    recorder = start(tmp_path)
    recorder._writer.end_thread()               # everything on the program's thread

    def once() -> None:
        call(BIG + place)
        recorder.flush()
    place, raised = 1, 0
    while True:
        try:
            if not at_place(place, once):
                break
        except ExpiredError:
            raised += 1
            recorder.flush()
        place += 1
    place += 1
    once()
    recorder.stop()
    assert place > 200 and raised == place - 2
    assert capfd.readouterr().err == ''
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().damage == ()
        kept = {int(call.inputs[0].to_numpy()[0]): call for call in trace.calls(limit=1000)}
        assert len(kept) == trace.count()       # none twice
        assert place in kept and kept[place].outputs[0].to_numpy()[7] == place + 8
        # Those whose signal came before the call, or what is noted of it, are not there; what is cut off is counted.
        lost = trace.info().dropped.get('calls', 0)
        assert lost < 20 and len(kept) + lost > 0.6 * place


def test_a_handler_makes_calls_anywhere(tmp_path: Path, start: Any, at_place: Any) -> None:
    """None of our locks is waited for by the thread that holds it."""
    call = wrapped(lambda x: [x + 1], name='work')
    handled = 0

    def handle(number: int, frame: Any) -> None:
        nonlocal handled
        handled += 1
        call(BIG - handled)
        recorder.flush()
    signal.signal(signal.SIGUSR1, handle)
    recorder = start(tmp_path)
    recorder._backlog.usual_mark = recorder._backlog.mark = 0       # each call looks after the queue

    def once() -> None:
        call(BIG + place)
        recorder.flush()
    place = 1
    while at_place(place, once):
        place += 1
    recorder.stop()
    assert place > 100 and handled == place - 1
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().damage == () and not trace.info().dropped
        kept = [int(call.inputs[0].to_numpy()[0]) for call in trace.calls(limit=2000)]
        assert sorted(kept) == [n for n in range(-handled, place + 1) if n]
