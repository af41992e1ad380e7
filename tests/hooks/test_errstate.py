"""NumPy's error state as a value."""
from __future__ import annotations

import contextvars

import numpy as np
import pytest

from pyfuncdbg.hooks.output import numpy_errstate


def modes_of(value: object) -> dict[str, str]:
    before = numpy_errstate.state.set(value)
    try:
        return dict(np.geterr())
    finally:
        numpy_errstate.state.reset(before)


def test_setting_the_variable_is_setting_numpys_state() -> None:
    with np.errstate(divide='raise'):
        raising = numpy_errstate.current_state()
    token = numpy_errstate.state.set(raising)
    try:
        with pytest.raises(FloatingPointError, match='divide by zero'):
            np.ones(1) / np.zeros(1)
    finally:
        numpy_errstate.state.reset(token)
    assert np.geterr()['divide'] == 'warn'


def test_the_two_constants() -> None:
    assert set(modes_of(numpy_errstate.IGNORE).values()) == {'ignore'}
    assert modes_of(numpy_errstate.DEFAULT) == {'divide': 'warn', 'over': 'warn', 'under': 'ignore', 'invalid': 'warn'}


def test_current_is_what_numpy_uses() -> None:
    assert modes_of(contextvars.Context().run(numpy_errstate.current_state)) == contextvars.Context().run(
        lambda: dict(np.geterr()))
    with np.errstate(over='print'):
        assert modes_of(numpy_errstate.current_state())['over'] == 'print'
