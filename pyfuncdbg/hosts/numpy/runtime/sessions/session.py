"""`tf.compat.v1.Session` and `InteractiveSession`: they run parts of a graph through compiled plans.

On the caller's thread, unless its options request threads.
"""
# long: one class, TensorFlow's `Session`; a third of it is documentation
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import CancelledError, InvalidArgumentError
from pyfuncdbg.hooks.call import CallSite, Run, RunForm
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.program_traceback import drop_own_frames
from pyfuncdbg.hooks.public_function import hide_own_frames, mark_unwrapped
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IF, STATELESS_IF
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.thread_state import DefaultScope
from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean, string
from pyfuncdbg.hosts.numpy.runtime.cluster import devices, server
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices, placement
from pyfuncdbg.hosts.numpy.runtime.cluster.task_transport import transport_of
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.resources import UNFOLDED
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan, take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, compile_plan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.sessions.feeding import converter, feed_tensor, flat_feeds, is_several
from pyfuncdbg.hosts.numpy.runtime.sessions.fetching import Fetches, Pack, bytes_at_rank_0, fetch_key
from pyfuncdbg.hosts.numpy.runtime.sessions.partial_run import PartialRuns
from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import Pools, Runner, run_settings, session_options

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.sessions.task_runs import TaskRuns

RUN_SITE = CallSite('Session.run', 'Session.run', 'run', host, traits=Traits(fed_run=True))
_PLANS_KEPT = 256
_LOCAL_DEVICES = Devices()


class _Entry:
    """Cache entry: a plan with the conversion of feeds and the packing of results.

    Attributes:
        version: Of the graph that it was compiled for.
        feed_places: Indices of the values to use, where a tensor is fed twice; None for all.
        nested: Whether keys of the feed_dict are structures.
        strings: Whether a fetch is of strings.
        fetches_key: The fetches, which live as long as the key that holds their ids.
    """

    __slots__ = ('converters', 'feed_places', 'feeds', 'fetches', 'fetches_key', 'form', 'nested', 'pack', 'plan', 'strings',
                 'version')

    def __init__(self, plan: CompiledPlan, converters: Sequence[Callable[[Any], Any]], feed_places: list[int] | None,
                 pack: Pack, nested: bool, fetches_key: Any) -> None:
        self.plan = plan
        self.converters = converters
        self.feed_places = feed_places
        self.pack = pack
        self.nested = nested
        self.fetches_key = fetches_key
        self.version = plan.graph.version
        self.form = RunForm()
        self.strings = any(t.dtype is string for t in plan.fetches)
        self.feeds = tuple(t.name for t in plan.feeds)
        self.fetches = tuple(t.name for t in plan.fetches)


def _convert(convert: Callable[[Any], Any], value: Any) -> Any:
    return convert(value)


class BaseSession:
    """Base session: runs operations and evaluates tensors of one graph. It has the values of variables.

    Args:
        target: '' for this process, or the target of a server.
        graph: The graph; by default the current default graph.
        config: A ConfigProto. With `inter_op_parallelism_threads=n` up to n Python functions of a run overlap.

    Raises:
        NotFoundError: There is no such target.
        TypeError: `graph` is no graph.
    """

    def __init__(self, target: str = '', graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        target = target.decode() if isinstance(target, bytes) else '' if target is None else target
        if not isinstance(target, str):
            raise TypeError(f'Argument `target` must be a string, but got "{type(target).__name__}"')
        self._options = session_options(config)
        if target:
            server.check_target(target)
        self._graph = context.get_default_graph() if graph is None else graph
        self.sess_str = target.encode()
        self._config = config
        self._closed = False
        self._resources: dict[Any, Any] = {}        # of a session on a server: replaced at its first run
        if not self._options.folds:
            self._resources[UNFOLDED] = True
        self._target, self._placed = target, 0
        self._entries: dict[Any, _Entry] = {}
        self._last: tuple[Any, tuple[Any, ...], bool, _Entry] | None = None
        self._lock = new_lock()
        self._partial = PartialRuns()
        # One test for a run without any of these.
        self._pools: Pools | TaskRuns | None = (
            Pools(self._options) if self._options.timeout or max(self._options.threads) > 1 else None)

    # ------------------------------------------------------------------ running
    @mark_unwrapped
    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Compute fetches.

        Args:
            fetches: A tensor, operation, name, or nested structure of them.
            feed_dict: Values for tensors, by tensor or name.
            options: RunOptions: `timeout_in_ms`, whether nodes are timed (`trace_level`), and `output_partition_graphs`.
            run_metadata: A RunMetadata, which gets the times and the graph that each device has run.

        Returns:
            The values in the structure of `fetches`: arrays that the caller may write to, NumPy scalars at rank 0, None for
            operations.

        Raises:
            RuntimeError: The session is closed, or the graph is empty.
            TypeError, ValueError: A fetch or feed is not of this graph, or of a wrong shape or type.
            OpError: A node failed.
        """
        try:
            return self._run(fetches, feed_dict, options, run_metadata)
        except Exception as error:              # of any kind: it goes on to the program
            drop_own_frames(error)
            raise

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        entry = self._entry(fetches, feed_dict)
        if feed_dict:
            feed_values = flat_feeds(feed_dict).values() if entry.nested else feed_dict.values()
            values = list(map(_convert, entry.converters, feed_values))
            if entry.feed_places is not None:
                values = [values[place] for place in entry.feed_places]
        else:
            values = []
        if options is None and run_metadata is None and self._pools is None:
            results = self._execute(entry, values)
        else:
            results = self._execute_as(entry, values, options, run_metadata)
        return entry.pack(results if not entry.strings else [bytes_at_rank_0(value) for value in results])

    def _execute_as(self, entry: _Entry, values: list[Any], options: Any, metadata: Any) -> tuple[Any, ...]:
        """Run with non-default settings."""
        if metadata is not None:
            metadata.ParseFromString(b'')
        pools = self._pools or Pools(self._options)
        settings = run_settings(options, self._options)
        if metadata is None or not (settings.timed or settings.partitioned):
            return self._execute(entry, values, pools.runner(entry.plan, settings, None))
        from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes  # only needed for timing
        timing = StepTimes() if settings.timed else None
        try:
            results = self._execute(entry, values, pools.runner(entry.plan, settings, timing))
        finally:
            if timing is not None:
                timing.write(metadata, self._devices().names()[0])
        if settings.partitioned:
            for graph in pools.partitions(entry.plan, values, self._devices()):
                metadata.partition_graphs.add().ParseFromString(graph.SerializeToString())
        return results

    def _execute(self, entry: _Entry, values: list[Any], runner: Runner | None = None) -> tuple[Any, ...]:
        plan = entry.plan
        run = Run('Session.run', host, perf_counter_ns(), sites=plan.sites, feeds=entry.feeds, fetches=entry.fetches)
        execution = Execution(run, self._resources, numpy_errstate.current_state())
        run.control, run.form = execution, entry.form
        numpy_errstate.state.set(numpy_errstate.IGNORE)
        pooled = None if runner is None else partial(runner, execution)
        try:
            if hooks.run and not hooks.is_ignored(entry.form):
                def whole(*fed: Any) -> tuple[Any, ...]:
                    return run_plan(plan, execution, fed, session_error, pooled)
                return tuple(invoke(RUN_SITE, whole, run, values))
            return run_plan(plan, execution, values, session_error, pooled)
        finally:
            run.control = None
            numpy_errstate.state.set(execution.errstate)

    def _entry(self, fetches: Any, feed_dict: Any) -> _Entry:
        """The compiled plan for these fetches and feeds, from the cache if the graph is the same."""
        if self._closed:
            raise RuntimeError('Attempted to use a closed Session.')
        graph = self._graph
        feeds = tuple(feed_dict) if feed_dict else ()
        last = self._last
        if last is not None and last[0] is fetches and last[1] == feeds and last[3].version == graph.version and (
                last[2] is bool(hooks.gradient)):
            return last[3]                      # a loop repeats the same run: nothing is hashed
        if feeds and any(map(is_several, feeds)):       # the value decides how many of its tensors are fed
            feeds = (is_several, *flat_feeds(feed_dict))
        fetches_key = tuple(fetches) if type(fetches) is list else fetches
        try:
            key: Any = fetches_key, type(fetches), feeds, bool(hooks.gradient)
            entry = self._entries.get(key)
        except TypeError:                       # nested or unhashable fetches
            try:
                key = fetch_key(fetches), feeds, bool(hooks.gradient)
                entry = self._entries.get(key)
            except TypeError:
                return self._compiled(fetches, feed_dict)
        if entry is None or entry.version != graph.version:
            entry = self._compiled(fetches, feed_dict)
            with self._lock:
                if len(self._entries) >= _PLANS_KEPT:
                    self._entries = {k: e for k, e in self._entries.items() if e.version == graph.version}
                if len(self._entries) >= _PLANS_KEPT:
                    self._entries = {}
                self._entries[key] = entry
        if type(fetches) is SymbolicTensor and all(type(key) is SymbolicTensor for key in feeds):
            self._last = fetches, feeds, bool(hooks.gradient), entry
        return entry

    def _compiled(self, fetches: Any, feed_dict: Any) -> _Entry:
        graph = self._graph
        if not graph.version and (isinstance(fetches, SymbolicTensor) or not isinstance(fetches, Tensor)):
            raise RuntimeError('The Session graph is empty. Add operations to the graph before calling run().')
        self._place()
        requested = Fetches(graph, fetches)
        keys = flat_feeds(feed_dict) if feed_dict else {}
        feeds = [feed_tensor(graph, key) for key in keys]
        last = {id(t): i for i, t in enumerate(feeds)}      # a tensor that is fed twice gets the later value
        feed_places = None if len(last) == len(feeds) else sorted(last.values())
        converters, feeds = [converter(t) for t in feeds], feeds if feed_places is None else [feeds[i] for i in feed_places]
        plan = compile_plan(graph, requested.targets, feeds, requested.tensors, protect=True, hand_over=take_over,
                            merge=self._options.merges, gradients=graph.gradient_steps if hooks.gradient else ())
        check_conditions(plan.steps)
        return _Entry(plan, converters, feed_places, requested.pack, any(map(is_several, feed_dict or ())), fetches)

    def _place(self) -> None:
        """Check that the device of each node of the graph is available.

        Raises:
            InvalidArgumentError: One is not.
            UnavailableError: The session's server is not there.
        """
        self._connect()
        if self._placed != self._graph.version:
            log = bool(getattr(self._config, 'log_device_placement', False)) or devices.get_log_device_placement()
            ops = [op for op in self._graph.operations if log or op.device]
            placed = placement(ops, self._devices(), bool(getattr(self._config, 'allow_soft_placement', False)))
            if log:
                print(*[f'{op.name}: ({op.type}): {device.to_string()}' for op, device in placed.items()
                        if op.version > self._placed], sep='\n', flush=True)
            self._placed = self._graph.version

    def _connect(self) -> None:
        """Connect to the server of the target, if there is one and that is not done.

        Raises:
            UnavailableError: It is not there.
        """
        if not self._target or type(self._resources) is not dict:
            return
        transport = transport_of(self._target)
        if transport is None:
            self._resources = server.resources(self._target, self._resources)
            return
        from pyfuncdbg.hosts.numpy.runtime.sessions.task_runs import TaskRuns  # loads the protobuf library
        soft = bool(getattr(self._config, 'allow_soft_placement', False))
        self._pools = runs = TaskRuns(transport.connect(self._target), soft)
        self._resources = runs.resources

    def _devices(self) -> Devices:
        return getattr(self._resources, 'devices', _LOCAL_DEVICES)

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`.

        With `feed_list` it also takes `options` and `run_metadata`; without, if `accept_options`.

        Raises:
            TypeError: `feed_list` is no list.
            TypeError, ValueError: `fetches` is not of this graph.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f'Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}')
        Fetches(self._graph, fetches)

        def call(*values: Any, **settings: Any) -> Any:
            return self.run(fetches, dict(zip(feed_list or (), values, strict=False)), **settings)

        def call_without_feeds(**settings: Any) -> Any:
            if self._closed:
                raise CancelledError(None, None, 'Session has been closed.')
            return self.run(fetches, None, **settings)
        return hide_own_frames(call_without_feeds if feed_list is None else call)

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Begin a partial run; nodes that need no feed run now.

        Args:
            fetches: All fetches of the steps, and operations to run as soon as possible.
            feeds: All feeds of the steps.

        Returns:
            The handle for `partial_run`.

        Raises:
            InvalidArgumentError: There is nothing to run, or a tensor is fed twice, or fed and fetched.
        """
        self._connect()
        return self._partial.setup(self, fetches, feeds)

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Run one step of a partial run: feeds some tensors and fetches some, each once.

        Returns:
            As `run`.

        Raises:
            InvalidArgumentError: The handle is unknown or its run is over, a feed or fetch was not declared, or
                feeds are missing.
            RuntimeError: An operation is fetched.
            OpError: A node failed; the run is over.
        """
        return self._partial.run(self, handle, fetches, feed_dict)

    # ------------------------------------------------------------------ lifecycle
    def close(self) -> None:
        """Free the values of variables; further runs raise RuntimeError."""
        self._closed = True
        if self._pools is not None:
            self._pools.close()
        self._resources.clear()
        self._entries.clear()
        self._last = None

    def __del__(self) -> None:
        # A plan and its function refer to each other: without this they wait for the garbage collector.
        for entry in getattr(self, '_entries', {}).values():
            entry.plan.names.clear()

    def as_default(self) -> DefaultScope:
        """Make this the default session of this thread, for `eval` and `Operation.run`."""
        return DefaultScope(context.state.sessions, self)

    def list_devices(self) -> list[Any]:
        """The available devices: one CPU per task.

        Raises:
            UnavailableError: The session's server is not there.
            CancelledError: The session is closed.
        """
        if self._closed:
            raise CancelledError(None, None, 'Session has been closed.')
        self._connect()
        return [devices.DeviceAttributes(name) for name in self._devices().names()]

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Delete the variables of a server: those in `containers`, by default those in the default container.

        Raises:
            NotFoundError: It is no server's target.
            UnavailableError: The server is not there.
        """
        server.reset(target, containers)

    @property
    def graph(self) -> Graph:
        """The graph of the session."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        return self._graph.as_graph_def()


def check_conditions(steps: Sequence[Step]) -> None:
    """Refuse conditions of another dtype than bool: TensorFlow does before a run of a graph, but not in functions.

    Raises:
        InvalidArgumentError: There is one.
    """
    for step in steps:
        if step.op.type in (IF, STATELESS_IF) and step.op.inputs[0].dtype is not boolean:
            raise InvalidArgumentError(None, None, (
                f"Graph execution error:\n\nInput 'pred' passed {step.op.inputs[0].dtype.kernel_name} expected bool while "
                f"building NodeDef '{step.op.name}/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> "
                'output_false:T, output_true:T; attr=T:type>'))


class Session(BaseSession):
    """A session. As a context it and its graph are the default ones, and it is closed at the end."""

    def __init__(self, target: str = '', graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._scopes: list[Any] = []

    def __enter__(self) -> Session:
        if self._scopes:
            raise RuntimeError('Session context managers are not re-entrant. Use `Session.as_default()` if you want to '
                               'enter a session multiple times.')
        self._scopes = [self._graph.as_default(), self.as_default()]
        for scope in self._scopes:
            scope.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        scopes, self._scopes = self._scopes, []
        if not scopes:
            raise AttributeError("'NoneType' object has no attribute '__exit__'")
        try:
            for scope in reversed(scopes):
                scope.__exit__(*exception)
        finally:
            self.close()


class InteractiveSession(BaseSession):
    """A session that is the default one until its `close`, with its graph if given."""

    def __init__(self, target: str = '', graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        scopes = [self.as_default(), *([] if graph is None else [graph.as_default()])]
        self._scopes: list[DefaultScope] = scopes
        for scope in scopes:
            scope.enforce_nesting = False
            scope.__enter__()

    def close(self) -> None:
        """Close; it is no longer the default session."""
        super().close()
        scopes, self._scopes = self._scopes, []
        for scope in reversed(scopes):
            scope.__exit__(None, None, None)
