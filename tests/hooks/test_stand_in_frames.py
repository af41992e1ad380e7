"""Stand-in frames: warnings name the frame that they replicate, tracebacks do not show them."""
from __future__ import annotations

import sys
import traceback
import warnings
import weakref
from types import FunctionType
from typing import Any

import pytest

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hooks.stand_in_frames import call_behind, with_program_file
from pyfuncdbg.hooks.transparent_frames import transparent


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[warnings.WarningMessage]:
    """The warnings that are shown from now on, as with a fresh interpreter's filters."""
    messages: list[warnings.WarningMessage] = []
    monkeypatch.setattr(warnings, '_showwarnmsg', with_program_file(messages.append))
    warnings.resetwarnings()
    return messages


def warn(level: int) -> None:
    warnings.warn('here', stacklevel=level)


@transparent
def replaced(levels: int, level: int) -> None:
    call_behind(sys._getframe(1), levels, warn, (level,), {})


def line() -> int:
    return sys._getframe(1).f_lineno


def test_level_of_the_caller_and_of_its_caller_are_the_programs(shown: list[warnings.WarningMessage]) -> None:
    def inner() -> int:
        replaced(2, 2); replaced(2, 3); return line()  # noqa: E702
    outer_line, inner_line = line(), inner()
    assert [(message.filename, message.lineno) for message in shown] == [(__file__, inner_line), (__file__, outer_line)]


def test_of_c_code_the_frame_further_out_is_the_program_s_own(shown: list[warnings.WarningMessage]) -> None:
    @transparent
    def in_c() -> None:
        call_behind(sys._getframe(1), 1, warnings.warn, ('in C',), {})

    def called_by_c() -> None:
        for level in 1, 2, 3:
            warnings.warn('called by C', stacklevel=level)

    @transparent
    def calling_back() -> None:
        call_behind(sys._getframe(1), 1, called_by_c, (), {})

    def inner() -> int:
        in_c(); calling_back(); return line()  # noqa: E702
    outer_line, inner_line = line(), inner()
    assert [(message.filename, message.lineno) for message in shown] == [
        (__file__, number) for number in (inner_line, called_by_c.__code__.co_firstlineno + 2, inner_line, outer_line)]


def test_a_line_is_shown_once_and_two_lines_are_shown_twice(shown: list[warnings.WarningMessage]) -> None:
    for _ in range(3):
        replaced(1, 2)
    first = line() - 1
    replaced(1, 2)
    assert [message.lineno for message in shown] == [first, first + 2]


def test_module_and_registry_are_those_of_the_program(shown: list[warnings.WarningMessage]) -> None:
    names: dict[str, Any] = {'__name__': 'made.up', 'replaced': replaced}
    warnings.filterwarnings('error', module='made')
    with pytest.raises(UserWarning, match='here'):
        exec('replaced(1, 2)', names)
    warnings.resetwarnings()
    exec('replaced(1, 2)', names)
    assert '__warningregistry__' in names
    assert [(message.filename, message.lineno) for message in shown] == [('<string>', 1)]


def test_frames_of_ours_are_not_replicated(shown: list[warnings.WarningMessage]) -> None:
    between = FunctionType(compile('replaced(2, 2)', warnings_file_of_ours(), 'exec'), {'replaced': replaced})
    between()
    assert [(message.filename, message.lineno) for message in shown] == [(__file__, line() - 1)]


def warnings_file_of_ours() -> str:
    return call_behind.__code__.co_filename


def test_each_stand_in_is_of_our_files_in_a_traceback() -> None:
    def fail() -> None:
        raise KeyError
    with pytest.raises(KeyError) as caught:
        call_behind(sys._getframe(), 3, fail, (), {})
    first, *between, last = [is_own_file(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(caught.tb)]
    assert not first and not last
    assert len(between) >= 4 and all(between)       # compiled code has one more


def test_result_and_arguments_pass_through_and_nothing_keeps_the_programs_globals() -> None:
    class Namespace(dict[str, Any]):
        """One that can be referred to weakly."""

    names = Namespace({'call_behind': call_behind, 'sys': sys, 'dict': dict})
    exec('result = call_behind(sys._getframe(), 2, dict, ([(1, 2)],), {"a": 3})', names)
    assert names['result'] == {1: 2, 'a': 3}
    reference = weakref.ref(names)
    del names
    assert reference() is None


def test_without_a_frame_the_function_is_just_called() -> None:
    assert call_behind(None, 1, max, (1, 2), {}) == 2
