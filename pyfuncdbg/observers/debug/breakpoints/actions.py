"""Actions of breakpoints: `--do log` and `--do snap`.

The log action writes one line to the real stderr and a note into every active recording, on the thread of the call or line;
the program's own `sys.stderr`, which it may have replaced, is left alone. The snapshot action at a line keeps the arrays
among the frame's variables, whole, as the inputs of a call of 'model.py:41', before the line is run. The call is within the
wrapped call around, so `calls`, `lt` and `pt` show it as any other.
"""
from __future__ import annotations

import os.path
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from types import FrameType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Frame, Run, current, new_call
from pyfuncdbg.hooks.host import is_on_device
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.notice import printable, say
from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.conditions.past_calls import copied_value
from pyfuncdbg.observers.debug.value import array_of, array_text, bounded
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.recorder import Recorder, recorders
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

listeners: tuple[Callable[[str], None], ...] = ()
"""Further receivers of each line, for users who do not see the program's stderr; called on the thread of the call."""

_FEW = 8
_MOST = 1 << 22
OP_TYPE = 'Line'
"""Op type of the sites, which call no function."""


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
    array = array_of(value) if not is_on_device(value) else None
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


class _Frames:
    """The host of such calls: their values are arrays, and nothing can be called again."""

    name = 'python'
    pauses_within = False
    version = ''
    variables: Sequence[str] = ()

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        raise ValueError('the values of a line are read-only')

    def new_context(self, inputs: int) -> Any:
        return None

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        raise ValueError(f'{site.name} is a line: it cannot be called')

    def rng_state(self) -> Any:
        return None

    op_draws = 0
    replay_site: Any = None

    def make_tensor(self, array: np.ndarray) -> Any:
        raise NotImplementedError

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        return ()

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None: ...

    def set_rng_state(self, state: Any) -> None:
        pass

    def tensor_name(self, value: Any) -> str:
        return ''

    def restored_state(self) -> AbstractContextManager[Any]:
        return nullcontext(lambda: ())

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        raise ValueError(f'{site.name} is a line: it has no function to replace')


def variables(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame; of a module or class body, those that its code names."""
    code = program_code(frame.f_code)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
    return {name: value for name, value in frame.f_locals.items() if name in own}


class LineSnaps:
    """The snaps of one breakpoint: a site for each set of variables that it found."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._sites: dict[tuple[str, ...], CallSite] = {}
        self._run: Run | None = None

    def take(self, frame: FrameType, line: int, recorders: Sequence[Recorder]) -> None:
        """Keep the arrays of a frame in these recordings."""
        outer_call = current.get()
        host = outer_call.site.host if outer_call is not None else None
        arrays = {name: array for name, value in variables(frame).items() if (array := array_of(value, host)) is not None}
        with self._lock:
            site = self._sites.get(tuple(arrays))
            if site is None:
                site = self._sites[tuple(arrays)] = _site(frame, line, tuple(arrays))
            if outer_call is None and self._run is None:
                self._run = Run('lines', _FRAMES, perf_counter_ns(), kind='eager')
        run = outer_call.run if outer_call is not None else self._run
        assert run is not None
        call = new_call(site, run, [copied_value(array) for array in arrays.values()], threading.get_native_id(),
                        perf_counter_ns(),
                        outer_call=outer_call)
        call.outputs = ()
        call.finished = perf_counter_ns()
        for recorder in recorders:
            recorder.keep(call, call.inputs, ())


_FRAMES = _Frames()


def _site(frame: FrameType, line: int, names: tuple[str, ...]) -> CallSite:
    code = program_code(frame.f_code)
    filename = code.co_filename
    return CallSite(f'{os.path.basename(filename)}:{line}', OP_TYPE, 'python', _FRAMES, inputs=names,
                    stack=(Frame(filename, line, code.co_name),))
