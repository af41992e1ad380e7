# cython: annotation_typing=False, auto_pickle=False
"""Sites of eager ops, by op and line of the program.

An op of a backward pass has the line of the op that it differentiates.
Asked on the thread of each op, for each op: what is found is kept by the code and instruction of the line.
"""
from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.call_frames import STOP_REMARK
from pyfuncdbg.hooks.op_batch import OpSequence
from pyfuncdbg.hooks.own_files import TYPED_CODE, is_library, is_machinery
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.jax.graph_ops.compiled_ops import CompiledOp
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.occurrences import traced_frames

BACKWARD = 'backward'
"""Attribute of a site whose ops are part of a backward pass."""
_REMARK = ("The program has its result. To replace that, stop behind it ('break FILE:LINE') and assign to the program's "
           'variable.')
_BETWEEN, _PROGRAM, _LIBRARY, _PASS, _TYPED = range(5)
_MOST = 1 << 14
_OUTPUTS = 1 << 10
"""Arrays whose ops are known by name: the newest."""


class EagerSite:
    """A site with what keeps its key valid, and the order of ops that it is alone.

    Attributes:
        site: The site.
        sequence: Of its one op.
    """

    __slots__ = ('_alive', 'sequence', 'site')

    def __init__(self, site: CallSite, inputs: int, outputs: int, alive: Any) -> None:
        self.site = site
        self.sequence = OpSequence([site], [range(inputs)], [range(inputs, inputs + outputs)])
        self._alive = alive


class EagerSites:
    """The sites of all eager ops.

    Args:
        parts: Modules of JAX.
        host: Of the sites.
    """

    def __init__(self, parts: JaxParts, host: JaxHost) -> None:
        self._host = host
        self._kinds: dict[CodeType, int] = dict.fromkeys(_pass_codes(parts.differentiation), _PASS)
        self._entries: dict[tuple[Any, ...], EagerSite] = {}
        self._names: Counter[str] = Counter()
        self._outputs: list[Any] = [None] * _OUTPUTS
        self._makers: list[str] = [''] * _OUTPUTS
        self._made = 0

    def of(self, op: CompiledOp, frame: FrameType | None, inputs: Sequence[Any], outputs: Sequence[Any]) -> EagerSite | None:
        """The site of an op that has run.

        Args:
            op: The op.
            frame: The frame that has called it, or one further in.
            inputs, outputs: Its values.

        Returns:
            None for an op of code that is typed at a stop.
        """
        line, equation = self._place(frame)
        if line is not None and self._kinds[line.f_code] == _TYPED:
            return None
        alive: Any
        if equation is not None:
            alive = equation.source_info.traceback
            key: tuple[Any, ...] = id(op), alive, len(inputs), len(outputs)
        elif line is not None:
            alive = line.f_code
            key = id(op), id(alive), line.f_lasti, len(inputs), len(outputs)
        else:
            alive, key = None, (id(op), len(inputs), len(outputs))
        entry = self._entries.get(key)
        if entry is None:
            if len(self._entries) > _MOST:
                self._entries.clear()
            stack = traced_frames(alive) if equation is not None else program_frames(line)
            site = self._new_site(op, stack, inputs, len(outputs), equation is not None)
            entry = self._entries[key] = EagerSite(site, len(inputs), len(outputs), alive)
        return entry

    def note_outputs(self, site: CallSite, outputs: Sequence[Any]) -> None:
        """Note which arrays an op has made: sites that are new have them as inputs."""
        for index, array in enumerate(outputs):
            place = self._made % _OUTPUTS
            self._made += 1
            self._outputs[place] = weakref.ref(array)
            self._makers[place] = site.outputs[index]

    def _place(self, frame: FrameType | None) -> tuple[FrameType | None, Any]:
        """The line of the program, or of a library where that has none; or the equation that a pass differentiates."""
        kinds, library = self._kinds, None
        while frame is not None:
            code = frame.f_code
            kind = kinds.get(code)
            if kind is None:
                kind = kinds[code] = _kind(code.co_filename)
            if kind in (_PROGRAM, _TYPED):
                return frame, None
            if kind == _PASS and library is None:
                equation = frame.f_locals.get('eqn')
                if equation is not None:
                    return None, equation
            elif kind == _LIBRARY and library is None:
                library = frame
            frame = frame.f_back
        return library, None

    def _new_site(self, op: CompiledOp, stack: Sequence[Frame], inputs: Sequence[Any], outputs: int,
                  is_backward: bool) -> CallSite:
        if len(self._names) > _MOST:
            self._names.clear()
        count = self._names[op.name]
        self._names[op.name] += 1
        name = f'{op.name}_{count}' if count else op.name
        return CallSite(name, op.op_type, 'op', self._host, stack=stack, inputs=[self._name_of(value) for value in inputs],
                        outputs=[f'{name}:{index}' for index in range(outputs)],
                        attrs={STOP_REMARK: _REMARK, **({BACKWARD: True} if is_backward else {})}, traits=op.traits)

    def _name_of(self, value: Any) -> str:
        for place in range(self._made - 1, max(self._made - _OUTPUTS, 0) - 1, -1):
            reference = self._outputs[place % _OUTPUTS]
            if reference is not None and reference() is value:
                return self._makers[place % _OUTPUTS]
        return ''


def _kind(filename: str) -> int:
    if filename == TYPED_CODE:
        return _TYPED
    return _BETWEEN if is_machinery(filename) else _LIBRARY if is_library(filename) else _PROGRAM


def _pass_codes(module: Any) -> list[CodeType]:
    """Code of JAX's functions that go back through a program, with the present equation in a variable."""
    codes = [getattr(getattr(module, name, None), '__code__', None) for name in ('backward_pass3', 'backward_pass')]
    return [code for code in codes if code is not None and 'eqn' in (*code.co_varnames, *code.co_cellvars)]
