"""Processes of the program: what each is, and what it does now.

Read from the list in the trace, and from the stops that wait. Any thread.
"""
from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Literal

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.processes import process_table, shared_memory
from pyfuncdbg.observers.debug.processes.process_label import own_label
from pyfuncdbg.observers.debug.processes.process_table import TableRow, is_alive
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop, location_text
from pyfuncdbg.observers.record.index.process_tree import ProgramProcess
from pyfuncdbg.observers.record.processes.rank_label import is_meant
from pyfuncdbg.observers.record.trace import Trace

State = Literal['prompt', 'waits', 'halted', 'runs', 'ended', 'failed', 'killed', 'open', 'executed', 'unfollowed']
"""At the prompt; stopped, and waits for the prompt; held by stop-all; runs; ended, by an exception, without saying so; not
known, of a trace that is looked at later; became another program; not followed."""

_PLAIN: tuple[State, ...] = ('runs', 'ended', 'executed')
"""States that say little."""
_PATIENCE = 3.0
"""Seconds that a process has to stop a thread of it that waits at a call."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process.

    Attributes:
        number: Of its log in the trace, 0 where it has recorded nothing.
        pid: Its id.
        label: 'worker:3', '' where nothing says which of many it is.
        command: The program and its arguments; of a forked process those of its parent.
        is_forked: It is a copy of its parent.
        state: What it does.
        where: Of a stop the place; of an end the exception, or why it is not followed; else ''.
        reason: Why it has stopped, '' where it has not.
        seconds: How long it has been stopped, has run until its end or, while it runs, until now; None if unknown.
        replaced_by: The command of the program that it has become, as far as it is known.
    """

    number: int
    pid: int
    label: str
    command: tuple[str, ...]
    is_forked: bool
    state: State
    where: str = ''
    reason: str = ''
    seconds: float | None = None
    replaced_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessList:
    """The processes of a program.

    Attributes:
        processes: In order of their start; of many those that wait or have a fault, and the first of the others.
        total: How many there are.
    """

    processes: tuple[ProcessState, ...]
    total: int


def processes_of_program(broker: Broker | None, trace: Trace, most: int | None = None) -> ProcessList:
    """The current state of the processes.

    Args:
        broker: Of the process with the prompt; None where a finished trace is looked at.
        trace: Of the program.
        most: How many are wanted; None for all.
    """
    tree = trace.info().tree
    stops = _stops_by_process(broker)
    memory = shared_memory.memory() if broker is not None else None
    rows = {row.pid: row for row in process_table.rows(memory)} if memory is not None else {}
    states = [_state(one, stops.get(one.pid, []), broker) for one in tree]
    for pid in sorted(stops.keys() | ({os.getpid()} if broker is not None else set())):
        if pid not in {one.pid for one in tree}:
            states.append(_unlisted(pid, stops.get(pid, []), broker))
    if broker is not None:                      # which the program may have set since it was listed
        states = [replace(one, label=own_label() or one.label) if one.pid == os.getpid() else one for one in states]
    states = [_as_in_table(one, rows[one.pid]) if one.pid in rows else one for one in states]
    wanted = sorted(range(len(states)), key=lambda place: (states[place].state in _PLAIN and place > 0, place))[:most]
    return ProcessList(tuple([states[place] for place in sorted(wanted)]), len(states))


def _as_in_table(one: ProcessState, row: TableRow) -> ProcessState:
    """A living process with what it has noted itself: the program may set its label after it was listed."""
    one = replace(one, label=row.label or one.label)
    return replace(one, state='halted', seconds=None) if row.held and one.state == 'runs' else one


def _stops_by_process(broker: Broker | None) -> dict[int, list[Stop]]:
    """The stops that wait, those at the prompt first."""
    stops: dict[int, list[Stop]] = {}
    waiting, focus = (broker.stops, broker.focus) if broker is not None else ((), None)
    for stop in sorted(waiting, key=lambda stop: stop is not focus):
        stops.setdefault(pid_of(stop), []).append(stop)
    return stops


def pid_of(stop: Stop) -> int:
    """The id of the process whose thread waits."""
    return stop.remote.pid if stop.remote is not None else os.getpid()


def _state(process: ProgramProcess, stops: list[Stop], broker: Broker | None) -> ProcessState:
    one = ProcessState(process.log, process.pid, process.label, process.command, process.is_forked, 'runs',
                       seconds=time.time() - process.started)
    if stops and process.ended is None and not process.executed:
        return _stopped(one, stops[0], broker)
    state, where, seconds = _end(process, broker is not None)
    return replace(one, state=state, where=where, seconds=seconds, replaced_by=process.replaced_by)


def _end(process: ProgramProcess, is_live: bool) -> tuple[State, str, float | None]:
    """State, place and seconds of a process that does not wait."""
    if process.unrecorded:
        return 'unfollowed', process.unrecorded, None
    if process.executed:
        return 'executed', '', None
    if process.ended is not None:
        return ('failed' if process.error else 'ended'), process.error, process.ended - process.started
    if not is_live or process.host != os.uname().nodename:
        return 'open', 'killed by its Pool, or running' if process.of_pool else '', None
    return ('runs', '', time.time() - process.started) if is_alive(process.pid) else ('killed', '', None)


def _stopped(one: ProcessState, stop: Stop, broker: Broker | None) -> ProcessState:
    has_prompt = broker is not None and broker.focus is stop
    place = stop.remote.place if stop.remote is not None else location_text(stop)
    return replace(one, state='prompt' if has_prompt else 'waits', where=place, reason=stop.reason,
                   seconds=time.monotonic() - stop.since)


def _unlisted(pid: int, stops: list[Stop], broker: Broker | None) -> ProcessState:
    """A process that is in no list: nothing follows the processes of this program."""
    label = own_label() if pid == os.getpid() else next((stop.remote.label for stop in stops if stop.remote is not None), '')
    one = ProcessState(0, pid, label, (), False, 'runs')
    return _stopped(one, stops[0], broker) if stops else one


def stop_in(debugger: Debugger, trace: Trace, name: str) -> Stop:
    """The stop of a process that waits; a thread that stop-all holds at a call stops there.

    Args:
        debugger: Of this process, which has the prompt.
        trace: Of the program.
        name: '#3', a number in the trace; a process id; a label, 'worker:3'; ':3' is that of any kind.

    Raises:
        CommandError: No process has the name, or it does not wait; the message says what there is.
    """
    processes = processes_of_program(debugger.broker, trace).processes
    matching = [one for one in processes if _is_named(one, name)]
    waiting = [one for one in processes if one.state in ('prompt', 'waits', 'halted')]
    for one in matching:
        if one in waiting and (stop := _stop_of(debugger, one)) is not None:
            return stop
    names = ', '.join(one.label or str(one.pid) for one in waiting) or 'none'
    if matching:
        raise CommandError(f'process {name} does not wait at a stop; these do: {names}')
    known = [one.label or str(one.pid) for one in processes]
    raise CommandError(f'no process {name!r}; at a stop wait: {names}.{nearest(name, known)}')


def _stop_of(debugger: Debugger, process: ProcessState) -> Stop | None:
    """The stop of a process that waits, None if it has gone on meanwhile."""
    if process.state == 'halted' and process.pid == os.getpid():
        debugger.halt.show()
    elif process.state == 'halted':
        with debugger.changes.changing():
            debugger.changes.tell({'change': 'show', 'pid': process.pid})
    end = time.monotonic() + _PATIENCE
    while not (stops := _stops_by_process(debugger.broker).get(process.pid)) and time.monotonic() < end:
        time.sleep(0.01)
    return stops[0] if stops else None


def _is_named(one: ProcessState, name: str) -> bool:
    if name.startswith('#'):
        return one.number > 0 and name == f'#{one.number}'
    return name == str(one.pid) or is_meant(one.label, name)
