"""Entry of the breakpoint table: a breakpoint with its count, its tests by site, and its line.

Belongs to the table in `breakpoints.table`, under whose lock it is changed; hits come on the threads of calls and lines. Of
a breakpoint on functions that the program calls itself it knows where each begins, with the condition on its variables;
that is asked on the threads that come to such a function.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import Call, CallSite, current, in_reexecution
from pyfuncdbg.hooks.call_frames import is_function_frame
from pyfuncdbg.hooks.chain import current_call
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hooks.source_map import line_of
from pyfuncdbg.observers.debug.breakpoints.actions import LineSnaps, log, variables
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint, Hit, HitCount
from pyfuncdbg.observers.debug.breakpoints.known_sites import SiteCatalogue
from pyfuncdbg.observers.debug.breakpoints.site_tests import SiteTest
from pyfuncdbg.observers.debug.breakpoints.spec import Spec
from pyfuncdbg.observers.debug.conditions.compiled_expression import UNLESS_PARAMETER
from pyfuncdbg.observers.debug.conditions.enclosing_names import enclosing_getter
from pyfuncdbg.observers.debug.conditions.function_names import function_names
from pyfuncdbg.observers.debug.conditions.function_parameters import array_reader, parameter_getter, parameter_names
from pyfuncdbg.observers.debug.conditions.line_condition import LineCondition
from pyfuncdbg.observers.debug.conditions.past_calls import output_value
from pyfuncdbg.observers.debug.conditions.predicate import condition_text
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.processes import child_hits
from pyfuncdbg.observers.record.recorder import Recorder, recorders

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
    from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints, Placement


class FunctionCondition:
    """The condition of a breakpoint on functions; without one it always holds.

    Attributes:
        evaluated: Whether it was evaluated since it is this one.
    """

    def __init__(self, condition: InlineCondition | None = None) -> None:
        self._condition = condition
        self.evaluated = False

    @property
    def names(self) -> frozenset[str]:
        """The names that it reads."""
        return self._condition.names if self._condition is not None else frozenset()

    def holds(self, frame: FrameType) -> bool:
        """Whether it is true for the variables of a frame; not where a name in it is none, as of another function.

        Raises:
            Exception: What it raises.
        """
        if self._condition is None:
            return True
        from pyfuncdbg.observers.debug.lines.inline_condition import UnsetError
        from pyfuncdbg.observers.debug.lines.name_resolution import class_around
        self.evaluated = True
        try:
            return self._condition.value(frame, VOCABULARY, class_around(frame.f_code))
        except UnsetError:
            return False


_OF_CALLS = frozenset(('out', 'inputs', 'call', 'history', 'error', 'changed', 'slow', 'p95', 'element'))


def function_condition(one: Breakpoint) -> FunctionCondition | None:
    """The condition of a breakpoint that may be on functions which the program calls itself; None if it can be on none."""
    if one.boundary or one.timing != 'before' or not may_name_functions(one.spec):
        return None
    if one.when is None:
        return FunctionCondition()
    from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
    try:
        read = LineCondition(one.when)
        condition = InlineCondition(read.expression, read.functions, condition_text(one.when))
    except CommandError:                        # not an expression over variables
        return None
    return None if condition.bare or condition.names & _OF_CALLS else FunctionCondition(condition)


def may_name_functions(spec: Spec) -> bool:
    """Whether functions of the program can have the name: an identifier, or several with dots between them."""
    return spec.kind == 'name' and spec.ordinal is None and all(part.isidentifier() for part in spec.name.split('.'))


def is_of_call(spec: Spec, frame: FrameType) -> bool:
    """Whether a function begins that a call of a site has called, which is where that call stops: the wrapped function
    itself, or the one that a decorator of the same name has put around it."""
    if is_function_frame(frame):
        return True
    call = current.get()
    if call is None or call.site.kind != 'python' or not spec.means_function(call.site):
        return False
    outer = frame.f_back
    while outer is not None and not is_function_frame(outer):
        outer = outer.f_back
    return outer is not None and original_code(outer.f_code) is not original_code(frame.f_code)


class DebuggedProgram(Protocol):
    """Protocol of the debugger for breakpoints that were hit."""

    @property
    def watching(self) -> bool:
        """Whether the calling thread is debugged now: not at a prompt, and debugging has not ended."""

    def stop_here(self, frame: FrameType, reason: str) -> None:
        """Stop at the line that this frame is at."""

    def stop_at_start(self, frame: FrameType, reason: str) -> None:
        """Stop where the function of this frame begins, before any line of it."""

    def recorder(self) -> Recorder:
        """A recording that is on."""


_SITES = 1 << 16


class BreakpointEntry:
    """One breakpoint and its mutable state in the table.

    Attributes:
        breakpoint: Its current version.
        sites: Names of the sites where it is tested, as far as they were called.
        parameters: By the functions that it is tested at, as far as they are known.
        evaluated: Whether its condition was evaluated at a call, since it is this one.
        commands: Lines to carry out where it stops.
        children_before: Number of child processes when it was set.
    """

    def __init__(self, breakpoint: Breakpoint, program: DebuggedProgram, lines: Callable[[], LineBreakpoints],
                 disable: Callable[[int], bool]) -> None:
        self.breakpoint = breakpoint
        self._program = program
        self._lines = lines
        self._disable = disable
        self._count = HitCount()
        self.children_before = child_hits.children()
        self._armed: dict[int, SiteTest] = {}
        self.sites: dict[str, None] = {}
        self.evaluated = False
        self.commands: tuple[str, ...] = ()
        self.parameters: dict[str, tuple[str, ...]] = {}
        self._snaps = LineSnaps()
        self._named: frozenset[str] = frozenset()
        self._functions: FunctionCondition | None = None
        self._is_node = False

    @property
    def hits(self) -> int:
        """The number of its hits."""
        return self._count.hits

    @property
    def failures(self) -> tuple[int, str]:
        """The number of times that its condition has raised, and the first error."""
        return self._count.failures, self._count.failure

    # ------------------------------------------------------------------ where
    def is_tested_at(self, site: CallSite, known: SiteCatalogue) -> bool:
        """Whether it is tested at calls of a site."""
        one, kind = self.breakpoint, site.kind
        if one.spec.kind == 'line':
            return False
        if one.timing == 'gradient':
            if kind != 'gradient' or site.attrs.get('traced'):      # the step that is traced has no values yet
                return False
            forward = str(site.attrs.get('forward', ''))
            return one.spec.means(site) or known.means_node(one.spec, forward)
        if one.spec.kind == 'call':
            return kind != 'run'
        if kind == 'run':
            return one.spec.name == site.name and not one.spec.function     # a glob means what is in runs
        # A wrapped function's node is a call of kind 'op' too, around the Python call, which is the one to stop at.
        return kind != 'gradient' and not (kind == 'op' and 'token' in site.attrs) and one.spec.means(site)

    def at(self, site: CallSite) -> SiteTest:
        """It, as it is tested at a site; what is remembered there stays until the condition changes."""
        armed = self._armed.get(site.id)
        if armed is None:
            if len(self._armed) >= _SITES:
                self._armed.clear()
            armed = self._armed[site.id] = SiteTest(self, site)
            self.sites[site.name] = None
            self._is_node |= site.kind != 'run' and not self.breakpoint.spec.means_function(site)
            for function in function_names(site.function)[-1:]:
                self.parameters[function] = tuple(parameter_names(site.function) or ())
        return armed

    def elsewhere(self, name: str | None) -> bool:
        """Whether another function that is meant has a parameter of a name."""
        return any(name in parameters for parameters in self.parameters.values())

    def forget_sites(self) -> None:
        """Forget the sites: their functions were replaced."""
        self._armed.clear()

    # ------------------------------------------------------------------ changed
    def change(self, **fields: Any) -> None:
        """Replace fields of the breakpoint.

        Raises:
            CommandError: Its line cannot be set so; nothing is changed.
        """
        old = self.breakpoint
        new = replace(old, **fields)
        if old.spec.kind == 'line' and (old.enabled, old.when) != (new.enabled, new.when):
            self._move_line(old, new)
        self.breakpoint = new
        if old.spec.kind == 'name' and (old.enabled, old.when, old.timing) != (new.enabled, new.when, new.timing):
            self._set_functions()
        if old.when != new.when or old.timing != new.timing:
            self._armed.clear()
            self._count.forget_failures()
            self.evaluated = False
        if new.enabled and not old.enabled:
            self._count.arm()

    def place(self) -> None:
        """Set it on its line, if it is a line breakpoint.

        Raises:
            CommandError: There is no such line, or its condition makes no sense there.
        """
        if self.breakpoint.spec.kind == 'line' and self.breakpoint.enabled:
            self._set_line(self.breakpoint)
        self._set_functions()

    def _set_functions(self) -> None:
        """Set it at the start of the program's functions of its name."""
        one = self.breakpoint
        if self._functions is not None:
            self._lines().clear(one.number)
        self._functions = function_condition(one) if one.enabled else None
        if self._functions is not None:
            self._lines().set_function(one.number, one.spec.name, self._at_function)

    @property
    def functions(self) -> list[tuple[str, int, str]]:
        """(file, line, qualified name) of the program's functions that it is set on, wrapped or not."""
        return self._lines().functions(self.breakpoint.number) if self._functions is not None else []

    @property
    def placement(self) -> Placement | None:
        """The placement of its line; None for a breakpoint on calls, and while it is disabled."""
        if self.breakpoint.spec.kind != 'line' or not self.breakpoint.enabled:
            return None
        return self._lines().placement(self.breakpoint.number)

    @property
    def was_reached(self) -> bool:
        """Whether the program has come to where its condition is tested."""
        if self.breakpoint.spec.kind == 'line':
            return self._lines().was_reached(self.breakpoint.number)
        return self.evaluated or (self._functions is not None and self._functions.evaluated)

    def _move_line(self, old: Breakpoint, new: Breakpoint) -> None:
        if old.enabled:
            self._lines().clear(old.number)
        if new.enabled:
            try:
                self._set_line(new)
            except BaseException:
                if old.enabled:
                    self._set_line(old)
                raise

    def _set_line(self, one: Breakpoint) -> None:
        when = one.when
        # Loaded only with line breakpoints.
        from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
        condition = None
        if isinstance(when, LineCondition):
            condition = InlineCondition(when.expression, when.functions, condition_text(when))
        self._lines().set(one.number, one.spec.name, one.spec.number, condition, self._at_line)
        self._named = condition.names if condition is not None else frozenset()

    # ------------------------------------------------------------------ hit
    def count_hit(self, call: Call | None) -> bool:
        """Count a hit in a call, if it is in one; whether to act at it."""
        acts = self._count.count_hit(self.breakpoint, call)
        child_hits.note_hit(self.breakpoint.number)
        return self._disable(self.breakpoint.number) if acts and self.breakpoint.once else acts

    def count_failure(self, error: Exception) -> bool:
        """Count an error of the condition; whether to stop at it."""
        return self._count.count_failure(error)

    def _at_line(self, frame: FrameType, error: Exception | None) -> None:
        """A thread has come to the line, and the condition is true or has raised."""
        one = self.breakpoint
        if not one.enabled or not self._program.watching or in_reexecution() or not one.spec.is_here:
            return
        if not (self.count_hit(current.get()) if error is None else self.count_failure(error)):
            return
        if error is None and one.do == 'log':
            values = {name: value for name, value in variables(frame).items() if name in self._named or not self._named}
            log(one, f'{notebook_cell.display_name(one.spec.name)}:{one.spec.number}', current_call(), values)
            return
        if error is None and one.do == 'snap':
            self._snaps.take(frame, one.spec.number, recorders() or (self._program.recorder(),))
            return
        self._program.stop_here(frame, Hit(one, error).reason)

    def _at_function(self, frame: FrameType, error: Exception | None) -> None:
        """A function of its name begins."""
        one, condition = self.breakpoint, self._functions
        if condition is None or (self._is_node and not one.spec.function) or not self._program.watching or in_reexecution():
            return
        if is_of_call(one.spec, frame) or not one.spec.is_here:
            return
        try:
            if not condition.holds(frame):
                return
        except Exception as raised:             # an error of the condition: shown at the stop
            error = raised
        if not (self.count_hit(current.get()) if error is None else self.count_failure(error)):
            return
        if error is None and one.do == 'log':
            named = condition.names
            values = {name: value for name, value in variables(frame).items() if name in named or not named}
            log(one, f'{notebook_cell.display_name(frame.f_code.co_filename)}:{line_of(frame)}', current_call(), values)
        elif error is None and one.do == 'snap':
            self._snaps.take(frame, line_of(frame), recorders() or (self._program.recorder(),))
        else:
            self._program.stop_at_start(frame, Hit(one, error).reason)

    def log(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> None:
        """Write what the condition is about; without one, the parameters."""
        site, when = call.site, self.breakpoint.when
        to_array = array_reader(site)
        expressions = list(when.expressions()) if when is not None else []
        names = [name for expression in expressions
                 for name in expression.parameters] or list(parameter_names(site.function) or ())
        values: dict[str, Any] = {}
        for name in names:
            get = parameter_getter(site, name)
            if get is not None:
                values[name] = get(call)
            elif name not in UNLESS_PARAMETER:
                with suppress(KeyError):        # a name of another function
                    if not callable(value := enclosing_getter(site.function, name)(call)):
                        values[name] = value
        if not values:
            values = {f'inputs[{index}]': to_array(value) for index, value in enumerate(call.inputs[:4])}
        if outputs is not None:
            values['out'] = output_value([to_array(value) for value in outputs])
        if error is not None:
            values['error'] = error
        log(self.breakpoint, f'{site.name}[{call.ordinal}]', call.id, values)

    def snap(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Keep the call whole in every recording that is on; where there is none, in one that begins now."""
        for recorder in recorders() or (self._program.recorder(),):
            recorder.keep(call, inputs, outputs)
