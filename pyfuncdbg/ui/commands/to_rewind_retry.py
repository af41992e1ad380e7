"""Commands that move through a graph that runs: `to`, `rewind`, `retry`, and what their answers show.

They run on the stopped thread. `node` and `into` are in `resume`, `inject` and `swap` in `change`.
"""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import STOP_REMARK
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.observers.debug.inspecting.saved_inputs import changed_inputs
from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference
from pyfuncdbg.observers.debug.stepping.function_start import is_at_start
from pyfuncdbg.observers.debug.stepping.held_state import consumables, element_refusal
from pyfuncdbg.observers.debug.stepping.node_stepper import can_pause
from pyfuncdbg.observers.debug.stepping.reloaded_function import ReloadReport, reload_function
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import draw_resumed, refuse_after_death, stop_of
from pyfuncdbg.ui.views.calls.rewind_report import retry_view, rewound_view

Restored = Literal['restored', 'as left', 'not begun', '']

_LISTED = 50
"""Calls that are listed after a rewind."""


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The run goes to a node."""

    verb: str
    node: str
    position: int


@dataclass(frozen=True, slots=True)
class RewindReport:
    """The run goes back.

    Attributes:
        node: The one that is next then; '' for the end.
        position: Its index.
        after_function: The function that runs now runs to its end before that.
        python_calls: Python calls on the way back: what they printed and wrote stays.
        calls: Those of them that were recorded, with their output.
    """

    verb: str
    node: str
    position: int
    after_function: bool
    python_calls: tuple[str, ...]
    calls: list[CallRecord]


@dataclass(frozen=True, slots=True)
class RetryReport:
    """A call, or a node, is made again.

    Attributes:
        node: Which.
        reloaded: What its source file gave, None if it has none.
        inputs: Of a call: 'restored' if it gets what it got at first, 'as left' if that was not saved, 'not begun' where no
            line of it has run; else ''.
        changed: The inputs that the function had written to.
        external_state: What the function takes from beside its inputs, which stays as the call left it.
        took: Seconds that the call took; None where it has not returned.
    """

    verb: str
    node: str
    reloaded: ReloadReport | None
    inputs: Restored = ''
    changed: tuple[Difference, ...] = ()
    external_state: tuple[str, ...] = ()
    took: float | None = None


class RunPlace:
    """The position of a stop in its run.

    Attributes:
        sites: The nodes in execution order.
        done: How many have run, the one that the stop is after counted.
        running: Whether one of them runs now: the stop is in its function, or before the call.
        view: The view of the run.
        repeats: Whether it is in a loop, whose nodes run again.
        around: The names of the run's nodes, where this is a loop or branch of it.
        has_parts: Whether nodes of it run graphs of their own.
        paused: Whether it was paused in this graph before: it runs node by node, not at full speed.
    """

    def __init__(self, stop: Stop) -> None:
        if not can_pause(stop.run) and stop.run is not None and len(stop.run.sites) > 1:
            raise CommandError("this run cannot stop between nodes, unlike those of a DebugSession: 'break NODE' and "
                               "'cont' stop where a node calls a Python function")
        if not can_pause(stop.run):
            raise CommandError("no graph runs here: 'node' goes on to the next call, 'step' and 'next' to the next line")
        run: Any = stop.run
        self.view: RunView | None = run.control.look()
        at = self.view.position if self.view is not None else 0
        self.sites: Sequence[CallSite] = self.view.sites if self.view is not None else run.sites
        after = stop.phase in ('after', 'end') and self.view is not None
        self.running = self.view is not None and stop.phase != 'node' and not after and not (
            stop.phase == 'error' and stop.call is None)
        self.done = at + after
        self.paused = self.view is not None and self.view is run.control
        self.repeats = self.view is not None and self.view.repeats
        within = self.view is not None and bool(self.view.within)
        self.around = frozenset(site.name for site in run.sites) if within else frozenset()
        self.has_parts = within or any(site.traits.runs_graph for site in self.sites)

    def find(self, name: str) -> int:
        """The position of a node by its name, or by that of one of its outputs.

        Raises:
            CommandError: There is none, with the nearest names.
        """
        bare = name[:name.rindex('[')] if name.endswith(']') and '[' in name else name
        if bare != name and any(bare == site.name for site in self.sites):
            if self.repeats:
                raise CommandError(f"{name!r}: 'to' goes to the next execution of a node. 'break {name} --once' and 'cont' "
                                   'stop at that one')
            raise CommandError(f'{name!r}: each node of this run runs once, there are no loops. Give the bare name: '
                               f'{bare!r}')
        for index, site in enumerate(self.sites):
            if name == site.name or name in site.outputs:
                return index
        if self.view is not None and name in {word for feed in self.view.feeds for word in (feed, feed.rpartition(':')[0])}:
            raise CommandError(f'{name!r} is fed: it has a value from the start')
        way = f"'break {name} --once' and 'cont' stop there"
        if bare in self.around:
            raise CommandError(f'{name!r} is outside of the loop or branch that runs here: {way}')
        close = nearest(name, [site.name for site in self.sites])
        parts = f' If it is in a loop, branch or function: {way}' if self.has_parts and not close else ''
        raise CommandError(f'no node {name!r} in {"this graph" if self.has_parts else "this run"}.{close}{parts}')

    def name(self, position: int) -> str:
        """'norm', or '' behind the last."""
        return self.sites[position].name if position < len(self.sites) else ''


def _to(context: Context, args: argparse.Namespace) -> MoveReport:
    stop = stop_of(context)
    refuse_after_death(stop, 'to')
    place = RunPlace(stop)
    position = place.find(args.node)
    if stop.phase == 'error' and position >= place.done:
        raise CommandError(f"{args.node!r} cannot be reached: {place.name(place.done)!r} has raised, and the run ends. "
                           "'retry' repeats it, 'rewind' goes back")
    if position == place.done and stop.phase == 'node':
        raise CommandError(f"{args.node!r} is the next node; 'node' runs it")
    if position == place.done and place.running and not place.repeats:
        raise CommandError(f"{args.node!r} runs now: 'node' goes to the one after it")
    if position < place.done and not place.repeats:
        raise CommandError(f"{args.node!r} has run already: 'rewind {args.node}' goes back to before it")
    stop.decide('to', position)
    return MoveReport('to', place.name(position), position)


def _to_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('node', metavar='NODE', help="a node of this run, such as 'loss'")


def _rewind(context: Context, args: argparse.Namespace) -> RewindReport:
    stop = stop_of(context)
    refuse_after_death(stop, 'rewind')
    place = RunPlace(stop)
    position = _target(place, args.to)
    later = stop.phase != 'node' and not (stop.phase == 'error' and stop.call is None)
    if later and stop.phase == 'error' and not place.paused:
        raise CommandError("this run was not paused before the error, so it cannot go back: 'retry' repeats the call")
    if place.view is not None and (obstacle := place.view.obstacle(min(position, place.view.position))):
        raise CommandError(obstacle)
    remade = tuple(site.name for site in place.sites[position:place.done + place.running] if site.kind == 'python')
    calls = _calls(context, stop, remade)
    stop.decide('rewind', position)
    return RewindReport('rewind', place.name(position), position, later, remade, calls)


def _target(place: RunPlace, target: str) -> int:
    if not target.lstrip('-').isdigit():
        position = place.find(target)
        if position > place.done or (position == place.done and not place.running):
            raise CommandError(f"{target!r} has not run yet: 'to {target}' goes there")
        return position
    count = int(target)
    done_count = place.done + place.running
    if count < 1:
        raise CommandError(f'expected a number of nodes to go back, 1 or more, not {target}')
    if count > done_count:
        start = f"; 'rewind {done_count}' goes to the start" if done_count else ''
        raise CommandError(f"cannot go back {count} node{'s' * (count != 1)}: {done_count or 'none'} of "
                           f"{len(place.sites)} ha{'s' if done_count == 1 else 've'} run{start}")
    return done_count - count


def _calls(context: Context, stop: Stop, names: Sequence[str]) -> list[CallRecord]:
    """The recorded calls of those nodes in this run."""
    if not names or stop.run is None:
        return []
    wanted = set(names)
    calls = context.trace.calls(kind='python', run=stop.run.id, limit=1_000)
    return [load_call(call, 0) for call in calls if call.site.name in wanted][-_LISTED:]


def _rewind_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('to', metavar='NODE|N', nargs='?', default='1',
                        help='back to before this node, or N nodes back (default 1). What ran before the run was first'
                             ' stopped stands: Python calls give what they gave, and variables are as they left them')


def _retry(context: Context, args: argparse.Namespace) -> RetryReport:
    stop = stop_of(context)
    if stop.phase in ('before', 'run'):
        raise CommandError("the call has not started yet: 'cont' makes it")
    refuse_after_death(stop, 'retry')
    refuse_seen_afterwards(stop)
    if stop.phase == 'end':
        if args.into:
            raise CommandError("--into is for one call: 'retry' repeats the whole run")
        stop.decide('retry')
        return RetryReport('retry', stop.call.site.name if stop.call is not None else '', None, took=_took(stop))
    site = _repeated_site(stop)
    refuse_next_element(site)
    if args.into and site.function is None:
        raise CommandError(f"{site.name!r} calls no Python function to step into: 'retry' repeats it")
    reload_report = reload_function(site.function) if site.function is not None else None
    if is_at_start(stop):                          # no line of it has run
        stop.anew = True
        stop.decide('retry')
        return RetryReport('retry', site.name, reload_report, 'not begun')
    inputs, changed = inputs_again(stop)
    stop.decide('retry', 'into' if args.into else None)
    return RetryReport('retry', site.name, reload_report, inputs, changed, consumables(site.function), _took(stop))


def _took(stop: Stop) -> float | None:
    """Seconds that the call of a stop took, stops in it included."""
    call = stop.call
    return (call.finished - call.started) / 1e9 if call is not None and call.finished else None


def refuse_next_element(site: CallSite) -> None:
    """Refuse to make a call again that takes an element of a dataset's generator: it would take the one after.

    What a function takes itself, from an iterator or a file, it takes again: the user wants the whole call once more.

    Raises:
        CommandError: Why.
    """
    if source := site.attrs.get(SOURCE):
        raise CommandError(f'this call of {site.name!r} cannot be repeated: {element_refusal(str(source))}')


def refuse_seen_afterwards(stop: Stop) -> None:
    """Refuse to change or repeat a call that the host has shown when it had ended.

    Raises:
        CommandError: Why, and what the host advises.
    """
    site = stop.call.site if stop.call is not None else None
    if site is not None and site.traits.seen_afterwards:
        advice = site.attrs.get(STOP_REMARK, '')
        raise CommandError(f'{site.name!r} has run already, and nothing here changes that. {advice}')


def inputs_again(stop: Stop) -> tuple[Restored, tuple[Difference, ...]]:
    """The inputs with which the call of a stop is executed again, and those that its function has written to by now."""
    call = stop.call
    if call is None or call.site.kind != 'python':
        return '', ()                           # between two nodes the run holds the values
    return ('as left', ()) if call.saved_inputs is None else ('restored', changed_inputs(call))


def _retry_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-i', '--into', action='store_true', help='and stop at the first line of its function')


def _repeated_site(stop: Stop) -> CallSite:
    """The site that `retry` executes again."""
    if stop.call is not None:
        return stop.call.site
    place = RunPlace(stop)
    position = place.done if stop.error is not None else place.done - 1
    if position < 0:
        raise CommandError("no node has run yet: 'node' runs the first one")
    if place.view is not None and (obstacle := place.view.obstacle(position)):
        raise CommandError(obstacle)
    return place.sites[position]


TO = Command('to', 'run up to a node', 'run', _to, draw_resumed, _to_arguments, needs_stop=True,
             examples=('to loss',))
REWIND = Command('rewind', 'go back to before a node, or some nodes; variables and random states are restored', 'run',
                 _rewind, lambda result: rewound_view(result.node, result.after_function, result.python_calls, result.calls),
                 _rewind_arguments, needs_stop=True,
                 examples=('rewind', 'rewind mm'))
RETRY = Command('retry', 'repeat the call (-i: step into it); an edited function is reloaded first', 'run',
                _retry, lambda result: retry_view(result.node, result.reloaded, result.inputs, result.changed,
                                                  result.external_state, result.took), _retry_arguments, needs_stop=True,
                examples=('retry', 'retry --into'))
COMMANDS: tuple[Command, ...] = (TO, REWIND, RETRY)
