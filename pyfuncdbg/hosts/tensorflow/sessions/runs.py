"""Attribution of calls to runs: a `Session.run`, a thread's eager code, or graphs that TensorFlow runs elsewhere.

TensorFlow's threads do not know which run they work for. A call in a session's graph belongs to the graph's active run, of
several to the only one that can have made it. A call in a traced function whose ops are watched belongs to its execution, if
there is one at a time. Other calls of functions and datasets are one run.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.call_frames import mark_call_frame
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.interception.watched_calls import describe_by_inputs
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.python_calls.sites import FunctionEntry, Sites
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import PlanKey, SessionPlan, SessionPlans
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun
from pyfuncdbg.hosts.tensorflow.sessions.stepped_run import SteppedRun
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_DoRun = Callable[[Any, Any, Any, Any, Any, Any, Any], list[Any]]
"""`BaseSession._do_run(session, handle, targets, fetches, feeds, options, metadata)`."""

_DIFFERENCE = 'the last bits and NaN may differ: TensorFlow fuses and folds nodes that it runs as a whole'


class RunFastPath(Protocol):
    """Maker of runs whose only hook is a recorder: `CallFastPath`."""

    def run(self, original: _DoRun, session: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, options: Any,
            metadata: Any, fed: list[Any]) -> Any:
        """Make one run; `NotImplemented` for any other."""


@transparent
class Runs:
    """The active runs.

    Attributes:
        eager_runs: Those of the program's own code.
        eager_run: Gives that of this thread.
        fast_path: Makes runs whose only hook is a recorder.
    """

    def __init__(self, host: TensorFlowHost) -> None:
        self._host = host
        self.eager_runs = EagerRuns(host)
        self.eager_run = self.eager_runs.of_thread
        self._writer_ids: set[int] = set()         # ids of runs that write to v1 variables
        self._active_runs: dict[int, list[Run]] = {}      # by id of the graph; a thread removes its own only
        self._executing: dict[int, tuple[Run, ...]] = {}    # of traced functions; replaced whole, under the lock
        self._lock = new_lock()
        self._sites = {name: CallSite(name, name, 'run', host, traits=Traits(fed_run=True))
                       for name in ('Session.run', 'Session.partial_run')}
        self._plans: SessionPlans | None = None
        self.fast_path: RunFastPath | None = None

    @cached_property
    def graphs(self) -> Run:
        """The run of functions and datasets whose run TensorFlow does not tell: one for all threads."""
        with self._lock:
            run: Run | None = self.__dict__.get('graphs')
            if run is None:
                run = self.__dict__['graphs'] = self.eager_runs.new('functions and datasets')
            return run

    def run_of_call(self, entry: FunctionEntry, inputs: Sequence[Any] = ()) -> Run:
        """The run that a call belongs to."""
        if entry.eager:
            return self.eager_run()
        active_runs = self._active_runs.get(entry.root_graph)
        if active_runs:
            others = active_runs.copy()               # atomic: threads end their runs meanwhile
            run = others[0] if len(others) == 1 else find_run(others, entry.token, inputs, threading.get_native_id())
            if run is None:
                return self.graphs
            state = run.control.nodes if isinstance(run.control, RunCursor) else run.control
            if isinstance(state, (PendingRun, SteppedRun)) and entry.site is not None:
                state.calls.begin_call(entry.site, inputs)
            return run
        return self.run_of_function(entry.root_graph)

    def run_of_function(self, root: int) -> Run:
        """The run that the ops of a traced function belong to, by its outermost graph.

        Of several executions at once TensorFlow does not tell which one it is: then the ops belong to no run.
        """
        runs = self._executing.get(root, ())
        return runs[0] if len(runs) == 1 else self.graphs

    @contextmanager
    def note_execution(self, run: Run, roots: Sequence[int]) -> Iterator[None]:
        """In this block a call of a traced function is active; `roots` are the graphs whose nodes it may run."""
        with self._lock:
            for root in roots:
                self._executing[root] = *self._executing.get(root, ()), run
        try:
            yield
        finally:
            with self._lock:
                for root in roots:
                    others = tuple(other for other in self._executing[root] if other is not run)
                    if others:
                        self._executing[root] = others
                    else:                       # another graph may have the number later
                        del self._executing[root]

    # ------------------------------------------------------------------ sessions
    def install(self, parts: TensorFlowParts, patches: Patches, sites: Sites) -> None:
        """Replace the functions by which sessions run."""
        self._plans = SessionPlans(self._host, sites.node_site, self._active_runs)
        session = parts.session.BaseSession
        patches.replace(session, '_do_run', self._replace_do_run(session._do_run))
        patches.replace(session, 'make_callable', self._make_callable(session.make_callable, parts.session._FetchHandler))

    def forget(self) -> None:
        """Remove our marks from TensorFlow's objects."""
        if self._plans is not None:
            self._plans.forget()
            self._plans = None

    def _begin(self, label: str, plan: SessionPlan, feed_values: Sequence[Any] = ()) -> Run:
        run = Run(label, self._host, perf_counter_ns(), sites=plan.list_sites, feeds=plan.feed_names,
                  fetches=plan.fetch_names)
        run.thread, run.feed_values = threading.get_native_id(), feed_values
        run.form = plan.form if label == 'Session.run' else None
        if plan.writes_variables:
            self._writer_ids.add(run.id)
            for other in plan.active_runs:
                if isinstance(other.control, PendingRun):
                    other.control.no_other_writer = False
        plan.active_runs.append(run)
        return run

    def _end(self, plan: SessionPlan, run: Run) -> None:
        plan.active_runs.remove(run)
        self._writer_ids.discard(run.id)
        run.feed_values = ()

    def _replace_do_run(self, original: _DoRun) -> _DoRun:
        """The replacement for a session's run, which is called once fetches and feeds are checked."""
        @mark_call_frame(describe_by_inputs('feed_values'))
        def _do_run(session: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any,
                    run_metadata: Any) -> list[Any]:
            plans = self._plans
            try:
                if plans is None or not (hooks.python or hooks.run or hooks.op):
                    return original(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
                feed_values = list(feed_dict.values())
                if self.fast_path is not None:
                    results: list[Any] = self.fast_path.run(
                        original, session, handle, target_list, fetch_list, feed_dict, options, run_metadata, feed_values)
                    if results is not NotImplemented:
                        return results
                stamp = hooks.stamp             # read first: a change meanwhile makes another
                plan = plans.plan_for(session.graph, fetch_list, target_list, [key.deref() for key in feed_dict])
                if plan.interest[0] is stamp and not plan.interest[1]:
                    return original(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
                label = 'Session.run' if handle is None else 'Session.partial_run'
                run = self._begin(label, plan, feed_values)
                try:
                    if plan.interest[0] is not stamp:
                        plan.interest = stamp, self._is_wanted(self._sites[label], plan, run)
                    if hooks.passive and not hooks.op:      # no hook changes the feeds
                        return self._run_watched(label, run, lambda *_: original(
                            session, handle, target_list, fetch_list, feed_dict, options, run_metadata), feed_values)
                    if handle is None and not session.sess_str:
                        run.control, run.remark = PendingRun(plan), _DIFFERENCE
                        run.control.no_other_writer &= not any(
                            other.id in self._writer_ids for other in list(plan.active_runs) if other is not run)
                    plainly = partial(_run_session, original, session, handle, options, run_metadata)
                    in_part = partial(_run_session, original, session, None, options, None)  # metadata is of a whole run
                    steered = partial(self._run_steered, plan, run, plainly, in_part, feed_dict)
                    return self._run_watched(label, run, steered, feed_values)
                finally:
                    self._end(plan, run)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return _do_run

    @staticmethod
    def _is_wanted(site: CallSite, plan: SessionPlan, run: Run) -> bool:
        """Whether a hook would see anything of such runs: asked once, since it takes longer than the rest."""
        if hooks.op or any(site_of_node.traits.runs_graph for site_of_node in plan.sites):
            return True                         # the plan lacks the nodes of that graph
        python = [site_of_node for site_of_node in plan.sites if site_of_node.kind == 'python']
        return any(hooks.ask_interest(site_of_node, run) for site_of_node in (site, *python))

    def _run_steered(self, plan: SessionPlan, run: Run, plainly: SessionRun, in_part: SessionRun,
                     feeds_asked: dict[Any, Any],
                     *values: Any) -> list[Any]:
        """Make one run as the program asked for it, or so that hooks see its nodes.

        Args:
            plan, run: The run and its plan.
            plainly, in_part: Run all of it, and some of its nodes.
            feeds_asked: The feeds of the program, by tensor.
            values: The feeds after hooks.
        """
        feeds, run.feed_values = dict(zip(feeds_asked, values, strict=True)), values
        pending = run.control
        stepwise = isinstance(pending, PendingRun) and (pending.paused or run.stepwise)
        if not isinstance(pending, PendingRun) or not (stepwise or hooks.op) or self._plans is None:
            run.control = None
            return plainly(plan.targets, plan.fetches, feeds)
        named = dict(zip(plan.feed_names, feeds.values(), strict=True))
        walk = pending.state = SteppedRun(plan, run, in_part if stepwise else plainly, in_part, self._plans.op_site, named)
        return walk.start(whole=not stepwise)

    def _run_watched(self, label: str, run: Run, call: Callable[..., list[Any]], feed_values: list[Any]) -> list[Any]:
        site = self._sites[label]
        if not hooks.run:
            return call(*feed_values)
        outputs: Sequence[Any] = invoke(site, call, run, feed_values, thread=run.thread)
        return outputs if isinstance(outputs, list) else list(outputs)

    def _make_callable(self, original: Callable[..., Any], handler: Any) -> Callable[..., Any]:
        """The replacement for `make_callable`: callables without feeds bypass a session's `run`."""
        def make_callable(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
            try:
                callable = original(session, fetches, feed_list, accept_options)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            if feed_list is not None or self._plans is None:
                return callable
            fetch_handler = handler(session.graph, fetches, {})

            def call(*args: Any, **settings: Any) -> Any:
                plans, graph = self._plans, session.graph
                try:
                    if plans is None or not (hooks.python or hooks.run or hooks.op):
                        return callable(*args, **settings)
                    plan = plans.plan_for(graph, fetch_handler.fetches(), fetch_handler.targets(), ())
                    run = self._begin('Session.run', plan)
                    try:
                        return self._run_callable(run, lambda: callable(*args, **settings))
                    finally:
                        self._end(plan, run)
                except BaseException as error:
                    drop_leading_own_frames(error)
                    raise
            return call
        return make_callable

    def _run_callable(self, run: Run, call: Callable[[], Any]) -> Any:
        """Make a run whose result has the structure of its fetches: hooks get the values where that is a flat one."""
        results: list[Any] = []

        def proceed() -> list[Any]:
            results[:] = [call()]
            one = results[0]
            flat = list(one) if isinstance(one, (list, tuple)) else [one]
            return flat if len(flat) == len(run.fetches) else []
        self._run_watched('Session.run', run, proceed, [])
        return results[0]


def end_call(run: Run, site: CallSite, outputs: Sequence[Any]) -> None:
    """Note the end of a Python call of a run."""
    if isinstance(run.control, PendingRun):
        run.control.calls.end_call(site, outputs)


@transparent
def _run_session(original: _DoRun, session: Any, handle: Any, options: Any, metadata: Any, targets: Any, fetches: Any,
                 feeds: Any) -> list[Any]:
    """Make one run of a session past all hooks."""
    return original(session, handle, targets, fetches, feeds, options, metadata)


def find_run(runs: Sequence[Run], token: str, inputs: Sequence[Any], thread: int) -> Run | None:
    """The run that makes a call; None if several may.

    TensorFlow gives a function its inputs and a device, and no run. A call belongs to a run that waits on this very thread,
    or to the only run that can have made it: one that reaches the function, is not paused, and was fed the inputs of the
    call.

    Args:
        runs: The active runs of the graph, in order of their beginning.
        token: Of the function that is called, as its node has it.
        inputs: Of the call; empty if unknown.
        thread: Native id of the thread that makes it.
    """
    own = next((run for run in reversed(runs) if run.thread == thread), None)
    if own is not None:                         # a thread that waits for a run works for no other
        return own
    makers = [run for run in runs if _may_call(run, token, inputs)]
    return makers[0] if len(makers) == 1 else None


def _may_call(run: Run, token: str, inputs: Sequence[Any]) -> bool:
    plan = run.form.plan() if isinstance(run.form, PlanKey) else None
    if plan is None:                            # a partial run, whose fetches change
        return True
    now, control = range(len(plan.nodes)), run.control
    if isinstance(control, RunCursor) and isinstance(control.nodes, SteppedRun):
        now = range(0) if control.paused else control.nodes.running_positions()
    return any(place in now and not _has_other_feeds(plan, run.feed_values, place, inputs) for place in plan.callers(token))


def _has_other_feeds(plan: SessionPlan, feed_values: Sequence[Any], place: int, inputs: Sequence[Any]) -> bool:
    """Whether the program has fed a node something else than these inputs."""
    op = plan.nodes[place]
    if len(inputs) != len(op.inputs):
        return False
    by_name = dict(zip(plan.feed_names, feed_values, strict=False))
    return any(tensor.name in by_name and not _may_be_equal(by_name[tensor.name], value)
               for tensor, value in zip(op.inputs, inputs, strict=True))


def _may_be_equal(feed_value: Any, value: Any) -> bool:
    """Whether a value can be the fed one: false only where both are known bit for bit."""
    if hasattr(value, '_numpy_internal'):
        value = value.numpy() if value.dtype.name not in ('resource', 'variant') else None
    if value is None:
        return True
    one, other = np.asarray(feed_value), np.asarray(value)
    if one.dtype.hasobject or other.dtype.hasobject or one.dtype.kind in 'SU' or other.dtype.kind in 'SU':
        first, second = one.tolist(), other.tolist()
        return bool(_encoded(first) == _encoded(second))
    if one.dtype != other.dtype:                # fed as a handle, or converted
        return True
    return one.shape == other.shape and np.array_equal(_bytes(one), _bytes(other))


def _bytes(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _encoded(value: Any) -> Any:
    """Strings as bytes, as TensorFlow has them."""
    if isinstance(value, list):
        return [_encoded(one) for one in value]
    return value.encode() if isinstance(value, str) else value
