"""How a running program goes on, read from its growing trace."""
from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.reports import live_counts
from pyfuncdbg.observers.debug.reports.live_counts import LiveCounter, resident_memory


def half(x: np.ndarray) -> np.ndarray:
    with np.errstate(all='ignore'):
        return x / x.sum()


def fails(x: np.ndarray) -> np.ndarray:
    raise ValueError('no')


def called(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> None:
    tf.numpy_function(function, [x], tf.float64)


def test_rates_errors_and_bad_values_of_a_growing_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(live_counts.time, 'monotonic', lambda: clock[0])
    with pyfuncdbg.record(tmp_path / 'a.pfd') as recorder:
        called(half, np.ones(2))
        recorder.flush()
        with pyfuncdbg.load(tmp_path / 'a.pfd') as trace:
            counter = LiveCounter(trace, os.getpid())
            first = counter.take()
            assert (first.call_rate, first.bad, first.failed) == (0.0, 0, 0)
            for _ in range(6):
                called(half, np.zeros(2))
            with pytest.raises(Exception, match='no'):
                called(fails, np.ones(2))
            recorder.flush()
            trace.refresh()
            clock[0] += 2.0
            second = counter.take()
            assert (second.call_rate, second.bad, second.failed) == (3.5, 6, 1)
            by_name = {site.use.site.function.rsplit('.', 1)[-1]: site for site in second.sites}
            assert by_name['half'].rate == 3.0 and by_name['half'].use.bad == 6 and by_name['half'].use.failed == 0
            assert by_name['fails'].rate == 0.5 and by_name['fails'].use.failed == 1
            clock[0] += 10.0                    # nothing has happened for longer than rates look back
            counter.take()
            clock[0] += 10.0
            assert counter.take().call_rate == 0.0
            assert second.peak is not None and second.peak >= (second.memory or 0) > 1 << 20


def test_memory_of_a_process_and_of_one_that_is_gone() -> None:
    with subprocess.Popen([sys.executable, '-c', 'x = bytearray(60 << 20); print(1, flush=True); input()'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert (resident_memory(process.pid) or 0) > 60 << 20
        process.communicate(b'\n', timeout=20)
    assert resident_memory(process.pid) is None


def test_a_call_that_runs_takes_its_time_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def waits(x: np.ndarray) -> np.ndarray:
        begun.set()
        assert may_end.wait(60)
        return x

    with pyfuncdbg.record(tmp_path / 'a.pfd') as recorder:
        thread = threading.Thread(target=called, args=(waits, np.ones(2)))
        thread.start()
        assert begun.wait(60)
        recorder.flush()
        with pyfuncdbg.load(tmp_path / 'a.pfd') as trace:
            started = trace.info().started
            clock = [100.0]
            monkeypatch.setattr(live_counts.time, 'monotonic', lambda: clock[0])
            monkeypatch.setattr(live_counts.time, 'time', lambda: started + clock[0])
            counter = LiveCounter(trace, os.getpid())
            counter.take()
            clock[0] += 2.0
            (site,) = counter.take().sites
            assert (site.running, round(site.share, 6)) == (1, 1.0) and 101.0 < site.spent <= 102.0
            monkeypatch.undo()
            may_end.set()
            thread.join()
            recorder.flush()
            trace.refresh()
            (site,) = counter.take().sites
            assert site.running == 0 and site.spent == site.use.total < 100.0
    with pyfuncdbg.load(tmp_path / 'a.pfd') as trace:
        last = LiveCounter(trace, os.getpid()).take()
        assert last.over and last.call_rate == pytest.approx(1 / last.elapsed) and last.sites[0].running == 0
