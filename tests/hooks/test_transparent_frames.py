"""Transparent frames: warnings and logging count past them, whatever is marked."""
from __future__ import annotations

import logging
import warnings
from collections.abc import Callable

import pytest

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hooks.transparent_frames import transparent


@transparent
class Between:
    """Each way in which a class holds a function."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function

    def method(self) -> None:
        def within() -> None:
            self._function()
        within()

    @classmethod
    def of_class(cls, function: Callable[[], None]) -> None:
        cls(function).method()

    @staticmethod
    def of_none(function: Callable[[], None]) -> None:
        Between(function).method()

    @property
    def answer(self) -> None:
        return self.method()


@transparent
def made(function: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        [function() for _ in range(1)]
    return call


CALLS: dict[str, Callable[[Callable[[], None]], None]] = {
    'method': lambda tell: Between(tell).method(), 'class method': Between.of_class, 'static method': Between.of_none,
    'property': lambda tell: Between(tell).answer, 'closure': lambda tell: made(tell)(),
    'marked twice': lambda tell: transparent(transparent(made)(tell))()}


@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_the_next_level_is_the_caller_of_what_is_marked(call: Callable[..., None], caplog: pytest.LogCaptureFixture,
                                                        recwarn: pytest.WarningsRecorder) -> None:
    def tell() -> None:
        warnings.warn('here', stacklevel=3)
        logging.warning('here', stacklevel=3)

    def told() -> None:
        tell()
    call(told)
    message, = recwarn
    record, = caplog.records
    assert (message.filename, message.lineno) == (record.pathname, record.lineno) == (__file__, record.lineno)
    assert record.funcName in ('<lambda>', 'test_the_next_level_is_the_caller_of_what_is_marked')


def test_code_stays_what_it_was_but_for_its_file() -> None:
    def plain() -> Callable[[], int]:
        return lambda: 1
    code = plain.__code__
    transparent(plain)
    assert plain.__code__ == code and plain.__code__ is not code        # sets of code still hold it
    assert plain.__code__.co_filename.startswith(__file__) and plain()() == 1


def test_frames_of_ours_stay_ours() -> None:
    from pyfuncdbg.hooks.chain import invoke
    assert is_own_file(invoke.__code__.co_filename)
    assert 'importlib' in invoke.__code__.co_filename and '_bootstrap' in invoke.__code__.co_filename


def test_what_has_no_frames_stays_as_it_is() -> None:
    assert transparent(len) is len and transparent(3) == 3
