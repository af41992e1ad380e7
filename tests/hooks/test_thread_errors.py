"""NumPy's error state before NumPy 2, with a NumPy 1 of one list: tests of errstate and floating run with a real one."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pyfuncdbg.hooks.output import numpy1_errstate
from pyfuncdbg.hooks.output.numpy1_errstate import ErrorState, ErrstateModule, ThreadState, change_state, modes_of_state

DEFAULTS = {'divide': 'warn', 'over': 'warn', 'under': 'ignore', 'invalid': 'warn'}


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    held: list[Any] = [8192, 521, None]
    one = SimpleNamespace(held=held, geterrobj=held.copy, seterrobj=lambda wanted: held.__setitem__(slice(None), wanted))
    monkeypatch.setattr(numpy1_errstate, '_numpy', one)
    monkeypatch.setattr(numpy1_errstate, '_states', {})
    return one


def test_modes_by_name(numpy: Any) -> None:
    assert modes_of_state() == {**DEFAULTS, 'call': None, 'bufsize': 8192}
    changed = change_state(divide='raise', under='log', invalid='print', call=print)
    assert (changed.bufsize, changed.mask, changed.call) == (8192, 2 | 1 << 3 | 5 << 6 | 4 << 9, print)
    assert numpy.held == [8192, 521, None]


def test_the_same_values_are_the_same_state(numpy: Any) -> None:
    state = ThreadState()
    own = state.get()
    assert state.get() is own
    before = state.set(change_state(over='ignore'))
    assert before is own and modes_of_state()['over'] == 'ignore' and state.get() is not own
    state.reset(before)
    assert state.get() is own and numpy.held == [8192, 521, None]
    for size in range(1000):
        change_state(bufsize=size)
    assert len(numpy1_errstate._states) <= numpy1_errstate._MANY


def test_numpys_own_functions_see_and_change_what_they_are_given(numpy: Any) -> None:
    asked: list[dict[str, Any]] = []

    def change(**changes: Any) -> ErrorState:
        asked.append(changes)
        return change_state(**changes, call=len)

    shown = ErrstateModule(numpy, lambda: {**modes_of_state(), 'divide': 'call'}, lambda call, **changes: change(**changes))
    assert shown.geterrobj() == [8192, 523, None]
    shown.seterrobj([4096, 0, None])
    assert asked == [{'bufsize': 4096, **dict.fromkeys(DEFAULTS, 'ignore')}]
    assert numpy.held == [4096, 0, len]
    assert shown.held is numpy.held
