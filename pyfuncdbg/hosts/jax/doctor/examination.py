"""Examination of a JAX program for `pyfuncdbg doctor`: facts that no call shows. On the threads that compile and call."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.jax.callbacks.sites import name_of
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallbacks
from pyfuncdbg.hosts.jax.programs.occurrences import CALLBACKS, find_callbacks, inner_programs, stack_of
from pyfuncdbg.hosts.jax.programs.user_function import user_function

_SOURCE = re.compile(r'^(.*) at (.*):(\d+)$')
_LEAST_TRACES = 4
_MOST = 1 << 12


class _Traced(NamedTuple):
    """One compilation of a function: its arguments' names and types."""

    names: Sequence[str]
    types: Sequence[str]


class JaxExamination:
    """The facts of one process.

    Args:
        version: Of JAX.
        lowered: The callbacks of compiled programs.
    """

    def __init__(self, version: str, lowered: LoweredCallbacks) -> None:
        self._version = version
        self._lowered = lowered
        self._lock = new_lock()
        self._dead: Counter[tuple[str, int, str, str]] = Counter()
        self._repeated: dict[tuple[str, int, str, str], int] = {}
        self._traces: dict[tuple[str, int, str], list[_Traced]] = {}
        self._error_types: dict[tuple[str, int, str], set[str]] = {}

    def on_lowered(self, closed_jaxpr: Any, name: str) -> None:
        """JAX compiles a program."""
        debug_info = closed_jaxpr.jaxpr.debug_info
        with self._lock:
            for frame, function in _dead_callbacks(closed_jaxpr.jaxpr, ()):
                self._dead[frame.filename, frame.line, function, name] += 1
            for key, occurrence in find_callbacks(closed_jaxpr).items():
                if occurrence.times is not None and occurrence.times > 1 and occurrence.stack:
                    function = _callback_names(closed_jaxpr.jaxpr).get(key, '')
                    line = occurrence.stack[-1]
                    self._repeated[line.filename, line.line, function, name] = occurrence.times
            match = _SOURCE.match(str(getattr(debug_info, 'func_src_info', '') or ''))
            if match is not None and not is_machinery(match[2]) and len(self._traces) < _MOST:
                types = [str(aval) for aval in closed_jaxpr.in_avals]
                self._traces.setdefault((match[2], int(match[3]), match[1]), []).append(
                    _Traced(debug_info.arg_names or (), types))

    def on_surfaced(self, error: BaseException, cause: BaseException) -> None:
        """An exception of a callback has become an error of JAX's."""
        entry = cause.__traceback__
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        if entry is not None:
            code = entry.tb_frame.f_code
            with self._lock:
                names = self._error_types.setdefault((code.co_filename, entry.tb_lineno, code.co_name), set())
                names.add(type(error).__name__)

    def facts(self) -> Iterator[Fact]:
        """All facts so far."""
        yield Fact('jax', data={'version': self._version})
        with self._lock:
            dead, repeated = dict(self._dead), dict(self._repeated)
            traces, error_types = dict(self._traces), dict(self._error_types)
        for (filename, line, function, program), count in dead.items():
            yield Fact('jax dead', 0, filename, line, {'function': function, 'program': program, 'count': count})
        for (filename, line, function, program), times in repeated.items():
            yield Fact('jax repeated', 0, filename, line, {'function': function, 'program': program, 'times': times})
        for (filename, line, function), traced in traces.items():
            if len(traced) >= _LEAST_TRACES:
                yield Fact('jax retraced', 0, filename, line, {'function': function, 'count': len(traced),
                                                               'changed': _difference(traced[-2], traced[-1])})
        for (filename, line, function), names in error_types.items():
            if 'ValueError' in names:
                yield Fact('jax error types', 0, filename, line, {'function': function, 'types': ', '.join(sorted(names))})
        for lowered in self._lowered.all():
            if lowered.site is not None and lowered.inline:
                yield Fact('jax inline', lowered.site.id, data={'calls': lowered.inline})


def _dead_callbacks(jaxpr: Any, outer: tuple[Any, ...]) -> Iterator[tuple[Frame, str]]:
    """The pure callbacks whose results nothing uses, so that JAX leaves them out; with the program's line of each."""
    live = {variable for variable in jaxpr.outvars if hasattr(variable, 'aval') and not hasattr(variable, 'val')}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(variable in live for variable in equation.outvars):
            live.update(variable for variable in equation.invars if not hasattr(variable, 'val'))
            for inner in inner_programs(equation):
                yield from _dead_callbacks(inner, (*outer, equation))
        elif equation.primitive.name in CALLBACKS:
            stack, function = stack_of((*outer, equation)), user_function(equation.params.get('callback'))
            if stack and function is not None:
                yield stack[-1], name_of(function)


def _callback_names(jaxpr: Any) -> dict[int, str]:
    """Names of the functions that a program calls back, by id of JAX's callable."""
    names: dict[int, str] = {}
    for equation in jaxpr.eqns:
        if equation.primitive.name in CALLBACKS and (callback := equation.params.get('callback')) is not None:
            names[id(callback)] = name_of(user_function(callback))
        for inner in inner_programs(equation):
            names.update(_callback_names(inner))
    return names


def _difference(one: _Traced, other: _Traced) -> str:
    """What has changed from one compilation to the next, as far as types of arguments tell."""
    if len(one.types) != len(other.types):
        return f'the number of arrays in its arguments: {len(one.types)}, then {len(other.types)}'
    changed = [f'{name or "an argument"}: {before}, then {after}'
               for name, before, after in zip(other.names, one.types, other.types, strict=False) if before != after]
    return '; '.join(changed[:3]) or 'a static argument, or the function itself, which is made anew'
