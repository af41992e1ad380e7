"""A watcher that is the only hook: called in two halves, with nothing of it around the function."""
from __future__ import annotations

import sys
import traceback
from typing import Any

import pytest
from wrapped_calls import Keeper, wrap

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.call_frames import function_call, read_entrance
from pyfuncdbg.hooks.chain import current_call, hooks


class Onlooker:
    """Notes what it is told; fails where it is asked to."""

    kinds = frozenset({'python'})

    def __init__(self, fails: str = '') -> None:
        self.fails = fails
        self.told: list[Any] = []

    def _note(self, half: str, *what: Any) -> None:
        self.told.append((half, *what))
        if half == self.fails:
            raise LookupError(half)

    def on_begin(self, call: Call) -> Any:
        self._note('begins', call.id, list(call.inputs), current_call())
        return 'kept'

    def on_return(self, call: Call, kept: Any, outputs: Any) -> None:
        self._note('returned', kept, list(outputs), call.finished >= call.started > 0, current_call())

    def on_error(self, call: Call, kept: Any, error: BaseException) -> None:
        self._note('raised', kept, error, call.finished >= call.started > 0, current_call())

    def on_break_off(self, call: Call, kept: Any) -> None:
        self._note('dropped', kept)

    def around(self, call: Call, proceed: Any) -> Any:
        self.told.append(('around',))
        return proceed()


@pytest.fixture
def removed() -> Any:
    added: list[Any] = []

    def add(hook: Any) -> Any:
        hooks.add(hook)
        added.append(hook)
        return hook
    yield add
    for hook in added:
        hooks.remove(hook)


def test_alone_it_sees_two_halves_and_with_another_hook_a_whole_call(removed: Any) -> None:
    onlooker = removed(Onlooker())
    inside: list[int] = []
    invoke = wrap(lambda x: inside.append(current_call()) or x + 1)
    assert invoke(1) == 2
    assert onlooker.told == [('begins', inside[0], [1], 0), ('returned', 'kept', [2], True, 0)] and inside[0] > 0
    removed(Keeper())
    onlooker.told.clear()
    assert invoke(1) == 2 and onlooker.told == [('around',)]


@pytest.mark.parametrize('half', ['begins', 'returned'])
def test_one_that_fails_is_off_and_the_function_runs_once(half: str, removed: Any,
                                                          capfd: pytest.CaptureFixture[str]) -> None:
    onlooker = removed(Onlooker(half))
    ran: list[int] = []
    invoke = wrap(lambda x: ran.append(x) or x + 1)
    assert invoke(1) == 2 and ran == [1]
    assert onlooker not in hooks and [told[0] for told in onlooker.told[-2:]] == {
        'begins': ['begins'], 'returned': ['returned', 'dropped']}[half]
    assert capfd.readouterr().err.count(f'switched off: LookupError: {half}.') == 1
    told = list(onlooker.told)
    assert current_call() == 0 and invoke(2) == 3 and onlooker.told == told


@pytest.mark.parametrize('fails', ['', 'raised', 'begins'])
def test_what_the_function_raises_passes_without_a_frame_of_ours(fails: str, removed: Any) -> None:
    onlooker = removed(Onlooker(fails))
    error = ZeroDivisionError('its own')

    def body(x: int) -> int:
        raise error
    with pytest.raises(ZeroDivisionError) as raised:
        wrap(body)(1)
    assert raised.value is error and error.__context__ is None and current_call() == 0
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-1] == 'body' and not any(name.endswith('watch_call') for name in names) and 'on_error' not in names
    if fails != 'begins':
        assert onlooker.told[1:] == [('raised', 'kept', error, True, 0), *[('dropped', 'kept')] * bool(fails)]
    assert (onlooker in hooks) is (fails == '')


@pytest.mark.parametrize('swallowed', [True, False])
def test_an_abort_wins_over_what_the_function_made_of_it(swallowed: bool, removed: Any) -> None:
    onlooker = removed(Onlooker())
    abort = RunAborted('enough')

    def body(x: int) -> int:
        function = sys._getframe(1)             # what the host calls
        call = function_call(function, onlooker)
        assert call is not None
        frames = (frame for frame, _ in traceback.walk_stack(function.f_back))
        entrance = next(found for found in map(read_entrance, frames) if found is not None)
        assert entrance is not None and entrance.call is call and entrance.hooks == (onlooker,)
        call.run.aborted = abort
        if swallowed:
            return x
        raise ValueError('instead')
    with pytest.raises(RunAborted) as raised:
        wrap(body)(1)
    assert raised.value is abort and onlooker.told[-1][:3] == ('raised', 'kept', abort) and current_call() == 0
