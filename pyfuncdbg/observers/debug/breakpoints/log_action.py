"""The log action (`--do log`): one line on the real stderr and a note in every active recording.

On the thread of the call or line; the program's own `sys.stderr`, which it may have replaced, is left alone.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyfuncdbg.hooks.notice import printable, say
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.value import array_of, array_text, bounded
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

listeners: tuple[Callable[[str], None], ...] = ()
"""Who gets each line too, on the thread of the call: users that do not see the program's stderr."""

_FEW = 8
_MOST = 1 << 22


def log(breakpoint: Breakpoint, where: str, call: int, values: Mapping[str, Any]) -> None:
    """Write that a breakpoint was hit.

    Args:
        breakpoint: Which.
        where: The call or line, 'norm[3]'.
        call: Number of the call, 0 if unknown.
        values: What to show, by name.
    """
    shown = ' '.join(f'{name}={_text(value)}' for name, value in values.items())
    number = f'#{call} ' if call else ''
    line = f'{number}{where} breakpoint {breakpoint.number}{": " if shown else ""}{shown}'
    say(line)
    for listener in listeners:
        listener(printable(f'pyfuncdbg: {line}'))
    for recorder in recorders():
        recorder.note('log', {'breakpoint': breakpoint.number, 'spec': breakpoint.spec.text, 'where': where, 'call': call,
                              'values': {name: _text(value) for name, value in values.items()}})


def _text(value: Any) -> str:
    array = array_of(value)
    if array is None:
        return bounded(value, longest=200)
    numbers = as_numbers(array) if array.dtype != bool else array
    if numbers is None or not array.size or not array.ndim:
        return array_text(array)
    if array.size <= _FEW:
        values = numbers.ravel().tolist()
        return f'{array_text(array)} [{", ".join(str(v) if isinstance(v, bool) else f"{v:.6g}" for v in values)}]'
    if array.size > _MOST:
        return array_text(array)
    stats = stats_of(array)
    if stats is None:
        return array_text(array)
    if stats.min is None or stats.max is None or stats.mean is None:
        return f'{array_text(array)} no finite element, {stats.nan:,} NaN' if stats.bad else array_text(array)
    counts = {'NaN': stats.nan, 'inf': stats.pos_inf + stats.neg_inf}
    bad = ', '.join(f'{count:,} {name}' for name, count in counts.items() if count)
    return f'{array_text(array)} {stats.min:g}..{stats.max:g} mean {stats.mean:g}{", " if bad else ""}{bad}'
