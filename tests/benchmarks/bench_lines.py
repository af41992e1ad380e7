"""What line breakpoints cost: `python tests/benchmarks/bench_lines.py`. Ratios to the same functions without any.

The loop is the one of a training step written by hand: per turn an array of 64 values is scaled and summed, and a scalar
compared. Rounds of the untouched function and of each kind of breakpoint follow each other in turn; ratios are of medians.
"""
from __future__ import annotations

import bdb
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import FrameType, ModuleType

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
ROUNDS = 61


class OnLine(bdb.Bdb):
    """The peer: a conditional breakpoint of `bdb`."""

    def user_line(self, frame: FrameType) -> None:
        self.set_continue()


def taken(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(works: dict[str, Callable[[], object]], plain: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Medians of rounds in turn, each as a multiple of the plain one's."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 3):
        for name, work in works.items():
            times[name].append(taken(work))
    medians = {name: median(series[3:]) for name, series in times.items()}
    return {name: value / medians[plain] for name, value in medians.items()}


def never(frame: FrameType, error: Exception | None) -> None:
    raise AssertionError('hit')


def compared(folder: Path) -> list[tuple[str, float, str]]:
    """Each copy of the program is a module of its own, so that all can run in turn."""
    rows = []
    copies = {name: loaded(f'program_{name}', PROGRAM, folder) for name in ('plain', 'same', 'hot', 'elsewhere', 'many')}
    lines = LineBreakpoints(VOCABULARY)
    lines.set(1, 'program_hot.py', HOT, 'total < 0', never)
    lines.set(2, 'program_hot.py', SCALAR, 'total < 0', never)
    lines.set(3, 'program_elsewhere.py', ELSEWHERE, None, never)
    loaded('others', OTHERS, folder)
    start = time.perf_counter()
    for number in range(1000):
        lines.set(number + 10, 'others.py', number // 4 * 6 + 2 + number % 4, 'x is None', never)
    setting = time.perf_counter() - start

    hot = ratio({name: lambda module=module: module.hot(1500) for name, module in copies.items()}, 'plain')
    scalar = ratio({name: lambda module=module: module.scalar(40_000) for name, module in copies.items()}, 'plain')
    rows.append(('hot loop of arrays and scalars, nothing set (noise)', hot['same'], '1.0'))
    rows.append(('  conditional breakpoint in it, never true', hot['hot'], '<= 1.3'))
    rows.append(('  breakpoint on a line that it does not come to', hot['elsewhere'], '<= 1.02'))
    rows.append(('  1,000 breakpoints in 250 other functions', hot['many'], '<= 1.1'))
    rows.append(('  the same condition by bdb', by_bdb(copies['same'], 'hot', HOT, 1500), '-'))
    rows.append(('loop of one addition, nothing set (noise)', scalar['same'], '1.0'))
    rows.append(('  conditional breakpoint in it, never true', scalar['hot'], '-'))
    rows.append(('  the same condition by bdb', by_bdb(copies['same'], 'scalar', SCALAR, 4_000), '-'))
    rows.append(('setting one of those 1,000, ms', setting, '-'))
    return rows


def by_bdb(module: ModuleType, name: str, line: int, turns: int) -> float:
    function = getattr(module, name)
    debugger = OnLine()
    debugger.set_break(module.__file__, line, cond='total < 0')
    return ratio({'plain': lambda: function(turns), 'bdb': lambda: debugger.runcall(function, turns)}, 'plain', 5)['bdb']


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as place:
        found = compared(Path(place))
    width = max(len(name) for name, _, _ in found)
    for name, value, target in found:
        print(f'{name:{width}}  {value:8.3f}  {target}')
