"""The table of breakpoints: what is set, what it matches, how often it was hit.

Set on any thread. `at` is asked on the thread of every call: one look into a dict, which is filled at the first call of a
site and thrown away when breakpoints change.
"""
# long: one table; what sets, changes, tests and counts a breakpoint holds one lock
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks import module_loading, op_names, tracing_notice
from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run
from pyfuncdbg.hooks.chain import Gate
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.breakpoints.breakpoint import ACTIONS, Action, Breakpoint, Hit, Timing, timing_of
from pyfuncdbg.observers.debug.breakpoints.known_sites import KnownSite, SiteCatalogue
from pyfuncdbg.observers.debug.breakpoints.plain_fields import fields_of
from pyfuncdbg.observers.debug.breakpoints.prefilter import make_gate
from pyfuncdbg.observers.debug.breakpoints.site_tests import SiteTests
from pyfuncdbg.observers.debug.breakpoints.spec import Spec, spec
from pyfuncdbg.observers.debug.breakpoints.table_entry import BreakpointEntry, DebuggedProgram
from pyfuncdbg.observers.debug.conditions.enclosing_names import EnclosingNames, enclosing_names
from pyfuncdbg.observers.debug.conditions.function_parameters import current_functions, parameter_names
from pyfuncdbg.observers.debug.conditions.line_condition import LineCondition
from pyfuncdbg.observers.debug.conditions.predicate import Predicate, condition
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.lines.file_lookup import is_same_file
from pyfuncdbg.observers.debug.processes.program_changes import ProgramChanges

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints

Tests = SiteTests

_UNKNOWN: Any = object()
_MOST = 1 << 16
_BREAKPOINT = re.compile(r'breakpoint (\d+)')


class Breakpoints:
    """All breakpoints of the process.

    Attributes:
        known: The sites that were met.
        kinds: The calls that they need, beside those of Python functions.
        last_number: The greatest number that one has had.
    """

    def __init__(self, on_change: Callable[[], None], program: DebuggedProgram,
                 changes: ProgramChanges | None = None) -> None:
        self._on_change = on_change
        self._program = program
        self._changes = changes or ProgramChanges()
        self._lock = new_rlock()
        self._entries: dict[int, BreakpointEntry] = {}
        self._by_site: dict[int, SiteTests | None] = {}
        self._by_run: dict[int, tuple[tuple[CallSite, ...], bool]] = {}
        self.last_number = 0
        self._runs_of_ops = 0
        self._at_lines = False
        self._lines: LineBreakpoints | None = None
        self.known = SiteCatalogue()
        self.kinds: frozenset[Kind] = frozenset()
        op_names.watch(self._settle_again)

    @property
    def at_lines(self) -> bool:
        """Whether one may stop in the function of any call."""
        return self._at_lines

    # ------------------------------------------------------------------ asked at calls
    def at(self, call: Call) -> SiteTests | None:
        """The enabled ones at a call's site, None if there are none."""
        tests: SiteTests | None = self._by_site.get(call.site.id, _UNKNOWN)
        if tests is _UNKNOWN:
            return self._first_call(call)
        if self._lines is not None and self._lines.waiting:
            self._lines.look_for_new_code(getattr(call.site.function, '__code__', None))
        return tests

    def wants(self, site: CallSite, run: Run) -> bool | Gate:
        """Whether calls of a site are needed for any of them; holds until they change."""
        entries = self._enabled_entries()
        if any(entry.breakpoint.spec.kind == 'call' or entry.breakpoint.timing == 'gradient' for entry in entries):
            return True                         # watched calls get ordinals; gradients have their own
        if site.kind == 'python' and any(entry.breakpoint.spec.kind == 'line' for entry in entries):
            return True                         # at a line, any call may be meant
        self._learn_sites(run, site)
        tested_entries = [entry for entry in entries if entry.is_tested_at(site, self.known)]
        if not tested_entries:
            return site.kind == 'run' and self._watches_ops(run)
        for entry in tested_entries:
            entry.at(site)
        return (make_gate(site, tested_entries) or True) if site.kind == 'python' else True

    def begin(self, run: Run) -> bool:
        """A run begins. True if an op of it is to be watched: then its ops are, until `end`."""
        watches = self._watches_ops(run)
        if watches:
            self._count_runs(1)
        return watches

    def _watches_ops(self, run: Run) -> bool:
        """Whether an op of a run is to be watched."""
        sites = run.sites
        cached = self._by_run.get(id(sites))
        if cached is None or cached[0] is not sites:
            self._learn_sites(run)
            entries = self._enabled_entries()
            is_watched = any(site.kind == 'op' and entry.is_tested_at(site, self.known) for site in sites
                             for entry in entries) or (
                any(site.can_be_entered for site in sites)
                and any(self.known.may_be_inner(entry.breakpoint.spec) for entry in entries))
            if len(self._by_run) > 256:
                self._by_run = {}
            cached = self._by_run[id(sites)] = sites, is_watched
        return cached[1]

    def begin_watched_run(self) -> None:
        """A run begins whose ops are all watched, until `end`: one may be set on any of them while it is paused."""
        self._count_runs(1)

    def end(self) -> None:
        """A run is over for which `begin` gave True, or one that was passed to `begin_watched_run`."""
        self._count_runs(-1)

    def _first_call(self, call: Call) -> SiteTests | None:
        """A site is called for the first time since breakpoints were changed."""
        site = call.site
        self._learn_sites(call.run, site)
        if self._lines is not None:
            self._lines.look_for_new_code(getattr(site.function, '__code__', None))
        by_site = self._by_site                 # a change that comes now replaces it, and asks again
        armed = [entry.at(site) for entry in self._enabled_entries() if entry.is_tested_at(site, self.known)]
        tests = SiteTests(armed) if armed else None
        if len(by_site) > _MOST:
            by_site.clear()
        by_site[site.id] = tests
        return tests

    def _learn_sites(self, run: Run, *sites: CallSite) -> None:
        """Add the sites of a run; the name of a Python function then needs no search of runs."""
        before = len(self.known)
        self.known.add_run(run)
        for site in sites:
            self.known.add(site)
        if len(self.known) != before and self._entries:
            with self._lock:
                self._settle()

    def _enabled_entries(self) -> list[BreakpointEntry]:
        return [entry for entry in list(self._entries.values()) if entry.breakpoint.enabled]

    def _count_runs(self, change: int) -> None:
        with self._lock:
            before, self._runs_of_ops = self._runs_of_ops, self._runs_of_ops + change
            if bool(before) != bool(self._runs_of_ops):
                self._settle()

    # ------------------------------------------------------------------ set and changed
    def set(self, place: str | Spec, when: object = None, *, timing: Timing | None = None, do: Action = 'stop',
            once: bool = False, every: int = 1, after: int = 0, enabled: bool = True, number: int = 0) -> Breakpoint:
        """Set a breakpoint.

        Args:
            place: The SPEC; it need not exist yet.
            when: The condition: text, a `Predicate`, a Python function of the call; at a line one of the variables that its
                parameters name. None: always.
            timing: When it is tested; by default where the function begins that is named, before the call of anything else,
                or after it if the condition reads `out`.
            do, once, every, after, enabled: As in `Breakpoint`.
            number: Its number, which none has; 0 for the next one.

        Raises:
            CommandError: One of these makes no sense; nothing is changed.
        """
        where = place if isinstance(place, Spec) else spec(place)
        _check_counts(every, after)
        predicate = self._condition(where, when)
        if do not in ACTIONS:
            raise CommandError(f'no action {do!r}; there are {", ".join(ACTIONS)}.{nearest(str(do), ACTIONS, 1)}')
        chosen = timing_of(where, predicate, timing, do)
        with self._changing():
            number = number or self.last_number + 1
            breakpoint = Breakpoint(number, where, predicate, chosen, do, once, every, after, enabled, timing == 'before')
            entry = BreakpointEntry(breakpoint, self._program, self.lines, self._disable)
            entry.parameters.update({name: site.parameters or () for name, site in self._functions(where).items()})
            self.last_number = max(self.last_number, number)
            entry.place()
            self._entries[number] = entry
            self._notify_change()
            self._tell_set(entry)
        return breakpoint

    def set_fields(self, fields: Mapping[str, Any]) -> Breakpoint:
        """Set a breakpoint of plain fields.

        Args:
            fields: As `plain_fields.fields_of` gives them, and `number` perhaps.

        Raises:
            CommandError: One of them makes no sense; nothing is changed.
        """
        rest = dict(fields)
        commands = rest.pop('commands', [])
        breakpoint = self.set(rest.pop('spec'), rest.pop('if', None), **rest)
        if commands:
            self.set_commands(breakpoint.number, commands)
        return breakpoint

    @property
    def is_shared(self) -> bool:
        """Whether other processes of the program may have them."""
        return self._changes.is_shared

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """A block that changes the table, which is first as in the other processes of the program."""
        with self._changes.changing(), self._lock:      # in this order: what others have changed is made under both
            yield

    def _tell_set(self, entry: BreakpointEntry) -> None:
        """Tell the other processes of a new breakpoint."""
        if self._changes.is_shared:
            try:
                fields = fields_of(entry)
            except CommandError as error:
                say(f'breakpoint {entry.breakpoint.number} is not set in the other processes: {error}, expected a text')
            else:
                self._changes.tell({'change': 'set', 'fields': {**fields, 'number': entry.breakpoint.number}})

    def find_equal(self, where: Spec, when: object, timing: Timing | None, **fields: Any) -> int | None:
        """The number of a breakpoint that is equal to the one that `set` would make; raises as `set` does."""
        predicate = self._condition(where, when)
        chosen = timing_of(where, predicate, timing, fields['do'])
        made = Breakpoint(0, where, predicate, chosen, **fields, boundary=timing == 'before')
        return next((n for n, entry in sorted(self._entries.items()) if entry.breakpoint.cases == made.cases and (
            where.kind != 'line' or is_same_file(entry.breakpoint.spec.name, where.name))), None)

    def check(self, where: Spec, when: object = None, *, timing: Timing | None = None, do: Action = 'stop', every: int = 1,
              after: int = 0, once: bool = False) -> None:
        """Check that a breakpoint could be set; none is.

        Raises:
            CommandError: The condition makes no sense, or the settings do not at this place.
        """
        _check_counts(every, after)
        timing_of(where, self._condition(where, when), timing, do)

    def _condition(self, where: Spec, when: object) -> Predicate | None:
        if when is None or when == '':
            return None
        if where.kind == 'line':
            return LineCondition(when if isinstance(when, str) else condition(when))
        predicate = condition(when)
        functions = self._functions(where)
        scopes = [(site.parameters, site.enclosing) for site in functions.values()]
        scopes += [(parameter_names(function), enclosing_names(function)) for site in functions.values()
                   for function in current_functions(site.function)]
        if not functions or any(_fits(predicate, *scope) for scope in scopes):
            return predicate
        *_, newest = functions.values()
        try:
            predicate.check(newest.parameters or (), newest.enclosing.by_now())
        except CommandError as error:
            if len(functions) == 1:
                raise
            raise CommandError(f'{error}\n{where} means the functions {", ".join(functions)}: give one of them '
                               'instead for a condition on its parameters') from None
        return predicate

    def _functions(self, where: Spec) -> dict[str, KnownSite]:
        """The functions that are meant, as far as they are known, each by its latest definition."""
        return {site.function[-1]: site for site in self.known.matching_sites(where)
                if site.kind == 'python' and site.function and site.parameters is not None}

    def enable(self, number: int, on: bool = True) -> Breakpoint:
        """Switch a breakpoint on or off.

        Raises:
            CommandError: There is none of that number, or its line is not there any more.
        """
        with self._changing():
            entry = self.entry(number)
            entry.change(enabled=on)
            self._notify_change()
            self._changes.tell({'change': 'enable', 'number': number, 'on': on})
            return entry.breakpoint

    def _disable(self, number: int) -> bool:
        """Disable a breakpoint with `once` that is to act; whether no other process was first."""
        with self._changing():
            entry = self._entries.get(number)
            if entry is None or not entry.breakpoint.enabled:
                return False
            self.enable(number, False)
            return True

    def change(self, number: int, when: object) -> Breakpoint:
        """Replace the condition of a breakpoint, None for none; its memory of earlier calls is cleared.

        Raises:
            CommandError: There is none of that number, or the condition makes no sense; nothing is changed.
        """
        with self._changing():
            entry = self.entry(number)
            old = entry.breakpoint
            predicate = self._condition(old.spec, when)
            timing = old.timing
            if timing in ('before', 'after-call') and not (timing == 'after-call' and predicate is None):
                timing = timing_of(old.spec, predicate, None if timing == 'before' else timing, old.do)
            entry.change(when=predicate, timing=timing_of(old.spec, predicate, timing, old.do))
            self._notify_change()
            self._tell_condition(entry.breakpoint)
            return entry.breakpoint

    def _tell_condition(self, one: Breakpoint) -> None:
        """Tell the other processes of a new condition; where no text describes it, the breakpoint is off there."""
        text = one.when.text if one.when is not None else ''
        if text is None:
            if self._changes.is_shared:
                say(f'breakpoint {one.number} is off in the other processes: its condition is a Python function, expected a '
                    'text')
            self._changes.tell({'change': 'enable', 'number': one.number, 'on': False})
        else:
            self._changes.tell({'change': 'condition', 'number': one.number, 'if': text or None})

    def set_commands(self, number: int, lines: Sequence[str]) -> None:
        """Set what is carried out where one stops.

        Raises:
            CommandError: There is none of that number.
        """
        with self._changing():
            self.entry(number).commands = tuple(lines)
            self._changes.tell({'change': 'commands', 'number': number, 'lines': list(lines)})

    def ignore(self, number: int, count: int) -> Breakpoint:
        """Ignore the next `count` hits of one.

        Raises:
            CommandError: There is none of that number, or the count is negative.
        """
        _check_counts(1, count)
        with self._changing():
            entry = self.entry(number)
            entry.change(after=entry.hits + count)
            self._changes.tell({'change': 'ignore', 'number': number, 'count': count})
            return entry.breakpoint

    def clear(self, number: int) -> Breakpoint:
        """Remove a breakpoint.

        Raises:
            CommandError: There is none of that number.
        """
        with self._changing():
            entry = self.entry(number)
            entry.change(enabled=False)
            del self._entries[number]
            self._notify_change()
            self._changes.tell({'change': 'clear', 'number': number})
            return entry.breakpoint

    # ------------------------------------------------------------------ queries
    @property
    def entries(self) -> Mapping[int, BreakpointEntry]:
        """All breakpoints that are set, by number."""
        return self._entries

    def entry(self, number: int) -> BreakpointEntry:
        """One of them.

        Raises:
            CommandError: There is none of that number.
        """
        try:
            return self._entries[number]
        except KeyError:
            have = f'there are {", ".join(map(str, self._entries))}' if self._entries else 'none is set'
            raise CommandError(f'no breakpoint {number}; {have}') from None

    def stand(self, reason: str) -> Callable[[], bool]:
        """Whether a stop that waits for the prompt is still wanted: not if its breakpoints are switched off meanwhile.

        Args:
            reason: Of the stop, such as 'breakpoint 1, breakpoint 3'.

        Returns:
            Tells it. A stop that has another reason too, or whose breakpoint went off with this hit, is always wanted.
        """
        numbers = [int(found[1]) if (found := _BREAKPOINT.fullmatch(part)) else 0 for part in reason.split(', ')]

        def are_on() -> list[bool]:
            return [number in self._entries and self._entries[number].breakpoint.enabled for number in numbers]
        return (lambda: any(are_on())) if all(are_on()) else (lambda: True)

    def lines(self) -> LineBreakpoints:
        """The line breakpoints; made when the first one is set."""
        if self._lines is None:
            from pyfuncdbg.observers.debug.lines.line_breakpoints import (
                LineBreakpoints,  # loaded only with line breakpoints
            )
            self._lines = LineBreakpoints(VOCABULARY)
            tracing_notice.watch(self._lines.look_for_new_code)
            module_loading.watch(self._lines.module_code)
        return self._lines

    def forget_sites(self) -> None:
        """A function was replaced: look again what is where, with its parameters."""
        with self._lock:
            for entry in self._entries.values():
                entry.forget_sites()
            self.known = SiteCatalogue()
            self._notify_change()

    # ------------------------------------------------------------------ what calls are needed
    def _notify_change(self) -> None:
        self._by_site = {}
        self._by_run = {}
        self._settle()
        self._on_change()

    def _settle_again(self) -> None:
        """A host has declared its ops: one of them may be named."""
        if self._entries:
            with self._lock:
                self._notify_change()

    def _names_eager_op(self, entry: BreakpointEntry) -> bool:
        """Whether a breakpoint names an op of eager code, and no function of the program."""
        where = entry.breakpoint.spec
        op = None if where.glob else op_names.named_op(where.name)
        return op is not None and op.stops and not entry.functions

    def _settle(self) -> None:
        """Work out which kinds of calls are needed."""
        self._at_lines = any(entry.breakpoint.spec.kind == 'line' for entry in self._enabled_entries())
        kinds: set[Kind] = {'op'} if self._runs_of_ops else set()
        for entry in self._enabled_entries():
            one = entry.breakpoint
            if one.timing == 'gradient':
                kinds.add('gradient')
            elif one.spec.kind == 'name':
                if one.spec.function or (not one.spec.glob and any(
                        site.kind == 'python' for site in self.known.matching_sites(one.spec))):
                    continue
                kinds.add('run')                # a run announces its nodes
                if one.spec.looks_like_op or self._names_eager_op(entry):
                    kinds.add('op')             # of eager code nothing does
        if kinds != self.kinds:
            self.kinds = frozenset(kinds)
            self._on_change()


def _fits(predicate: Predicate, parameters: Sequence[str] | None, enclosing: EnclosingNames) -> bool:
    try:
        predicate.check(parameters or (), enclosing.by_now())
    except CommandError:
        return False
    return True


def _check_counts(every: int, after: int) -> None:
    if every < 1:
        raise CommandError(f'--every must be at least 1, not {every}')
    if after < 0:
        raise CommandError(f'a number of hits to ignore cannot be negative, as {after} is')


__all__ = ['Breakpoint', 'BreakpointEntry', 'Breakpoints', 'Hit', 'Tests']
