"""The bar while a large trace is read."""
from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.views.progress import PATIENCE, announce_work, reading_progress, work_progress


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, legacy_windows=False, color_system=None)


def drawn(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_reading_tells_how_many_bytes_it_has_read_and_ends_with_all(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        for number in range(300):
            tf.numpy_function(np.negative, [np.random.default_rng(number).random(4000)], tf.float64)
    size = max(file.stat().st_size for file in (tmp_path / 't.pfd').iterdir())
    told: list[tuple[int, int]] = []
    with Trace.open(tmp_path / 't.pfd', lambda done, total: told.append((done, total))) as trace:
        assert trace.count() == 300
    assert size > 7 * 2**20 and {total for _, total in told} == {size}
    assert 4 <= len(told) <= size / 2**20 and told == sorted(told) and size - 2 * 2**20 < told[-1][0] <= size


def test_a_bar_comes_only_after_a_while_and_leaves_nothing() -> None:
    console, clock = terminal(), [0.0]
    with reading_progress('big.pfd', console, lambda: clock[0]) as progress:
        assert progress is not None
        progress(10_000_000, 100_000_000)
        clock[0] = PATIENCE - 0.01
        progress(20_000_000, 100_000_000)
        assert drawn(console) == ''
        clock[0] = PATIENCE
        progress(30_000_000, 100_000_000)
        assert 'reading big.pfd' in drawn(console) and '28.6 MB of 95.4 MB' in drawn(console)
        progress(60_000_000, 100_000_000)
    assert '57.2 MB of 95.4 MB' in drawn(console)
    assert drawn(console).endswith('\x1b[1A\x1b[2K')


def test_a_bar_goes_when_the_reading_fails() -> None:
    console, clock = terminal(), [0.0]
    with pytest.raises(ValueError, match='broken'), reading_progress('t.pfd', console, lambda: clock[0]) as progress:
        assert progress is not None
        clock[0] = 9.0
        progress(1, 2)
        raise ValueError('broken')
    assert drawn(console).endswith('\x1b[1A\x1b[2K')


def test_what_is_no_terminal_gets_none() -> None:
    with reading_progress('t.pfd', Console(file=io.StringIO())) as progress:
        assert progress is None


def test_the_path_is_shown_escaped() -> None:
    console, clock = terminal(), [0.0]
    with reading_progress('\x1b[5m[bold]x', console, lambda: clock[0]) as progress:
        assert progress is not None
        clock[0] = 9.0
        progress(1, 2)
    assert '\x1b[5m' not in drawn(console) and '[bold]x' in drawn(console)


def test_work_is_counted_and_a_dumb_terminal_gets_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    console, clock = terminal(), [0.0]
    with work_progress('checking', console, lambda: clock[0], threads=False) as tell:
        assert tell is not None
        clock[0] = PATIENCE
        tell(1, 1200)
        clock[0] += 0.05
        tell(2, 1200)                           # not drawn: too soon
        clock[0] += 0.1
        tell(1199, 1200)
    assert 'checking' in drawn(console) and '1 of 1,200' in drawn(console) and '1,199 of 1,200' in drawn(console)
    assert '2 of 1,200' not in drawn(console)
    dumb = Console(file=io.StringIO(), force_terminal=True, width=80, legacy_windows=False, color_system=None,
                   _environ={'TERM': 'dumb'})
    clock[0] = 0.0
    with work_progress('checking', dumb, lambda: clock[0]) as tell:
        assert tell is not None
        for number in range(5):
            clock[0] = number * PATIENCE / 2
            tell(number, 5)
    assert drawn(dumb) == 'checking: 2 of 5 so far, Ctrl-C ends it\n'


def test_what_takes_no_time_says_nothing() -> None:
    said: list[str] = []
    with announce_work('checking', said.append, lambda: 0.0) as tell:
        tell(1, 2)
    assert not said
