"""The line breakpoints of one file: which functions get tests, which code is watched as it is.

Used under the lock of `LineBreakpoints`. Nothing here runs on the program's way.
"""
from __future__ import annotations
import __future__

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from types import CodeType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.tracing_notice import is_block
from pyfuncdbg.observers.debug.lines.ast_rewrite import Insertion, insert_tests
from pyfuncdbg.observers.debug.lines.inserted_test import LineBreakpoint
from pyfuncdbg.observers.debug.lines.insertion_point import InsertionPoint
from pyfuncdbg.observers.debug.lines.module_source import ModuleSource, read_texts
from pyfuncdbg.observers.debug.lines.name_resolution import code_of, local_variables, nested_codes, vocabulary_for
from pyfuncdbg.observers.debug.lines.patched_code import (
    PatchedCode,
    merge_code,
    merge_module_code,
    same_code,
    same_interface,
)
from pyfuncdbg.observers.debug.lines.unmatched_source import last_line

_FUTURE = 0
for _name in __future__.all_feature_names:
    if _name != 'nested_scopes':                # its flag says of a function that it is nested
        _FUTURE |= getattr(__future__, _name).compiler_flag

Space = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileBreakpoint:
    """One breakpoint.

    Attributes:
        number: Of it.
        place: As asked for: a line, or the name of functions.
        line_breakpoint: What its tests tell.
    """

    number: int
    place: int | str
    line_breakpoint: LineBreakpoint


@dataclass(frozen=True, slots=True)
class _TestedStatement:
    """A top-level statement with the tests of some breakpoints, and what was made with it of the program's code."""

    code: CodeType
    marks: Mapping[str, Any]
    made: dict[int, PatchedCode] = field(default_factory=dict)


class BreakpointFile:
    """One file.

    Attributes:
        filename: As in its code objects.
        points: By number.
        refused: By number, why a breakpoint cannot be tested.
        loose: By id, code around the line of a breakpoint that was compiled from another text than is known.
    """

    def __init__(self, filename: str, vocabulary: Mapping[str, Callable[..., Any]]) -> None:
        self.filename = filename
        self.points: dict[int, FileBreakpoint] = {}
        self.refused: dict[int, str] = {}
        self.loose: dict[int, CodeType] = {}
        self.spaces: list[Space] = []
        self.sources = read_texts(filename)
        self._vocabulary = vocabulary
        self._lines: list[int] = []
        self._in_statement: dict[tuple[int, int], list[tuple[FileBreakpoint, InsertionPoint]]] = {}
        self._in_module: dict[int, list[tuple[FileBreakpoint, InsertionPoint]]] = {}
        self._loaded: list[PatchedCode] = []
        self._tested: dict[tuple[int, int, int], _TestedStatement] = {}
        self._places: dict[tuple[int, int, int, int], tuple[CodeType, int]] = {}
        self._settled: dict[int, tuple[CodeType, CodeType]] = {}
        self._last: dict[int, tuple[CodeType, int]] = {}

    # ------------------------------------------------------------------ which breakpoints
    def add(self, point: FileBreakpoint) -> None:
        """Test one more."""
        self.points[point.number] = point
        self._sort_in(point, range(len(self.sources)))
        for line in self._lines_of(point):
            insort(self._lines, line)
        self._invalidate_code(point)

    def remove(self, number: int) -> FileBreakpoint:
        """Test one less."""
        point = self.points.pop(number)
        self.refused.pop(number, None)
        for key in [key for key, found in self._in_statement.items() if any(known is point for known, _ in found)]:
            self._in_statement[key] = [entry for entry in self._in_statement[key] if entry[0] is not point]
            self._invalidate_statement(key)
        for in_module in self._in_module.values():
            in_module[:] = [entry for entry in in_module if entry[0] is not point]
        self._loaded = [replace(version, numbers=version.numbers - {number}) for version in self._loaded]
        for line in self._lines_of(point):
            del self._lines[bisect_left(self._lines, line)]
        self._invalidate_code(point)
        return point

    def _invalidate_code(self, point: FileBreakpoint) -> None:
        """Code with lines of this breakpoint will be another."""
        lines = self._lines_of(point)
        first, last = min(lines, default=0), max(lines, default=0)
        self._settled = {number: (original, code) for number, (original, code) in self._settled.items()
                         if original.co_firstlineno > last or self._last_line(original) < first}

    def _sort_in(self, point: FileBreakpoint, numbers: Iterable[int]) -> None:
        for number in numbers:
            source = self.sources[number]
            for spot in source.find(point.place):
                index = source.top(spot.line)
                if spot.function is None:
                    self._in_module.setdefault(number, []).append((point, spot))
                elif index is not None:
                    self._in_statement.setdefault((number, index), []).append((point, spot))
                    self._invalidate_statement((number, index))

    def _invalidate_statement(self, statement: tuple[int, int]) -> None:
        for key in [key for key in self._tested if key[:2] == statement]:
            del self._tested[key]

    def _lines_of(self, point: FileBreakpoint) -> set[int]:
        lines = {spot.line for source in self.sources for spot in source.find(point.place)}
        return lines | {point.place} if isinstance(point.place, int) else lines

    def reload_text(self) -> None:
        """The file may have another text by now."""
        texts = {source.text for source in self.sources}
        for source in read_texts(self.filename):
            if source.text not in texts:
                self.sources.append(source)
                for point in self.points.values():
                    self._sort_in(point, [len(self.sources) - 1])
        self._lines = sorted(line for point in self.points.values() for line in self._lines_of(point))
        self._settled.clear()

    # ------------------------------------------------------------------ where
    def spots(self, place: int | str) -> list[InsertionPoint]:
        """The insertion points for a line or a name in the newest text that has code there."""
        return next((found for source in reversed(self.sources) if (found := source.find(place))), [])

    def nearest(self, line: int, everywhere: bool = False) -> int | None:
        """The nearest line with code: of a function, or `everywhere`."""
        return self.sources[-1].nearest(line, everywhere) if self.sources else None

    def check(self, point: FileBreakpoint) -> None:
        """Of a file that is not loaded: refuse a condition that could not be tested at any of its places.

        Raises:
            CommandError: A name is nothing there.
        """
        for source in reversed(self.sources):
            errors = []
            spots = source.find(point.place)
            for spot in spots:
                try:
                    self._insertion(point, spot, source, 0)
                except CommandError as error:
                    errors.append(error)
            if spots:
                if len(errors) == len(spots):
                    raise errors[0]
                return

    # ------------------------------------------------------------------ code
    def has_breakpoint_in(self, code: CodeType) -> bool:
        """Whether a breakpoint is on a line of it."""
        first = bisect_left(self._lines, code.co_firstlineno)
        return first < len(self._lines) and self._lines[first] <= self._last_line(code)

    def version(self, original: CodeType) -> CodeType:
        """The code for a function that has this one: the same object if no test is in it."""
        known = self._settled.get(id(original))
        if known is not None:
            return known[1]
        code = self._find(original) if self.has_breakpoint_in(original) else original
        if id(original) not in self.loose:
            self._settled[id(original)] = original, code
        return code

    def _find(self, original: CodeType) -> CodeType:
        for number, source in enumerate(self.sources):
            index = source.top(original.co_firstlineno)
            if index is None:
                continue
            flags = original.co_flags & _FUTURE
            place = self._place(original, number, index, flags)
            if place >= 0:
                tested = self._with_tests(number, index, flags)
                if tested is None:
                    return original
                changed = next(islice(nested_codes(tested.code), place, None))
                return merge_code(original, changed, tested.marks, tested.made)
        if not is_block(original):               # it belongs to the code around it
            self.loose[id(original)] = original
        return original

    def load(self, original: CodeType) -> CodeType:
        """The code to run instead of the module's; the same object if no test is in it."""
        number = self._source_of(original)
        if number is None:
            self.reload_text()
            number = self._source_of(original)
        if number is None:
            return original
        source = self.sources[number]
        tested, marks = original, dict[str, Any]()
        if insertions := self._insertions(self._in_module.get(number, ()), source, original.co_flags & _FUTURE):
            tested, marks = insert_tests(source.statements, self.filename, 0, insertions)
        self._loaded = []
        return merge_module_code(original, tested, marks, self._loaded, self.version)

    @property
    def loaded(self) -> bool:
        """Whether the module was loaded with tests."""
        return bool(self._loaded)

    def _source_of(self, original: CodeType) -> int | None:
        """The index of the text that the module was compiled from."""
        for number, source in enumerate(self.sources):
            with suppress(SyntaxError, ValueError, RecursionError):     # source that never ran
                if same_code(source.module(), original):
                    return number
        return None

    def versions(self) -> list[PatchedCode]:
        """Everything made for the breakpoints that are set now."""
        return [*self._loaded, *(version for tested in self._tested.values() for version in tested.made.values())]

    def _place(self, original: CodeType, number: int, index: int, flags: int) -> int:
        """The index of the code among those of its statement; -1 if it was compiled from another text."""
        key = id(original), number, index, flags
        known = self._places.get(key)
        if known is None:
            base = self.sources[number].base(index, flags)
            place = next((i for i, code in enumerate(nested_codes(base)) if code.co_firstlineno == original.co_firstlineno
                          and code.co_name == original.co_name and same_code(code, original)), -1)
            known = self._places[key] = original, place
        return known[1]

    def _with_tests(self, number: int, index: int, flags: int) -> _TestedStatement | None:
        """A statement with the tests of its breakpoints, None if it has none."""
        source = self.sources[number]
        insertion_places = self._in_statement.get((number, index), ())
        key = number, index, flags
        statement = self._tested.get(key)
        if statement is not None:
            return statement
        insertions = self._insertions(insertion_places, source, flags)
        if not insertions:
            return None
        statements = [*source.imported, source.statements[index]]
        code, marks = insert_tests(statements, self.filename, flags, insertions)
        if not same_interface(source.base(index, flags), code):
            insertions = [replace(insertion, variables=(), reads_frame=insertion.line_breakpoint.condition is not None)
                          for insertion in insertions]
            code, marks = insert_tests(statements, self.filename, flags, insertions)
        if not same_interface(source.base(index, flags), code):
            numbers = [point.number for point, _ in insertion_places]
            raise AssertionError(f'tests of {numbers} change the variables of {self.filename}')
        statement = self._tested[key] = _TestedStatement(code, marks)
        return statement

    def _insertions(self, places: Iterable[tuple[FileBreakpoint, InsertionPoint]], source: ModuleSource,
                    flags: int) -> list[Insertion]:
        """The tests at these places; breakpoints that cannot be tested there are `refused`."""
        insertions = []
        for point, spot in places:
            try:
                insertions.append(self._insertion(point, spot, source, flags))
            except CommandError as error:
                self.refused[point.number] = str(error)
            else:
                self.refused.pop(point.number, None)
        return insertions

    def _insertion(self, point: FileBreakpoint, spot: InsertionPoint, source: ModuleSource, flags: int) -> Insertion:
        condition = point.line_breakpoint.condition
        index = source.top(spot.line)
        if condition is None or index is None:
            return Insertion(spot, point.line_breakpoint, {})
        base = source.base(index, flags)
        words = vocabulary_for(condition, spot, base, self.spaces, source.assigned_names, self._vocabulary)
        code = code_of(spot.function, base) if spot.function is not None else None
        return Insertion(spot, point.line_breakpoint, words, local_variables(code) if code is not None else ())

    def _last_line(self, code: CodeType) -> int:
        last = self._last.get(id(code))
        if last is None:
            last = self._last[id(code)] = code, last_line(code)
        return last[1]
