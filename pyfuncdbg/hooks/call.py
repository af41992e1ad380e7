# cython: annotation_typing=False, auto_pickle=False
"""The call, its site and its run, as hosts make them and hooks see them.

A `Call` is made for every execution, on its thread, so it is a plain slots class: a frozen dataclass of its size costs
1.3 µs to make, this 0.3. Compiled where there is a C compiler, as `call.pxd` says.
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
"""Of a session, a traced function, one element in a function of a dataset, a backward pass that the program asks for, one
within the gradient of a Python function, or a thread's eager code."""
UNASKED: tuple[object, Any, Any] = object(), None, None
"""`interest` before hooks are asked."""


class Frame(NamedTuple):
    """One line of a creation stack: cheap to take, text on demand."""

    filename: str
    line: int
    function: str


_site_ids = itertools.count(1)
_run_ids = itertools.count(1)
_call_ids = itertools.count(1)


def next_id() -> int:
    """The id of the next call of any kind but 'run'."""
    return int(repr(_call_ids).strip('count()'))    # taking it would leave a gap in the numbers of calls


def take_ids(count: int) -> int:
    """Take ids for calls that follow each other.

    Args:
        count: How many, at least one.

    Returns:
        The first; no other thread gets one of the others.
    """
    ids = list(itertools.islice(_call_ids, count))      # one call of C: no thread comes between
    return ids[0]


class CallSite:
    """One place that is executed: a graph node, an eager call of one function, one backward step.

    Attributes:
        id: Number in this process. Sites of one id are one place: an eager call makes a new `CallSite`
            with the id and the counter of the last one, because the function object may differ.
        name: Node name as the host prints it, such as 'layer/norm'.
        op_type: What the host calls its op, such as 'MatMul'; for display and search, `traits` say what it means.
        kind: Grain of the calls made here.
        host: The host whose values the calls hold.
        function: The user's own Python function, unwrapped, if any.
        stack: Where the program created it, innermost frame last; empty if unknown.
        inputs: Names of the input tensors ('mm:0'), in order; '' for one without a name.
        outputs: Names of the output tensors, in order.
        attrs: Static attributes as plain data, for display.
        steady: The host promises that the inputs of a call here can only be written to while a Python call runs, and that
            an array it makes (neither a view nor one of its inputs) is never written to.
        counter: Gives each call its ordinal; shared by all `CallSite` objects of one id.
        traits: What the host knows of its op.
        interest: The interest of hooks in the calls here, as `Hooks.ask` gives it.

    Args:
        same_as: An earlier site of the same place, which gives this one its id and counter.
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
        self.interest: tuple[object, Any, Any] = UNASKED

    @property
    def can_be_entered(self) -> bool:
        """Whether a run can pause inside of it, at a node of the graph that it runs."""
        return self.traits.runs_graph and self.host.pauses_within

    def __repr__(self) -> str:
        return f'<CallSite {self.name!r} {self.op_type} {self.kind}>'


class RunForm:
    """Form of a run: common to all runs of one label, host, names and sites.

    Attributes:
        interest: Of hooks in the runs' own calls, as `CallSite.interest`.
    """

    __slots__ = ('interest',)

    def __init__(self) -> None:
        self.interest: tuple[object, Any, Any] = UNASKED


class Run:
    """One `Session.run`, one call of a `tf.function`, one backward pass, or the eager code of one thread.

    Attributes:
        id: Number in this process, as shown ('run #12').
        label: What the user called, such as 'Session.run' or the traced function's name.
        kind: `RunKind`.
        host: The host that executes it.
        started: `time.perf_counter_ns()` at the start.
        feeds: Names of fed tensors, in order of the run call's inputs.
        feed_values: Values of `feeds` during the run, where the host tells runs apart by them; else ().
        fetches: Names of fetched tensors, in order of the run call's outputs.
        control: How a debugger steers the run; None where the host cannot pause.
        aborted: The user's abort, raised again at each further call boundary of the run; else None.
        element: Index of the dataset's element that it works on; None elsewhere.
        stepwise: Whether a debugger may stop at one of its nodes: a host that can choose executes node by node.
        remark: The host's remark on the paused run, for cards; else ''.
        form: The same for all runs of this label, host, names and sites, where its host can tell; else None.
        thread: Native id of the thread that waits while others make its calls; 0 where it makes them itself.
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
        """The sites this run may execute, in order. Listed at first use; empty for eager code."""
        if self._sites is None:
            self._sites = tuple(self._list_sites()) if self._list_sites is not None else ()
        return self._sites

    @property
    def endless(self) -> bool:
        """Whether it is a thread's eager code: an abort ends its outermost call, and later calls run."""
        return self.kind == 'eager'

    @property
    def title(self) -> str:
        """The label, with the index of the dataset's element."""
        return run_title(self.label, self.element)

    def __repr__(self) -> str:
        return f'<Run #{self.id} {self.title}>'


def run_title(label: str, element: int | None) -> str:
    """The title of a run: 'element 17 of Map', or the label alone."""
    return label if element is None else f'element {element} of {label}'


class Call:
    """One execution of one site. Mutable until `finished` is set; belongs to the thread that executes it.

    Attributes:
        id: Number in this process, as shown ('#17'); a run's own call has the id `-run.id`. A re-execution for inspection
            has the id 0: hooks see no call in it.
        ordinal: How many calls this site had before; `norm[3]` is the one with ordinal 3.
        thread: Native thread id.
        inputs: The host's own values. A hook may replace the list's elements before it proceeds.
        outputs: The host's own values once the function has returned, else None.
        error: The exception that the function raised, else None.
        output: Its captured output so far: `NO_OUTPUT` while there is none, None without capture.
        output_owner: The call whose output gets what is printed here: itself under a capture, else that of the enclosing
            call; None without capture, and after the call.
        streams: The streams that were `sys.stdout` and `sys.stderr` when its capture began.
        started, finished: `time.perf_counter_ns()`; `finished` is 0 while it runs.
        forward: For a gradient call, the id of the call whose output it differentiates, else 0.
        sources: For a gradient call, ids of the gradient calls whose outputs are summed into its inputs.
        parent: Id of the enclosing call, else 0.
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
             outer_call: Call | None = None, sources: Sequence[int] = (), start: tuple[int, int] | None = None) -> Call:
    """A call that begins. A function: an `__init__` of eight arguments costs 0.06 to 0.09 µs more.

    Args:
        outer_call: The enclosing call.
        start: Its ordinal and start time, if it has begun already. The call of a run began when that did.
        site, run, inputs, thread, started, forward, sources: As in `Call`.
    """
    call = Call()
    call.id = next(_call_ids) if site.kind != 'run' else -run.id
    call.run = run
    call.site = site
    if start is None:
        call.ordinal = next(site.counter)
        call.started = started
    else:
        call.ordinal, call.started = start
    if site.kind == 'run':      # its calls lie within it; hooks may have been asked about it before it became a call
        call.started = run.started
    call.thread = thread
    call.inputs = inputs
    call.outputs = call.error = call.output = None
    call.saved_inputs = None
    call.finished = call.retry_of = 0
    call.forward = forward
    call.sources = sources
    if outer_call is None:
        call.parent = 0
        call.output_owner = None
    else:
        call.parent = outer_call.id
        call.output_owner = outer_call.output_owner
    return call


def begin_retry(call: Call) -> None:
    """Begin another execution of a finished call, with a number and a time of its own, so that each has a record.

    The ordinal stays: the program has called once. The call of a run itself gives the run a new number, too.
    """
    first_id = call.retry_of or call.id
    now = perf_counter_ns()
    if call.site.kind == 'run':
        call.run.id = next(_run_ids)
        call.run.started = now
        call.id = -call.run.id
    else:
        call.id = next(_call_ids)
    call.retry_of = first_id
    reset_call(call, now)


def reset_call(call: Call, now: int) -> None:
    """Reset a call to before its execution.

    Args:
        call: The call.
        now: `perf_counter_ns()` of its new start.
    """
    call.started = now
    call.finished = 0
    call.outputs = call.error = call.output = None


current: ContextVar[Call | None] = ContextVar('pyfuncdbg_current_call', default=None)
"""The hooked call whose function runs in this context. Set inside the call, so native threads have it."""


def in_reexecution() -> bool:
    """Whether this context is in a call that is re-executed for inspection: nothing stops there."""
    call = current.get()
    return call is not None and not call.id
