"""Recordings switched off and on in mid-run: calls made meanwhile are not recorded, the rest is whole, the trace says so."""
from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_host import wrapped
from recorded_script import run_script

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.recorder import Recorder, recorders
from pyfuncdbg.observers.record.recording_switch import SignalSwitch, recordings, switch
from pyfuncdbg.observers.record.trace import Trace


def square(x: Any) -> list[Any]:
    return [x * x]


@pytest.fixture
def no_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_calls_of_a_pause_are_not_recorded_and_the_trace_says_when(tmp_path: Path) -> None:
    call = wrapped(square)
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(9):
            if number == 3:
                recorder.pause()
                recorder.pause()
                assert recorder.is_paused and recorder not in recorders()
            if number == 6:
                recorder.resume()
                recorder.resume()
                assert not recorder.is_paused and recorder in recorders()
            call(np.float64(number))
        recorder.pause()
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls()
        assert [made.inputs[0].to_numpy() for made in calls] == [0, 1, 2, 6, 7, 8]
        first, last = trace.info().pauses
        assert first.end is not None and calls[2].started < first.start <= first.end < calls[3].started
        assert last.end is None and last.start > calls[5].started


def test_a_call_that_runs_when_recording_is_switched_off_is_whole(tmp_path: Path) -> None:
    def outer(x: Any) -> list[Any]:
        recorder.pause()
        return [x * x]
    with Recorder(tmp_path / 't.pfd') as recorder:
        wrapped(outer)(np.float64(3))
        wrapped(square)(np.float64(4))
    with Trace.open(tmp_path / 't.pfd') as trace:
        (made,) = trace.calls()
        assert made.outputs[0].to_numpy() == 9 and made.duration is not None


def test_all_recordings_are_switched_together(tmp_path: Path) -> None:
    with Recorder(tmp_path / 'a.pfd') as one, Recorder(tmp_path / 'b.pfd') as other:
        assert recordings() == (one, other)
        assert switch() == (one, other) and one.is_paused and other.is_paused
        switch(True)
        assert not one.is_paused and not other.is_paused
    assert recordings() == () and switch() == ()


def test_the_signal_switches(tmp_path: Path, no_handler: None, capfd: pytest.CaptureFixture[str]) -> None:
    by_signal = SignalSwitch()
    with Recorder(tmp_path / 't.pfd') as recorder:
        for paused in (True, False):
            signal.raise_signal(signal.SIGUSR1)
            for _ in range(1000):
                if recorder.is_paused is paused:
                    break
                time.sleep(0.01)
            assert recorder.is_paused is paused
    by_signal.end()
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


@pytest.mark.parametrize('handler', [signal.SIG_IGN, print])
def test_a_handler_that_is_there_stays(handler: Any, no_handler: None) -> None:
    signal.signal(signal.SIGUSR1, handler)
    with pytest.raises(TraceError, match='and that stays'):
        SignalSwitch()
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_a_handler_that_the_program_installs_later_stays_and_that_is_said(
        no_handler: None, capfd: pytest.CaptureFixture[str]) -> None:
    by_signal = SignalSwitch()
    signal.signal(signal.SIGUSR1, print)
    by_signal.end()
    assert signal.getsignal(signal.SIGUSR1) is print
    assert 'the program has set a handler of SIGUSR1 after --signal' in capfd.readouterr().err


def test_threads_that_make_calls_while_signals_come(tmp_path: Path) -> None:
    """Handlers run anywhere on the main thread, in the middle of a switch too."""
    done = run_script(tmp_path, '''
import signal
import numpy as np
from pyfuncdbg.observers.record.recording_switch import SignalSwitch
SignalSwitch()
call = wrapped(lambda x: [x + 1])
with Recorder(sys.argv[1]) as recorder:
    for number in range(300):
        if number % 3 == 0: signal.raise_signal(signal.SIGUSR1)
        call(np.float64(number)); recorder.pause(); recorder.resume()
    time.sleep(0.2)
print('done')
''', tmp_path / 't.pfd')
    assert (done.returncode, done.stdout) == (0, 'done\n'), done.stderr
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().complete
