"""Inspectors for tests: a real app on a real trace, driven by keys and mouse, its screen read as text."""
from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from pyfuncdbg.ui.inspector.app import Inspector
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0


def record(program: str, folder: Path, *options: str) -> Path:
    """Run a program under the recorder in a process of its own; the trace."""
    (folder / 'prog.py').write_text(program, encoding='utf-8', errors='surrogatepass')
    subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', *options, 'prog.py'], cwd=folder, check=False,
                   env=dict(os.environ, PYTHONPATH=str(ROOT)), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return folder / 'prog.pfd'


def drive(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Carry out an asynchronous test."""
    asyncio.run(asyncio.wait_for(test(), 100))


@contextlib.asynccontextmanager
async def opened(source: Any, size: tuple[int, int] = (80, 24), **options: Any) -> AsyncIterator[Pilot[int]]:
    """The inspector on a trace, or on a desk, when all panes are painted."""
    desk = SavedDesk(source) if isinstance(source, Path) else source
    app = Inspector(desk, **options)
    try:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            yield pilot
    finally:
        desk.close()


async def settled(pilot: Pilot[int]) -> None:
    """Wait until nothing is computed, and all that was is on the screen."""
    quiet = 0
    async with asyncio.timeout(PATIENCE):
        while quiet < 3:
            await pilot._wait_for_screen()      # `pause` would wait for an idle processor, which a shared one rarely is
            app = inspector(pilot)
            busy = (app.waiting or app._lines.asked or app._call_search.busy
                    or any(not worker.is_finished for worker in pilot.app.workers))
            quiet = 0 if busy else quiet + 1
            await asyncio.sleep(0.01)


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Press keys; the screen then."""
    send(pilot, *keys)
    await settled(pilot)
    return screen(pilot)


def send(pilot: Pilot[int], *keys: str) -> None:
    """Press keys and wait for nothing; `Pilot.press` waits for an idle processor after each."""
    for key in keys:
        char = ' ' if key == 'space' else key if len(key) == 1 else None
        pilot.app.post_message(events.Key(_character_to_key(key) if len(key) == 1 else key, char))


async def type_line(pilot: Pilot[int], line: str, *, enter: bool = True) -> str:
    """Type a command line; the screen then."""
    await press(pilot, 'colon')
    inspector(pilot).query_one('#line').value = line          # type: ignore[attr-defined]
    inspector(pilot).query_one('#line').cursor_position = len(line)  # type: ignore[attr-defined]
    return await press(pilot, *(['enter'] if enter else []))


async def until(pilot: Pilot[int], *texts: str) -> str:
    """Wait until the screen shows all these; the screen."""
    end = time.monotonic() + PATIENCE
    while not all(text in screen(pilot) for text in texts):
        missing = [text for text in texts if text not in screen(pilot)]
        assert time.monotonic() < end, f'{missing} is not on the screen:\n{screen(pilot)}'
        await asyncio.sleep(0.02)
    return screen(pilot)


def inspector(pilot: Pilot[int]) -> Inspector:
    """The app."""
    assert isinstance(pilot.app, Inspector)
    return pilot.app


def screen(pilot: Pilot[int]) -> str:
    """What is on the screen."""
    return '\n'.join(''.join(segment.text for segment in line).rstrip()
                     for line in pilot.app.screen._compositor.render_strips())


def place_of(pilot: Pilot[int], text: str) -> tuple[int, int]:
    """Column and row of a text on the screen."""
    for row, line in enumerate(screen(pilot).split('\n')):
        if text in line:
            return line.index(text), row
    raise AssertionError(f'{text!r} is not on the screen:\n{screen(pilot)}')


async def click(pilot: Pilot[int], text: str, by: int = 0) -> str:
    """Click on a text; the screen then."""
    column, row = place_of(pilot, text)
    await pilot.click(offset=(column + by, row))
    await settled(pilot)
    return screen(pilot)
