"""`%pyfunc COMMAND` in a shell of its own: what it answers, and what it says of mistakes."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from pyfuncdbg.debug.breakpoint_list import states
from pyfuncdbg.debug.debugger import debugger


@pytest.fixture
def shell() -> Iterator[Any]:
    shell = InteractiveShell()
    shell.run_cell('%load_ext pyfuncdbg')
    yield shell
    shell.run_cell('%unload_ext pyfuncdbg')
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)
    debugger.leave()


def test_a_condition_reaches_the_command_as_typed(shell: Any) -> None:
    shell.user_ns['x'] = 'wrong'
    condition = '{x} != {"$x"} and x == \'a"\''
    shell.run_cell(f'%pyfunc break norm if {condition}')
    assert [state.condition for state in states(debugger.breakpoints)] == [condition]


def test_a_mistake_is_one_line(shell: Any, capsys: Any) -> None:
    shell.run_cell('%pyfunc clls')
    said = capsys.readouterr().err
    assert said.startswith("UsageError: %pyfunc: unknown command 'clls'. Did you mean 'calls'")
    assert said.count('\n') == 1
