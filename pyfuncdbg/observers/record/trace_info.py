"""Summary of a whole trace as plain data: its program, what it holds, its losses."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyfuncdbg.hooks.op_cost import OpCost
from pyfuncdbg.observers.record.index.process_tree import ProgramProcess
from pyfuncdbg.observers.record.log.trace_folder import TracePart
from pyfuncdbg.observers.record.records import OLDEST, TRIMMED, UNSAMPLED, NoteRecord


@dataclass(frozen=True, slots=True)
class Trip:
    """A call that a flight recorder was to keep, with those around it.

    Attributes:
        condition: What held, as text.
        call: Number of the call.
        site, ordinal: Its site, and which call of that.
        before: Calls before the first trip that are in the trace.
    """

    condition: str
    call: int
    site: str
    ordinal: int
    before: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Time in which recording was off.

    Attributes:
        start: Seconds since the trace began.
        end: The same; None if it was not switched on again.
    """

    start: float
    end: float | None


def pauses_of(notes: Sequence[NoteRecord]) -> tuple[Pause, ...]:
    """Read when recording was off.

    Args:
        notes: Of the switch, in order; what makes no sense is passed over.

    Returns:
        The times.
    """
    pauses: list[Pause] = []
    for note in notes:
        is_off = bool(pauses) and pauses[-1].end is None
        if note.data.get('on') is False and not is_off:
            pauses.append(Pause(note.at, None))
        elif note.data.get('on') is True and is_off:
            pauses[-1] = Pause(pauses[-1].start, note.at)
    return tuple(pauses)


def trip_of(note: NoteRecord) -> Trip:
    """Read a note of a flight recorder.

    Args:
        note: Of a trace, which may hold anything.

    Returns:
        The trip; '' and 0 for what is not there.
    """
    def number(name: str) -> int:
        value = note.data.get(name)
        return value if isinstance(value, int) else 0
    return Trip(str(note.data.get('condition', '')), number('call'), str(note.data.get('site', '')), number('ordinal'),
                number('before'))


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Summary of a trace, as `info` shows it.

    Attributes:
        path: Of the trace.
        version: Of its format.
        argv: The program and its arguments.
        python, host_name: The version of Python that ran it, the machine.
        started: When, as Unix time in seconds.
        duration: Seconds from there to the last record.
        processes: Process ids by number of the process, from 1; 0 for one whose log is missing.
        runs, calls, sites: How many were recorded; of calls those of Python functions, of runs none that are counted below.
        nbytes, budget: Size of the logs in bytes, and how large they may be.
        dropped: What was not kept, by kind ('tensors', 'prints', 'locals', 'calls', 'bytes'), exact.
        damage: One line for each log that ended in the middle of a record, with file and byte position.
        complete: Every log was closed by its process.
        op_cost: What it cost a framework to hand over its ops; None where nothing was.
        ops: Graph nodes were to be recorded too, even if there were none.
        retries: How many of the calls, and of the runs, were executed once more by `retry`.
        passes: Backward passes that the program asked for, as with `GradientTape.gradient`.
        elements: Calls of functions of datasets, one for each element.
        inner: Backward passes within those: of what a Python function recorded.
        versions: Of libraries, by name; empty if the trace does not say, as those of earlier versions.
        machine: Its system, processor and number of CPUs; '' if the trace does not say.
        settings: Environment variables that numbers may depend on, those that were set.
        compiled: Compiled modules of pyfuncdbg recorded it; None if the trace does not say.
        first_run: The least number of a run; eager code that calls nothing has one, but is none.
        trips: Why a flight recorder has written it, at most 100; none of a trace of the whole program.
        pauses: When recording was off: calls then are not in it, and not counted.
        unclosed: Those of `processes` that have not closed their log.
        parts: Traces that it was merged of, with the seconds that were added to the times of each.
        tree: Every process of the program that is known, in order of their start; empty if the trace does not say.
        tree_is_full: The list of processes had no room for more: those that began later are not in it.
        unlike: Libraries with different versions among the processes: by name the versions, each with the numbers of its
            processes.
    """

    path: str
    version: int
    argv: tuple[str, ...]
    python: str
    host_name: str
    started: float
    duration: float
    processes: tuple[int, ...]
    runs: int
    calls: int
    sites: int
    nbytes: int
    budget: int
    dropped: dict[str, int]
    damage: tuple[str, ...]
    complete: bool
    op_cost: OpCost | None = None
    ops: bool = False
    retries: tuple[int, int] = (0, 0)
    passes: int = 0
    elements: int = 0
    inner: int = 0
    first_run: int = 1
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ''
    settings: dict[str, str] = field(default_factory=dict)
    compiled: bool | None = None

    @property
    def versions_with_python(self) -> dict[str, str]:
        """Of Python and of libraries, by name.

        Returns:
            Python's alone where the trace does not say the others.
        """
        return {'Python': self.python, **self.versions}
    trips: tuple[Trip, ...] = ()
    pauses: tuple[Pause, ...] = ()
    unclosed: tuple[int, ...] = ()
    parts: tuple[TracePart, ...] = ()
    tree: tuple[ProgramProcess, ...] = ()
    tree_is_full: bool = False
    unlike: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def cut_off(self) -> tuple[int, ...]:
        """Those of `unclosed` that may have lost something: they did not say that they end, or what replaces them, and
        are no workers of a `multiprocessing.Pool`."""
        committed = {one.pid for one in self.tree if one.executed or one.of_pool or one.ended is not None}
        return tuple([pid for pid in self.unclosed if pid not in committed])

    @property
    def lost_calls(self) -> int:
        """Calls that were made and are not in the trace, by budget, window, sample or `trim`."""
        return sum(self.dropped.get(kind, 0) for kind in ('calls', UNSAMPLED, TRIMMED, OLDEST))
