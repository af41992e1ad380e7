"""Installer of tested code in functions. It also restores the program's own code, and lists code that must be watched
unchanged.

Used under the lock of `LineBreakpoints`; other threads may run the functions meanwhile, they finish in the code they began
with.
"""
from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

from pyfuncdbg.hooks.patched_code import original_code, publish_patch
from pyfuncdbg.hooks.source_map import exact_line, maker_of, program_code
from pyfuncdbg.observers.debug.lines.breakpoint_file import BreakpointFile, FileBreakpoint
from pyfuncdbg.observers.debug.lines.inserted_test import LineBreakpoint
from pyfuncdbg.observers.debug.lines.insertion_point import qualified_name
from pyfuncdbg.observers.debug.lines.live_functions import Activation, LiveFunctions, running_frames
from pyfuncdbg.observers.debug.lines.name_resolution import class_around, is_named, nested_codes
from pyfuncdbg.observers.debug.lines.patched_code import PatchedCode
from pyfuncdbg.observers.debug.lines.sys_monitoring import Watch, WatchedCode
from pyfuncdbg.observers.debug.lines.unmatched_source import lines_in, lines_of

_OPTIMIZED = 0x1                # of code flags: functions have it, modules and classes do not
_Lines = dict[int, tuple[tuple[LineBreakpoint, str], ...]]


class Installation:
    """Installed tests in the functions of one file.

    Attributes:
        stale: A function that got code has gone: perhaps the program made another one in its place.
        running: Breakpoints with activations that began without their tests.
        copied: By number of the breakpoint, what made the code from the file's that runs instead: a framework.
        unmade: By number of the breakpoint, lines of code that gets no tests: of modules that run, or of another text.
    """

    def __init__(self, file: BreakpointFile, on_stale: Callable[[], None]) -> None:
        self.file = file
        self._on_stale = on_stale
        self.stale = False
        self.unmade: dict[int, tuple[CodeType, int]] = {}
        self.running: set[int] = set()
        self.copied: dict[int, str] = {}
        self._functions: dict[int, weakref.ref[FunctionType]] = {}
        self._made: list[PatchedCode] = []
        self._older: list[PatchedCode] = []
        self._lines: dict[int, tuple[PatchedCode, _Lines]] = {}
        self._counts: tuple[list[int], list[int]] = [], []

    def install(self, live_functions: LiveFunctions) -> int:
        """Bring every function up to date; how many have tests now."""
        file = self.file
        functions = live_functions.functions(file.filename)
        known = {id(function) for function in functions}
        functions += [function for number, seen in list(self._functions.items())
                      if number not in known and (function := seen()) is not None]
        file.spaces = list({id(function.__globals__): function.__globals__ for function in functions}.values())
        file.loose.clear()
        codes = self._tested_codes(functions)
        if file.loose:
            texts = len(file.sources)
            file.reload_text()
            if len(file.sources) > texts:
                file.loose.clear()
                codes = self._tested_codes(functions)
        self.stale = False
        tested = 0
        before = {id(version.code): version for version in self._older}
        before.update((id(version.code), version) for version in self._made)
        self._publish()
        for function, code in codes:
            if function.__code__ is not code:
                function.__code__ = code
            if original_code(code) is not code:
                tested += 1
                self._keep_in_sight(function)
        current = {id(version.code) for version in self._made}
        in_use = {id(activation.frame.f_code) for activation in self.activations(live_functions)} if before else set()
        self._older = [version for number, version in before.items() if number not in current and number in in_use]
        return tested

    def load(self, code: CodeType) -> CodeType:
        """The code to run instead of that of the file's module; its functions are made with their tests."""
        new_code = self.file.load(code)
        self._publish()
        self.count()
        return new_code

    def _publish(self) -> None:
        self._made = self.file.versions()
        for version in self._made:
            if original_code(version.code) is version.code:
                publish_patch(version.code, version.original)

    def _tested_codes(self, functions: list[FunctionType]) -> list[tuple[FunctionType, CodeType]]:
        return [(function, self.file.version(original_code(function.__code__))) for function in functions]

    def _keep_in_sight(self, function: FunctionType) -> None:
        number = id(function)
        if number in self._functions:
            return

        def gone(_: weakref.ref[FunctionType]) -> None:
            self._functions.pop(number, None)
            self.stale = True
            self._on_stale()
        self._functions[number] = weakref.ref(function, gone)

    # ------------------------------------------------------------------ what is watched as it is
    def activations(self, live_functions: LiveFunctions) -> Iterator[Activation]:
        """Frames of the file that run or wait."""
        name = self.file.filename
        yield from (activation for activation in running_frames() if activation.frame.f_code.co_filename == name)
        yield from (Activation(frame, 0) for frame in live_functions.suspended_frames(name))

    def watch(self, live_functions: LiveFunctions) -> Watch:
        """Code that has no tests, and the lines that count in it."""
        watch: Watch = {}
        self._lines = {id(version): self._lines.get(id(version)) or (version, self._lines_of(version.numbers))
                       for version in self._made}
        for version in self._made:
            _add(watch, version.original, self._lines[id(version)][1])
            for older in self._older:
                if older.original is version.original:
                    _add(watch, older.code, self._lines_of(version.numbers - older.numbers))
        self.unmade = {}
        self.copied = {}
        for code in live_functions.generated_code(self.file.filename):
            self._watch_copy(watch, code)
        activations = list(self.activations(live_functions))
        codes = {id(activation.frame.f_code) for activation in activations}
        self.running = {line_breakpoint.number for number in codes & set(watch)
                        for line_breakpoints in watch[number].lines.values()
                        for line_breakpoint, _ in line_breakpoints}
        tested = frozenset[int]().union(*(version.numbers for version in self._made))
        bodies = [activation.frame.f_code for activation in activations if not activation.frame.f_code.co_flags & _OPTIMIZED]
        for point in self.file.points.values():
            for code in (*self.file.loose.values(), *(bodies if point.number not in tested else ())):
                for found in lines_in(code, self._line_for(point, code)) if point.number not in self.file.refused else ():
                    inner, line = found
                    self.unmade[point.number] = found
                    _add(watch, inner, {line: ((point.line_breakpoint, class_around(inner)),)})
        return watch

    def _watch_copy(self, watch: Watch, generated: CodeType) -> None:
        """Code that a framework runs instead of the program's: its first line of each line with a breakpoint."""
        lines_by_place: dict[tuple[str, int], _Lines] = {}
        for point in self.file.points.values():
            for spot in self.file.spots(point.place):
                lines = lines_by_place.setdefault((qualified_name(spot.scope), spot.line), {})
                lines[point.number] = ((point.line_breakpoint, spot.owner),)
        maker = maker_of(generated)
        for code in (generated, *nested_codes(generated)):
            name = program_code(code).co_qualname
            first: dict[tuple[str, int], int] = {}
            for line in sorted({line for _, _, line in code.co_lines() if line}):
                first.setdefault((name, exact_line(code, line)), line)
            for place, line in first.items():
                lines = lines_by_place.get(place, {})
                self.copied.update(dict.fromkeys(lines, maker))
                _add(watch, code,
                     {line: tuple(one for line_breakpoints in lines.values() for one in line_breakpoints)} if lines else {})

    def _line_for(self, point: FileBreakpoint, code: CodeType) -> int:
        if id(code) in self.file.loose:
            if isinstance(point.place, int):
                return point.place              # the text that is known is not that of the code
            return next((min(lines_of(one)) for one in (code, *nested_codes(code)) if is_named(one, point.place)), 0)
        return next((spot.line for spot in self.file.spots(point.place)),
                    point.place if isinstance(point.place, int) else 0)

    def _lines_of(self, numbers: frozenset[int]) -> _Lines:
        lines: _Lines = {}
        for number in sorted(numbers):
            point = self.file.points[number]
            if isinstance(point.place, str):
                continue                        # an activation that runs already has begun
            for line, owner in dict.fromkeys((spot.line, spot.owner) for spot in self.file.spots(point.place)):
                lines[line] = (*lines.get(line, ()), (point.line_breakpoint, owner))
        return lines

    def has_new_references(self) -> bool:
        """Whether there is a new reference to the program's own code: a `def` that is run again makes a function of it."""
        return self._references('original') != self._counts[0]

    def has_copies(self) -> bool:
        """Whether there may be functions with our code that we did not give it to: closures made since, copies, those of a
        module that was loaded with it."""
        return self.file.loaded or self._references('code') != self._counts[1]

    def count(self) -> None:
        """Remember who refers to code now, when everything is up to date."""
        self._counts = self._references('original'), self._references('code')

    def _references(self, name: str) -> list[int]:
        ours = Counter(id(function.__code__) for seen in list(self._functions.values()) if (function := seen()) is not None)
        codes: list[CodeType] = [getattr(version, name) for version in self._made]
        return [sys.getrefcount(code) - ours[id(code)] for code in codes]


def _add(watch: Watch, code: CodeType, lines: _Lines) -> None:
    if not lines:
        return
    known = watch.get(id(code))
    merged = dict(known.lines) if known is not None else {}
    for line, line_breakpoints in lines.items():
        merged[line] = tuple(dict.fromkeys((*merged.get(line, ()), *line_breakpoints)))
    watch[id(code)] = WatchedCode(code, merged)
