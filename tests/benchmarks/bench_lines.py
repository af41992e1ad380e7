"""What line breakpoints cost, against the same functions without any, and against bdb.

The loop is the one of a training step written by hand: per turn an array of 64 values is scaled and summed, and a scalar
compared.
"""
from __future__ import annotations

import bdb
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from measurement import Row, Side, Target

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'debug' / 'lines'))
from debug_program import loaded

from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints

PROGRAM = '''
import numpy as np

def hot(n, x=np.linspace(0, 1, 64)):
    total = 0.0
    for i in range(n):
        y = x * 1.5
        total += y.sum()
        if total > 1e9:
            total = 0.0
    return total

def scalar(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total
'''
HOT, SCALAR, ELSEWHERE = 8, 16, 10
OTHERS = '\n'.join(f'def f{i}(x):\n    y = x + {i}\n    z = y * 2\n    w = z - 1\n    return w\n' for i in range(250))
TURNS = 1500


class OnLine(bdb.Bdb):
    """The peer: a conditional breakpoint of `bdb`."""

    def user_line(self, frame: FrameType) -> None:
        self.set_continue()


def never(frame: FrameType, error: Exception | None) -> None:
    raise AssertionError('hit')


def rows(folder: Path) -> Iterator[Row]:
    """Each copy of the program is a module of its own, so that all can run in turn."""
    copies = {name: loaded(f'program_{name}', PROGRAM, folder) for name in ('plain', 'same', 'hot', 'elsewhere', 'many')}
    plain = copies['plain']
    lines = LineBreakpoints(VOCABULARY)
    lines.set(1, 'program_hot.py', HOT, 'total < 0', never)
    lines.set(2, 'program_hot.py', SCALAR, 'total < 0', never)
    lines.set(3, 'program_elsewhere.py', ELSEWHERE, None, never)
    loaded('others', OTHERS, folder)
    for number in range(1000):
        lines.set(number + 10, 'others.py', number // 4 * 6 + 2 + number % 4, 'x is None', never)

    def hot(module: ModuleType, name: str) -> Side:
        return Side(name, lambda: module.hot(TURNS))

    def bdb_in(function: Any, line: int, turns: int) -> Side:
        debugger = OnLine()
        debugger.set_break(copies['same'].__file__, line, cond='total < 0')
        return Side('bdb', lambda: debugger.runcall(function, turns))

    for name, what, target in (('same', 'nothing set (noise)', None),
                               ('hot', 'conditional breakpoint in it, never true', 1.3),
                               ('elsewhere', 'breakpoint on a line that it does not come to', 1.02),
                               ('many', '1,000 breakpoints in 250 other functions', 1.1)):
        yield Row(f'loop of arrays and scalars, {what}',
                  lambda name=name, what=what: (hot(copies[name], what), hot(plain, 'untouched')),  # type: ignore[misc]
                  target and Target('time', target), per='turn', calls=TURNS)
    yield Row('loop of arrays and scalars, conditional breakpoint, against bdb',
              lambda: (hot(copies['hot'], 'pyfuncdbg'), bdb_in(copies['same'].hot, HOT, TURNS)), kind='faster', per='turn',
              calls=TURNS, seconds=0.5)
    yield Row('loop of one addition, conditional breakpoint, never true', lambda: (
        Side('pyfuncdbg', lambda: copies['hot'].scalar(40_000)), Side('untouched', lambda: plain.scalar(40_000))),
        per='turn', calls=40_000)
    yield Row('loop of one addition, conditional breakpoint, against bdb', lambda: (
        Side('pyfuncdbg', lambda: copies['hot'].scalar(4_000)), bdb_in(copies['same'].scalar, SCALAR, 4_000)),
        kind='faster', per='turn', calls=4_000, seconds=0.5)
