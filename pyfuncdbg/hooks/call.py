# cython: annotation_typing=False, auto_pickle=False
"""The records that cross the seam between what runs and what watches.

Hosts make them, `hooks.chain` hands them to hooks. A `Call` is made for every execution, on the thread that
executes, so it is a plain slots class: a frozen dataclass of its size costs 1.3 µs to make, this 0.3. Where there is a C
compiler this file is compiled, as `call.pxd` says.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pyfuncdbg.hooks.traits import NO_TRAITS, Traits

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import Host, Pausable
    from pyfuncdbg.hooks.output.output import Output
    from pyfuncdbg.hooks.output.watched_streams import WatchedStreams

Kind = Literal['python', 'op', 'gradient', 'run']
"""The grain of a call: a wrapped Python function, a graph node, one backward step, or a whole run."""

KINDS: tuple[Kind, ...] = ('python', 'op', 'gradient', 'run')

RunKind = Literal['session', 'function', 'element', 'backward', 'inner', 'eager']
"""What a run is of: a session, a traced function, one element in a function of a dataset, a backward pass that the program
asks for, one within the gradient of a Python function, or a thread's eager code."""


class Frame(NamedTuple):
    """One line of a creation stack: cheap to take, text on demand."""

    filename: str
    line: int
    function: str


UNASKED: tuple[object, Any] = object(), None
"""`interest` of hooks that have not been asked."""

_site_ids = itertools.count(1)
_run_ids = itertools.count(1)
_call_ids = itertools.count(1)


def next_id() -> int:
    """The id that the next call will have, of any kind but 'run'."""
    return int(repr(_call_ids).strip('count()'))    # taken, it would be missing among the calls that are shown


class CallSite:
    """One place that is executed: a graph node, an eager call of one function, one backward step.

    Attributes:
        id: Number in this process. Sites of one id are one place: an eager call makes a new `CallSite`
            with the id and the counter of the last one, because the function object may differ.
        name: Node name as the host prints it, such as 'layer/norm'.
        op_type: What the host calls its op, such as 'MatMul'; for display and search, `traits` say what it means.
        kind: Grain of the calls made here.
        host: Whose values the calls hold.
        function: The user's own Python function, unwrapped, where there is one.
        stack: Where the user created it, innermost frame last; empty if unknown.
        inputs: Names of the input tensors ('mm:0'), in order; '' for one without a name.
        outputs: Names of the output tensors, in order.
        attrs: Static attributes as plain data, for display.
        steady: The host promises that the inputs of a call here can only be written to while a Python call runs, and that
            an array it makes (neither a view nor one of its inputs) is never written to.
        counter: Gives each call its ordinal; shared by all `CallSite` objects of one id.
        traits: What the host knows of its op.
        interest: A `hooks.stamp`, and the interest of hooks in the calls here under it, as `Hooks.ask_interest` gives it.
    """

    __slots__ = ('__weakref__', 'attrs', 'counter', 'function', 'host', 'id', 'inputs', 'interest', 'kind', 'name',
                 'op_type', 'outputs', 'stack', 'steady', 'traits')

    def __init__(self, name: str, op_type: str, kind: Kind, host: Host, *, function: Callable[..., Any] | None = None,
                 stack: Sequence[Frame] = (), inputs: Sequence[str] = (), outputs: Sequence[str] = (),
                 attrs: Mapping[str, Any] | None = None, same_as: CallSite | None = None, steady: bool = False,
                 traits: Traits = NO_TRAITS) -> None:
        self.id: int = next(_site_ids) if same_as is None else same_as.id
        self.counter: Iterator[int] = itertools.count() if same_as is None else same_as.counter
        self.name = name
        self.op_type = op_type
        self.kind: Kind = kind
        self.host = host
        self.function = function
        self.stack = stack
        self.inputs = inputs
        self.outputs = outputs
        self.attrs: Mapping[str, Any] = attrs if attrs is not None else {}
        self.steady = steady
        self.traits = traits
        self.interest: tuple[object, Any] = UNASKED

    @property
    def can_be_entered(self) -> bool:
        """Whether its run can pause inside of it, at a node of the graph that it runs."""
        return self.traits.runs_graph and self.host.pauses_within

    def __repr__(self) -> str:
        return f'<CallSite {self.name!r} {self.op_type} {self.kind}>'


class RunForm:
    """Form of a run: common to all runs of one label, host, names and sites.

    Attributes:
        interest: As that of a `CallSite`, in the runs' own calls.
    """

    __slots__ = ('interest',)

    def __init__(self) -> None:
        self.interest: tuple[object, Any] = UNASKED


class Run:
    """One `Session.run`, one call of a `tf.function`, one backward pass, or the eager code of one thread.

    Attributes:
        id: Number in this process, as shown ('run #12').
        label: What the user called, such as 'Session.run' or the traced function's name.
        kind: What it is of.
        host: Whose run it is.
        started: `time.perf_counter_ns()` at the start.
        feeds: Names of fed tensors, in order of the run call's inputs.
        feed_values: The values of `feeds` while it goes on, where its host tells runs apart by them; () elsewhere.
        fetches: Names of fetched tensors, in order of the run call's outputs.
        control: How a debugger steers the run; None where the host cannot pause.
        aborted: Set when the user said abort; raised again at each further call boundary of the run.
        element: Of a dataset: the index of the element that it works on; None elsewhere.
        stepwise: A debugger may stop at a node of it, so that a host which can choose goes node by node.
        remark: The host's remark on what can be seen of the paused run, for cards; '' mostly.
        form: The same for all runs of this label, host, names and sites, where its host can tell; else None.
        thread: Native id of the thread that waits for it while others make its calls; 0 where that one makes them.
    """

    __slots__ = ('_list_sites', '_sites', 'aborted', 'control', 'element', 'feed_values', 'feeds', 'fetches', 'form',
                 'host', 'id', 'kind', 'label', 'remark', 'started', 'stepwise', 'thread')

    def __init__(self, label: str, host: Host, started: int, *, sites: Callable[[], Iterable[CallSite]] | None = None,
                 feeds: Sequence[str] = (), fetches: Sequence[str] = (),
                 control: Pausable | None = None, kind: RunKind = 'session') -> None:
        self.id = next(_run_ids)
        self.kind: RunKind = kind
        self.element: int | None = None
        self.label = label
        self.host = host
        self.started = started
        self.feeds = feeds
        self.feed_values: Sequence[Any] = ()
        self.fetches = fetches
        self.control = control
        self.aborted: BaseException | None = None
        self.stepwise = False
        self.form: RunForm | None = None
        self.thread = 0
        self.remark = ''
        self._list_sites = sites
        self._sites: tuple[CallSite, ...] | None = None

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The sites this run may execute, in order. Worked out on first use; empty for eager code."""
        if self._sites is None:
            self._sites = tuple(self._list_sites()) if self._list_sites is not None else ()
        return self._sites

    @property
    def endless(self) -> bool:
        """Whether it is a thread's eager code: an abort ends its outermost call, and what comes later runs again."""
        return self.kind == 'eager'

    @property
    def title(self) -> str:
        """The label, with the element that it works on."""
        return run_title(self.label, self.element)

    def __repr__(self) -> str:
        return f'<Run #{self.id} {self.title}>'


def run_title(label: str, element: int | None) -> str:
    """'element 17 of Map', or the label alone."""
    return label if element is None else f'element {element} of {label}'


class Call:
    """One execution of one site. Mutable until `finished` is set; belongs to the thread that executes it.

    Attributes:
        id: Number in this process, as shown ('#17'); a run's own call has the id `-run.id`. A call that is made once more to
            be looked at has the id 0: no hook sees what is called in it.
        ordinal: How many calls this site had before; `norm[3]` is the one with ordinal 3.
        thread: Native thread id.
        inputs: The host's own values. A hook may replace the list's elements before it proceeds.
        outputs: The host's own values once the function has returned, else None.
        error: What the function raised, else None.
        output: What it printed, warned and logged so far; None without capture. The same `SILENCE` for all that have
            said nothing.
        output_owner: The call that owns what is printed here: itself under a capture, else that of the enclosing call; None
            without capture, and after the call.
        streams: The streams that were `sys.stdout` and `sys.stderr` when its capture began.
        started, finished: `time.perf_counter_ns()`; `finished` is 0 while it runs.
        forward: For a gradient call, the id of the call whose output it differentiates, else 0.
        sources: For a gradient call, the ids of the gradient calls whose outputs its inputs are sums of.
        parent: Id of the call in whose function this one was made, else 0.
        retry_of: Id of the first execution, where this is another one of the same call (`begin_retry`), else 0.
        saved_inputs: The inputs before the function could write to them, saved by a hook that may retry the call; else
            None.
    """

    __slots__ = (
        'error',
        'finished',
        'forward',
        'id',
        'inputs',
        'ordinal',
        'output',
        'output_owner',
        'outputs',
        'parent',
        'retry_of',
        'run',
        'saved_inputs',
        'site',
        'sources',
        'started',
        'streams',
        'thread',
    )

    id: int
    inputs: list[Any]
    outputs: Sequence[Any] | None
    error: BaseException | None
    output: Output | None
    output_owner: Call | None
    streams: WatchedStreams
    sources: Sequence[int]
    run: Run
    site: CallSite
    ordinal: int
    thread: int
    started: int
    finished: int
    forward: int
    parent: int
    retry_of: int
    saved_inputs: Any

    def __repr__(self) -> str:
        return f'<Call #{self.id} {self.site.name}[{self.ordinal}]>'


def new_call(site: CallSite, run: Run, inputs: list[Any], thread: int, started: int, forward: int = 0,
             within: Call | None = None, sources: Sequence[int] = (), began: tuple[int, int] | None = None) -> Call:
    """A call that begins; a function, for calling an `__init__` of eight arguments costs 0.06 to 0.09 µs more.

    Args:
        within: The call in whose function it is made.
        began: Its ordinal and its start, if it has begun already.
        site, run, inputs, thread, started, forward, sources: As in `Call`.
    """
    call = Call()
    call.id = next(_call_ids) if site.kind != 'run' else -run.id
    call.run = run
    call.site = site
    if began is None:
        call.ordinal = next(site.counter)
        call.started = started
    else:
        call.ordinal, call.started = began
    call.thread = thread
    call.inputs = inputs
    call.outputs = call.error = call.output = None
    call.saved_inputs = None
    call.finished = call.retry_of = 0
    call.forward = forward
    call.sources = sources
    if within is None:
        call.parent = 0
        call.output_owner = None
    else:
        call.parent = within.id
        call.output_owner = within.output_owner
    return call


def begin_retry(call: Call) -> None:
    """Make another execution of a call that is over: with a number and a time of its own, so that each has a record.

    The ordinal stays: the program has called once. A run's own call takes its run along.
    """
    first = call.retry_of or call.id
    now = perf_counter_ns()
    if call.site.kind == 'run':
        call.run.id = next(_run_ids)
        call.run.started = now
        call.id = -call.run.id
    else:
        call.id = next(_call_ids)
    call.retry_of = first
    reset_call(call, now)


def reset_call(call: Call, now: int) -> None:
    """Nothing of a call has been executed yet."""
    call.started = now
    call.finished = 0
    call.outputs = call.error = call.output = None


current: ContextVar[Call | None] = ContextVar('pyfuncdbg_current_call', default=None)
"""The hooked call whose function runs in this context. Set inside the call, so native threads have it."""


def in_reexecution() -> bool:
    """Whether this context is inside of a call that is made once more to be looked at: nothing stops there."""
    call = current.get()
    return call is not None and not call.id
