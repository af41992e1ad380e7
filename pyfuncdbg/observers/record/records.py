"""Records of a trace as plain data: results of queries, input of views.

Values come from a log that may be damaged, truncated or hostile: everything here is inert. Elements of tensors and lines of
source are there after `record_contents` has loaded them.
"""
# long: records are one vocabulary, each beside those it holds
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.call import Frame, Kind, RunKind
from pyfuncdbg.hooks.traits import NO_TRAITS, Traits
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN
from pyfuncdbg.observers.record import replay_slot
from pyfuncdbg.observers.record.array_bytes import UNREADABLE, array_from
from pyfuncdbg.observers.record.display import mimebundle
from pyfuncdbg.observers.record.dtypes import OBJECT
from pyfuncdbg.observers.record.elements import Elements
from pyfuncdbg.observers.record.histogram import Bar, bars
from pyfuncdbg.observers.record.sources.source_text import NOT_LOADED, SourceReader, SourceText, not_recorded, text_with_line

Level = Literal['none', 'stats', 'full']
"""Amount that is kept of a tensor."""

OPS, TRIP, UNCAUGHT, UNHIT, HOST, SWITCH = 'ops', 'trip', 'uncaught', 'unhit', 'host', 'switch'
"""Kinds of notes: what it cost a framework to hand over its ops, a call that a flight recorder was to keep, the exception
that ended the program, breakpoints that stopped nothing, the version and settings of a host, a recording switched off or
on."""

UNSAMPLED, UNSAMPLED_RUNS, TRIMMED, OLDEST = 'unsampled calls', 'unsampled runs', 'trimmed calls', 'oldest calls'
"""Kinds of losses: calls and runs outside of a sample, calls that `trim` has left out, and those removed for newer ones."""

ABSENT = 'None'
"""Note of a place where the program has None instead of a tensor: a gradient step's output for an int input, say."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Summary of one tensor; tfdbg's categories first, then statistics of the finite elements only.

    For bool and string tensors only `size` is meaningful and the rest is zero or None. Complex tensors are summarised
    by magnitude.
    """

    size: int
    nan: int = 0
    neg_inf: int = 0
    neg: int = 0
    zero: int = 0
    pos: int = 0
    pos_inf: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    histogram: tuple[int, ...] = ()
    """Counts of finite elements by sign and power of two, as `histogram` has them; `bars` gives each its range."""
    first_bad: tuple[int, ...] | None = None
    """Index of the first NaN or infinity in C order."""

    @property
    def bad(self) -> int:
        """The number of elements that are NaN or infinite."""
        return self.nan + self.neg_inf + self.pos_inf

    def bars(self) -> list[Bar]:
        """The histogram as bars from the least finite element to the greatest; empty if there is none."""
        return bars(self.histogram, self.min, self.max, self.zero)


class ValueReader(Protocol):
    """Gives the bytes of a tensor record back."""

    def __call__(self, key: bytes) -> bytes:
        """The stored bytes.

        Raises:
            DroppedError: They were not kept or are damaged.
        """


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """One recorded tensor.

    Attributes:
        name: 'norm:0' for an output slot, the fed or produced tensor's name for an input; '' if unknown.
        dtype: Name as TensorFlow prints it: 'float32', 'string', 'int64', ...
        shape, nbytes: Static sizes, payload bytes.
        level: What was kept.
        stats: Summary; None at level 'none' (or for types that have none).
        key: Where the bytes are; None if not kept.
        changed: For an input: its bytes differed after the call: the function wrote to it, or another thread did.
        note: Why it was not kept in full ('over budget', '64 KB limit', ...), else ''; `ABSENT` if it is no tensor at all.
        elements: Those that a view draws, or why there are none; None if they were not loaded.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    level: Level
    stats: Stats | None = None
    key: bytes | None = None
    changed: bool = False
    note: str = ''
    _read: ValueReader | None = field(default=None, repr=False, compare=False)
    elements: Elements | None = field(default=None, repr=False, compare=False)
    _repr_mimebundle_ = mimebundle

    @property
    def absent(self) -> bool:
        """Whether there is no tensor here."""
        return self.level == 'none' and self.note == ABSENT

    @property
    def unknown(self) -> bool:
        """Whether the host could not tell its value; `note` says why."""
        return self.level == 'none' and self.note.startswith(NOT_KNOWN)

    def to_numpy(self) -> np.ndarray:
        """Read the value from the trace.

        Returns:
            A new array; of strings an object array of bytes.

        Raises:
            DroppedError: It was not kept, or its bytes are damaged.
        """
        what = f'{self.name or "this tensor"} ({self.dtype}{list(self.shape)})'
        if self.key is None or self._read is None:
            if self.absent:
                raise DroppedError(f'{self.name or "this"} is None: there is no tensor')
            why = self.note or {'none': 'the recording kept no values', OBJECT: 'it holds Python objects'}.get(
                self.dtype if self.dtype == OBJECT else self.level, 'only its statistics were')
            raise DroppedError(f'the value of {what} was not kept: {why}')
        try:
            return array_from(self._read(self.key), self.dtype, self.shape).copy()
        except UNREADABLE as error:
            raise DroppedError(f'the value of {what} cannot be read: {error}') from error


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """Output entry of a call: text on a stream, a warning, log record, NumPy error or host's remark."""

    kind: Literal['out', 'err', 'warning', 'log', 'fp', 'host']
    text: str
    category: str = ''
    """Class of a warning; level and logger of a logging record ('INFO demo.train'); NumPy's error kind ('invalid', 'divide',
    ...), with ' ignored' behind it where the program's error state silences that kind; kind of a remark ('otherwise')."""
    filename: str = ''
    line: int = 0
    function: str = ''
    offset: float = 0.0
    """Seconds after the call began."""
    _source: SourceReader = field(default=not_recorded, repr=False, compare=False)
    source: SourceText = field(default=NOT_LOADED, repr=False, compare=False)
    """The lines around its own."""

    def source_at(self, filename: str, line: int) -> SourceText:
        """The source around the line of a warning, as the program ran it.

        Args:
            filename, line: As in a record of this call.

        Returns:
            The lines, or why there are none.
        """
        return self._source(filename, line)


@dataclass(frozen=True, slots=True)
class LocalRecord:
    """A variable of a frame that an exception went through.

    Attributes:
        name: In the program.
        type: Name of the value's type.
        text: The value in a few words, '' of a tensor.
        tensor: Its record, if it is an array or a tensor.
    """

    name: str
    type: str
    text: str
    tensor: TensorRecord | None = None


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """The variables of one frame.

    Attributes:
        frame: Its place in `ErrorRecord.frames`.
        variables: Parameters first; it had `hidden` more.
    """

    frame: int
    variables: tuple[LocalRecord, ...]
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An exception, as text."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    """Outermost first, with library frames."""
    traceback: str
    locals: tuple[FrameRecord, ...] = ()
    """Variables of the innermost frames of the program, outermost first."""
    _source: SourceReader = field(default=not_recorded, repr=False, compare=False)
    sources: tuple[SourceText, ...] = field(default=(), repr=False, compare=False)
    """The line of each frame; none of a library's, unless all are."""

    def source_at(self, filename: str, line: int) -> SourceText:
        """The source around the line of a frame, as the program ran it.

        Args:
            filename, line: As in `frames`.

        Returns:
            The lines, or why there are none.
        """
        return self._source(filename, line)


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One `CallSite`."""

    id: int
    process: int
    name: str
    op_type: str
    kind: Kind
    host: str
    function: str
    """Qualified name of the user's function, '' if none."""
    filename: str
    line: int
    """First line of the function, 0 if unknown."""
    source: str
    """Text of the function when it was recorded, '' if unknown or too long."""
    stack: tuple[Frame, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    traits: Traits = NO_TRAITS
    _source: SourceReader = field(default=not_recorded, repr=False, compare=False)

    def source_at(self, filename: str, line: int) -> SourceText:
        """The source around a line of its function or of its creation stack, as the program ran it.

        Args:
            filename, line: Of the site, or as in `stack`.

        Returns:
            The lines, or why there are none.
        """
        own = text_with_line(self.line, self.source, line) if self.source and filename == self.filename else None
        return own if own is not None else self._source(filename, line)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One `Run`. Times are seconds since the trace began; `duration` is None while it runs or for eager code."""

    id: int
    process: int
    label: str
    host: str
    started: float
    duration: float | None
    feeds: tuple[TensorRecord, ...]
    fetches: tuple[TensorRecord, ...]
    error: ErrorRecord | None
    sites: tuple[int, ...]
    """Ids of the sites it announced, in order."""
    fetch_names: tuple[str, ...] = ()
    """Names of what it was to fetch, also where it has raised or goes on."""
    retry_of: str = ''
    """Number of the first run, where this is another execution of it, by `retry`; else ''."""
    kind: RunKind = 'session'
    """Kind of the run."""
    _repr_mimebundle_ = mimebundle


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """The common part of runs: of one `Session.run` line, or of one traced function.

    Attributes:
        feeds, fetches: Names of tensors.
        sites: Ids of the sites that they announced, in order.
        kind: What they are of.
        runs, newest: How many there were, and the number of the newest.
    """

    process: int
    label: str
    host: str
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    sites: tuple[int, ...]
    kind: RunKind
    runs: int
    newest: int


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished call, or one that was running when the log ends (`duration` None).

    Attributes:
        number: How the user names it: '17', or '2.17' for call 17 of the second process.
        ordinal: `norm[3]` has ordinal 3.
        thread: Native thread id.
        started: Seconds since the trace began.
        duration: Seconds, or None if it did not finish.
        forward: Number of the call that a gradient call differentiates, else ''.
        parent: Number of the call it was made in, else ''.
        dropped: What did not fit into the budget or the caps, as 'kind: count' pairs.
    """

    number: str
    process: int
    run: int
    site: SiteRecord
    ordinal: int
    thread: int
    started: float
    duration: float | None
    inputs: tuple[TensorRecord, ...]
    outputs: tuple[TensorRecord, ...]
    output: tuple[OutputRecord, ...]
    error: ErrorRecord | None
    forward: str = ''
    parent: str = ''
    dropped: dict[str, int] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """Numbers of the gradient calls whose outputs the inputs of this one are sums of."""
    element: str = ''
    """'element 17 of Map': what of a dataset its run works on; '' elsewhere."""
    retry_of: str = ''
    """Number of the first execution, where this is another one of the same call, by `retry`; of a run's own call of the run.
    Else ''. The last one gave what the program got."""
    broken_off: bool = False
    """The user has retried the call from inside of this execution, so that it came to no end."""
    _trace: Any = field(default=None, repr=False, compare=False)
    _repr_mimebundle_ = mimebundle

    @property
    def label(self) -> str:
        """'norm[3]'."""
        return f'{self.site.name}[{self.ordinal}]'

    def replay(self, *, times: int = 1, change: str = '', trust: bool = False) -> Any:
        """Execute the function of a Python call again: on the recorded inputs, in the recorded state.

        Args:
            times: How often, each time from the recorded state.
            change: Statements that change the inputs, such as 'x = x[:3]': one more execution.
            trust: Run the source that the trace holds where no file has the function.

        Returns:
            A `Replay`: its `verdict` is 'same', 'differs', 'raises otherwise', 'not known' or 'RNG state unknown'.

        Raises:
            CommandError: It cannot be replayed; why, and what to do.
        """
        if self._trace is None:
            raise CommandError(f'call #{self.number} {self.label} is of no open trace')
        return replay_slot.replay(self._trace, self, times=times, change=change, trust=trust)


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """One backward step of a tape.

    Attributes:
        run: Run of the gradient call.
        gradient: Number of the gradient call.
        forward: Number of the call it differentiates, '' if that was not recorded.
        sources: Numbers of the gradient calls that its output gradients come from.
        tensors: The gradients it produced.
    """

    run: int
    gradient: str
    forward: str
    sources: tuple[str, ...]
    tensors: tuple[TensorRecord, ...]


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """Something in a trace that is no call: a stop, a breakpoint. `at` is in seconds since the trace began."""

    kind: str
    process: int
    at: float
    data: dict[str, Any]
