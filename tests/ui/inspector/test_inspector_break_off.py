"""What waits, or only thinks, is broken off as well as what runs: it never comes later."""
from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from inspecting import drive, inspector, opened, press, screen, send, settled, type_line, until
from listening import Program
from rich.text import Text
from test_inspector_live import SOURCE, desk_of
from textual.pilot import Pilot

from pyfuncdbg.ui.inspector.desks.desk import Reply
from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk

SLOW = '''
import os, time
done = []

def wait():
    while not os.path.exists('go'):
        time.sleep(0.01)

class Slow:
    def __dir__(self):
        wait()
        return ['inner']
slow = Slow()
'''


@contextlib.asynccontextmanager
async def stopped(folder: Path) -> AsyncIterator[tuple[Pilot[int], LiveDesk]]:
    """A program that has stopped."""
    with Program(folder, source=SLOW + SOURCE) as program:
        desk = desk_of(program)
        async with opened(desk) as pilot:
            await type_line(pilot, 'break norm --once')
            await until(pilot, 'STOPPED')
            await settled(pilot)
            yield pilot, desk
            (folder / 'go').touch()


def done(desk: LiveDesk) -> Any:
    """What the program has carried out of the lines."""
    return desk.answer('p done', 80).shown.plain.strip()


def test_a_line_that_has_not_begun(tmp_path) -> None:
    async def test() -> None:
        async with stopped(tmp_path) as (pilot, desk):
            inspector(pilot).run_line('done.append(1)')
            inspector(pilot).action_cancel()    # before the thread that asks has begun
            await settled(pilot)
            assert 'done.append(1): interrupted' in screen(pilot) and done(desk) == '[]'
    drive(test)


def test_a_line_behind_other_requests(tmp_path) -> None:
    async def test() -> None:
        async with stopped(tmp_path) as (pilot, desk):
            for number, key in enumerate(('ctrl+c', 'escape')):
                pane = threading.Thread(target=desk.answer, args=('p wait()', 80))      # as panes ask
                pane.start()
                await asyncio.sleep(0.3)
                send(pilot, 'colon', *f'done.append({number})', 'enter')
                await asyncio.sleep(0.3)
                send(pilot, key)
                await until(pilot, f'done.append({number}): interrupted')
                (tmp_path / 'go').touch()
                await asyncio.to_thread(pane.join)
                await settled(pilot)
                assert done(desk) == '[]'
                (tmp_path / 'go').unlink()
    drive(test)


def test_a_completion_in_the_program(tmp_path) -> None:
    async def test() -> None:
        async with stopped(tmp_path) as (pilot, _):
            line = inspector(pilot).query_one('#line')
            await press(pilot, 'colon', *'p slow.')
            send(pilot, 'tab')
            await asyncio.sleep(0.5)
            send(pilot, 'escape')
            await until(pilot, 'p slow.')
            send(pilot, *['backspace'] * 5, *'40 + 2', 'enter')
            await until(pilot, ' 42')           # the thread that completed is free again
            assert not (tmp_path / 'go').exists() and line.value == ''
    drive(test)


class Stepping(SavedDesk):
    """A desk whose program goes on, and that ends what is broken off when it may."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked: list[str] = []
        self.may_end = threading.Event()

    def answer(self, line: str, width: int, request=None) -> Reply:
        self.asked.append(line)
        if line == 'next':
            return Reply(line, line, Text(), None)
        if line == 'report':
            assert self.may_end.wait(60)
        return super().answer(line, width, request)


def test_lines_that_wait_for_the_program(trace) -> None:
    async def test() -> None:
        desk = Stepping(trace)
        async with opened(desk) as pilot:
            app = inspector(pilot)
            app.run_line('next')
            app.run_line('info')
            app.run_line('health')
            while not app._lines.held:
                await asyncio.sleep(0)
            app.action_leave()
            await until(pilot, 'not executed: info ;; health')
            await asyncio.sleep(0.5)            # the program would have gone on by now
            await settled(pilot)
            assert desk.asked == ['next']
            await press(pilot, 'escape')
            assert 'not executed' not in screen(pilot)
    drive(test)


def test_the_second_key_is_for_the_lines_behind(trace) -> None:
    async def test() -> None:
        desk = Stepping(trace)
        async with opened(desk) as pilot:
            send(pilot, 'r', 'colon', *'info', 'enter')
            await asyncio.sleep(0.2)
            send(pilot, 'escape', 'ctrl+c')
            await until(pilot, 'not executed: info')
            desk.may_end.set()
            await settled(pilot)
            assert desk.asked == ['report']
    drive(test)
