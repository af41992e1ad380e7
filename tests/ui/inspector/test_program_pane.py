"""Whose a key is in the program's pane: the program's while it runs, the user's from its end on, drawn or not."""
from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from textual.app import App, ComposeResult

from pyfuncdbg.ui.inspector.hosting.program_pane import ProgramPane
from pyfuncdbg.ui.inspector.hosting.terminal_emulator import Emulator


class Program:
    ending = 'ended'
    code: int | None

    def __init__(self) -> None:
        self.code, self.typed = None, b''
        self.screen = Emulator(40, 4, lambda keys: None)

    def start(self, changed: Any, leave: Any) -> None: ...

    def let_go(self) -> None: ...

    def resize(self, columns: int, lines: int) -> None: ...

    def type(self, keys: bytes) -> None:
        self.typed += keys


class Front(App[int]):
    BINDINGS: ClassVar = [('q', 'leave', 'leave')]

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def compose(self) -> ComposeResult:
        yield ProgramPane(self.program)     # type: ignore[arg-type]

    def action_leave(self) -> None:
        self.exit(7)


@pytest.mark.parametrize(('code', 'left', 'typed'), [(None, None, b'q'), (0, 7, b'')])
def test_a_key_is_the_programs_until_it_is_over(code: int | None, left: int | None, typed: bytes) -> None:
    async def press() -> Front:
        front = Front(Program())
        async with front.run_test() as pilot:
            front.query_one(ProgramPane).focus()
            await pilot.pause()
            front.program.code = code       # nobody has announced it yet
            await pilot.press('q')
            await pilot.pause()
        return front
    front = asyncio.run(press())
    assert (front.return_value, front.program.typed) == (left, typed)
