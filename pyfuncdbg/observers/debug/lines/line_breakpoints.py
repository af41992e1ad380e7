"""Line breakpoints: tests compiled into the functions of the program, and put back; also where functions of a name begin.

`Breakpoints` sets and clears them on any thread; the debugger calls `look_for_new_code` at calls. The tests run on the
program's threads at the program's speed: see `line_breakpoint`.
"""
# long: one table of what is set, which each of its ways in brings up to date under one lock
from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.source_map import is_generated, program_code
from pyfuncdbg.observers.debug.lines.breakpoint_file import BreakpointFile, FileBreakpoint
from pyfuncdbg.observers.debug.lines.file_lookup import find_on_path, loaded_filename, matches_name, unknown_file_text
from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
from pyfuncdbg.observers.debug.lines.inserted_test import LineBreakpoint, OnHit
from pyfuncdbg.observers.debug.lines.insertion_point import qualified_name
from pyfuncdbg.observers.debug.lines.installer import Installation
from pyfuncdbg.observers.debug.lines.live_functions import LiveFunctions, running_frames
from pyfuncdbg.observers.debug.lines.name_resolution import function_names
from pyfuncdbg.observers.debug.lines.sys_monitoring import MonitoringWatcher, Watch
from pyfuncdbg.observers.debug.lines.trace_function import tracer
from pyfuncdbg.observers.debug.lines.unmatched_source import check_names

How = Literal['compiled', 'monitored', 'traced', 'pending']
_MONITORING = hasattr(sys, 'monitoring')
_FRESH = 0.5
"""Seconds for which a scan of the heap serves further breakpoints; the next call of a wrapped function scans again."""

_MANY = 20


@dataclass(frozen=True, slots=True)
class Placement:
    """Placement of a line breakpoint.

    Attributes:
        how: Compiled into the function; watched by `sys.monitoring` or a trace function; or its code does not exist yet.
        filename: As in the code objects.
        line: On which it stops; a blank line means the next statement.
        function: Its qualified name, '' if unknown.
        note: What the user should know, '' mostly.
    """

    how: How
    filename: str
    line: int
    function: str
    note: str = ''


class LineBreakpoints:
    """All line breakpoints of the process.

    Attributes:
        waiting: Whether `look_for_new_code` should be called at every call, not only for code that was not seen before.
    """

    def __init__(self, vocabulary: Mapping[str, Callable[..., Any]]) -> None:
        self._vocabulary = vocabulary
        self._lock = new_rlock()
        self._files: dict[str, Installation] = {}
        self._points: dict[int, tuple[Installation, FileBreakpoint, str]] = {}
        self._named: dict[int, FileBreakpoint] = {}
        self.waiting = False
        self._placed: dict[int, Placement] = {}
        self._monitor = MonitoringWatcher()
        self._traced = False
        self._live_functions: LiveFunctions | None = None
        self._dirty = False
        self._modules = 0
        self._cost = self._asked = self._asking = 0.0
        self._seen: dict[int, weakref.ref[CodeType]] = {}

    # ------------------------------------------------------------------ set and clear
    def set(self, number: int, filename: str, line: int, condition: str | InlineCondition | None,
            on_hit: OnHit) -> Placement:
        """Stop at a line.

        Args:
            number: By which it is cleared.
            filename: As the user knows it.
            line: In it.
            condition: Of the function's names; None: always.
            on_hit: Called inside of the user's frame, just before the line, on the thread that came to it; with what the
                condition raised, if it did. `frame.f_lineno` is None then: the test has no line.

        Raises:
            CommandError: No such line, or a condition that cannot be tested there; nothing has changed then.
        """
        parsed = InlineCondition(condition) if isinstance(condition, str) else condition
        with self._lock:
            if number in self._points:
                raise CommandError(f'there is a line breakpoint {number} already')
            live_functions = self._look(_FRESH)
            if loaded_filename(filename, _filenames(live_functions)) is None:
                live_functions = self._look(0)
            names = _filenames(live_functions)
            name = loaded_filename(filename, names) or find_on_path(filename) or filename
            installation = self._files.get(name) or Installation(BreakpointFile(name, self._vocabulary), self._wake)
            line_breakpoint = LineBreakpoint(number, parsed, on_hit, f'{os.path.basename(name)}:{line}', self._vocabulary)
            point = FileBreakpoint(number, line, line_breakpoint)
            installation.file.add(point)
            self._files[name] = installation
            self._points[number] = installation, point, filename
            try:
                self._try(installation, point, live_functions, name in names)
            except CommandError:
                self.clear(number)
                raise
            self._sum_up()
            return self._placed[number]

    def set_function(self, number: int, name: str, on_hit: OnHit) -> None:
        """Report each start of the program's functions of a name or qualified name, also of later ones.

        Args:
            number: By which it is cleared.
            name: Of the functions.
            on_hit: As in `set`, before the first line of the function.
        """
        with self._lock:
            point = self._named[number] = FileBreakpoint(number, name,
                                                         LineBreakpoint(number, None, on_hit, name, self._vocabulary))
            live_functions = self._look(_FRESH)
            bodies = [activation.frame.f_code for activation in running_frames()
                      if activation.frame.f_code.co_name == '<module>']
            running_now = {code.co_filename for code in bodies if self._has_named(code, point)}
            filenames = live_functions.named(name) | running_now
            self._install(live_functions, *(self._with_named(filename, point) for filename in filenames))

    def functions(self, number: int) -> list[tuple[str, int, str]]:
        """(file, line, qualified name) of each function whose beginnings are watched."""
        with self._lock:
            return [(name, spot.scope[-1].lineno, qualified_name(spot.scope))  # type: ignore[attr-defined]
                    for name, known in self._files.items() if (point := known.file.points.get(number)) is not None
                    for spot in known.file.spots(point.place)]

    def _has_named(self, code: CodeType, point: FileBreakpoint) -> bool:
        return (not is_library(code.co_filename) and not is_machinery(code.co_filename)
                and str(point.place) in function_names(code))

    def _with_named(self, filename: str, point: FileBreakpoint) -> Installation:
        installation = self._files.get(filename) or Installation(BreakpointFile(filename, self._vocabulary), self._wake)
        self._files[filename] = installation
        if point.number not in installation.file.points:
            installation.file.add(point)
        return installation

    def _clear_function(self, number: int) -> None:
        self._named.pop(number).line_breakpoint.live = False
        concerned = [known for known in self._files.values() if number in known.file.points]
        for installation in concerned:
            installation.file.remove(number)
        self._install(self._look(0 if any(known.has_copies() for known in concerned) else None), *concerned)
        for installation in concerned:
            if not installation.file.points:
                self._files.pop(installation.file.filename, None)

    def clear(self, number: int) -> None:
        """Stop there no more; functions without breakpoints have their own code again. Unknown numbers are ignored."""
        with self._lock:
            if number in self._named:
                self._clear_function(number)
                return
            installation, point, _ = self._points.pop(number, (None, None, ''))
            if installation is None or point is None:
                return
            point.line_breakpoint.live = False
            self._placed.pop(number, None)
            if number in installation.file.points:
                installation.file.remove(number)
            self._install(self._look(0 if installation.has_copies() else None), installation)
            if not installation.file.points:
                self._files.pop(installation.file.filename, None)
            self._sum_up()

    def placement(self, number: int) -> Placement:
        """The current placement of a breakpoint.

        Raises:
            CommandError: There is none of that number.
        """
        try:
            return self._placed[number]
        except KeyError:
            raise CommandError(f'no line breakpoint has the number {number}') from None

    def was_reached(self, number: int) -> bool:
        """Whether a thread has come to the line of one with a condition, since that was set."""
        point = self._points.get(number)
        return point is not None and point[1].line_breakpoint.was_reached

    # ------------------------------------------------------------------ where modules are loaded
    def module_code(self, code: CodeType) -> CodeType:
        """The code to run instead of a module's: the same with tests, for what it does itself and for the functions that it
        makes, so that none of their calls is missed."""
        if not (self._points or self._named) or is_machinery(code.co_filename):
            return code
        try:
            with self._lock:
                return self._loaded(code)
        except Exception as ours:               # an internal error must not prevent the program from loading a module
            report_failure(f'breakpoints in {os.path.basename(code.co_filename)} wait until its functions are there', ours)
            return code

    def _loaded(self, code: CodeType) -> CodeType:
        name = code.co_filename
        for number, placed in list(self._placed.items()):
            installation, point, typed = self._points[number]
            waits = placed.how == 'pending' and number in installation.file.points
            if waits and installation.file.filename != name and matches_name(typed, name):
                self._move_to(name, number)
        for point in self._named.values():
            if self._has_named(code, point):
                self._with_named(name, point)
        concerned = self._files.get(name)
        if concerned is None:
            return code
        new_code = concerned.load(code)
        self._live_functions = None                 # functions come into being now
        for point in _of_lines(concerned):
            try:
                self._settle(concerned, point, is_loaded=False)
            except CommandError as error:
                self._give_up(point, error)
        self._sum_up()
        return new_code

    # ------------------------------------------------------------------ at calls
    def look_for_new_code(self, code: CodeType | None = None) -> bool:
        """Find code that came into being since: functions made later, modules imported later. Called at calls.

        Args:
            code: Of the function that is about to be called.

        Returns:
            Whether functions got tests, or lost them.
        """
        if not self._files:
            return False
        if self._traced and tracer.has_unseen_watch:
            tracer.join([])
        if not self._has_changed(code):
            return False
        with self._lock:
            if code is not None and self._knows(code) and not self._has_changed(code):
                return False                    # another thread has looked while this one waited for it
            self._modules = len(sys.modules)
            before = dict(self._placed)
            live_functions = self._look(0)
            self._move(_filenames(live_functions))
            tested = False
            for installation in list(self._files.values()):
                tested |= self._install(live_functions, installation)
                for point in _of_lines(installation):
                    try:
                        file = installation.file
                        self._settle(installation, point, bool(file.sources) or file.filename in _filenames(live_functions))
                    except CommandError as error:
                        self._give_up(point, error)
            self._sum_up()
            if code is not None:
                self._seen[id(code)] = weakref.ref(code)        # last: other threads wait until here
            return tested or self._placed != before

    def _knows(self, code: CodeType) -> bool:
        seen = self._seen.get(id(code))
        return seen is not None and seen() is code

    def _has_changed(self, code: CodeType | None) -> bool:
        if self._dirty or any(known.stale for known in list(self._files.values())):
            return True
        if not _MONITORING and self._made_again():
            return True
        waits = any(placed.how == 'pending' for placed in list(self._placed.values()))
        if code is not None and not self._knows(code):
            concerned = self._files.get(program_code(code).co_filename)
            if waits or (concerned is not None and (self._points or not concerned.file.loaded or is_generated(code))):
                return True
            self._seen[id(code)] = weakref.ref(code)
        if not waits:
            return False
        live_functions = self._live_functions
        age = time.monotonic() - live_functions.made if live_functions is not None else 1e9
        return len(sys.modules) != self._modules or age > 50 * self._cost      # 2 % of the time at most

    def _made_again(self) -> bool:
        """Whether functions were made from code that has tests; of many breakpoints asked for 2 % of the time only."""
        now = time.perf_counter()
        if len(self._placed) > _MANY and now - self._asked < 50 * self._asking:
            return False
        has_new = any(known.has_new_references() for known in list(self._files.values()))
        self._asked = time.perf_counter()
        self._asking = self._asked - now
        return has_new

    # ------------------------------------------------------------------ under the lock
    def _sum_up(self) -> None:
        stale = any(known.stale for known in self._files.values())
        waits = any(placed.how == 'pending' for placed in self._placed.values())
        self.waiting = bool(self._points) and (self._dirty or not _MONITORING or self._traced or stale or waits)

    def _wake(self) -> None:
        """A function with tests has gone; on whatever thread drops it."""
        self.waiting = True

    def _look(self, age: float | None) -> LiveFunctions:
        """The heap, as it was at most `age` seconds ago; None: at any time."""
        live_functions = self._live_functions
        now = time.monotonic()
        if live_functions is not None and (age is None or now - live_functions.made < age):
            self._dirty |= age is not None
            return live_functions
        self._live_functions = live_functions = LiveFunctions()
        self._cost = time.monotonic() - now
        self._dirty = False
        return live_functions

    def _install(self, live_functions: LiveFunctions, *installations: Installation) -> bool:
        """Bring files up to date, and watch what has to be watched in all that are known; whether functions have tests."""
        tested = sum(installation.install(live_functions) for installation in installations)
        watch: Watch = {}
        for known in {*self._files.values(), *installations}:
            watch |= known.watch(live_functions)
        self._traced = not (_MONITORING and self._monitor.watch(watch))
        tracer.watch(watch, always=self._traced and any(known.unmade or known.copied for known in self._files.values()))
        if self._traced:
            for installation in installations:
                tracer.join(live_functions.suspended_frames(installation.file.filename))
        del watch                               # it refers to code
        for installation in installations:
            installation.count()
        return bool(tested)

    def _try(self, installation: Installation, point: FileBreakpoint, live_functions: LiveFunctions,
             is_loaded: bool) -> None:
        """Place a new breakpoint; where an older scan of the heap lacks its code, the heap is scanned again.

        Raises:
            CommandError: It can be nowhere.
        """
        self._install(live_functions, installation)
        try:
            self._settle(installation, point, is_loaded)
        except CommandError:
            if not self._dirty:
                raise
        if self._dirty and (point.number not in self._placed or self._placed[point.number].how == 'pending'):
            self._install(self._look(0), installation)
            self._settle(installation, point, is_loaded)

    def _settle(self, installation: Installation, point: FileBreakpoint, is_loaded: bool) -> None:
        """Say where a breakpoint on a line is.

        Raises:
            CommandError: It can be nowhere.
        """
        file, line = installation.file, int(point.place)
        spots = file.spots(line)
        inside = [spot for spot in spots if spot.function is not None]
        watched: How = 'traced' if self._traced else 'monitored'
        number = point.number
        if any(number in version.numbers for version in file.versions()):
            runs = f'calls that have begun are {watched} until they end' if number in installation.running else ''
            if maker := installation.copied.get(number):
                runs = '; '.join(filter(None, (runs, f'in the copy of it that {maker} made the line is {watched}')))
            tested = (inside or spots)[0]
            self._placed[number] = Placement('compiled', file.filename, tested.line, qualified_name(tested.scope), runs)
        elif number in file.refused:
            raise CommandError(file.refused[number])
        elif number in installation.unmade:
            code, line = installation.unmade[number]
            if point.line_breakpoint.condition is not None:
                check_names(point.line_breakpoint.condition, code, file.spaces, self._vocabulary)
            why = ('its source is missing or was changed after it was loaded' if installation.file.loose
                   else 'it is at module level, which runs already')
            self._placed[number] = Placement(watched, file.filename, line, code.co_qualname,
                                             f'not compiled in: {why}')
        elif not is_loaded and not os.path.isfile(file.filename):
            note = unknown_file_text(file.filename, _filenames(self._look(None)))
            self._placed[number] = Placement('pending', file.filename, line, '', note)
        elif not file.sources or (is_loaded and not inside) or (not spots):
            self._refuse(file, point, is_loaded)
        else:
            file.check(point)
            note = 'its function does not exist yet' if is_loaded else 'the file is not loaded yet'
            self._placed[number] = Placement('pending', file.filename, spots[0].line, qualified_name(spots[0].scope), note)

    def _refuse(self, file: BreakpointFile, point: FileBreakpoint, is_loaded: bool) -> None:
        name, line = os.path.basename(file.filename), int(point.place)
        if not file.sources:
            raise CommandError(f'{name} has no source, and no code of it is known that has a line {line}.')
        if not is_loaded:
            nearest = file.nearest(line, everywhere=True)
            raise CommandError(f'line {line} of {name} has no code.'
                               f'{f" The nearest line with code is {nearest}." if nearest else ""}')
        where = ('is at module level, which has run already' if file.spots(line) else 'has no code of a function')
        nearest = file.nearest(line)
        hint = f' The nearest line with code of a function is {nearest}.' if nearest else ' No function is in it.'
        raise CommandError(f'line {line} of {name} {where}.{hint}')

    def _move(self, names: Set[str]) -> None:
        """Files that were waited for have perhaps been loaded, under the name that the program uses."""
        for number, placed in list(self._placed.items()):
            installation, point, typed = self._points[number]
            if placed.how != 'pending' or installation.file.filename in names or number not in installation.file.points:
                continue
            try:
                name = loaded_filename(typed, names)
            except CommandError as error:       # several files of that name by now
                self._give_up(point, error)
                continue
            if name is not None:
                self._move_to(name, number)

    def _move_to(self, name: str, number: int) -> None:
        installation, point, typed = self._points[number]
        installation.file.remove(number)
        if not installation.file.points:
            self._files.pop(installation.file.filename, None)
        installation = self._files.setdefault(name, Installation(BreakpointFile(name, self._vocabulary), self._wake))
        installation.file.add(point)
        self._points[number] = installation, point, typed

    def _give_up(self, point: FileBreakpoint, error: CommandError) -> None:
        """A breakpoint that waited, or whose file was loaded again, cannot be tested: it is listed with the reason."""
        installation = self._points[point.number][0]
        before = self._placed[point.number]
        point.line_breakpoint.live = False
        installation.file.remove(point.number)
        self._install(self._look(None), installation)
        note = f'cannot be set: {error}'
        self._placed[point.number] = Placement('pending', before.filename, before.line, before.function, note)
        report_failure(f'breakpoint {point.number} at {os.path.basename(before.filename)}:{before.line} cannot be set',
                       error)


def _of_lines(installation: Installation) -> list[FileBreakpoint]:
    """Its breakpoints on lines, not those on functions."""
    return [point for point in installation.file.points.values() if isinstance(point.place, int)]


def _filenames(live_functions: LiveFunctions) -> Set[str]:
    """The files of the program's functions and running modules."""
    return live_functions.filenames | {name for activation in running_frames()
                                       if not is_machinery(name := activation.frame.f_code.co_filename)}
