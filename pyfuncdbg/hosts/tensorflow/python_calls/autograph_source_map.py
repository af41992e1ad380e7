"""Source map of AutoGraph: functions and lines behind the files that TensorFlow writes for the functions it converts.

AutoGraph's own cache knows every conversion, also those from before the attachment. A generated function has functions of
its own for branches and loops; they belong to the function of the program around them.
"""
from __future__ import annotations

import dis
import os
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from pyfuncdbg.hooks.patched_code import unpatched_code
from pyfuncdbg.hooks.tracing_notice import notify_tracing
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_this_frame
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_GENERATED = '__autograph_generated_file'
_RELAYS = os.path.join('tensorflow', 'python', 'autograph') + os.sep
_API = 'tensorflow.python.autograph.impl.api'
_VARIABLES = 'tensorflow.python.autograph.operators.variables'
"""Module of the classes whose values represent unset variables."""
_MARK = 'autograph_artifact'
"""Name of the function that converted code calls with each function and lambda of the program."""
_STATE = ('get_state', 'set_state')
"""Name prefixes of functions that hand variables to a branch or loop and back: no line of the program is in them."""
_COMPREHENSIONS = ('<listcomp>', '<setcomp>', '<dictcomp>', '<genexpr>')


class _Conversion:
    """One function: its code and that of everything in it, by the generated code; and its lines."""

    __slots__ = ('codes', 'lines', 'parts')

    def __init__(self, filename: str, entity: CodeType, own: CodeType, source_map: Any) -> None:
        self.lines: dict[int, int] = {place.lineno: origin.loc.lineno for place, origin in source_map.items()
                                      if place.filename == filename}
        self.codes: dict[int, tuple[CodeType, CodeType]] = {}
        self.parts: set[int] = set()
        self._pair(entity, own)

    def _pair(self, generated: CodeType, own: CodeType) -> None:
        self.codes[id(generated)] = generated, own
        written: list[CodeType] = []
        self._gather(generated, own, written)
        written.sort(key=lambda code: self.begin(code))
        mine = sorted(_nested(own), key=lambda code: code.co_firstlineno)
        for kind in {_kind(code) for code in written}:
            here = [code for code in written if _kind(code) == kind]
            there = [code for code in mine if _kind(code) == kind]
            for index, code in enumerate(here):
                if len(here) == len(there):
                    self._pair(code, there[index])
                elif there:
                    line = self.begin(code)
                    self._pair(code, min(there, key=lambda one: abs(one.co_firstlineno - line)))
                else:
                    self._pair(code, own)

    def _gather(self, generated: CodeType, own: CodeType, written: list[CodeType]) -> None:
        """The program's functions in a generated one, also those in a branch or loop, which are of the function around."""
        for code, marked in _made_in(generated):
            if marked or code.co_name in _COMPREHENSIONS:
                written.append(code)
            else:
                self.codes[id(code)] = code, own
                self.parts.add(id(code))
                self._gather(code, own, written)

    def begin(self, code: CodeType) -> int:
        """The first line of the program in a generated function; 0 if there is none."""
        last = max((number for _, _, number in code.co_lines() if number), default=code.co_firstlineno)
        return next((self.lines[one] for one in range(code.co_firstlineno, last + 1) if one in self.lines), 0)


class AutographSourceMap:
    """All of the process; a `hooks.source_map.SourceMap`."""

    maker = 'AutoGraph'

    def __init__(self) -> None:
        self._by_file: dict[str, list[_Conversion]] = {}

    def is_generated(self, filename: str) -> bool:
        return _GENERATED in filename

    def is_relay(self, filename: str) -> bool:
        return _RELAYS in filename

    def code(self, generated: CodeType) -> CodeType | None:
        for conversion in self._of(generated):
            return conversion.codes[id(generated)][1]
        return None

    def is_block(self, generated: CodeType) -> bool:
        return any(id(generated) in conversion.parts for conversion in self._of(generated))

    def is_unset(self, value: Any) -> bool:
        return type(value).__module__ == _VARIABLES

    def line(self, generated: CodeType, line: int) -> int:
        for conversion in self._of(generated):
            if not (id(generated) in conversion.parts and generated.co_name.startswith(_STATE)):
                return conversion.lines.get(line, 0)
        return 0

    def _of(self, generated: CodeType) -> list[_Conversion]:
        """The conversion that a code object comes from; none if AutoGraph has forgotten it."""
        filename = generated.co_filename
        known = self._by_file.get(filename)
        if known is None:
            known = [_Conversion(filename, entity, own, lines) for entity, own, lines in _converted(filename)]
            if known:
                self._by_file[filename] = known
        return [one for one in known if (pair := one.codes.get(id(generated))) is not None and pair[0] is generated]


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Tell observers of each function that is about to be traced as a copy."""
    original = parts.conversion._convert_actual

    def _convert_actual(entity: Any, program_ctx: Any) -> Any:
        try:
            made = original(entity, program_ctx)
        except BaseException as error:
            without_this_frame(error)
            raise
        notify_tracing(made.__code__)
        return made
    patches.replace(parts.conversion, '_convert_actual', _convert_actual)


def _converted(filename: str) -> Iterator[tuple[CodeType, CodeType, Any]]:
    """Generated code, the program's and the source map of what AutoGraph has written to a file."""
    transpiler = getattr(sys.modules.get(_API), '_TRANSPILER', None)
    table = getattr(getattr(transpiler, '_cache', None), '_cache', None)
    if table is None:
        return
    for reference in table.keyrefs():
        own = reference()
        factories = table.get(own) if isinstance(own, CodeType) else None
        for factory in list((factories or {}).values()):
            maker = getattr(factory, '_unbound_factory', None)
            if maker is None or maker.__code__.co_filename != filename:
                continue
            for entity in _nested(maker.__code__):
                yield entity, unpatched_code(own), factory.source_map


def _nested(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _kind(code: CodeType) -> tuple[Any, ...]:
    """Properties that a function of the program shares with the one generated from it."""
    return code.co_name, code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


def _made_in(code: CodeType) -> Iterator[tuple[CodeType, bool]]:
    """The functions that a code object makes, in order, and whether they are the program's."""
    marks = 0
    for instruction in dis.get_instructions(code):
        if instruction.argval == _MARK:
            marks += 1
        elif isinstance(instruction.argval, CodeType):
            comprehension = instruction.argval.co_name in _COMPREHENSIONS
            yield instruction.argval, bool(marks) and not comprehension
            marks -= bool(marks) and not comprehension
