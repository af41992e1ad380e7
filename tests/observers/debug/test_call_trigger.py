"""Conditions as triggers of a flight recorder: where they hold, where they cannot, and what is said of that."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from plain_sites import wrapped_site

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.conditions.call_trigger import CallTrigger
from pyfuncdbg.observers.record.recorder import watch


class Asks:
    """A hook that asks a trigger as a flight recorder does."""

    kinds = frozenset(('python',))

    def __init__(self, trigger: CallTrigger) -> None:
        self.trigger = trigger
        self.tripped: list[int] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return watch(self, call, proceed)

    def on_begin(self, call: Call) -> None:
        if self.trigger.remembers:
            self.trigger.begin(call)

    def on_return(self, call: Call, state: None, outputs: Sequence[Any]) -> None:
        if self.trigger.trips(call, outputs, None):
            self.tripped.append(call.ordinal)

    def on_error(self, call: Call, state: None, error: BaseException) -> None:
        if self.trigger.trips(call, None, error):
            self.tripped.append(call.ordinal)

    def on_break_off(self, call: Call, state: None) -> None:
        pass


def tripped(when: object, function: Callable[..., Any], values: Sequence[Any]) -> tuple[list[int], CallTrigger]:
    """The ordinals at which a condition trips, of calls with these values."""
    hook = Asks(CallTrigger(when))
    call = wrapped_site(function, 'norm')
    hooks.add(hook)
    try:
        for value in values:
            with contextlib.suppress(ZeroDivisionError):
                call(value)
    finally:
        hooks.remove(hook)
    return hook.tripped, hook.trigger


def halve(x: Any) -> list[Any]:
    if x == 13:
        raise ZeroDivisionError('thirteen')
    return [np.float64(np.nan) if x == 7 else x / 2]


VALUES = [np.float64(number) for number in range(20)]


@pytest.mark.parametrize(('when', 'at'), [
    ('has_nan(out)', [7]), ('has_nan', [7]), ('error', [13]), ('isinstance(error, ZeroDivisionError)', [13]),
    ('has_nan(out) or error', [7, 13]), ('error or out > 9', [13, 19]), ('x > 17', [18, 19]), ('inputs[0] == 4', [4]),
    ('call.ordinal == 3', [3]), ('out - history[-1].out > 0.9', [14]), ('changed(x > 10)', [11]),
    ('len(history) == 13', [13, 14]), ('not has_nan(out) and out > 9', [19]), (lambda call: call.ordinal == 2, [2]),
    ('slow > 1', []), ('slow > p95', [])])
def test_where_a_condition_holds(when: object, at: list[int]) -> None:
    assert tripped(when, halve, VALUES)[0] == at


def test_a_call_that_takes_long_is_slow() -> None:
    def function(x: Any) -> list[Any]:
        if x == 45:
            time.sleep(0.3)
        return [x]
    values = [np.float64(number) for number in range(60)]
    assert 45 in tripped('slow > 3 * p95 and slow > 0.2', function, values)[0]
    assert tripped('slow > 0.2', function, values)[0] == [45]


def test_there_is_no_p95_before_there_are_twenty_calls() -> None:
    assert tripped('slow >= 0 * p95', lambda x: [x], [np.float64(1)] * 25)[0] == [20, 21, 22, 23, 24]


def test_a_parameter_called_slow_is_the_parameter() -> None:
    assert tripped('slow > 2', lambda slow: [slow], VALUES[:5])[0] == [3, 4]


def test_what_a_condition_raises_is_said_once_and_counted(capfd: pytest.CaptureFixture[str]) -> None:
    at, trigger = tripped('out.nothing > 3', halve, VALUES)
    said = capfd.readouterr().err
    assert at == [] and said.count('\n') == 1
    assert "out.nothing > 3: AttributeError: 'numpy.float64' object has no attribute 'nothing', at call #" in said
    assert trigger.complaint() == 'it could not be evaluated at 19 calls'


def test_a_name_that_no_function_has_is_said_at_the_end() -> None:
    at, trigger = tripped('y > 3', halve, VALUES)
    assert at == [] and trigger.complaint().startswith("name 'y' is not known")
    assert tripped('x > 3', halve, VALUES)[1].complaint() == ''


def test_an_array_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert tripped('out > 1', lambda x: [x], [np.ones(3)])[0] == []
    assert 'end it with .any() or .all()' in capfd.readouterr().err


def test_several_conditions_are_told_apart_and_each_sees_every_call() -> None:
    trigger = CallTrigger('has_nan(out)', 'error', 'len(history) == 9', 'nothing > 3')
    hook, call = Asks(trigger), wrapped_site(halve, 'norm')
    found = []
    hook.tripped = found  # type: ignore[assignment]
    trips = trigger.trips
    trigger.trips = lambda *given: found.append(text) or text if (text := trips(*given)) else ''  # type: ignore[method-assign]
    hooks.add(hook)
    try:
        for value in VALUES:
            with contextlib.suppress(ZeroDivisionError):
                call(value)
    finally:
        hooks.remove(hook)
    assert [one for one in found if isinstance(one, str)] == ['has_nan(out)', 'len(history) == 9', 'error']
    assert trigger.complaint().startswith("nothing > 3: name 'nothing' is not known")


@pytest.mark.parametrize('when', ['x >', '', 3])
def test_what_is_no_condition_is_refused(when: object) -> None:
    with pytest.raises(CommandError):
        CallTrigger(when)
