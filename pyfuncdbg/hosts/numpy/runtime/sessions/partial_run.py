"""`Session.partial_run`: one run of a graph in several steps. Each has some of the feeds and some of the fetches.

A node runs once, in the first step in which all its inputs are available, even if that step does not fetch it; values
for later steps are kept. Each step is a run for hooks. On the caller's thread.
"""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Protocol, cast

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError, OpError
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import is_constant
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan, take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, compile_plan, needed_ops
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import copy_feed, copy_value
from pyfuncdbg.hosts.numpy.runtime.sessions.feeding import converter, feed_tensor, flat_feeds
from pyfuncdbg.hosts.numpy.runtime.sessions.fetching import Fetches, bytes_at_rank_0
from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import RunSettings

_SITES = {name: CallSite(name, name, 'run', host, traits=Traits(fed_run=True))
          for name in ('Session.partial_run_setup', 'Session.partial_run')}
_NO_HANDLE = "Must run 'setup' before performing partial runs!"


def _run_error(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f'Graph execution error:\n\n{message}')


class UsedSession(Protocol):
    """Interface of the session of a partial run."""

    _closed: bool
    _graph: Graph
    _resources: dict[Any, Any]
    _pools: Any


def _runner(session: UsedSession, plan: CompiledPlan, execution: Execution) -> Callable[[Sequence[Any]], Any] | None:
    """The runner of a plan, where its nodes run in other processes: pools of threads have no part in a partial run."""
    pools = session._pools
    if pools is None or not pools.elsewhere:
        return None
    return functools.partial(pools.runner(plan, RunSettings(), None), execution)


def _usable(session: UsedSession) -> Graph:
    if session._closed:
        raise RuntimeError('Attempted to use a closed Session.')
    if not session._graph.version:
        raise RuntimeError('The Session graph is empty. Add operations to the graph before calling run().')
    return session._graph


def _find_feed(graph: Graph, key: Any) -> SymbolicTensor:
    """A declared feed of a setup, with TensorFlow's generic error."""
    try:
        return feed_tensor(graph, key)
    except TypeError as error:
        raise TypeError(str(error).replace('feed_dict key', 'feed_list key', 1)) from None


class PartialRun:
    """State of one partial run.

    Attributes:
        elements: The setup's fetches, resolved once: each resolution of an assignment adds a node.
        waiting: Ops that have not run, in order.
        values: Values by tensor: fed, or computed and still needed.
        unfed, unfetched: Tensors that steps may still feed and fetch.
        error: Of a node that its step did not fetch; the next step raises it.
    """

    def __init__(self, graph: Graph, feeds: Sequence[SymbolicTensor], requested: Fetches,
                 elements: dict[int, tuple[Any, Any]]) -> None:
        roots = [*requested.targets, *(t.op for t in requested.tensors)]
        self.graph = graph
        self.elements = elements
        self.waiting: Sequence[Operation] = needed_ops(roots, {id(t) for t in feeds})
        self.feeds, self.fetches = set(feeds), set(requested.tensors)
        self.unfed, self.unfetched = set(feeds), set(requested.tensors)
        self.values: dict[SymbolicTensor, Any] = {}
        self.done: set[Operation] = set()
        self.error: OpError | None = None
        self.lock = new_rlock()

    @property
    def over(self) -> bool:
        """Whether everything was fed and fetched."""
        return not self.unfed and not self.unfetched

    def check(self, feeds: Iterable[SymbolicTensor], fetches: Sequence[SymbolicTensor]) -> None:
        """Refuse a step that the setup did not declare, or that cannot be computed yet; nothing is changed.

        Raises:
            InvalidArgumentError: With TensorFlow's text.
        """
        fed = set(feeds)
        for tensors, remaining, declared, what, past in ((fed, self.unfed, self.feeds, 'feed', 'fed'),
                                                         (fetches, self.unfetched, self.fetches, 'fetch', 'fetched')):
            for tensor in tensors:
                if tensor not in declared:
                    raise _run_error(f'The {what} {tensor.name} was not specified in partial_run_setup.')
                if tensor not in remaining:
                    raise _run_error(f'The {what} {tensor.name} has already been {past}.')
        missing = self._missing(fetches, self.unfed - fed)
        if missing is not None:
            raise _run_error(f"Fetch {missing.name} can't be computed from the feeds that have been fed so far.")

    def _missing(self, fetches: Iterable[SymbolicTensor], pending: set[SymbolicTensor]) -> SymbolicTensor | None:
        """An unfed tensor that a fetch needs."""
        waiting = set(self.waiting)
        stack = [t.op for t in fetches if t not in self.values]
        visited: set[Operation] = set()
        while stack:
            op = stack.pop()
            if op in visited or op not in waiting:
                continue
            visited.add(op)
            for tensor in op.inputs:
                if tensor in pending:
                    return cast(SymbolicTensor, tensor)
                if tensor not in self.feeds and tensor not in self.values:
                    stack.append(tensor.op)
            stack.extend(op.control_inputs)
        return None

    def ready(self) -> list[Operation]:
        """The waiting ops whose inputs are available, in order."""
        waiting, can = set(self.waiting), set[Operation]()
        for op in self.waiting:
            if all(t in self.values or (t.op in can and t not in self.unfed) for t in op.inputs) and all(
                    control in can or control not in waiting for control in op.control_inputs):
                can.add(op)
        return [op for op in self.waiting if op in can]

    def plan(self, ops: Sequence[Operation], fetches: Sequence[SymbolicTensor]) -> tuple[CompiledPlan, list[SymbolicTensor]]:
        """A plan of these ops that computes the fetches and the inputs of later ops, and the tensors that it is fed."""
        running = set(ops)
        later = {t for op in self.waiting if op not in running for t in op.inputs} | self.unfetched
        computed = [t for op in ops for t in (*op.outputs, *op.hidden) if t in later]
        asked_for = itertools.chain((t for op in ops for t in op.inputs), fetches)
        available = [t for t in dict.fromkeys(asked_for) if t in self.values]
        needed = [t for t in dict.fromkeys((*fetches, *computed)) if t not in self.values]
        plan = compile_plan(self.graph, ops, available, needed, protect=True, hand_over=take_over, finished=self.done)
        return plan, available

    def store_results(self, ops: Sequence[Operation], plan: CompiledPlan, results: Sequence[Any]) -> None:
        """Store the results of a plan, and drop values that are no longer needed."""
        self.values.update(zip(plan.fetches, results, strict=True))
        self.done.update(ops)
        self.waiting = [op for op in self.waiting if op not in self.done]
        needed = {t for op in self.waiting for t in op.inputs} | self.unfetched
        for tensor in [t for t in self.values if t not in needed]:
            del self.values[tensor]


    def run_rest(self, session: UsedSession, ops: Sequence[Operation], execution: Execution) -> None:
        """Run ops that no fetch of this step needs; an error of theirs is raised by the next step."""
        if not ops:
            return
        plan, available = self.plan(ops, ())
        try:
            self.store_results(ops, plan, run_plan(plan, execution, [self.values[t] for t in available], session_error,
                                                   _runner(session, plan, execution)))
        except OpError as error:
            self.error = error


class PartialRuns:
    """Partial runs of one session, by handle."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._under_way: dict[str, PartialRun] = {}

    def setup(self, session: UsedSession, fetches: Any, feeds: Any) -> str:
        """Begin a partial run for `Session.partial_run_setup`; nodes that need no feed run now."""
        graph = _usable(session)
        keys = [] if feeds is None else list(feeds) if isinstance(feeds, (list, tuple)) else [feeds]
        tensors = [_find_feed(graph, tensor) for key in keys
                   for tensor in (key._type_spec._to_components(key) if hasattr(key, 'fed') else [key])]
        elements: dict[int, tuple[Any, Any]] = {}
        requested = Fetches(graph, fetches, elements)
        for i, tensor in enumerate(tensors):
            if any(t is tensor for t in tensors[:i]):  # `in` would compare tensors
                raise _run_error(f'Endpoint "{tensor.name}" fed more than once.')
            if any(t is tensor for t in requested.tensors):
                raise _run_error(f'{tensor.name} is both fed and fetched.')
        if not requested.tensors and not requested.targets:
            raise _run_error('Must specify at least one target to fetch or execute.')
        names = (','.join(t.name for t in tensors), ','.join(t.name for t in requested.tensors),
                 ','.join(op.name for op in requested.targets))
        handle = f'{names[0]}->{names[1]}/{names[2]}/1/;{next(self._numbers)}'
        partial = PartialRun(graph, tensors, requested, elements)
        if not all(is_constant(op) for op in partial.ready()):
            self._step(session, 'Session.partial_run_setup', partial, {}, [])
        self._under_way[handle] = partial
        return handle

    def run(self, session: UsedSession, handle: Any, fetches: Any, feed_dict: Any) -> Any:
        """Run one step for `Session.partial_run`."""
        graph = _usable(session)
        flat: Mapping[Any, Any] = flat_feeds(feed_dict) if feed_dict else {}
        fed = {tensor: converter(tensor)(value) for tensor, value in ((feed_tensor(graph, k), v) for k, v in flat.items())}
        partial = self._under_way.get(handle) if isinstance(handle, str) else None
        requested = Fetches(graph, fetches, None if partial is None else partial.elements)
        if not requested.tensors and not requested.targets and not fed:
            return requested.pack([])
        if requested.targets:
            raise RuntimeError('partial_run() requires empty `target_list`. Received: '
                               f'target_list={requested.targets} (non-empty)')
        if not isinstance(handle, str):
            raise TypeError(f'partial_run() takes the handle that partial_run_setup() gave, a str, not {handle!r}')
        if partial is None:
            raise _run_error(_NO_HANDLE)
        with partial.lock:
            unfed_tensors = [t for t in requested.tensors if t not in fed]
            partial.check(fed, unfed_tensors)
            try:
                if partial.error is not None:
                    raise partial.error
                results = self._step(session, 'Session.partial_run', partial, fed, unfed_tensors)
            except BaseException:
                self._under_way.pop(handle, None)
                raise
            if partial.over:
                self._under_way.pop(handle, None)
        results.update((tensor, copy_feed(value)) for tensor, value in fed.items())
        return requested.pack([bytes_at_rank_0(results[t]) for t in requested.tensors])

    def _step(self, session: UsedSession, name: str, partial: PartialRun, fed: Mapping[SymbolicTensor, Any],
              tensors: Sequence[SymbolicTensor]) -> dict[SymbolicTensor, Any]:
        """Run the ops that the fetches need, then all others that are ready."""
        partial.unfed -= set(fed)
        partial.values.update((t, np.array(value) if isinstance(value, np.ndarray) else value) for t, value in fed.items())
        partial.unfetched -= set(tensors)
        ready = partial.ready()
        needed = set(needed_ops([t.op for t in tensors if t not in partial.values], {id(t) for t in partial.values},
                                partial.done))
        first = [op for op in ready if op in needed]
        rest = [op for op in ready if op not in needed]
        plan, available = partial.plan(first, tensors)
        values_by_tensor: dict[SymbolicTensor, Any] = {}
        run = Run(name, host, perf_counter_ns(), sites=plan.sites, feeds=[t.name for t in fed],
                  fetches=[t.name for t in tensors])
        execution = Execution(run, session._resources, numpy_errstate.current_state())
        run.control = execution

        def whole(*values: Any) -> list[Any]:
            partial.values.update(zip(fed, values, strict=True))     # a hook may have changed them
            values_by_tensor.update((t, partial.values[t]) for t in tensors if t in partial.values)
            results = run_plan(plan, execution, [partial.values[t] for t in available], session_error,
                               _runner(session, plan, execution))
            partial.store_results(first, plan, results)
            values_by_tensor.update(zip(plan.fetches, results, strict=True))
            partial.run_rest(session, rest, execution)
            return [copy_value(values_by_tensor[t]) if t in partial.values else values_by_tensor[t] for t in tensors]

        numpy_errstate.state.set(numpy_errstate.IGNORE)
        try:
            values = [partial.values[t] for t in fed]
            outputs = invoke(_SITES[name], whole, run, values) if hooks.run else whole(*values)
        finally:
            run.control = None
            numpy_errstate.state.set(execution.errstate)
        return dict(zip(tensors, outputs, strict=True))
