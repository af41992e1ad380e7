"""Source map of AutoGraph: the program's functions and lines behind the files that TensorFlow generates.

AutoGraph's own cache holds every conversion, also those from before the attachment. A generated function has inner functions
for branches and loops, which belong to the enclosing function of the program.
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
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_GENERATED = '__autograph_generated_file'
_RELAYS = os.path.join('tensorflow', 'python', 'autograph') + os.sep
_API = 'tensorflow.python.autograph.impl.api'
_VARIABLES = 'tensorflow.python.autograph.operators.variables'
"""Module of the classes whose values represent unset variables."""
_MARK = 'autograph_artifact'
"""Name of the function that converted code calls with each function and lambda of the program."""
_STATE = ('get_state', 'set_state')
"""Name prefixes of functions that pass variables to a branch or loop and back: they have no line of the program."""
_COMPREHENSIONS = ('<listcomp>', '<setcomp>', '<dictcomp>', '<genexpr>')


class _Conversion:
    """One conversion: the program's code by generated code, for the function and all in it; and its lines."""

    __slots__ = ('blocks', 'codes', 'lines')

    def __init__(self, filename: str, entity: CodeType, own: CodeType, source_map: Any) -> None:
        self.lines: dict[int, int] = {place.lineno: origin.loc.lineno for place, origin in source_map.items()
                                      if place.filename == filename}
        self.codes: dict[int, tuple[CodeType, CodeType]] = {}
        self.blocks: set[int] = set()
        self._pair_codes(entity, own)

    def _pair_codes(self, generated: CodeType, own: CodeType) -> None:
        self.codes[id(generated)] = generated, own
        functions: list[CodeType] = []
        self._gather_functions(generated, own, functions)
        functions.sort(key=lambda code: self.first_line(code))
        own_functions = sorted(_nested(own), key=lambda code: code.co_firstlineno)
        for kind in {_kind(code) for code in functions}:
            generated_kind = [code for code in functions if _kind(code) == kind]
            own_kind = [code for code in own_functions if _kind(code) == kind]
            for index, code in enumerate(generated_kind):
                if len(generated_kind) == len(own_kind):
                    self._pair_codes(code, own_kind[index])
                elif own_kind:
                    line = self.first_line(code)
                    self._pair_codes(code, min(own_kind, key=lambda one: abs(one.co_firstlineno - line)))
                else:
                    self._pair_codes(code, own)

    def _gather_functions(self, generated: CodeType, own: CodeType, functions: list[CodeType]) -> None:
        """The program's functions in a generated one, also those in its branches and loops."""
        for code, marked in _functions_in(generated):
            if marked or code.co_name in _COMPREHENSIONS:
                functions.append(code)
            else:
                self.codes[id(code)] = code, own
                self.blocks.add(id(code))
                self._gather_functions(code, own, functions)

    def first_line(self, code: CodeType) -> int:
        """The first line of the program in a generated function; 0 if there is none."""
        last = max((number for _, _, number in code.co_lines() if number), default=code.co_firstlineno)
        return next((self.lines[one] for one in range(code.co_firstlineno, last + 1) if one in self.lines), 0)


class AutographSourceMap:
    """Source map of all conversions in the process: a `hooks.source_map.SourceMap`."""

    maker = 'AutoGraph'

    def __init__(self) -> None:
        self._by_file: dict[str, list[_Conversion]] = {}

    def is_generated(self, filename: str) -> bool:
        return _GENERATED in filename

    def is_relay(self, filename: str) -> bool:
        return _RELAYS in filename

    def code(self, generated: CodeType) -> CodeType | None:
        for conversion in self._conversions_of(generated):
            return conversion.codes[id(generated)][1]
        return None

    def is_block(self, generated: CodeType) -> bool:
        return any(id(generated) in conversion.blocks for conversion in self._conversions_of(generated))

    def is_unset(self, value: Any) -> bool:
        return type(value).__module__ == _VARIABLES

    def line(self, generated: CodeType, line: int) -> int:
        for conversion in self._conversions_of(generated):
            if not (id(generated) in conversion.blocks and generated.co_name.startswith(_STATE)):
                return conversion.lines.get(line, 0)
        return 0

    def _conversions_of(self, generated: CodeType) -> list[_Conversion]:
        """The conversion that a code object comes from; none if AutoGraph has forgotten it."""
        filename = generated.co_filename
        conversions = self._by_file.get(filename)
        if conversions is None:
            conversions = [_Conversion(filename, entity, own, lines) for entity, own, lines in _conversions_in(filename)]
            if conversions:
                self._by_file[filename] = conversions
        return [one for one in conversions if (pair := one.codes.get(id(generated))) is not None and pair[0] is generated]


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Notify observers of each function that is about to be traced as a copy."""
    original = parts.conversion._convert_actual

    def _convert_actual(entity: Any, program_ctx: Any) -> Any:
        try:
            converted = original(entity, program_ctx)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
        notify_tracing(converted.__code__)
        return converted
    patches.replace(parts.conversion, '_convert_actual', _convert_actual)


def _conversions_in(filename: str) -> Iterator[tuple[CodeType, CodeType, Any]]:
    """Generated code, the program's code and the source map of each conversion that AutoGraph has written to a file."""
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


def _functions_in(code: CodeType) -> Iterator[tuple[CodeType, bool]]:
    """The functions that a code object makes, in order, and whether they are the program's."""
    marks = 0
    for instruction in dis.get_instructions(code):
        if instruction.argval == _MARK:
            marks += 1
        elif isinstance(instruction.argval, CodeType):
            comprehension = instruction.argval.co_name in _COMPREHENSIONS
            yield instruction.argval, bool(marks) and not comprehension
            marks -= bool(marks) and not comprehension
