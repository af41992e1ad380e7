"""Pictures of the inspector's screens, kept as SVG beside a small trace: what the snapshot test compares with.

    python tests/ui/inspector/snapshots.py            make the pictures anew; look at them before you commit them
    python tests/ui/inspector/snapshots.py --trace    record the trace anew, then the pictures

What stands where is compared on every machine. Colours are compared where Rich and Textual are of the versions that drew
the pictures (`versions.txt`): other versions mix a shade differently.
"""
from __future__ import annotations

import asyncio
import contextlib
import html
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from inspecting import ROOT, inspector, opened, press, record, settled, type_line
from recorded_source import rewritten

from pyfuncdbg.observers.record.log import log_file

FOLDER = Path(__file__).parent / 'snapshots'
TRACE = FOLDER / 'trace'
STILL = 5
"""A screen that is the same so many times is taken."""
VERSIONS = FOLDER / 'versions.txt'


@dataclass(frozen=True, slots=True)
class Screen:
    """One picture: the size of the terminal, the keys and the command lines (those with a colon) that lead there."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()


SCREENS = (
    Screen('panes', (150, 50)), Screen('panes_light', (150, 50), ('f2',)), Screen('source', (80, 24), ('2',)),
    Screen('calls_failed', (80, 24), (':calls --failed',)), Screen('calls_sorted', (100, 24), (':calls --sort result',)),
    Screen('filtered', (80, 24), ('1', 'ampersand', *'grad', 'enter')),
    Screen('tensors', (100, 24), (':lt --sort name -r',)), Screen('timeline', (100, 24), ('7',)),
    Screen('tensor', (80, 24), (':pt norm:0',)),
    Screen('mistake', (80, 24), (':calls --sort colour',)), Screen('too_small', (36, 10)))


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder to work in, with a copy of the trace: its name is on the screens, and reading adds an index."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(TRACE, Path(place) / 'norm.pfd')
        os.chdir(place)
        try:
            yield Path('norm.pfd')
        finally:
            os.chdir(before)


async def drawn(screen: Screen, trace: Path) -> str:
    """The screen as SVG."""
    async with opened(trace, screen.size) as pilot:
        for key in screen.keys:
            if key.startswith(':'):
                await type_line(pilot, key[1:])
            else:
                await press(pilot, key)
        seen: list[str] = []
        while len(seen) < STILL or len(set(seen[-STILL:])) > 1:        # the last to come are the keys in the bottom line
            await asyncio.sleep(0.15)
            await settled(pilot)
            seen.append(steady(inspector(pilot).export_screenshot(title=screen.name)))
        return seen[-1]


def steady(svg: str) -> str:
    """The picture without ids that depend on all of its content, and without blanks at the ends of lines."""
    svg = re.sub(r'terminal-\d+', 'terminal', svg)
    return ''.join(line.rstrip() + '\n' for line in svg.splitlines())


def text_of(svg: str) -> list[str]:
    """What stands on the screen, line by line."""
    rows: dict[float, dict[float, str]] = {}
    for x, y, text in re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(float(y), {})[float(x)] = html.unescape(text).replace('\xa0', ' ')
    lines = []
    for y in sorted(rows):
        line = ''
        for x, text in sorted(rows[y].items()):
            line = line.ljust(round(x / 12.2)) + text
        lines.append(line.rstrip())
    return lines


def neutral(kind: int, fields: Any, place: str) -> Any:
    """A record that names no folder of this machine; None of the states of calls, which hold many."""
    if kind == log_file.STATE:
        return None
    if kind == log_file.PROCESS:
        fields = [*fields[:4], 'example', *fields[5:7], {**fields[7], 'settings': {}}]
    return elsewhere(fields, {place: '/home/ann', str(ROOT): '/home/ann/env/lib/python3.11/site-packages'})


def elsewhere(fields: Any, folders: Mapping[str, str]) -> Any:
    """The same content with other folders in its texts."""
    if isinstance(fields, list):
        return [elsewhere(part, folders) for part in fields]
    if isinstance(fields, dict):
        return {key: elsewhere(part, folders) for key, part in fields.items()}
    for folder, other in folders.items() if isinstance(fields, str) else ():
        fields = fields.replace(folder, other)
    return fields


def versions() -> str:
    """The libraries that draw."""
    return f'rich {version("rich")}, textual {version("textual")}\n'


def main() -> None:
    """Make the pictures."""
    if '--trace' in sys.argv[1:]:
        from inspected_program import PROGRAM
        with tempfile.TemporaryDirectory() as place:
            made = record(PROGRAM, Path(place))
            shutil.rmtree(TRACE, ignore_errors=True)
            rewritten(made, TRACE, lambda kind, fields: neutral(kind, fields, place))
            (TRACE / 'ledger').unlink()
    with workplace() as trace:
        for screen in SCREENS:
            (FOLDER / f'{screen.name}.svg').write_text(asyncio.run(drawn(screen, trace)), encoding='utf-8')
            print(screen.name)
    VERSIONS.write_text(versions(), encoding='utf-8')


if __name__ == '__main__':
    main()
